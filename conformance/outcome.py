"""Outcomes: what can become of a case, and the record of what became of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """Every selected case ends with exactly one of these, so they always add up."""

    PASS = "pass"
    FAIL = "fail"                        # an observation contradicts the rule
    ERROR = "error"                      # an exception where the rule has none, or a case that observed nothing
    CRASH = "crash"                      # the process died, also when the case ran alone
    TIMEOUT = "timeout"                  # no end within the time limit, also when the case ran alone
    UNSUPPORTED = "unsupported"          # needs a capability that the engine does not have
    BLOCKED = "blocked"                  # stands on a rule that failed
    WAIVED = "waived"                    # did not pass, and a valid waiver explains it
    UNEXPECTED_PASS = "unexpected-pass"  # passed although a waiver says that it does not
    UNSTABLE = "unstable"                # crashed or hung after other cases, but did something else alone
    NOT_RUN = "not-run"                  # the run ended before its turn


#: The case was run and the engine did not do what the rule says.
FAILING = frozenset({Outcome.FAIL, Outcome.ERROR, Outcome.CRASH, Outcome.TIMEOUT, Outcome.UNSTABLE})

#: The order in which they are shown.
ORDER = tuple(Outcome)


@dataclass(frozen=True)
class Failure:
    """Why a case did not pass: what was looked at, both sides, and what was printed meanwhile."""

    kind: str
    doing: str = ""
    expected: str = ""
    got: str = ""
    tolerance: str = ""
    traceback: str = ""
    output: str = ""


@dataclass(frozen=True)
class CaseResult:
    """What became of one case on one engine."""

    id: str
    rule: str
    outcome: Outcome
    seconds: float = 0.0
    message: str | None = None
    failure: Failure | None = None
    blocked_by: tuple[str, ...] = ()
    waiver: dict[str, Any] | None = None
    missing: tuple[str, ...] = field(default=())  # capabilities, for unsupported

    def as_record(self) -> dict[str, Any]:
        """The fields that go into the result file."""
        return {
            "id": self.id,
            "rule": self.rule,
            "outcome": str(self.outcome),
            "seconds": round(self.seconds, 6),
            "message": self.message,
            "failure": asdict(self.failure) if self.failure else None,
            "blocked_by": list(self.blocked_by),
            "waiver": self.waiver,
        }


def counts(results: Iterable[CaseResult]) -> dict[str, int]:
    """How many cases ended in each way, in the order of :class:`Outcome`; ways that did not occur are left out.

    >>> counts([CaseResult("A-B-001/x", "A-B-001", Outcome.PASS)])
    {'pass': 1}
    """
    found = Counter(result.outcome for result in results)
    return {str(outcome): found[outcome] for outcome in ORDER if found[outcome]}
