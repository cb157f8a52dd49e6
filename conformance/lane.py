"""A lane: one worker at a time, fed with cases ahead of need, watched, and replaced when it dies or hangs."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from conformance.errors import EngineFault
from conformance.outcome import CaseResult, Failure, Outcome
from conformance.process import Ended, Garbled, Late, Reply, WorkerProcess
from conformance.schedule import Schedule
from conformance.selection import CaseInfo

#: Cases sent ahead, and how few must be left before more are sent; the ids of a batch stay well below what a pipe
#: holds.
BATCH, REFILL = 32, 12

#: How long the process is watched after a suspect case for what its threads do.
LINGER_SECONDS = 2.0
SUSPECTS = 3

#: Workers in a row that end without having finished a case, before the engine is given up.
PATIENCE = 3


@dataclass(frozen=True)
class Done:
    """A case that ended in the current worker, and how many threads it left running."""

    case: CaseInfo
    threads: int


class Lane:
    """Runs cases from a schedule until there are none.

    start: makes a fresh worker;  limit: seconds that a case may take;  convert: from the worker's answer to a result;
    note: called with a line of text about what the lane had to do.
    """

    def __init__(
        self, schedule: Schedule, start: Callable[[], WorkerProcess], limit: Callable[[CaseInfo], float],
        convert: Callable[[CaseInfo, dict[str, Any], str], CaseResult], note: Callable[[str], None],
        worker: WorkerProcess | None = None, share: int = 1,
    ) -> None:
        self._schedule, self._start, self._limit = schedule, start, limit
        self._convert, self._note, self._share = convert, note, share
        self._worker = worker
        self._before: list[Done] = []   # what ended in this worker
        self._ahead: deque[CaseInfo] = deque()
        self._fruitless = 0

    def run(self) -> None:
        """Work until the schedule is empty; raises EngineFault if no worker can be kept running."""
        try:
            self._work()
        finally:
            self._schedule.give_back(self._ahead)
            self._ahead.clear()
            self.close()

    def serve(self, schedule: Schedule) -> None:
        """Work through another schedule, and keep the worker for the next one."""
        self._schedule = schedule
        self._work()

    def _work(self) -> None:
        while True:
            if len(self._ahead) <= REFILL:
                self._refill()
            if self._ahead:
                self._one()
            elif self._schedule.finished:
                return
            else:
                self._schedule.wait(0.5)

    def close(self) -> None:
        """End the current worker, also from another thread: a wait for its answer then ends."""
        worker = self._worker
        self._worker, self._before = None, []
        if worker is not None:
            worker.close()

    def kill(self) -> None:
        """End the current worker from another thread."""
        worker = self._worker
        if worker is not None:
            worker.kill()

    # -- the usual way --------------------------------------------------------------------------------------

    def _refill(self) -> None:
        more = self._schedule.take(max(1, (BATCH - len(self._ahead)) // self._share))
        if more:
            self._current().send({"run": [case.id for case in more]})
            self._ahead.extend(more)

    def _current(self) -> WorkerProcess:
        if self._worker is None:
            self._worker, self._before = self._start(), []
        return self._worker

    def _one(self) -> None:
        """The first of the cases that were sent."""
        worker, case = self._current(), self._ahead[0]
        begun, reply, answer = _watch(worker, case, self._limit(case))
        if answer is None:
            self._lost(worker, case, begun, reply)
            return
        self._ahead.popleft()
        self._fruitless = 0
        self._settle(worker, case, answer)
        self._before.append(Done(case, int(answer.get("threads", 0))))
        if "tainted" in answer:
            self._note(f"{case.id}: surroundings not restored ({answer['tainted']}); a fresh worker starts")
            self._renew()

    def _settle(self, worker: WorkerProcess, case: CaseInfo, answer: dict[str, Any]) -> CaseResult:
        printed = worker.output_until(answer["until"]) if "until" in answer else ""
        result = self._convert(case, answer, printed)
        self._schedule.settle(result)
        return result

    def _renew(self) -> None:
        """Drop the worker; cases sent to it and not started are taken again."""
        self.close()
        self._schedule.give_back(self._ahead)
        self._ahead.clear()

    # -- when a worker dies or hangs ------------------------------------------------------------------------

    def _lost(self, worker: WorkerProcess, case: CaseInfo, begun: bool, reply: Reply) -> None:
        if self._schedule.stopped:
            self._renew()
            return
        if not begun and not isinstance(reply, Garbled):
            self._lost_between(worker, reply)
            return
        result = _casualty(worker, case, reply, self._limit(case))
        before = self._before
        self._ahead.popleft()
        self._renew()
        if not before:
            self._schedule.settle(result)  # nothing ran before it: it does this by itself
            return
        self._note(f"{case.id}: {result.message}; trying it alone")
        alone = self._alone(case)
        if alone.outcome == result.outcome or self._accuse(before):
            self._schedule.settle(alone)
        else:
            names = ", ".join(done.case.id for done in before[-3:])
            message = (f"{result.outcome} after {len(before)} other cases in the same process (last: {names}), but "
                       f"{alone.outcome} when run alone: poisoned by one of them")
            self._schedule.settle(replace(result, outcome=Outcome.UNSTABLE, message=message))

    def _lost_between(self, worker: WorkerProcess, reply: Reply) -> None:
        """The worker went away with no case running."""
        what = "it no longer answered" if isinstance(reply, Late) else str(reply)
        words = worker.stacks() if isinstance(reply, Late) else worker.last_words()
        before = self._before
        self._fruitless += 1
        self._renew()
        if not before:
            if self._fruitless >= PATIENCE:
                raise EngineFault(f"{PATIENCE} workers in a row ended before any case: {what}", details=words)
            return
        self._fruitless = 0
        last = before[-1].case
        self._note(f"after {last.id}: {what}; looking for the case that did it")
        found = self._schedule.result(last.id)
        if not self._accuse([*before[:-1], Done(last, 1)]) and found is not None:
            failure = Failure("process", doing="running the next case", expected="a process that lives", got=what,
                              output=words)
            message = f"{found.outcome}, but {what} right after it, and not when run alone"
            self._schedule.settle(replace(found, outcome=Outcome.UNSTABLE, failure=failure, message=message))

    def _alone(self, case: CaseInfo) -> CaseResult:
        """Run one case in a fresh worker, which stays for the next ones if it lives."""
        worker = self._current()
        worker.send({"run": [case.id]})
        _, reply, answer = _watch(worker, case, self._limit(case))
        if answer is None:
            result = _casualty(worker, case, reply, self._limit(case))
            self.close()
            return result
        printed = worker.output_until(answer["until"]) if "until" in answer else ""
        result = self._convert(case, answer, printed)
        self._before.append(Done(case, int(answer.get("threads", 0))))
        if "tainted" in answer:
            self.close()
        return result

    def _accuse(self, before: list[Done]) -> bool:
        """Try the cases that left threads, each alone and then left to itself; True if one is convicted."""
        mine = [done.case for done in reversed(before) if done.threads and self._schedule.result(done.case.id)]
        suspects = mine[:SUSPECTS]
        for case in suspects:
            self.close()
            self._alone(case)
            worker = self._worker
            if worker is None:
                continue
            worker.send({"linger": LINGER_SECONDS})
            reply = worker.receive(time.monotonic() + LINGER_SECONDS + self._limit(case))
            if isinstance(reply, dict):
                continue
            late = isinstance(reply, Late)
            words = worker.stacks() if late else worker.last_words()
            self.close()
            what = "the process stands still" if late else str(reply)
            message = f"{what} after the case has ended: it left something running"
            failure = Failure("process", doing="waiting after the case", expected="a process that lives and answers",
                              got=what, output=words)
            self._schedule.settle(CaseResult(case.id, case.rule, Outcome.TIMEOUT if late else Outcome.CRASH,
                                             message=message, failure=failure))
            return True
        self.close()
        return False


def _watch(worker: WorkerProcess, case: CaseInfo, limit: float) -> tuple[bool, Reply, dict[str, Any] | None]:
    """Wait for the start and the end of a case: (has it begun, the last reply, the answer or None)."""
    begun = False
    while True:
        reply = worker.receive(time.monotonic() + limit)
        if not isinstance(reply, dict):
            return begun, reply, None
        if reply.get("start") == case.id:
            begun = True
        elif reply.get("end") == case.id and _well_formed(reply):
            return begun, reply, reply
        else:
            return begun, Garbled(str(reply)[:200]), None


def _well_formed(answer: dict[str, Any]) -> bool:
    """Whether a worker can have said this; an engine that writes into the pipe may say anything."""
    seconds = answer.get("seconds")
    return (answer.get("outcome") in ("pass", "fail", "error") and isinstance(seconds, int | float)
            and math.isfinite(seconds))


def _casualty(worker: WorkerProcess, case: CaseInfo, reply: Reply, limit: float) -> CaseResult:
    """The result for a case in which the worker died, hung, or spoke nonsense."""
    if isinstance(reply, Late):
        words = worker.stacks()
        failure = Failure("timeout", doing="running the case", expected=f"an end within {limit:g} s", got="none",
                          output=words)
        return CaseResult(case.id, case.rule, Outcome.TIMEOUT, limit, f"no end within {limit:g} s", failure)
    if isinstance(reply, Ended):
        got, words = str(reply), worker.last_words()
    else:
        worker.kill()
        got, words = str(reply if isinstance(reply, Garbled) else Garbled(str(reply))), worker.last_words()
    failure = Failure("process", doing="running the case", expected="a process that lives", got=got, output=words)
    return CaseResult(case.id, case.rule, Outcome.CRASH, message=got, failure=failure)
