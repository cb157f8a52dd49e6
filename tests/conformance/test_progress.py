"""Progress: a bar on a terminal, plain lines anywhere else, both safe against what engines say."""

from __future__ import annotations

import io

import pytest

from conformance import progress as showing
from conformance.outcome import CaseResult, Outcome
from conformance.progress import Moving, Plain, first_line, progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def result(number: int, outcome: Outcome = Outcome.PASS, message: str | None = None) -> CaseResult:
    return CaseResult(f"A-B-001/case{number}", "A-B-001", outcome, message=message)


def test_the_stream_decides() -> None:
    assert isinstance(progress(io.StringIO()), Plain)
    assert isinstance(progress(Terminal()), Moving)


def test_plain_lines_name_failures_and_notes() -> None:
    stream = io.StringIO()
    with progress(stream) as shown:
        shown.started("engine", 3)
        shown.settled("engine", result(1), False)
        shown.settled("engine", result(2, Outcome.FAIL, "value:\n expected 1"), False)
        shown.settled("engine", result(3, Outcome.CRASH, "known"), True)
        shown.note("engine", "engine: making its environment")
        shown.note("engine", "trying it alone")
    assert stream.getvalue().splitlines() == [
        "engine: 3 cases", "engine: fail A-B-001/case2: value: expected 1", "engine: making its environment",
        "engine: trying it alone"]


def test_plain_lines_say_now_and_then_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(showing, "QUIET_SECONDS", 0.0)
    stream = io.StringIO()
    shown = Plain(stream)
    shown.started("engine", 2)
    shown.settled("engine", result(1), False)
    assert stream.getvalue().splitlines()[-1] == "engine: 1/2 done, 0 not passed"


def test_correction_is_not_counted_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(showing, "QUIET_SECONDS", 0.0)
    stream = io.StringIO()
    shown = Plain(stream)
    shown.started("engine", 2)
    shown.settled("engine", result(1, Outcome.FAIL, "x"), False)
    shown.settled("engine", result(1), False)
    assert stream.getvalue().splitlines()[-1] == "engine: 1/2 done, 0 not passed"


def test_bar_shows_failures_and_takes_markup_for_text() -> None:
    stream = Terminal()
    with progress(stream) as shown:
        shown.started("[red]engine", 2)
        shown.settled("[red]engine", result(1), False)
        shown.settled("[red]engine", result(2, Outcome.ERROR, "[/bold] KeyError: 'a[0]'"), False)
        shown.note("[red]engine", "a [note]")
    text = stream.getvalue()
    assert "[/bold] KeyError: 'a[0]'" in text
    assert "[red]engine: a [note]" in text
    assert "1 not passed" in text


def test_long_message_is_shortened() -> None:
    assert first_line("x" * 500).endswith("...")
    assert len(first_line("x" * 500)) == 160
    assert first_line(None) == ""
