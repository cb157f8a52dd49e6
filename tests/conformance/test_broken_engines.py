"""Whatever an engine does costs exactly one case, and the right one; nothing is lost and outcomes add up."""

from __future__ import annotations

import functools

import pytest
from miniature import Recorder, mini_engine, outcomes, run_mini

from conformance.engine import Timeouts
from conformance.errors import EngineFault
from conformance.outcome import CaseResult, Outcome, counts
from conformance.session import Run

CASES = 10
VICTIM = "MINI-DOUBLE-001/doubles"
BLOCKED = {"MINI-HALF-001/halves_what_was_doubled": "blocked", "MINI-QUARTER-001/quarters": "blocked"}


def check_sums(run: Run) -> None:
    assert len(run.results) == len(run.selected) == CASES
    assert [result.id for result in run.results] == sorted({result.id for result in run.results})
    assert sum(counts(run.results).values()) == CASES
    assert run.fault is None


@functools.cache
def usual(engine: str) -> Run:
    """The run with nothing special, once for all tests that look at it."""
    return run_mini(engine)


def of(run: Run, case: str) -> CaseResult:
    return next(result for result in run.results if result.id == case)


def test_sound_engine_passes_everything() -> None:
    run = run_mini("sound")
    check_sums(run)
    assert outcomes(run.results) == {}
    assert run.ready["version"] == "1.0"


@pytest.mark.parametrize(
    ("engine", "outcome", "told"),
    [
        ("segfaults", "crash", "SIGSEGV"),
        ("aborts", "crash", "SIGABRT"),
        ("exits", "crash", "exit status 0"),
        ("leaves_child", "crash", "exit status 1"),
        ("hangs", "timeout", "no end within 1.5 s"),
        ("hangs_in_c", "timeout", "no end within 1.5 s"),
        ("floods_forever", "timeout", "no end within 1.5 s"),
        ("garbles", "crash", "wrote into the harness's own pipe"),
        ("forges", "crash", "wrote into the harness's own pipe"),
        ("closes", "crash", ""),
        ("closes_and_hangs", "crash", "closed the harness's own pipe and lived on"),
        ("floods", "fail", "expected 8, got 9"),
        ("garbage", "fail", "expected 8, got 9"),
        ("swallows_stdout", "fail", "expected 8, got 9"),
        ("forks", "fail", "expected 8, got 9"),
        ("wrong", "fail", "expected 8, got 9"),
        ("agrees", "fail", "expected 8, got as you like"),
        ("quits", "error", "SystemExit"),
        ("interrupts", "error", "KeyboardInterrupt"),
        ("raises_base", "error", "Strange whose str() raises"),
        ("recurses", "error", "RecursionError"),
    ],
)
def test_costs_the_one_case_that_it_breaks(engine: str, outcome: str, told: str) -> None:
    run = usual(engine)
    check_sums(run)
    assert outcomes(run.results) == {VICTIM: outcome, **BLOCKED}
    result = of(run, VICTIM)
    assert told in (result.message or "")
    assert result.failure is not None
    assert of(run, "MINI-QUARTER-001/quarters").blocked_by == ("MINI-DOUBLE-001",)
    assert of(run, "MINI-QUARTER-001/quarters").message == "blocked by MINI-DOUBLE-001"


def test_what_an_engine_does_to_clocks_and_json_reaches_no_result() -> None:
    run = run_mini("turns_clocks")
    check_sums(run)
    assert outcomes(run.results) == {}
    assert all(0 <= result.seconds < 10 for result in run.results)


@pytest.mark.parametrize("jobs", [2, 3])
def test_several_lanes_lose_nothing(jobs: int) -> None:
    run = run_mini("segfaults", jobs=jobs)
    check_sums(run)
    assert outcomes(run.results) == {VICTIM: "crash", **BLOCKED}


@pytest.mark.parametrize(
    ("engine", "case", "outcome"),
    [
        ("changes_inputs", "MINI-ADD-001/adds_up[small]", "fail"),
        ("changes_arrays", "MINI-ADD-002/adds_up_an_array", "error"),
        ("swallows_errors", "MINI-ERROR-001/refuses_text", "fail"),
    ],
)
def test_quietly_wrong_engine_costs_one_case(engine: str, case: str, outcome: str) -> None:
    run = run_mini(engine)
    check_sums(run)
    assert outcomes(run.results) == {case: outcome}


def test_crash_shows_what_was_printed_last() -> None:
    failure = of(usual("aborts"), VICTIM).failure
    assert failure is not None
    assert "assertion failed: value != 4" in failure.output


def test_hang_shows_where() -> None:
    for engine in ("hangs", "hangs_in_c"):
        failure = of(usual(engine), VICTIM).failure
        assert failure is not None
        assert f"{engine}.py" in failure.output
        assert "in double" in failure.output


