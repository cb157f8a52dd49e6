"""The kill matrix, on a miniature engine whose mutants are known: what is killed, what survives, and why."""

from __future__ import annotations

import json
import signal
import threading
from dataclasses import replace
from typing import Any

import pytest
from miniature import mini_engine, mini_rules

from conformance import kill_report
from conformance.case import load_suite
from conformance.catalogue import Catalogue, _below
from conformance.errors import EngineFault, UsageFault
from conformance.exit_codes import ExitCode
from conformance.kill import KillReport, KillRun, Tried, Verdict
from conformance.mutants import load_mutants


def catalogue() -> Catalogue:
    rules = mini_rules(MINI_ZERO_001={"level": "MAY"}, MINI_NOCASE_001={"level": "SHOULD"})
    cases = _below("minisuite", load_suite("minisuite"))
    return Catalogue(rules, cases, _below("minimutants", load_mutants("minimutants")), ())


def kill(engine: str = "sound", **fields: Any) -> KillReport:
    given = {"timeout": 1.0, "suite": "minisuite", "package": "minimutants", "smoke": False, "nulls": False, **fields}
    return KillRun(mini_engine(engine), catalogue(), **given).run()


@pytest.fixture(scope="module")
def report() -> KillReport:
    return kill(nulls=True)


def tried(report: KillReport, name: str) -> Tried:
    (found,) = [item for item in report.tried if item.mutant.endswith(f".{name}")]
    return found


def verdicts(report: KillReport) -> dict[str, str]:
    return {f"{item.mutant} {verdict.rule}": str(verdict.verdict) for item, verdict in report.verdicts()}


EXPECTED = {
    "faulty.breaks_what_is_not_there MINI-NOCASE-001": "survived",
    "faulty.half_cannot_be_broken MINI-HALF-001": "error",
    "faulty.half_dies_at_once MINI-HALF-001": "error",
    "faulty.half_stays_sound MINI-HALF-001": "survived",
    "good.double_dies MINI-DOUBLE-001": "killed",
    "good.special_is_broken MINI-SPECIAL-001": "unsupported",
    "good.total_forgets_the_first MINI-ADD-001": "killed",
    "good.total_forgets_the_first MINI-ADD-002": "killed",
    "good.wait_never_ends MINI-WAIT-001": "killed",
}


def test_each_mutant_gets_its_verdict(report: KillReport) -> None:
    assert report.forked
    assert verdicts(report) == EXPECTED
    assert report.unbroken == {"pass": 6, "unsupported": 1}, "only the cases of the rules that mutants name"


def test_a_fresh_worker_for_each_gives_the_same_verdicts() -> None:
    found = kill(fresh=True)
    assert not found.forked
    assert verdicts(found) == EXPECTED


def test_a_kill_names_the_cases_and_how_they_ended(report: KillReport) -> None:
    (added, array) = tried(report, "total_forgets_the_first").verdicts
    assert [(ending.case, str(ending.outcome)) for ending in added.killers] == [
        ("MINI-ADD-001/adds_up[large]", "fail"),
        ("MINI-ADD-001/adds_up[small]", "fail"),
    ]
    assert added.judged == 2
    assert "expected 12, got 9" in added.killers[0].message
    assert array.killers[0].case == "MINI-ADD-002/adds_up_an_array"
    (died,) = tried(report, "double_dies").verdicts
    assert str(died.killers[0].outcome) == "crash"
    assert "exit status 3" in died.killers[0].message
    (hung,) = tried(report, "wait_never_ends").verdicts
    assert str(hung.killers[0].outcome) == "timeout"


def test_a_survivor_and_an_error_say_why(report: KillReport) -> None:
    (survived,) = tried(report, "half_stays_sound").verdicts
    assert survived.reason == "all 1 own cases passed: halves_what_was_doubled"
    (no_case,) = tried(report, "breaks_what_is_not_there").verdicts
    assert no_case.reason == "the rule has no case"
    (raised,) = tried(report, "half_cannot_be_broken").verdicts
    assert "AttributeError" in raised.reason
    (died,) = tried(report, "half_dies_at_once").verdicts
    assert "exit status 4" in died.reason
    (lacking,) = tried(report, "special_is_broken").verdicts
    assert "1 of 1 own cases do not pass on the unbroken engine (unsupported: needs gpu)" in lacking.reason


