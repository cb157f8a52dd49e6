"""Terminal, markdown and badge: golden files, widths, and text that tries to break out."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest
import runs

from reports import badge, markdown, merge, terminal
from reports.markdown import code, escape, prose


def test_terminal_golden(golden):
    golden("terminal.txt", terminal.render(runs.report()))


def test_markdown_golden(golden):
    golden("report.md", markdown.render(runs.report()))


@pytest.mark.parametrize("engine", ["acme", "ref", "mx"])
def test_badge_golden(golden, engine):
    golden(f"badge-{engine}.svg", badge.render(runs.report(engine)))


@pytest.mark.parametrize("width", [60, 80, 132])
@pytest.mark.parametrize("report", [runs.report(), runs.hostile(), runs.report("acme")], ids=["demo", "hostile", "one"])
def test_terminal_fits(width, report):
    for line in terminal.render(report, width=width).splitlines():
        assert _columns(line) <= width


def _columns(line):
    from rich.cells import cell_len

    return cell_len(line)


def test_terminal_is_plain_without_colour_and_says_the_same_with_it():
    plain = terminal.render(runs.report())
    assert "\x1b" not in plain
    coloured = terminal.render(runs.report(), color=True)
    assert "\x1b[" in coloured
    words = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in words.split("\n")] == plain.split("\n")


def test_terminal_ignores_the_environment(monkeypatch):
    expected = terminal.render(runs.report())
    for name, value in (("FORCE_COLOR", "1"), ("COLUMNS", "40"), ("TERM", "dumb"), ("NO_COLOR", "1")):
        monkeypatch.setenv(name, value)
        assert terminal.render(runs.report()) == expected


def test_terminal_lets_nothing_act():
    shown = terminal.render(runs.hostile(), details=100)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", shown)
    assert "[bold red]rich[/]" in shown
    assert len(shown) < 400_000


def test_terminal_says_what_is_left_out():
    shown = terminal.render(runs.report("acme"), details=2)
    assert "acme-gluon: 4 more rules like these are not shown here." in shown


def test_terminal_shows_what_a_person_needs_in_order():
    shown = terminal.render(runs.report("acme"), details=1)
    words = ["FAIL OPT-ADAM-001 (MUST)", "What OPT-ADAM-001 asks", "observed", "expected", "got", "tolerance", "replay"]
    positions = [shown.index(word) for word in words]
    assert positions == sorted(positions)


def test_no_case_yet_and_unsupported_are_said():
    for shown in (terminal.render(runs.report()), markdown.render(runs.report())):
        assert "2 no case yet" in shown
        assert "1 unsupported" in shown


def test_many_engines_still_fit():
    report = merge([runs.result("ref")] * 9)
    shown = terminal.render(report)
    assert "more engines do not fit here" in shown
    assert max(map(_columns, shown.splitlines())) <= 80


# -- markdown ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", runs.HOSTILE)
def test_markdown_text_shows_as_itself(text):
    from reports.text import visible

    shown = escape(visible(text))
    assert "<" not in shown
    assert "\n" not in shown
    assert not re.search(r"(?<!\\)[|*`\[\]~]", shown)
    assert "@" not in shown


def test_markdown_code_spans_hold():
    assert code("``` `") == "```` ``` ` ````"
    assert code("") == ""
    assert prose("a `b` c") == "a `b` c"
    assert prose("odd ` tick") == "odd \\` tick"


def test_markdown_fences_are_longer_than_what_they_hold():
    shown = markdown.render(runs.hostile(), details=100)
    fence = None
    for line in shown.splitlines():
        match = re.match(r"^(`{3,})(\w*)$", line)
        if fence is None and match and match.group(2):
            fence = match.group(1)
        elif fence is not None and line == fence:
            fence = None
        elif fence is None:
            # outside code, no tag but our own
            assert not re.search(r"<(?!/?(details|summary)>)", line) or line.startswith("`") or "`" in line, line
    assert fence is None


def test_markdown_tables_are_rectangular():
    for report in (runs.report(), runs.hostile(), runs.report("mx")):
        columns = None
        for line in markdown.render(report).splitlines():
            if line.startswith("| "):
                found = len(re.findall(r"(?<!\\)\|", line))
                assert columns in (None, found), line
                columns = found
            else:
                columns = None


def test_markdown_is_bounded():
    assert len(markdown.render(runs.hostile(), details=100)) < 400_000


# -- badge ---------------------------------------------------------------------------------------------------


def test_badge_is_xml_and_says_it_in_words():
    for engine, words in (
        ("ref", "conforms, 10 rules"),
        ("acme", "does not conform, MUST 20.0 %"),
        ("mx", "2 surprises"),
    ):
        root = ElementTree.fromstring(badge.render(runs.report(engine)))
        assert root.get("aria-label") == f"gluon conformance: {words}"
        assert root.find("{http://www.w3.org/2000/svg}title").text == f"gluon conformance: {words}"


@pytest.mark.parametrize("text", runs.HOSTILE)
def test_badge_escapes(text):
    from reports.text import visible

    drawn = badge.draw(visible(text), "conforms", "#16794f")
    root = ElementTree.fromstring(drawn)
    tags = {element.tag.rsplit("}", 1)[-1] for element in root.iter()}
    assert tags == {"svg", "title", "clipPath", "rect", "g", "text"}


def test_badge_speaks_of_one_engine():
    with pytest.raises(ValueError, match=r"a badge speaks of one engine, got 3: refengine, mxnet-1\.9\.1, acme-gluon"):
        badge.render(runs.report())