def test_flood_is_bounded_and_keeps_both_ends() -> None:
    failure = of(usual("floods"), VICTIM).failure
    assert failure is not None
    assert failure.output.startswith("first words")
    assert failure.output.endswith("last words")
    assert "bytes ...]" in failure.output
    assert len(failure.output) < 20000


def test_output_is_charged_to_the_case_that_made_it() -> None:
    run = usual("garbage")
    failure = of(run, VICTIM).failure
    assert failure is not None
    assert '"outcome": "pass"' in failure.output
    assert "{not json" in failure.output


@pytest.mark.parametrize("engine", ["messes_up", "switches", "leaves_harmless_thread"])
def test_surroundings_are_restored_after_each_case(engine: str) -> None:
    run = run_mini(engine)
    check_sums(run)
    assert outcomes(run.results) == {}


def test_worker_that_cannot_be_restored_is_replaced() -> None:
    watcher = Recorder()
    run = run_mini("cannot_be_restored", observer=watcher)
    check_sums(run)
    assert outcomes(run.results) == {}
    assert any(VICTIM in note and "broken switch" in note for note in watcher.notes)


def test_case_that_is_poisoned_by_an_earlier_one_is_unstable() -> None:
    watcher = Recorder()
    run = run_mini("poisons", observer=watcher)
    check_sums(run)
    assert outcomes(run.results) == {VICTIM: "unstable", **BLOCKED}
    message = of(run, VICTIM).message or ""
    assert "crash after 3 other cases" in message
    assert "pass when run alone" in message
    assert "MINI-ADD-002/adds_up_an_array" in message
    assert any("trying it alone" in note for note in watcher.notes)


def test_case_that_passes_alone_is_told_from_its_first_run() -> None:
    """Where the victim is the first case of its worker there is nothing to blame, so it is not run twice."""
    watcher = Recorder()
    run = run_mini("segfaults", observer=watcher, selection=_only(VICTIM))
    assert [str(result.outcome) for result in run.results] == ["crash"]
    assert watcher.notes == []


def _only(*cases: str) -> object:
    from conformance.selection import Selection

    return Selection(only=frozenset(cases))


def test_thread_that_is_left_over_is_charged_to_the_case_that_left_it() -> None:
    run = run_mini("leaves_thread")
    check_sums(run)
    assert outcomes(run.results) == {VICTIM: "crash", **BLOCKED}
    result = of(run, VICTIM)
    assert "it left something running" in (result.message or "")
    assert "exit status 7" in (result.message or "")


@pytest.mark.parametrize(
    ("engine", "told"),
    [
        ("fails_at_import", "stage import: ImportError: a library is missing: libengine.so.1"),
        ("exits_at_import", "stage import: SystemExit: no licence"),
        ("dies_at_import", "stage import: the process ended with exit status 9"),
        ("hangs_at_import", "stage import: it was not ready after 2 s"),
    ],
)
def test_engine_that_does_not_import_is_named_with_the_stage(engine: str, told: str) -> None:
    with pytest.raises(EngineFault) as caught:
        run_mini(engine, engine=mini_engine(engine, timeouts=Timeouts(2.0, 1.5)))
    assert told in str(caught.value)
    assert caught.value.exit_code == 3
    if engine == "fails_at_import":
        assert "words before the end" in str(caught.value)
    if engine == "dies_at_import":
        assert "cannot find the device" in str(caught.value)
    if engine == "hangs_at_import":
        assert "hangs_at_import.py" in str(caught.value)


def test_empty_module_stops_at_the_first_stage_of_smoke() -> None:
    with pytest.raises(EngineFault, match=r"stops at stage version: .*expected a version string") as caught:
        run_mini("empty", smoke=True)
    assert "Set `__version__`" in caught.value.hint


def test_engine_without_arrays_stops_at_that_stage() -> None:
    with pytest.raises(EngineFault, match="stops at stage array"):
        run_mini("sound", smoke=True)


def test_engine_that_dies_in_smoke_is_named_with_the_stage() -> None:
    with pytest.raises(EngineFault, match="stops at stage array: the process ended with exit status 5"):
        run_mini("dies_in_smoke", smoke=True)


def test_empty_module_without_smoke_fails_every_case_and_loses_none() -> None:
    run = run_mini("empty")
    check_sums(run)
    assert counts(run.results) == {"fail": 1, "error": 6, "unsupported": 1, "blocked": 2}


def test_absent_thing_of_an_optional_rule_is_unsupported() -> None:
    from miniature import mini_rules

    run = run_mini("empty", rules=mini_rules(MINI_ZERO_001={"level": "MAY"}))
    assert of(run, "MINI-ZERO-001/is_zero").outcome is Outcome.UNSUPPORTED