def test_the_gates(report: KillReport) -> None:
    assert report.exit_code is ExitCode.DIFFERS
    text = "\n".join(report.problems)
    assert "faulty.half_stays_sound at MINI-HALF-001: survived" in text
    assert "faulty.half_cannot_be_broken at MINI-HALF-001: error" in text
    assert "breaks_what_is_not_there breaks MINI-NORULE-001, which is no rule" in text
    assert "MINI-QUARTER-001 is a MUST with a case: it needs a mutant" in text
    assert "MINI-ERROR-001 is a MUST with a case: it needs a mutant" in text
    assert "MINI-ZERO-001" not in text, "a MAY needs no mutant"
    assert "MINI-TRIVIAL-001" not in text, "a rule without a case needs none either"
    assert "null engine nothing passes MINI-WAIT-001: MINI-WAIT-001/waits" in text


def test_null_engines_pass_only_what_proves_nothing(report: KillReport) -> None:
    assert {null.engine: list(null.passed) for null in report.nulls} == {
        "zeros": [],
        "echo": ["MINI-HALF-001"],
        "nothing": ["MINI-WAIT-001"],
        "raises": [],
    }
    assert all(null.cases == 8 and not null.error for null in report.nulls), "MUST rules only, without hardware"


def test_filters_and_a_clean_result() -> None:
    found = kill(mutants=["good.total_*", "double_dies"])
    assert [item.mutant for item in found.tried] == ["good.double_dies", "good.total_forgets_the_first"]
    assert found.problems == []
    assert found.exit_code is ExitCode.OK
    assert set(found.unbroken) == {"pass"}
    found = kill(rules=["mini-add-*"])
    assert list(verdicts(found)) == [
        "good.total_forgets_the_first MINI-ADD-001", "good.total_forgets_the_first MINI-ADD-002",
    ]  # fmt: skip
    assert found.exit_code is ExitCode.OK


def test_the_full_matrix_says_who_else_notices() -> None:
    found = kill(matrix="full", mutants=["total_forgets_the_first", "double_dies"])
    assert tried(found, "total_forgets_the_first").others == ()
    assert set(tried(found, "double_dies").others) == {"MINI-ERROR-001", "MINI-HALF-001"}, "three crashes end a trial"


def test_what_fails_unbroken_is_no_kill() -> None:
    engine = replace(mini_engine("sound"), setup="mx.total = lambda values: 12")
    run = KillRun(
        engine, catalogue(), mutants=["total_forgets_the_first"], timeout=1.0, suite="minisuite",
        package="minimutants", smoke=False, nulls=False,
    )  # fmt: skip
    (found,) = run.run().tried
    some, none = found.verdicts
    # Of MINI-ADD-001 only the case whose total is 12 passes on the unbroken engine, and the mutant does not change it.
    assert (some.rule, some.verdict, some.killers) == ("MINI-ADD-001", Verdict.UNJUDGED, ())
    assert "1 of 2 own cases do not pass on the unbroken engine" in some.reason
    assert (none.rule, none.verdict) == ("MINI-ADD-002", Verdict.UNJUDGED)
    assert sum("unjudged" in problem for problem in run.run().problems) == 2, "what no case could judge is a gap"


def test_what_nothing_could_judge_is_no_success() -> None:
    """Neither where no case passes in time, nor where the engine lacks what they need, nor where nothing is chosen."""
    late = kill(mutants=["total_forgets_the_first"], timeout=1e-4)
    assert late.exit_code is ExitCode.DIFFERS
    assert all("unjudged" in problem for problem in late.problems)
    assert late.problems
    lacking = kill(mutants=["special_is_broken"])
    assert (lacking.problems, lacking.exit_code) == ([], ExitCode.NOTHING)
    assert "no mutant could be judged" in kill_report.headline(lacking)
    none = kill(rules=["MINI-ZERO-001"], nulls=True)
    assert (none.tried, none.problems, none.exit_code) == ((), [], ExitCode.NOTHING)
    assert "no mutant could be judged" in kill_report.headline(none)


