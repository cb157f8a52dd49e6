"""Colours of the page can be told apart by everybody: contrasts as WCAG 2 asks for them."""

from __future__ import annotations

import re

import pytest

from refengine.board import page


def themes() -> dict[str, dict[str, str]]:
    """The colours of each theme by name."""
    blocks = re.findall(r':root(\[data-theme="dark"\])? \{(.*?)\n\}', page._asset('tokens.css'), re.DOTALL)
    colour = re.compile(r'--([\w-]+): (#[0-9a-f]{6});')
    return {'dark' if dark else 'light': dict(colour.findall(block)) for dark, block in blocks}


def luminance(colour: str) -> float:
    parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_measure_itself() -> None:
    assert contrast('#000000', '#ffffff') == pytest.approx(21)
    assert contrast('#777777', '#ffffff') == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize('theme', ['light', 'dark'])
def test_text_is_readable(theme: str) -> None:
    colours = themes()[theme]
    pairs = [(text, ground) for text in ('ink', 'soft', 'accent', 'good', 'bad') for ground in ('card', 'paper')]
    pairs += [('accent', 'accent-wash'), ('warn', 'warn-wash'), ('ink', 'sunk'), ('soft', 'sunk')]
    pairs += [('ink', f'n{number}') for number in range(10)]
    faint = {pair: round(contrast(colours[pair[0]], colours[pair[1]]), 2) for pair in pairs}
    assert {pair: ratio for pair, ratio in faint.items() if ratio < 4.5} == {}


@pytest.mark.parametrize('theme', ['light', 'dark'])
def test_lines_and_controls_are_seen(theme: str) -> None:
    colours = themes()[theme]
    pairs = [(f's{number}', 'card') for number in range(8)]
    pairs += [('control', 'card'), ('control', 'paper'), ('focus', 'card')]
    faint = {pair: round(contrast(colours[pair[0]], colours[pair[1]]), 2) for pair in pairs}
    assert {pair: ratio for pair, ratio in faint.items() if ratio < 3} == {}
