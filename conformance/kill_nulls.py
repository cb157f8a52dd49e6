"""Null engines: engines that do nothing right. Cases that one of them passes prove nothing by themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from conformance.bench import Bench, Ending
from conformance.catalogue import Catalogue
from conformance.engine import CAPABILITIES, Engine
from conformance.engines import interpreter_for
from conformance.nulls import NULL_ENGINES
from conformance.outcome import Outcome
from conformance.selection import CaseInfo

#: Capabilities that stand for hardware or other processes; the cases that need them are not tried on null engines.
_BEYOND_NULLS = frozenset({"gpu", "multi_gpu", "dist", "horovod", "byteps", "onnx"})


@dataclass(frozen=True)
class NullResult:
    """One null engine: the MUST rules of which it passes every case, with these cases."""

    engine: str
    passed: Mapping[str, tuple[str, ...]]
    cases: int
    error: str = ""


class NullEngines:
    """Tries the cases of MUST rules on every null engine.

    jobs: how many at once;  limit: seconds that a case may take;  config: first line for the worker of an engine.
    """

    def __init__(
        self, catalogue: Catalogue, jobs: int, limit: Callable[[CaseInfo], float],
        config: Callable[[Engine], Mapping[str, Any]],
    ) -> None:
        self._rules = catalogue.rules
        self._jobs = max(1, jobs)
        self._benches = {
            name: Bench(engine, interpreter_for(engine), config(engine), limit, forked=True, smoke=False)
            for name in NULL_ENGINES
            for engine in [_engine(name)]
        }

    def tried(self, cases: Sequence[CaseInfo]) -> tuple[NullResult, ...]:
        """What each of them passes."""
        wanted = [
            case
            for case in cases
            if self._rules[case.rule].level == "MUST"
            and not _BEYOND_NULLS & {*self._rules[case.rule].needs, *case.needs}
        ]
        pool = ThreadPoolExecutor(self._jobs)
        try:
            return tuple(pool.map(lambda name: self._one(name, wanted), NULL_ENGINES))
        finally:
            for bench in self._benches.values():
                bench.end()
            pool.shutdown(cancel_futures=True)

    def _one(self, name: str, cases: Sequence[CaseInfo]) -> NullResult:
        bench = self._benches[name]
        try:
            trial = bench.try_mutant(None, cases)
        finally:
            bench.close()
        by_rule: dict[str, list[Ending]] = {}
        for ending in trial.endings:
            by_rule.setdefault(ending.rule, []).append(ending)
        passed = {
            rule: tuple(ending.case for ending in endings)
            for rule, endings in by_rule.items()
            if all(ending.outcome is Outcome.PASS for ending in endings)
        }
        return NullResult(name, passed, len(cases), trial.error)


def _engine(name: str) -> Engine:
    able = frozenset(CAPABILITIES) - _BEYOND_NULLS
    return Engine(name=name, module=f"conformance.nulls.{name}", capabilities=able, detect={})