def test_an_interrupted_run_shows_what_was_judged() -> None:
    main = threading.get_ident()

    def stop(done: int, of: int) -> None:
        if done == 3:
            signal.pthread_kill(main, signal.SIGINT)  # as from the keyboard

    found = kill(mutants=["good.*"], jobs=1, progress=stop)
    assert found.exit_code is ExitCode.INTERRUPTED
    assert 2 <= len(found.tried) < 4 == found.chosen
    assert {verdict for item, verdict in verdicts(found).items()} <= {"killed", "unsupported"}
    assert f"interrupted after {len(found.tried)} of 4 mutants" in kill_report.headline(found)
    assert json.loads(kill_report.as_json(found))["interrupted"] is True


def test_an_engine_that_cannot_be_forked_gets_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []
    engine = replace(
        mini_engine("sound"),
        setup="import os\nhome = os.getpid()\ndouble = mx.double\n"
        "mx.double = lambda value: double(value) if os.getpid() == home else os._exit(9)",
    )
    run = KillRun(
        engine, catalogue(), mutants=["good.*"], timeout=1.0, suite="minisuite", package="minimutants", smoke=False,
        nulls=False, note=notes.append,
    )  # fmt: skip
    found = run.run()
    assert not found.forked
    assert "does not survive being forked" in notes[-1]
    assert verdicts(found)["good.total_forgets_the_first MINI-ADD-001"] == "killed"


def test_wrong_use_and_dead_engines() -> None:
    with pytest.raises(UsageFault, match=r"no mutant matches 'good\.doubel_dies'"):
        kill(mutants=["good.doubel_dies"])
    with pytest.raises(UsageFault, match="no rule matches 'MINI-AD-001'"):
        kill(rules=["MINI-AD-001"])
    with pytest.raises(EngineFault, match="stops at stage import"):
        kill("fails_at_import", mutants=["good.*"])


def test_renderings(report: KillReport, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(kill_report.as_json(report))
    assert document["counts"] == {"killed": 4, "survived": 2, "unjudged": 0, "unsupported": 1, "error": 2}
    assert document["exit_code"] == 1
    assert document["problems"] == report.problems
    by_id = {item["id"]: item for item in document["mutants"]}
    assert by_id["good.double_dies"]["rules"][0]["killed_by"][0]["outcome"] == "crash"
    text = kill_report.as_markdown(report)
    row = "| MINI-ADD-001 | good.total_forgets_the_first | killed | 2 of 2: adds_up\\[large\\], adds_up\\[small\\] |"
    assert row in text
    assert "| nothing | 8 | MINI-WAIT-001 |" in text
    kill_report.print_terminal(report, every=False)
    printed = capsys.readouterr().out
    assert "half_stays_sound" in printed
    assert "good.double_dies" not in printed, "killed ones only on demand"
    last = printed.rstrip().split("\n")[-1]
    assert last.startswith("sound 1.0: 8 mutants (4 killed, 2 survived, 1 unsupported, 2 error), 4 null engines; ")
    kill_report.print_terminal(report, every=True)
    assert "good.double_dies" in capsys.readouterr().out


def test_the_command(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from conformance.cli.mutants import command

    def run(*arguments: str) -> Any:
        return CliRunner().invoke(command, arguments)

    listed = run("--list", "--mutant", "step_returns_itself")
    assert listed.exit_code == 0
    assert "trainer_core.step_returns_itself  conformance/mutants/trainer_core.py:" in listed.output
    assert "breaks TRAINER-CORE-001: " in listed.output
    killed = run("--mutant", "trainer_core.step_returns_itself", "--format", "json", "--jobs", "1")
    assert killed.exit_code == 0, killed.output
    document = json.loads(killed.output)
    assert document["mutants"][0]["rules"][0]["verdict"] == "killed"
    assert document["null_engines"] == [], "left out where mutants are chosen by name"
    assert run("--mutant", "no.such.mutant").exit_code == int(ExitCode.USAGE)
    null = run("--engine", "conformance.nulls.zeros", "--mutant", "step_returns_itself")
    assert null.exit_code == int(ExitCode.ENGINE), null.output
    monkeypatch.chdir(tmp_path)
    for package in ("no_such_package", "json.decoder", "json", "a..b", ""):
        wrong = run("--package", package)
        assert wrong.exit_code == int(ExitCode.USAGE), package
        assert "What to do: " in wrong.output
