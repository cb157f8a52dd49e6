"""A session: every selected case on one engine, over one or several workers, whatever the engine does meanwhile.

What is charged to whom:

* A worker that dies or hangs while a case runs costs that case. If other cases ran before it in the same process, it is
  run once more alone. The same again: ``crash`` or ``timeout``. Anything else: it was poisoned by an earlier case.
* Then the cases before it that left threads running are tried alone, each followed by a pause. One after which the
  process dies or hangs is the culprit and gets the ``crash`` or ``timeout``; the victim keeps what it did alone. Where
  no culprit is found, the victim is ``unstable``: the result depends on what ran before.
* A worker that dies between two cases is looked into in the same way; without a culprit the last case is ``unstable``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from conformance import judge
from conformance.engine import Engine
from conformance.engines import interpreter_for
from conformance.errors import ConformError, UsageFault
from conformance.lane import Lane
from conformance.outcome import CaseResult, Failure, Outcome
from conformance.process import Ended, Late, WorkerProcess, start_worker
from conformance.rule import Rule
from conformance.schedule import Schedule
from conformance.selection import CaseInfo, Selection, check_suite
from conformance.smoke import ADVICE
from conformance.waivers import Waiver, check_against
from conformance.worker import Fault, Runner


@dataclass(frozen=True)
class Options:
    """How to run.

    timeout: seconds per case for every case, instead of the engine's and the cases' own;  isolation: "process", or
    "none" for the harness's own process (no protection, for a debugger);  suite, mutants: packages of cases and of
    mutants;  path: more folders to import from.
    """

    selection: Selection = field(default_factory=Selection)
    jobs: int = 1
    timeout: float | None = None
    isolation: str = "process"
    smoke: bool = True
    waivers: tuple[Waiver, ...] = ()
    mutant: str | None = None
    suite: str = "conformance.suite"
    mutants: str = "conformance.mutants"
    path: tuple[str, ...] = ()

    def worker_config(self, engine: Engine, describe: bool) -> dict[str, Any]:
        """The first line that a worker receives."""
        return {
            "module": engine.module, "setup": engine.setup, "detect": dict(engine.detect), "mutant": self.mutant,
            "suite": self.suite, "mutants": self.mutants, "path": list(self.path), "describe": describe,
        }


class Observer(Protocol):
    """What watches a session; called from its threads, one call at a time."""

    def started(self, engine: str, total: int) -> None:
        """The engine is ready; so many cases are selected."""

    def settled(self, engine: str, result: CaseResult, known: bool) -> None:
        """A case has ended; may come again for the same case when a later finding corrects it.

        known: a failure that a waiver or the inventory explains.
        """

    def note(self, engine: str, text: str) -> None:
        """Something took time or had to be done over."""


class Silent:
    """An observer that does nothing."""

    def started(self, engine: str, total: int) -> None:
        """Nothing."""

    def settled(self, engine: str, result: CaseResult, known: bool) -> None:
        """Nothing."""

    def note(self, engine: str, text: str) -> None:
        """Nothing."""


@dataclass(frozen=True)
class Run:
    """What a session found: one result per selected case, and about what it was.

    cases: all of the suite;  selected: in order;  rules: ids that the run is about;  fault: what ended it early.
    """

    engine: Engine
    interpreter: str
    ready: Mapping[str, Any]
    capabilities: frozenset[str]
    cases: tuple[CaseInfo, ...]
    selected: tuple[CaseInfo, ...]
    rules: tuple[str, ...]
    results: tuple[CaseResult, ...]
    started: datetime
    seconds: float
    fault: ConformError | None = None
    interrupted: bool = False


@dataclass
class Session:
    """One engine, one run. ``run`` raises ConformError only if it fails before the first case."""

    engine: Engine
    rules: Mapping[str, Rule]
    options: Options = Options()
    observer: Observer = field(default_factory=Silent)

    def __post_init__(self) -> None:
        self._lock = threading.RLock()
        self._faults: list[BaseException] = []
        self._lanes: list[Lane] = []

    def run(self) -> Run:
        """Provide and start the engine, run what is selected, and say what came of every case."""
        started = datetime.now(UTC)
        if self.options.isolation == "none":
            return self._run_here(time.monotonic(), started)
        interpreter = interpreter_for(self.engine, self._note)
        began = time.monotonic()  # making an environment, once per machine, says nothing about the run
        worker, ready = start_worker(self.engine, interpreter, self.options.worker_config(self.engine, True))
        try:
            if self.options.smoke:
                check_smoke(self.engine, worker)
            cases, selected = self._choose(ready)
        except BaseException:
            worker.close()
            raise
        able = self.engine.able(ready["declared"], ready["detected"])
        schedule = self._schedule(selected, able)
        interrupted = self._drive(schedule, worker, interpreter)
        for unforeseen in self._faults:
            if not isinstance(unforeseen, ConformError):
                raise unforeseen
        fault = next((fault for fault in self._faults if isinstance(fault, ConformError)), None)
        return self._finished(interpreter, ready, able, cases, selected, schedule, began, started, fault, interrupted)

    def _finished(
        self, interpreter: str, ready: Mapping[str, Any], able: frozenset[str], cases: tuple[CaseInfo, ...],
        selected: list[CaseInfo], schedule: Schedule, began: float, started: datetime,
        fault: ConformError | None = None, interrupted: bool = False,
    ) -> Run:
        about = self.options.selection.select_rules(self.rules, selected)
        return Run(self.engine, interpreter, ready, able, cases, tuple(selected), tuple(about),
                   tuple(schedule.results()), started, time.monotonic() - began, fault, interrupted)

    def _choose(self, ready: Mapping[str, Any]) -> tuple[tuple[CaseInfo, ...], list[CaseInfo]]:
        cases = tuple(CaseInfo.of(described) for described in ready["cases"])
        check_suite(cases, self.rules)
        self.options.selection.check_patterns(cases, self.rules)
        check_against(self.options.waivers, self.rules, {case.id for case in cases}, str(ready["version"]))
        return cases, self.options.selection.select(cases, self.rules)

    def _schedule(self, selected: list[CaseInfo], able: frozenset[str]) -> Schedule:
        known = judge.explained(self.engine, self.rules, self.options.waivers)
        self.observer.started(self.engine.name, len(selected))
        def settled(result: CaseResult) -> None:
            self.observer.settled(self.engine.name, result, known(result))

        schedule = Schedule(selected, known, settled)
        schedule.set_aside(lambda case: self.unsupported(case, able))
        return schedule

    def unsupported(self, case: CaseInfo, able: frozenset[str]) -> CaseResult | None:
        """The result of a case that needs what the engine cannot do, else None."""
        needs = {*self.rules[case.rule].needs, *case.needs}
        missing = tuple(sorted(needs - able))
        if not missing:
            return None
        reasons = [f"{name} ({self.engine.missing[name]})" if name in self.engine.missing else name for name in missing]
        message = "needs " + ", ".join(reasons)
        return CaseResult(case.id, case.rule, Outcome.UNSUPPORTED, message=message, missing=missing)

    def _note(self, text: str) -> None:
        with self._lock:
            self.observer.note(self.engine.name, text)

    def limit(self, case: CaseInfo) -> float:
        """Seconds that the case may take."""
        if self.options.timeout is not None:
            return self.options.timeout
        return max(self.engine.timeouts.case, case.timeout or 0.0)

    def convert(self, case: CaseInfo, answer: dict[str, Any], printed: str) -> CaseResult:
        """From the worker's answer to a result."""
        outcome, message = Outcome(answer["outcome"]), answer.get("message")
        failure = Failure(**answer["failure"], output=printed) if "failure" in answer else None
        if outcome is Outcome.ERROR and answer.get("absent") and self.rules[case.rule].level == "MAY":
            # An engine that leaves an optional thing out is not wrong.
            outcome, message = Outcome.UNSUPPORTED, f"optional, and the engine does not have it: {message}"
        return CaseResult(case.id, case.rule, outcome, float(answer["seconds"]), message, failure)

    def starter(self, interpreter: str) -> Callable[[], WorkerProcess]:
        """A function that starts one more worker."""
        config = self.options.worker_config(self.engine, False)
        return lambda: start_worker(self.engine, interpreter, config)[0]

    # -- in workers -----------------------------------------------------------------------------------------

    def _drive(self, schedule: Schedule, first: WorkerProcess, interpreter: str) -> bool:
        """Run lanes until the schedule is empty; True if the user interrupted."""
        jobs = max(1, self.options.jobs)
        start = self.starter(interpreter)
        self._lanes = [
            Lane(schedule, start, self.limit, self.convert, self._note, first if number == 0 else None, jobs)
            for number in range(jobs)
        ]
        threads = [threading.Thread(target=self._work, args=(lane, schedule), daemon=True) for lane in self._lanes]
        try:
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                for thread in threads:
                    thread.join(0.1)
        except KeyboardInterrupt:
            schedule.stop()
            for lane in self._lanes:
                lane.kill()
            for thread in threads:
                thread.join(10)
            return True
        return False

    def _work(self, lane: Lane, schedule: Schedule) -> None:
        try:
            lane.run()
        except BaseException as error:  # noqa: BLE001 - passed on to the thread that waits for this one
            with self._lock:
                self._faults.append(error)
            schedule.stop()

    # -- in the harness's own process -----------------------------------------------------------------------

    def _run_here(self, began: float, started: datetime) -> Run:
        import sys

        if self.engine.interpreter is not None or self.engine.requirements:
            raise UsageFault(
                f"engine {self.engine.name} has an interpreter of its own, so it cannot run with --isolation none",
                "Leave the option out, or choose an engine that this interpreter imports.",
            )
        config = self.options.worker_config(self.engine, True)
        config["path"] = [*self.engine.path, *config["path"]]
        runner = Runner(config)
        try:
            ready = runner.load()
        except Fault as fault:
            from conformance.errors import EngineFault

            raise EngineFault(f"engine {self.engine.name} stops at stage {fault.stage}: {fault.message}",
                              ADVICE.get(fault.stage, ""), fault.details) from None
        cases, selected = self._choose(ready)
        able = self.engine.able(ready["declared"], ready["detected"])
        schedule = self._schedule(selected, able)
        interrupted = False
        try:
            while not schedule.finished:
                for case in schedule.take(1):
                    schedule.settle(self.convert(case, runner.run(case.id), ""))
        except KeyboardInterrupt:
            interrupted = True
        return self._finished(sys.executable, ready, able, cases, selected, schedule, began, started, None, interrupted)


def check_smoke(engine: Engine, worker: WorkerProcess, stages: Sequence[str] = ()) -> None:
    """Let a fresh worker try the basics, all stages or only these.

    Raises EngineFault that says at which stage it stops and what to do.
    """
    from conformance.errors import EngineFault

    worker.send({"smoke": list(stages)})
    stage = "version"
    while True:
        reply = worker.receive(time.monotonic() + engine.timeouts.case)
        if isinstance(reply, dict) and "stage" in reply:
            stage = reply["stage"]
            continue
        if isinstance(reply, dict) and "smoke" in reply:
            failure = reply["smoke"]
            if failure is None:
                return
            printed = worker.output_until(reply["until"])
            message = f"{failure['tries']}: {failure['message']}"
            details = "\n".join(text for text in (failure["traceback"], printed) if text)
        elif isinstance(reply, dict):  # a child that answers in place of the worker has died
            message, details = str(Ended(int(reply.get("died", 0)))), worker.last_words()
        elif isinstance(reply, Late):
            message, details = f"no end within {engine.timeouts.case:g} s", worker.stacks()
        else:
            message, details = str(reply), worker.last_words()
        raise EngineFault(f"smoke: engine {engine.name} stops at stage {stage}: {message}", ADVICE[stage], details)
