"""Engines side by side: every workload is measured A B A B …, checked before and after, and held as a ratio."""

from __future__ import annotations

import fnmatch
import statistics as stdlib_statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from perfsuite.process import MeasuringWorker, WorkerFailed
from perfsuite.record import Record
from perfsuite.statistics import Ratio, ratio_of_medians


@dataclass(frozen=True)
class Measured:
    """One engine on one workload: seconds per call of each round, or the reason why there is no number."""

    engine: str
    seconds: tuple[float, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    void: str | None = None

    @property
    def median(self) -> float | None:
        """Median seconds per call, None without a number."""
        return stdlib_statistics.median(self.seconds) if self.seconds and self.void is None else None


@dataclass(frozen=True)
class Comparison:
    """One workload on all engines. The first engine is the candidate; ratios are the others' time over its time."""

    record: str
    family: str
    size: str
    unit: str
    amount: int
    measured: tuple[Measured, ...]

    def ratio(self, other: str) -> Ratio | None:
        """How many times faster the first engine is than *other*; None if either has no number."""
        candidate = self.measured[0]
        baseline = next(m for m in self.measured if m.engine == other)
        if candidate.median is None or baseline.median is None:
            return None
        return ratio_of_medians(baseline.seconds, candidate.seconds)

    def as_json(self) -> dict[str, Any]:
        """The comparison as plain values, ratios and verdicts included."""
        others = [m.engine for m in self.measured[1:]]
        ratios = {other: self.ratio(other) for other in others}
        return {
            "record": self.record, "family": self.family, "size": self.size, "unit": self.unit, "amount": self.amount,
            "measured": [{**asdict(m), "median": m.median} for m in self.measured],
            "ratios": {o: None if r is None else {**asdict(r), "verdict": r.verdict()} for o, r in ratios.items()},
        }


def select(records: dict[str, Record], patterns: Sequence[str], quick: bool) -> Iterator[tuple[Record, str]]:
    """The chosen workloads: patterns match ``family``, ``record`` or ``record/size``; quick takes one size each."""
    for record in records.values():
        for size in [record.quick] if quick else list(record.sizes):
            names = (record.family, record.name, f"{record.name}/{size}")
            if not patterns or any(fnmatch.fnmatchcase(n, p) for n in names for p in patterns):
                yield record, size


def compare(
    workers: Sequence[MeasuringWorker], record: Record, size: str, rounds: int, clock: str,
    tick: Callable[[], None] = lambda: None,
) -> Comparison:
    """Measure one workload on all workers, interleaved; a wrong or failing engine is void, the others go on.

    clock: ``cpu`` (time of the process, which a busy machine does not stretch) or ``wall``.
    """
    calls: dict[str, int] = {}
    facts: dict[str, dict[str, Any]] = {}
    void: dict[str, str] = {}
    seconds: dict[str, list[float]] = {w.name: [] for w in workers}

    def attempt(worker: MeasuringWorker, request: str, **arguments: Any) -> dict[str, Any] | None:
        if worker.name in void:
            return None
        try:
            return worker.ask(request, **arguments)
        except WorkerFailed as failure:
            void[worker.name] = str(failure)
            return None

    for worker in workers:
        if record.name not in worker.facts["records"]:
            void[worker.name] = "not built for this library"
            continue
        ready = attempt(worker, "prepare", record=record.name, size=size)
        if ready is not None:
            calls[worker.name], facts[worker.name] = ready["calls"], ready["facts"]
    for round_ in range(rounds):
        for worker in workers if round_ % 2 == 0 else reversed(workers):
            taken = attempt(worker, "measure", calls=calls.get(worker.name, 1))
            if taken is not None:
                seconds[worker.name].append(taken[clock] / calls[worker.name])
        tick()
    for worker in workers:
        attempt(worker, "finish")
    return Comparison(record.name, record.family, size, record.unit, record.amount(size), tuple(
        Measured(w.name, tuple(seconds[w.name]), facts.get(w.name, {}), void.get(w.name)) for w in workers))
