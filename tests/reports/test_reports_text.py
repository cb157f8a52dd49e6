"""Making text visible."""

from __future__ import annotations

import unicodedata

import pytest

from reports.text import duration, one_line, plural, shorten, visible


def test_no_character_that_acts_is_left():
    """Of all Unicode, only tab and newline keep acting; marks of writing systems that need joiners are kept."""
    kept = []
    for code in range(0x110000):
        character = chr(code)
        shown = visible(character)
        if shown == character and unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp"):
            kept.append(hex(code))
        if unicodedata.bidirectional(character) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"):
            assert shown != character, hex(code)
    assert kept == ["0x9", "0xa"]


def test_ordinary_text_is_left_alone():
    for text in ("plain", "naïve Ω 漢字 😀 👩‍👩‍👧", "a\tb\nc", ""):
        assert visible(text) == text


def test_windows_line_ends_become_newlines():
    assert visible("a\r\nb\rc") == "a\nb␍c"


def test_shorten_keeps_both_ends():
    text = shorten("a" * 50 + "b" * 50_000 + "c" * 50, 100)
    assert text.startswith("a" * 50 + " … ")
    assert text.endswith(" … " + "c" * 50)
    assert "50,000 characters left out" in text
    assert shorten("short", 100) == "short"


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0.0 ms"), (59.94, "59.9 s"), (3599, "59 min 59 s"), (3601, "1 h 0 min")]
)
def test_durations(seconds, shown):
    assert duration(seconds) == shown


def test_one_line_and_plural():
    assert one_line("a  b\n\tc", 4) == "a b…"
    assert plural(0, "rule") == "0 rules"
