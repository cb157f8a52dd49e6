"""The power of the suite: the cases of a rule kill every mutant that breaks it, and null engines pass nothing.

A case kills a mutant if it passes on the unbroken engine and fails, raises, crashes or hangs on the broken one. A
mutant survives a rule that it claims to break if all of that rule's cases still pass; that is a gap in the cases.
"""

from __future__ import annotations

import fnmatch
import importlib.util
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from conformance.bench import Bench, Benches, Ending, Trial
from conformance.catalogue import Catalogue, place_of
from conformance.engine import Engine
from conformance.engines import interpreter_for
from conformance.errors import EngineFault, UsageFault
from conformance.exit_codes import ExitCode
from conformance.kill_nulls import NullEngines, NullResult
from conformance.mutants import Mutant
from conformance.outcome import Outcome
from conformance.rule import near_names
from conformance.selection import CaseInfo

#: Cases of the unbroken engine that one bench takes at a time.
_CONTROL_CHUNK = 40


class Verdict(StrEnum):
    """What became of one mutant at one of the rules that it names."""

    KILLED = "killed"
    SURVIVED = "survived"
    UNJUDGED = "unjudged"  # not killed, but not every case of the rule passes on the unbroken engine either
    UNSUPPORTED = "unsupported"  # the same, only because cases need what the engine cannot do on this machine
    ERROR = "error"        # the mutant could not be applied


#: Verdicts that must be put right. What needs a GPU, say, is judged where there is one.
GAPS = frozenset({Verdict.SURVIVED, Verdict.UNJUDGED, Verdict.ERROR})


@dataclass(frozen=True)
class RuleVerdict:
    """One mutant at one rule: the cases that killed it, of how many, and why if none did."""

    rule: str
    verdict: Verdict
    killers: tuple[Ending, ...] = ()
    judged: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Tried:
    """One mutant at all its rules; ``others``: further rules whose cases notice it (full matrix only)."""

    mutant: str
    doc: str
    where: str
    verdicts: tuple[RuleVerdict, ...]
    others: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True)
class KillReport:
    """Everything that a run over mutants found.

    without_mutant: MUST rules that have a case and no mutant, as ``rule: place``;  unbroken: how the cases ended on the
    unbroken engine;  chosen: how many mutants were to be tried, of which an interrupted run tried the first.
    """

    engine: str
    version: str
    matrix: str
    forked: bool
    unbroken: Mapping[str, int]
    tried: tuple[Tried, ...]
    nulls: tuple[NullResult, ...]
    without_mutant: tuple[str, ...]
    unknown: tuple[str, ...]
    seconds: float
    chosen: int
    interrupted: bool = False

    def verdicts(self) -> Iterable[tuple[Tried, RuleVerdict]]:
        """Every mutant at every rule that it names."""
        return ((tried, verdict) for tried in self.tried for verdict in tried.verdicts)

    @property
    def judged(self) -> bool:
        """True if any mutant was killed: without one, that there is no problem says nothing."""
        return any(verdict.verdict is Verdict.KILLED for _, verdict in self.verdicts())

    @property
    def problems(self) -> list[str]:
        """What must be put right, a line each; none if the suite has the power that it claims."""
        found = [f"{text}" for text in self.unknown]
        for tried, verdict in self.verdicts():
            if verdict.verdict in GAPS:
                found.append(f"{tried.where}: {tried.mutant} at {verdict.rule}: {verdict.verdict}: {verdict.reason}")
        found += [f"{text} is a MUST with a case: it needs a mutant" for text in self.without_mutant]
        for null in self.nulls:
            if null.error:
                found.append(f"null engine {null.engine}: {null.error}")
            for rule, cases in null.passed.items():
                found.append(f"null engine {null.engine} passes {rule}: {', '.join(cases)} prove nothing by themselves")
        return found

    @property
    def exit_code(self) -> ExitCode:
        """0 without problems, 1 with any, 5 if no mutant could be judged, 130 if it was interrupted."""
        if self.interrupted:
            return ExitCode.INTERRUPTED
        if self.problems:
            return ExitCode.DIFFERS
        return ExitCode.OK if self.judged else ExitCode.NOTHING


