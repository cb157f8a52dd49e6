"""Counting: how many rules stand how, by engine, area and level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from reports.outcomes import BAR_ORDER, OUTCOMES


@dataclass(frozen=True)
class Tally:
    """Rules counted by state, in the order of a bar; states that do not occur are left out."""

    counts: tuple[tuple[str, int], ...]

    @property
    def total(self) -> int:
        """All rules, those without a case included."""
        return sum(number for _, number in self.counts)

    @property
    def passed(self) -> int:
        """Rules whose every case passed."""
        return self.of("passed")

    @property
    def failed(self) -> int:
        """Rules that speak against the engine."""
        return self.of("failed")

    @property
    def judged(self) -> int:
        """Rules that this run could judge: neither unsupported, nor without a case, nor left out."""
        return self.total - self.of("unsupported") - self.of("open")

    def of(self, group: str) -> int:
        """Rules whose state is in this group of outcomes."""
        return sum(number for state, number in self.counts if OUTCOMES[state].group == group)

    @property
    def rate(self) -> float | None:
        """Passed among judged, 0 to 1; None when nothing was judged: no data is not zero."""
        return self.passed / self.judged if self.judged else None


def tally(states: Iterable[str]) -> Tally:
    """Count states.

    >>> tally(["pass", "pass", "fail", "no-case"]).counts
    (('pass', 2), ('fail', 1), ('no-case', 1))
    """
    found = Counter(states)
    return Tally(tuple((state, found[state]) for state in BAR_ORDER if found[state]))


def percent(rate: float | None) -> str:
    """A rate as text that never rounds up to 100 % nor down to 0 %.

    >>> percent(1.0), percent(0.99996), percent(0.00001), percent(None)
    ('100 %', '99.9 %', '0.1 %', 'n/a')
    """
    if rate is None:
        return "n/a"
    if rate in (0.0, 1.0):
        return f"{rate * 100:.0f} %"
    return f"{min(max(round(rate * 100, 1), 0.1), 99.9):.1f} %"
