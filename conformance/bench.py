"""A bench: one worker at a time in which mutants are tried, each in a copy of the engine of its own.

Usually the loaded engine is forked for every mutant, which costs milliseconds. An engine that cannot live in a forked
process gets a fresh worker for every mutant instead.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.engine import Engine
from conformance.errors import EngineFault, HarnessFault
from conformance.outcome import FAILING, Outcome
from conformance.process import Ended, Late, Reply, WorkerProcess, start_worker
from conformance.selection import CaseInfo
from conformance.session import check_smoke

#: Cases in which one mutant may crash or hang before the rest of its cases are left out.
ABNORMAL_LIMIT = 3

_ABNORMAL = (Outcome.CRASH, Outcome.TIMEOUT)


@dataclass(frozen=True)
class Ending:
    """How one case ended on a broken (or, for the control, an unbroken) engine."""

    case: str
    rule: str
    outcome: Outcome
    message: str = ""

    @property
    def killed(self) -> bool:
        """True if the case noticed."""
        return self.outcome in FAILING


@dataclass(frozen=True)
class Trial:
    """One mutant, tried: an ending for every case; ``error`` if the mutant itself could not be applied."""

    mutant: str | None
    endings: tuple[Ending, ...]
    seconds: float = 0.0
    error: str = ""


class Bench:
    """Tries mutants of one engine, one after the other.

    config: first line for the worker, without a mutant;  limit: seconds that a case may take;  forked: break forked
    copies of one worker instead of starting a worker for each;  smoke: let the worker try the basics first. That also
    brings the engine to speed: what it does once and lazily is done before it is forked, and not again in each copy.
    """

    def __init__(
        self,
        engine: Engine,
        interpreter: str,
        config: Mapping[str, Any],
        limit: Callable[[CaseInfo], float],
        forked: bool,
        smoke: bool = True,
    ) -> None:
        self._engine, self._interpreter, self._config = engine, interpreter, dict(config)
        self._limit, self._forked, self._smoke = limit, forked, smoke
        self._worker: WorkerProcess | None = None
        self._child: int | None = None
        self._over = False
        self.ready: Mapping[str, Any] = {}

    def start(self) -> Mapping[str, Any]:
        """Start an unbroken worker, if there is none, and return what it says of itself; raises EngineFault."""
        if self._worker is None:
            self._worker, self.ready = start_worker(self._engine, self._interpreter, self._config)
            if self._smoke:
                check_smoke(self._engine, self._worker)
        return self.ready

    def try_mutant(self, mutant: str | None, cases: Sequence[CaseInfo]) -> Trial:
        """Run the cases against an engine broken by *mutant*, or unbroken if that is None."""
        began = time.monotonic()
        waiting, abnormal = list(cases), 0
        endings: list[Ending] = []
        while waiting:
            try:
                batch, error = self._batch(mutant, waiting)
            except (EngineFault, HarnessFault) as fault:
                return Trial(mutant, tuple(endings), time.monotonic() - began, fault.message)
            if error:
                return Trial(mutant, (), time.monotonic() - began, error)
            endings += batch
            done = {ending.case for ending in batch}
            waiting = [case for case in waiting if case.id not in done]
            abnormal += sum(ending.outcome in _ABNORMAL for ending in batch)
            if mutant is not None and abnormal >= ABNORMAL_LIMIT:
                endings += [Ending(case.id, case.rule, Outcome.NOT_RUN) for case in waiting]
                break
        return Trial(mutant, tuple(endings), time.monotonic() - began)

    def end(self) -> None:
        """End the worker for good: a thread that still tries a mutant in it starts no other one."""
        self._over = True
        self.close()

    def close(self) -> None:
        """End the worker and what it forked."""
        self._end_child()
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    # -- one batch: until all cases have ended or one has crashed or hung ---------------------------------------

    def _batch(self, mutant: str | None, cases: Sequence[CaseInfo]) -> tuple[list[Ending], str]:
        if self._over:
            raise EngineFault(f"engine {self._engine.name}: the run has ended")
        names = [case.id for case in cases]
        command: dict[str, Any] = {"run": names}
        if self._forked:
            self.start()
            command = {"mutant": mutant, "cases": names}
        elif self._worker is None or mutant is not None:
            self.close()
            config = {**self._config, "mutant": mutant}
            self._worker, self.ready = start_worker(self._engine, self._interpreter, config)
        assert self._worker is not None
        # An answer of the child is read before the next case is sent to it, so a long list must not fill the pipe: the
        # ids of a whole suite stay far below what the worker reads at once.
        self._worker.send(command)
        try:
            return self._collect(self._worker, cases)
        finally:
            if not self._forked and mutant is not None:
                self.close()

    def _collect(self, worker: WorkerProcess, cases: Sequence[CaseInfo]) -> tuple[list[Ending], str]:
        by_id = {case.id: case for case in cases}
        endings: list[Ending] = []
        current: CaseInfo | None = None
        reported = False
        error = "" if not self._forked else "it did not come back from breaking the engine"
        while self._forked or len(endings) < len(cases):
            limit = self._limit(current) if current else self._engine.timeouts.case
            reply = worker.receive(time.monotonic() + limit)
            if not isinstance(reply, dict):
                self._stop(reply)
                if error:
                    return [], f"{error}: {self._lost(reply, cases[0], limit).message}"
                left = [current] if current else cases[len(endings) :][:1]
                endings += [self._lost(reply, case, limit) for case in left]
                break
            if "child" in reply:
                self._child = int(reply["child"])
            elif "broken" in reply:
                error, reported = str(reply.get("error", "")), True
            elif "start" in reply:
                current = by_id[reply["start"]]
            elif "end" in reply:
                case = by_id[reply["end"]]
                endings.append(Ending(case.id, case.rule, Outcome(reply["outcome"]), reply.get("message") or ""))
                current = None
            elif "ended" in reply:
                self._child = None
                if current is not None:
                    endings.append(self._lost(Ended(int(reply["status"])), current, limit))
                elif error and not reported:
                    error += f": {Ended(int(reply['status']))}"
                elif len(endings) < len(cases) and not error:
                    # It died between two cases: the next one is charged with it, so that every trial comes to an end.
                    endings.append(self._lost(Ended(int(reply["status"])), cases[len(endings)], limit))
                break
        return endings, error

    @staticmethod
    def _lost(reply: Reply, case: CaseInfo, limit: float) -> Ending:
        if isinstance(reply, Late):
            return Ending(case.id, case.rule, Outcome.TIMEOUT, f"no end within {limit:g} s")
        return Ending(case.id, case.rule, Outcome.CRASH, str(reply))

    def _stop(self, reply: Reply) -> None:
        """End what hangs or speaks nonsense: the child if there is one and its parent lives, else the worker."""
        worker = self._worker
        if isinstance(reply, Late) and self._child is not None and worker is not None:
            self._end_child()
            answer = worker.receive(time.monotonic() + 5)
            while isinstance(answer, dict) and "ended" not in answer:
                answer = worker.receive(time.monotonic() + 5)
            if isinstance(answer, dict):
                return
        self.close()

    def _end_child(self) -> None:
        child, self._child = self._child, None
        if child is not None and child > 1:  # 0 and -1 would mean the harness itself
            for end in (os.killpg, os.kill):  # it may not have its own group yet
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    end(child, signal.SIGKILL)


class Benches:
    """A few benches that share a list of tasks, a thread each."""

    def __init__(self, count: int, make: Callable[[], Bench]) -> None:
        self._benches = [make() for _ in range(max(1, count))]
        self.first = self._benches[0]
        self.results: list[Trial] = []

    def __enter__(self) -> Benches:
        return self

    def __exit__(self, *exception: object) -> None:
        for bench in self._benches:
            bench.end()

    def map(self, work: Callable[[Bench, Any], Trial], tasks: Iterable[Any]) -> list[Trial]:
        """Do every task on the next free bench; the results come in the order of the tasks.

        When it is interrupted, ``results`` holds those that there are.
        """
        self.results = []
        waiting: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        count = 0
        for count, task in enumerate(tasks, 1):
            waiting.put((count - 1, task))
        results: dict[int, Trial] = {}
        faults: list[BaseException] = []

        def serve(bench: Bench) -> None:
            try:
                while not faults:
                    number, task = waiting.get_nowait()
                    results[number] = work(bench, task)
            except queue.Empty:
                pass
            except BaseException as error:  # noqa: BLE001 - passed on to the thread that waits for this one
                faults.append(error)

        threads = [threading.Thread(target=serve, args=(bench,), daemon=True) for bench in self._benches[:count]]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except BaseException as error:
            faults.append(error)
            raise
        finally:
            # A snapshot: what a bench that is ended now says of its last task is not true.
            self.results = [trial for _, trial in sorted(results.copy().items())]
        if faults:
            raise faults[0]
        return self.results