@dataclass
class KillRun:
    """One run over the mutants of an engine.

    mutants, rules: globs, empty for all;  matrix: "own" (only the cases of the rules that a mutant names) or "full";
    timeout: seconds that a case may take on a broken engine;  fresh: a new worker for each mutant;  smoke: let the
    engine try the basics first;  nulls: try the null engines too;  suite, package: where cases and mutants come from;
    progress: called with (done, of) mutants.
    """

    engine: Engine
    catalogue: Catalogue
    mutants: Sequence[str] = ()
    rules: Sequence[str] = ()
    matrix: str = "own"
    jobs: int = 2
    timeout: float = 10.0
    fresh: bool = False
    smoke: bool = True
    nulls: bool = True
    suite: str = "conformance.suite"
    package: str = "conformance.mutants"
    progress: Callable[[int, int], None] = lambda done, of: None
    note: Callable[[str], None] = lambda text: None
    _control: dict[str, Ending] = field(default_factory=dict, init=False)
    _version: str = field(default="", init=False)
    _forked: bool = field(default=False, init=False)
    _finished: Mapping[str, Trial] = field(default_factory=dict, init=False)

    def run(self) -> KillReport:
        """Try everything; raises EngineFault if the engine does not start, UsageFault for a glob without match."""
        began = time.monotonic()
        chosen = self.chosen()
        wanted = {rule for mutant in chosen for rule in mutant.rules}
        every = [CaseInfo.of(case.describe()) for case in self.catalogue.cases.values() if self._admitted(case.rule)]
        every = [case for case in every if case.rule in self.catalogue.rules]
        concerned = every if self.matrix == "full" else [case for case in every if case.rule in wanted]
        nulls: tuple[NullResult, ...] = ()
        interrupted = False
        try:
            self._trials(chosen, concerned)
            if self.nulls:
                nulls = NullEngines(self.catalogue, self.jobs, self._limit, self._config).tried(every)
        except KeyboardInterrupt:
            interrupted = True
        trials = self._finished
        return KillReport(
            engine=self.engine.name,
            version=self._version,
            matrix=self.matrix,
            forked=self._forked,
            unbroken=_counted(self._control.values()),
            tried=tuple(self._judged(mutant, trials[mutant.id]) for mutant in chosen if mutant.id in trials),
            nulls=nulls,
            without_mutant=() if self.mutants else tuple(self._without_mutant()),
            unknown=tuple(self._unknown(chosen)),
            seconds=time.monotonic() - began,
            chosen=len(chosen),
            interrupted=interrupted,
        )

    # -- choosing -----------------------------------------------------------------------------------------------

    def _admitted(self, rule: str) -> bool:
        return not self.rules or any(fnmatch.fnmatchcase(rule, glob.upper()) for glob in self.rules)

    def chosen(self) -> list[Mutant]:
        known = self.catalogue.mutants
        for glob in self.mutants:
            if not any(_matches(name, glob) for name in known):
                near = near_names(glob, known, 3)
                raise UsageFault(f"no mutant matches {glob!r}", f"Did you mean {', '.join(near)}?" if near else "")
        for glob in self.rules:
            if not any(fnmatch.fnmatchcase(rule, glob.upper()) for rule in self.catalogue.rules):
                near = near_names(glob, self.catalogue.rules, 3)
                raise UsageFault(f"no rule matches {glob!r}", f"Did you mean {', '.join(near)}?" if near else "")
        return [
            mutant
            for mutant in known.values()
            if (not self.mutants or any(_matches(mutant.id, glob) for glob in self.mutants))
            and any(self._admitted(rule) for rule in mutant.rules)
        ]

    def _unknown(self, chosen: Iterable[Mutant]) -> Iterable[str]:
        for mutant in chosen:
            for rule in mutant.rules:
                if rule not in self.catalogue.rules:
                    near = near_names(rule, self.catalogue.rules, 1)
                    hint = f" (did you mean {near[0]}?)" if near else ""
                    yield f"{place_of(mutant)}: {mutant.id} breaks {rule}, which is no rule{hint}"

    def _without_mutant(self) -> Iterable[str]:
        for rule in self.catalogue.rules.values():
            has_case, has_mutant = rule.id in self.catalogue.cases_of, rule.id in self.catalogue.mutants_of
            if rule.level == "MUST" and self._admitted(rule.id) and has_case and not has_mutant:
                yield f"{rule.where}: {rule.id}"

    # -- trying -------------------------------------------------------------------------------------------------

    def _trials(self, chosen: Sequence[Mutant], cases: Sequence[CaseInfo]) -> None:
        """Try the unbroken engine, then every mutant: in forked copies if the engine survives that."""
        interpreter = interpreter_for(self.engine, self.note)
        if not self.fresh:
            with Benches(self.jobs, lambda: self._bench(interpreter, forked=True)) as benches:
                supported = self._supported(benches.first.start(), cases)
                self._forked = self._controlled(benches, supported)
                if self._forked:
                    self._try_all(benches, chosen, supported)
                    return
            self.note("the unbroken engine does not survive being forked; starting a worker for each mutant")
        with Benches(self.jobs, lambda: self._bench(interpreter, forked=False)) as benches:
            supported = self._supported(benches.first.start(), cases)
            self._controlled(benches, supported)
            self._try_all(benches, chosen, supported)

    def _bench(self, interpreter: str, forked: bool) -> Bench:
        return Bench(self.engine, interpreter, self._config(self.engine), self._limit, forked, self.smoke)

    def _config(self, engine: Engine) -> dict[str, Any]:
        return {
            "module": engine.module,
            "setup": engine.setup,
            "detect": dict(engine.detect),
            "suite": self.suite,
            "mutants": self.package,
            "path": [_folder_of(package) for package in (self.suite, self.package) if _foreign(package)],
            "describe": False,
        }

    def _limit(self, case: CaseInfo) -> float:
        return max(self.timeout, case.timeout or 0.0)

    def _supported(self, ready: Mapping[str, Any], cases: Sequence[CaseInfo]) -> list[CaseInfo]:
        self._version = str(ready["version"])
        able = self.engine.able(ready["declared"], ready["detected"])
        self._control = {}
        supported = []
        for case in cases:
            missing = sorted({*self.catalogue.rules[case.rule].needs, *case.needs} - able)
            if missing:
                message = "needs " + ", ".join(missing)
                self._control[case.id] = Ending(case.id, case.rule, Outcome.UNSUPPORTED, message)
            else:
                supported.append(case)
        return supported

    def _controlled(self, benches: Benches, cases: Sequence[CaseInfo]) -> bool:
        """Run the cases on the unbroken engine; False if one crashes or hangs."""
        chunks = [cases[start : start + _CONTROL_CHUNK] for start in range(0, len(cases), _CONTROL_CHUNK)]
        for trial in benches.map(lambda bench, chunk: bench.try_mutant(None, chunk), chunks):
            if trial.error:
                raise EngineFault(f"engine {self.engine.name} stops while it is unbroken: {trial.error}")
            self._control.update({ending.case: ending for ending in trial.endings})
        return not any(ending.outcome in (Outcome.CRASH, Outcome.TIMEOUT) for ending in self._control.values())

    def _try_all(self, benches: Benches, chosen: Sequence[Mutant], cases: Sequence[CaseInfo]) -> None:
        passing = [case for case in cases if self._control[case.id].outcome is Outcome.PASS]
        done = 0

        def attempt(bench: Bench, mutant: Mutant) -> Trial:
            nonlocal done
            mine = [case for case in passing if case.rule in mutant.rules]
            rest = [case for case in passing if case.rule not in mutant.rules] if self.matrix == "full" else []
            trial = bench.try_mutant(mutant.id, [*mine, *rest])
            done += 1
            self.progress(done, len(chosen))
            return trial

        try:
            benches.map(attempt, chosen)
        finally:
            self._finished = {str(trial.mutant): trial for trial in benches.results}

    # -- judging ------------------------------------------------------------------------------------------------

    def _judged(self, mutant: Mutant, trial: Trial) -> Tried:
        by_rule: dict[str, list[Ending]] = {}
        for ending in trial.endings:
            by_rule.setdefault(ending.rule, []).append(ending)
        return Tried(
            mutant=mutant.id,
            doc=mutant.doc,
            where=place_of(mutant),
            verdicts=tuple(
                self._verdict(rule, trial, by_rule.get(rule, []))
                for rule in mutant.rules
                if rule in self.catalogue.rules and self._admitted(rule)
            ),
            others=tuple(
                sorted(
                    rule
                    for rule, endings in by_rule.items()
                    if rule not in mutant.rules and any(ending.killed for ending in endings)
                )
            ),
            seconds=trial.seconds,
        )

    def _verdict(self, rule: str, trial: Trial, endings: Sequence[Ending]) -> RuleVerdict:
        if trial.error:
            return RuleVerdict(rule, Verdict.ERROR, reason=f"the mutant could not be applied: {trial.error}")
        killers = tuple(ending for ending in endings if ending.killed)
        ran = [ending for ending in endings if ending.outcome is not Outcome.NOT_RUN]
        if killers:
            return RuleVerdict(rule, Verdict.KILLED, killers, len(ran))
        if not self.catalogue.cases_of.get(rule):
            return RuleVerdict(rule, Verdict.SURVIVED, reason="the rule has no case")
        own = [self._control[case.id] for case in self.catalogue.cases_of[rule] if case.id in self._control]
        useless = [ending for ending in own if ending.outcome is not Outcome.PASS]
        if useless or len(ran) < len(own):
            why = "; ".join(sorted({f"{end.outcome}: {end.message or 'no reason'}"[:100] for end in useless}))
            reason = f"{len(useless)} of {len(own)} own cases do not pass on the unbroken engine ({why})"
            lacking = useless and all(ending.outcome is Outcome.UNSUPPORTED for ending in useless)
            verdict = Verdict.UNSUPPORTED if lacking else Verdict.UNJUDGED
            return RuleVerdict(rule, verdict, (), len(ran), reason if useless else "own cases were not run")
        names = ", ".join(ending.case.partition("/")[2] for ending in ran)
        return RuleVerdict(rule, Verdict.SURVIVED, (), len(ran), f"all {len(ran)} own cases passed: {names}")


def _counted(endings: Iterable[Ending]) -> dict[str, int]:
    found: dict[str, int] = {}
    for ending in endings:
        found[str(ending.outcome)] = found.get(str(ending.outcome), 0) + 1
    return dict(sorted(found.items()))


def _matches(name: str, glob: str) -> bool:
    """A mutant's id matches a glob over the whole id, or over the name of its function."""
    return fnmatch.fnmatchcase(name, glob) or fnmatch.fnmatchcase(name.rpartition(".")[2], glob)


def _foreign(package: str) -> bool:
    return package.partition(".")[0] != "conformance"


def _folder_of(package: str) -> str:
    """The folder from which a package of cases or mutants is imported."""
    top = package.partition(".")[0]
    spec = importlib.util.find_spec(top)
    if spec is None or not (spec.submodule_search_locations or spec.origin):
        raise UsageFault(f"the package {package!r} cannot be imported", "Run from the folder that holds it.")
    place = next(iter(spec.submodule_search_locations or ()), None) or str(spec.origin)
    return str(Path(place).absolute().parent)
