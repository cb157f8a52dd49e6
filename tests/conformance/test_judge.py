"""Waivers, surprises, verdicts and exit codes."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from miniature import mini_engine, mini_rules, statuses

from conformance.exit_codes import ExitCode, gravest
from conformance.judge import explained, judge
from conformance.outcome import CaseResult, Outcome
from conformance.waivers import Waiver

CONFORMING = mini_engine("sound")
RELEASE = mini_engine("sound", inventory="old", missing={"dist": "not built in"})
DAY = datetime.date(2025, 1, 1)


def result(rule: str, outcome: str, name: str = "x", **fields: Any) -> CaseResult:
    return CaseResult(f"MINI-{rule}-001/{name}", f"MINI-{rule}-001", Outcome(outcome), **fields)


def waiver(identifier: str) -> Waiver:
    return Waiver(identifier, "a good reason", DAY, DAY, None, "waivers.toml:3")


@pytest.mark.parametrize("outcome", ["fail", "error", "crash", "timeout", "unstable"])
def test_one_failure_does_not_conform(outcome: str) -> None:
    found = judge(CONFORMING, mini_rules(), [result("ADD", "pass"), result("DOUBLE", outcome)])
    assert (found.verdict, found.exit_code) == ("does-not-conform", ExitCode.DIFFERS)


def test_passes_and_unsupported_conform() -> None:
    found = judge(CONFORMING, mini_rules(), [result("ADD", "pass"), result("SPECIAL", "unsupported")])
    assert (found.verdict, found.exit_code) == ("conforms", ExitCode.OK)


@pytest.mark.parametrize("results", [[], [result("SPECIAL", "unsupported")]])
def test_nothing_run_is_not_conforming(results: list[CaseResult]) -> None:
    found = judge(CONFORMING, mini_rules(), results)
    assert (found.verdict, found.exit_code) == ("nothing-run", ExitCode.NOTHING)


def test_broken_off_is_never_a_pass() -> None:
    results = [result("ADD", "pass"), result("DOUBLE", "not-run")]
    assert judge(CONFORMING, mini_rules(), results).exit_code is ExitCode.ENGINE
    assert judge(CONFORMING, mini_rules(), results, broken=True).verdict == "incomplete"
    assert judge(CONFORMING, mini_rules(), results, interrupted=True).exit_code is ExitCode.INTERRUPTED


def test_waived_failure_conforms_and_carries_its_waiver() -> None:
    found = judge(CONFORMING, mini_rules(), [result("ADD", "pass"), result("DOUBLE", "crash")],
                  [waiver("MINI-DOUBLE-001")])
    assert found.exit_code is ExitCode.OK
    assert found.results[1].outcome is Outcome.WAIVED
    assert found.results[1].waiver is not None
    assert found.results[1].waiver["where"] == "waivers.toml:3"


def test_waiver_of_a_case_covers_that_case_only() -> None:
    found = judge(CONFORMING, mini_rules(), [result("DOUBLE", "fail", "x"), result("DOUBLE", "fail", "y")],
                  [waiver("MINI-DOUBLE-001/y")])
    assert [str(item.outcome) for item in found.results] == ["fail", "waived"]


def test_stale_waiver_is_named_with_its_line_and_fails_a_strict_run() -> None:
    results = [result("ADD", "pass"), result("DOUBLE", "pass")]
    found = judge(CONFORMING, mini_rules(), results, [waiver("MINI-DOUBLE-001")])
    assert found.stale == ("waivers.toml:3: error: MINI-DOUBLE-001 passes now; remove this waiver",)
    assert found.results[1].outcome is Outcome.UNEXPECTED_PASS
    assert found.exit_code is ExitCode.OK
    strict = judge(CONFORMING, mini_rules(), results, [waiver("MINI-DOUBLE-001")], strict=True)
    assert (strict.verdict, strict.exit_code) == ("does-not-conform", ExitCode.DIFFERS)


def test_waiver_of_a_rule_is_in_use_while_one_of_its_cases_fails() -> None:
    found = judge(CONFORMING, mini_rules(), [result("DOUBLE", "pass", "x"), result("DOUBLE", "fail", "y")],
                  [waiver("MINI-DOUBLE-001")], strict=True)
    assert found.stale == ()
    assert [str(item.outcome) for item in found.results] == ["pass", "waived"]
    assert found.exit_code is ExitCode.OK


@pytest.mark.parametrize(
    ("status", "outcomes", "surprise"),
    [
        ("holds", ["pass", "pass"], None),
        ("holds", ["pass", "fail"], "fail"),
        ("holds", ["crash", "pass"], "crash"),
        ("holds", ["unsupported"], "unsupported"),
        ("holds", ["blocked"], None),
        ("differs", ["pass", "pass"], "pass"),
        ("differs", ["pass", "fail"], None),
        ("differs", ["unsupported"], None),
        ("absent", ["pass"], "pass"),
        ("absent", ["error"], None),
        ("absent", ["unsupported"], None),
        ("untested", ["pass"], None),
        ("untested", ["fail"], None),
    ],
)
def test_surprises_go_both_ways(status: str, outcomes: list[str], surprise: str | None) -> None:
    rules = statuses("old", MINI_DOUBLE_001=status)
    results = [result("DOUBLE", outcome, f"c{number}") for number, outcome in enumerate(outcomes)]
    found = judge(RELEASE, rules, [result("ADD", "pass"), *results])
    assert [item.observed for item in found.surprises] == ([surprise] if surprise else [])
    assert found.verdict == ("surprise" if surprise else "no-surprise")
    assert found.exit_code is (ExitCode.DIFFERS if surprise else ExitCode.OK)


def test_capability_that_is_missing_on_purpose_is_no_surprise() -> None:
    rules = statuses("old", MINI_SPECIAL_001="holds")
    known = judge(RELEASE, rules, [result("ADD", "pass"), result("SPECIAL", "unsupported", missing=("dist",))])
    assert known.surprises == ()
    unknown = judge(RELEASE, rules, [result("ADD", "pass"), result("SPECIAL", "unsupported", missing=("dist", "gpu"))])
    assert [item.rule for item in unknown.surprises] == ["MINI-SPECIAL-001"]


def test_failure_of_a_release_alone_does_not_make_it_fail() -> None:
    rules = statuses("old", MINI_DOUBLE_001="differs")
    assert judge(RELEASE, rules, [result("DOUBLE", "crash")]).exit_code is ExitCode.OK


def test_explained_by_waiver_or_inventory() -> None:
    rules = statuses("old", MINI_DOUBLE_001="differs", MINI_ADD_001="holds")
    known = explained(RELEASE, rules, [waiver("MINI-ZERO-001/x")])
    assert known(result("DOUBLE", "fail"))
    assert known(result("ZERO", "fail"))
    assert not known(result("ZERO", "fail", "y"))
    assert not known(result("ADD", "fail"))
    assert not explained(CONFORMING, rules, [])(result("DOUBLE", "fail"))


def test_gravest_code_wins() -> None:
    assert gravest([ExitCode.OK, ExitCode.ENGINE, ExitCode.DIFFERS]) is ExitCode.ENGINE
    assert gravest([ExitCode.OK, ExitCode.NOTHING]) is ExitCode.NOTHING
    assert gravest([]) is ExitCode.NOTHING
    assert {code.value for code in ExitCode} == {0, 1, 2, 3, 4, 5, 130}
    assert all(code.sentence.endswith(".") for code in ExitCode)
