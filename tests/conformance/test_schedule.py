"""Order, blocking, and that nothing is lost."""

from __future__ import annotations

import pytest

from conformance.errors import HarnessFault
from conformance.outcome import CaseResult, Outcome, counts
from conformance.schedule import Schedule, dependency_order
from conformance.selection import CaseInfo


def case(letter: str, *after: str) -> CaseInfo:
    return CaseInfo(f"R-{letter}-001/x", f"R-{letter}-001", after=tuple(f"R-{other}-001" for other in after))


def schedule(*cases: CaseInfo, known: bool = False) -> Schedule:
    return Schedule(cases, lambda result: known, lambda result: None)


def end(plan: Schedule, letter: str, outcome: Outcome = Outcome.PASS) -> None:
    plan.settle(CaseResult(f"R-{letter}-001/x", f"R-{letter}-001", outcome))


def letters(cases: list[CaseInfo]) -> str:
    return "".join(item.id[2] for item in cases)


def state(plan: Schedule) -> dict[str, str]:
    return {result.id[2]: str(result.outcome) for result in plan.results()}


def test_what_others_stand_on_comes_first() -> None:
    ordered = dependency_order([case("A", "B"), case("B", "C"), case("C"), case("D")])
    assert letters(ordered) == "CDBA"


def test_circle_is_a_fault_that_names_it() -> None:
    with pytest.raises(HarnessFault, match="R-A-001 -> R-B-001 -> R-C-001 -> R-A-001"):
        dependency_order([case("A", "B"), case("B", "C"), case("C", "A")])


def test_case_that_stands_on_its_own_rule_is_a_circle() -> None:
    with pytest.raises(HarnessFault, match="R-A-001 -> R-A-001"):
        dependency_order([case("A", "A")])


def test_case_waits_for_what_it_stands_on() -> None:
    plan = schedule(case("A", "B"), case("B"), case("C"))
    assert letters(plan.take(5)) == "BC"
    assert letters(plan.take(5)) == ""
    assert not plan.finished
    end(plan, "B")
    assert letters(plan.take(5)) == "A"
    assert plan.finished


@pytest.mark.parametrize("outcome", [Outcome.FAIL, Outcome.ERROR, Outcome.CRASH, Outcome.TIMEOUT, Outcome.UNSTABLE])
def test_failure_blocks_what_stands_on_it_and_names_the_first_cause(outcome: Outcome) -> None:
    plan = schedule(case("A"), case("B", "A"), case("C", "B"), case("D"))
    assert letters(plan.take(2)) == "AD"
    end(plan, "A", outcome)
    assert plan.take(5) == []
    end(plan, "D")
    assert state(plan) == {"A": str(outcome), "B": "blocked", "C": "blocked", "D": "pass"}
    assert [result.blocked_by for result in plan.results()] == [(), ("R-A-001",), ("R-A-001",), ()]


@pytest.mark.parametrize("outcome", [Outcome.PASS, Outcome.UNSUPPORTED])
def test_what_did_not_fail_blocks_nothing(outcome: Outcome) -> None:
    plan = schedule(case("A"), case("B", "A"))
    plan.take(1)
    end(plan, "A", outcome)
    assert letters(plan.take(5)) == "B"


def test_explained_failure_blocks_nothing() -> None:
    plan = schedule(case("A"), case("B", "A"), known=True)
    plan.take(1)
    end(plan, "A", Outcome.FAIL)
    assert letters(plan.take(5)) == "B"


def test_rule_that_is_not_selected_blocks_nothing() -> None:
    assert letters(schedule(case("B", "A")).take(5)) == "B"


def test_all_cases_of_a_rule_must_have_ended() -> None:
    second = CaseInfo("R-A-001/y", "R-A-001")
    plan = schedule(case("A"), second, case("B", "A"))
    assert len(plan.take(5)) == 2
    end(plan, "A")
    assert plan.take(5) == []
    plan.settle(CaseResult(second.id, second.rule, Outcome.FAIL))
    assert plan.take(5) == []
    assert state(plan)["B"] == "blocked"


def test_what_was_given_back_is_handed_out_again() -> None:
    plan = schedule(case("A"), case("B"))
    taken = plan.take(2)
    plan.give_back(taken)
    assert plan.take(2) == taken


def test_correction_replaces_a_result() -> None:
    plan = schedule(case("A"), case("B", "A"))
    plan.take(1)
    end(plan, "A")
    end(plan, "A", Outcome.CRASH)
    assert plan.take(5) == []
    assert counts(plan.results()) == {"crash": 1, "blocked": 1}


def test_stopped_schedule_still_adds_up() -> None:
    plan = schedule(case("A"), case("B"), case("C", "B"))
    plan.take(1)
    end(plan, "A")
    plan.stop()
    assert plan.take(5) == []
    assert plan.finished
    assert counts(plan.results()) == {"pass": 1, "not-run": 2}


def test_set_aside_ends_cases_before_they_run() -> None:
    plan = schedule(case("A"), case("B"))
    plan.set_aside(lambda item: CaseResult(item.id, item.rule, Outcome.UNSUPPORTED) if item.id[2] == "B" else None)
    assert letters(plan.take(5)) == "A"
    assert state(plan) == {"A": "not-run", "B": "unsupported"}
