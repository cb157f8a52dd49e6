"""In which order cases run, and which are blocked: dependencies first, and one cause is one failure.

A case that stands on other rules (``after=``) waits until all selected cases of these have ended. When one of them
failed and nothing explains that failure (no waiver, no record in the inventory), the case is blocked and not run. A
rule that is not selected blocks nothing.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from conformance.errors import HarnessFault
from conformance.outcome import FAILING, CaseResult, Outcome
from conformance.selection import CaseInfo

Explained = Callable[[CaseResult], bool]


def dependency_order(cases: Sequence[CaseInfo]) -> list[CaseInfo]:
    """The cases, each after those of the rules it stands on, else in their order; a cycle is a HarnessFault.

    >>> a, b = CaseInfo("A-B-001/x", "A-B-001", after=("A-B-002",)), CaseInfo("A-B-002/y", "A-B-002")
    >>> [case.id for case in dependency_order([a, b])]
    ['A-B-002/y', 'A-B-001/x']
    """
    of_rule: dict[str, list[CaseInfo]] = {}
    for case in cases:
        of_rule.setdefault(case.rule, []).append(case)
    depth: dict[str, int] = {}
    path: list[str] = []

    def visit(rule: str) -> int:
        if rule in path:
            circle = " -> ".join([*path[path.index(rule):], rule])
            raise HarnessFault(f"rules stand on each other in a circle: {circle}")
        if rule not in depth:
            path.append(rule)
            below = [visit(other) for case in of_rule.get(rule, ()) for other in case.after if other in of_rule]
            path.pop()
            depth[rule] = 1 + max(below, default=0)
        return depth[rule]

    for rule in of_rule:
        visit(rule)
    return sorted(cases, key=lambda case: depth[case.rule])


class Schedule:
    """Hands out cases that may run, and collects what became of them; shared by the lanes of a session."""

    def __init__(
        self, cases: Sequence[CaseInfo], explained: Explained, settled: Callable[[CaseResult], None],
    ) -> None:
        self._waiting = deque(dependency_order(cases))
        self._order = [case.id for case in cases]
        self._cases = {case.id: case for case in cases}
        self._left: dict[str, int] = {}
        for case in cases:
            self._left[case.rule] = self._left.get(case.rule, 0) + 1
        self._causes: dict[str, tuple[str, ...]] = {}  # rule -> the rules whose failures stand behind its own state
        self._results: dict[str, CaseResult] = {}
        self._explained, self._settled = explained, settled
        self._change = threading.Condition()
        self.stopped = False

    def set_aside(self, verdict: Callable[[CaseInfo], CaseResult | None]) -> None:
        """End the cases for which *verdict* has a result before they run: what the engine cannot do at all."""
        with self._change:
            waiting = list(self._waiting)
            self._waiting.clear()
            for case in waiting:
                result = verdict(case)
                if result is None:
                    self._waiting.append(case)
                else:
                    self._settle(result)

    def take(self, most: int) -> list[CaseInfo]:
        """Up to *most* cases that may run now; those that turn out to be blocked end here."""
        with self._change:
            ready: list[CaseInfo] = []
            later: list[CaseInfo] = []
            while self._waiting and len(ready) < most and not self.stopped:
                case = self._waiting.popleft()
                if any(self._left.get(rule, 0) for rule in case.after):
                    later.append(case)
                    continue
                causes = sorted({cause for rule in case.after for cause in self._causes.get(rule, ())})
                if causes:
                    message = "blocked by " + ", ".join(causes)
                    self._settle(CaseResult(case.id, case.rule, Outcome.BLOCKED, message=message,
                                            blocked_by=tuple(causes)))
                else:
                    ready.append(case)
            self._waiting.extendleft(reversed(later))
            return ready

    def give_back(self, cases: Iterable[CaseInfo]) -> None:
        """Cases that were taken but not started."""
        with self._change:
            self._waiting.extendleft(reversed(list(cases)))
            self._change.notify_all()

    def settle(self, result: CaseResult) -> None:
        """A case has ended."""
        with self._change:
            self._settle(result)

    def _settle(self, result: CaseResult) -> None:
        again = result.id in self._results
        self._results[result.id] = result
        if not again:
            self._left[result.rule] -= 1
        if result.outcome is Outcome.BLOCKED:
            self._causes[result.rule] = tuple(sorted({*self._causes.get(result.rule, ()), *result.blocked_by}))
        elif result.outcome in FAILING and not self._explained(result):
            self._causes[result.rule] = tuple(sorted({*self._causes.get(result.rule, ()), result.rule}))
        self._settled(result)
        self._change.notify_all()

    def result(self, identifier: str) -> CaseResult | None:
        """What became of a case so far."""
        with self._change:
            return self._results.get(identifier)

    @property
    def finished(self) -> bool:
        """True when nothing waits to be taken."""
        with self._change:
            return self.stopped or not self._waiting

    def wait(self, seconds: float) -> None:
        """Wait until something changes, when every waiting case stands on one that another lane is running."""
        with self._change:
            if self._waiting and not self.stopped:
                self._change.wait(seconds)

    def stop(self) -> None:
        """Hand out nothing more."""
        with self._change:
            self.stopped = True
            self._change.notify_all()

    def results(self) -> list[CaseResult]:
        """One result per case, in the order given: they add up whatever happened. What has none was not run."""
        with self._change:
            return [
                self._results.get(name)
                or CaseResult(name, self._cases[name].rule, Outcome.NOT_RUN, message="the run ended before its turn")
                for name in self._order
            ]
