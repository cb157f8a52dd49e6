"""A lane with workers that die at awkward moments: between two cases, before the first, again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.errors import EngineFault
from conformance.lane import Lane
from conformance.outcome import CaseResult, Outcome
from conformance.process import Ended, Late, Reply
from conformance.schedule import Schedule
from conformance.selection import CaseInfo

CASES = [CaseInfo(f"A-{letter}-001/x", f"A-{letter}-001") for letter in "ABCD"]


class FakeWorker:
    """Answers commands by a script: case letter -> what happens. Keeps what it was asked."""

    def __init__(self, behave: Callable[[FakeWorker, str], Reply | None]) -> None:
        self.behave, self.replies, self.asked, self.closed = behave, [], [], False  # type: ignore[var-annotated]
        self.done: list[str] = []

    def send(self, message: dict[str, Any]) -> None:
        for identifier in message.get("run", ()):
            self.asked.append(identifier[2])
            self.replies.append(identifier)
        if "linger" in message:
            self.replies.append("linger")

    def receive(self, deadline: float) -> Reply:
        following = self.replies[0] if self.replies else ""
        if following == "linger":
            self.replies.pop(0)
            return self.behave(self, "linger after " + self.done[-1]) or {"lingered": True}
        letter = following[2:3]
        if following.endswith("!"):
            self.replies.pop(0)
            happens = self.behave(self, letter)
            if happens is None:
                self.done.append(letter)
                return {"end": following[:-1], "outcome": "pass", "seconds": 0.0, "threads": 1}
            return happens
        between = self.behave(self, "before " + letter)
        if between is not None:
            return between
        self.replies[0] = following + "!"
        return {"start": following}

    def output_until(self, mark: int) -> str:
        return ""

    def last_words(self) -> str:
        return "last words"

    stacks = last_words

    def kill(self) -> None:
        """Nothing."""

    def close(self) -> None:
        self.closed = True


def convert(case: CaseInfo, answer: dict[str, Any], printed: str) -> CaseResult:
    return CaseResult(case.id, case.rule, Outcome(answer["outcome"]))


def run(behave: Callable[[FakeWorker, str], Reply | None]) -> tuple[dict[str, str], list[FakeWorker], list[str]]:
    schedule = Schedule(CASES, lambda result: False, lambda result: None)
    workers: list[FakeWorker] = []
    notes: list[str] = []

    def start() -> Any:
        workers.append(FakeWorker(behave))
        return workers[-1]

    Lane(schedule, start, lambda case: 1.0, convert, notes.append).run()
    return {result.id[2]: str(result.outcome) for result in schedule.results()}, workers, notes


def test_nothing_special() -> None:
    found, workers, notes = run(lambda worker, moment: None)
    assert found == dict.fromkeys("ABCD", "pass")
    assert len(workers) == 1
    assert workers[0].closed
    assert notes == []


def test_death_between_two_cases_convicts_the_one_that_does_it_alone() -> None:
    def behave(worker: FakeWorker, moment: str) -> Reply | None:
        return Ended(-11) if moment in ("before C", "linger after B") and "B" in worker.done else None

    found, _, notes = run(behave)
    assert found == {"A": "pass", "B": "crash", "C": "pass", "D": "pass"}
    assert any("after A-B-001/x" in note for note in notes)


def test_death_between_two_cases_without_a_culprit_is_unstable() -> None:
    died: list[bool] = []

    def behave(worker: FakeWorker, moment: str) -> Reply | None:
        if moment == "before C" and not died:
            died.append(True)
            return Ended(1)
        return None

    found, _, _ = run(behave)
    assert found == {"A": "pass", "B": "unstable", "C": "pass", "D": "pass"}


def test_hang_between_two_cases_is_looked_into_as_well() -> None:
    def behave(worker: FakeWorker, moment: str) -> Reply | None:
        return Late() if moment in ("before C", "linger after B") and "B" in worker.done else None

    found, _, _ = run(behave)
    assert found == {"A": "pass", "B": "timeout", "C": "pass", "D": "pass"}


def test_thread_of_an_earlier_case_is_found_behind_an_innocent_one() -> None:
    def behave(worker: FakeWorker, moment: str) -> Reply | None:
        if "A" in worker.done and moment in ("C", "linger after A"):
            return Ended(7)
        return None

    found, _, _ = run(behave)
    assert found == {"A": "crash", "B": "pass", "C": "pass", "D": "pass"}


def test_other_end_alone_is_unstable() -> None:
    def behave(worker: FakeWorker, moment: str) -> Reply | None:
        if moment != "C":
            return None
        return Ended(-6) if worker.done else Late()

    found, _, _ = run(behave)
    assert found == {"A": "pass", "B": "pass", "C": "unstable", "D": "pass"}


def test_workers_that_end_before_every_case_are_given_up() -> None:
    with pytest.raises(EngineFault, match="3 workers in a row ended before any case") as caught:
        run(lambda worker, moment: Ended(1))
    assert caught.value.details == "last words"


def test_nonsense_on_the_pipe_is_charged_to_the_case() -> None:
    def behave(worker: FakeWorker, moment: str) -> Reply | None:
        return {"end": "A-Z-001/other", "outcome": "pass"} if moment == "B" else None

    found, _, _ = run(behave)
    assert found == {"A": "pass", "B": "crash", "C": "pass", "D": "pass"}
