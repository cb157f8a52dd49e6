"""A session: programs to both engines, differences verified, sorted into kinds, shrunk and judged."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

from conformance.engine import Engine
from conformance.oracle import excuses, generate, names, operators
from conformance.oracle.answers import Answer, Difference, compare, signature
from conformance.oracle.judge import Judge, Verdict
from conformance.oracle.known import Known
from conformance.oracle.program import Program
from conformance.oracle.shrink import TOGETHER, TRIES, OutOfTime, shrink
from conformance.oracle.side import Side

#: How many differences of one kind are shrunk, to see whether they are the same thing.
ALIKE = 2

#: How long the example of a known hang is waited for.
HANG_SECONDS = 4.0

#: How much longer than its time a session may take to look into what it has found, in limits of one program; and how
#: long it may take to verify one difference, or to tell whether an engine is to blame for it.
GRACE = 3

Pairs = list[tuple[Answer, Answer]]


@dataclass(frozen=True)
class Plan:
    """What a session does: how long or how many programs, which operations, and what is known already."""

    seconds: float | None = 60.0
    programs: int | None = None
    seed: int = 0
    globs: tuple[str, ...] = ()
    known: tuple[Known, ...] = ()
    limit: float = 20.0
    shrink_seconds: float = 15.0
    shrink_tries: int = TRIES


@dataclass
class Finding:
    """A difference that is not known: the smallest program for it, the answers, and how many programs showed it."""

    program: Program
    difference: Difference
    verdict: Verdict
    signature: tuple[str, ...]
    answers: tuple[Answer, Answer]
    count: int = 1
    whole: bool = True      # nothing smaller was left to try


@dataclass
class Outcome:
    """What came of a session."""

    engines: tuple[str, str]
    versions: tuple[str, str] = ("", "")
    programs: int = 0
    avoided: int = 0
    unexamined: int = 0     # programs that differed when there was no time left to look into it
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    known: Counter[str] = field(default_factory=Counter)
    excused: Counter[str] = field(default_factory=Counter)
    stale: list[Known] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    missing: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))
    interrupted: bool = False


class Watcher(Protocol):
    """Is told how a session goes."""

    def note(self, text: str) -> None:
        """Something that a person should know."""

    def progress(self, programs: int, findings: int, known: int) -> None:
        """So many programs have been run."""

    def found(self, finding: Finding) -> None:
        """A difference that is not known."""


class Session:
    """Holds one engine against another."""

    def __init__(
        self, engines: tuple[Engine, Engine], plan: Plan, watcher: Watcher,
        rules: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        self.plan, self.watcher = plan, watcher
        self.names = engines[0].name, engines[1].name
        self.outcome = Outcome(self.names)
        self.sides = (Side(engines[0], self._note, plan.limit), Side(engines[1], self._note, plan.limit))
        self._judge = Judge(self.names, rules)
        self._shrunk: Counter[tuple[str, ...]] = Counter()
        self._threads = ThreadPoolExecutor(2)
        self._began = time.monotonic()
        self._until = math.inf

    def _note(self, text: str) -> None:
        if len(self.outcome.notes) < 200:
            self.outcome.notes.append(text)
        self.watcher.note(text)

    # -- the whole ------------------------------------------------------------------------------------------

    def run(self) -> Outcome:
        """Run until the time or the number of programs is used up."""
        try:
            for started in [self._threads.submit(side.start) for side in self.sides]:
                started.result()
            self.outcome.versions = self.sides[0].version, self.sides[1].version
            found = self._operators()
            self._until = self._ending(GRACE)
            self._examples()
            self._began = time.monotonic()
            self._programs(found)
        except KeyboardInterrupt:
            self.outcome.interrupted = True
        finally:
            self.outcome.seconds = time.monotonic() - self._began
            for side in self.sides:
                side.close()
            self._threads.shutdown(cancel_futures=True)
        return self.outcome

    def _operators(self) -> list[operators.Operator]:
        """What either engine describes, as far as both have it."""
        described = next((found for side in self.sides if (found := side.operators())), None)
        if described is None:
            names.check(self.plan.globs, ())
            self._note("neither engine describes its operators; only the general families of programs are run")
            return []
        paths = operators.paths_of(described)
        has = [side.which(paths) for side in self.sides]
        only = [sorted(entry["paths"][0] for entry in described
                       if not has[i].intersection(entry["paths"]) and has[1 - i].intersection(entry["paths"]))
                for i in (0, 1)]
        self.outcome.missing = only[0], only[1]
        names.check(self.plan.globs, has[0] & has[1])
        usable = operators.read(described, has[0] & has[1], self.plan.globs)
        for operator in usable:
            self._judge.rules.setdefault(operator.path, operator.rules)
        return usable

    def _examples(self) -> None:
        """Every known difference must still be there."""
        entries = self.plan.known
        for entry in entries:
            try:
                ((first, second),) = self._both([entry.program], HANG_SECONDS if "hang" in entry.kinds else None)
            except OutOfTime:
                self._note("there was no time to run the examples of all known differences")
                return
            difference = compare(first, second, entry.program)
            if difference is None and entry.unsteady:
                continue
            if difference is None or not entry.explains(difference, entry.program, self.names):
                self.outcome.stale.append(entry)
                self._note(f"known difference {entry.id} does not occur any more" if difference is None else
                           f"the example of {entry.id} shows something else: {difference.kind}: {difference.first} | "
                           f"{difference.second}")

    def _batches(self, found: Sequence[operators.Operator]) -> Iterator[list[Program]]:
        everything = list(generate.samples(found))
        for start in range(0, len(everything), generate.BATCH):
            yield everything[start:start + generate.BATCH]
        for number in range(10**9):
            left = generate.BATCH if self.plan.programs is None else self.plan.programs - self.outcome.programs
            yield generate.batch(found, self.plan.seed * 1_000_003 + number, self.plan.globs,
                                 max(1, min(generate.BATCH, left)))

    def _programs(self, found: Sequence[operators.Operator]) -> None:
        """Batch after batch; the next one is made while the engines are busy with this one."""
        batches = self._batches(found)
        empty = 0
        waiting = self._admitted(next(batches))
        while waiting or empty < 20:
            empty = 0 if waiting else empty + 1
            running = [self._threads.submit(side.run, waiting, None, self._ending()) for side in self.sides] \
                if waiting else []
            done = self._used_up(len(waiting))
            coming = [] if done else self._admitted(next(batches), len(waiting))
            for program, first, second in zip(waiting, *(part.result() for part in running)):
                self.outcome.programs += 1
                difference = compare(first, second, program)
                if difference is not None:
                    self._consider(program, difference)
            self.watcher.progress(self.outcome.programs, len(self.outcome.findings), sum(self.outcome.known.values()))
            if done:
                return
            waiting = coming

    def _used_up(self, more: int) -> bool:
        plan = self.plan
        if plan.programs is not None and self.outcome.programs + more >= plan.programs:
            return True
        return time.monotonic() >= self._ending()

    def _ending(self, grace: int = 0) -> float:
        """When the time of the session is up, by ``time.monotonic()``."""
        seconds = math.inf if self.plan.seconds is None else self.plan.seconds
        return self._began + seconds + grace * self.plan.limit

    def _allowed(self, programs: Sequence[Program]) -> list[Program]:
        return [program for program in programs if not any(entry.forbids(program) for entry in self.plan.known)]

    def _admitted(self, programs: Sequence[Program], running: int = 0) -> list[Program]:
        """Without those that would end an engine in a known way."""
        kept = self._allowed(programs)
        self.outcome.avoided += len(programs) - len(kept)
        if self.plan.programs is not None:
            kept = kept[:max(0, self.plan.programs - self.outcome.programs - running)]
        return kept

    # -- one difference -------------------------------------------------------------------------------------

    def _both(self, programs: Sequence[Program], seconds: float | None = None) -> Pairs:
        """What both engines answer; OutOfTime if one had no time to answer all."""
        parts: list[Future[list[Answer]]] = [
            self._threads.submit(side.run, programs, seconds, self._until) for side in self.sides]
        found = list(zip(parts[0].result(), parts[1].result()))
        if len(found) < len(programs):
            raise OutOfTime
        return found

    def _admissible(self, programs: Sequence[Program]) -> Pairs:
        """The same without those that would end an engine in a known way, which count as ended."""
        kept = self._allowed(programs)
        answers = dict(zip(kept, self._both(kept)))
        ended = Answer(end="crash")
        return [answers.get(program, (ended, ended)) for program in programs]

    def _known(self, difference: Difference, program: Program) -> Known | None:
        """The first entry that explains the difference."""
        return next((entry for entry in self.plan.known if entry.explains(difference, program, self.names)), None)

    def _is_known(self, difference: Difference, program: Program) -> bool:
        return self._known(difference, program) is not None

    def _explained(self, difference: Difference, program: Program) -> bool:
        """The same, counted."""
        entry = self._known(difference, program)
        if entry is not None:
            self.outcome.known[entry.id] += 1
        return entry is not None

    def _consider(self, program: Program, difference: Difference) -> None:
        """Sort a difference: known, only rounding, one more of a kind, or a finding."""
        if self._explained(difference, program):
            return
        kind = signature(difference, program)
        if self._shrunk[kind] >= ALIKE:
            self._count(kind)
            return
        try:
            if time.monotonic() >= self._ending(GRACE):
                raise OutOfTime
            self._look_into(program, difference)
        except OutOfTime:
            if not self._count(kind):
                self.outcome.unexamined += 1

    def _look_into(self, program: Program, difference: Difference) -> None:
        """Verify a difference in processes of its own, shrink it, judge it; OutOfTime if that takes too long."""
        self._until = self._allowance()
        for renewed in [self._threads.submit(side.renew) for side in self.sides]:
            renewed.result()
        (first, second), (again, once_more) = self._both([program, program])
        seen, found = difference, self._unsteady(program, (first, second), (again, once_more)) or compare(
            first, second, program)
        if found is None:  # in processes of its own the program shows nothing, twice
            self._note(f"a difference was not there again: an earlier program may have damaged an engine: "
                       f"{program.lines[seen.step]}: {seen.first[:100]} | {seen.second[:100]}")
            return
        difference = found
        if self._explained(difference, program) or self._excused(program, difference):
            return
        kind = signature(difference, program)
        # What was verified shortly before the time is up still gets a moment to become simpler.
        seconds = min(self.plan.shrink_seconds, self._ending(GRACE) - time.monotonic())
        self._until = time.monotonic() + seconds
        smallest, whole = shrink(program, difference.step, lambda some: self._shows(some, kind), seconds,
                                 3 if difference.kind == "hang" else TOGETHER, self.plan.shrink_tries)
        self._until = self._allowance()
        ((first, second),) = self._both([smallest])
        final = compare(first, second, smallest)
        if final is None:
            smallest, final, whole = program, difference, False
        self._shrunk[kind] += 1
        if self._explained(final, smallest) or self._excused(smallest, final):
            return
        final_kind = signature(final, smallest)
        if self._count(final_kind):
            return
        verdict = self._judge.verdict(smallest, final, (first, second))
        finding = Finding(smallest, final, verdict, final_kind, (first, second), whole=whole)
        self.outcome.findings.append(finding)
        self.watcher.found(finding)

    def _allowance(self) -> float:
        """Until when one difference may be looked into; without end in a session that has none."""
        return math.inf if self.plan.seconds is None else time.monotonic() + GRACE * self.plan.limit

    def _count(self, kind: tuple[str, ...]) -> bool:
        """One more program for the finding of this kind; False if there is none."""
        for finding in self.outcome.findings:
            if finding.signature == kind:
                finding.count += 1
                return True
        return False

    @staticmethod
    def _unsteady(
        program: Program, first: tuple[Answer, Answer], again: tuple[Answer, Answer]
    ) -> Difference | None:
        """An engine that answers the same question in two ways is wrong by itself."""
        for which in (0, 1):
            found = compare(first[which], again[which], program)
            if found is not None and found.kind not in ("crash", "hang"):
                texts = [f"always {found.first}", f"always {found.first}"]
                texts[which] = f"now {found.first}, now {found.second}"
                return Difference("unstable", found.step, found.name, texts[0], texts[1])
        return None

    def _shows(self, programs: Sequence[Program], kind: tuple[str, ...]) -> list[bool]:
        """For each program whether it shows a difference of this kind, and not one that is known."""
        found = []
        for program, answers in zip(programs, self._admissible(programs)):
            difference = compare(*answers, program)
            if kind[1] == "unstable":
                difference = self._unsteady(program, answers, self._admissible([program])[0])
            found.append(difference is not None and signature(difference, program) == kind
                         and not self._is_known(difference, program)
                         and not excuses.rounding(program, difference, self._admissible))
        return found

    def _excused(self, program: Program, difference: Difference) -> bool:
        """True if neither engine is wrong; counted by why."""
        why = ("rounding" if excuses.rounding(program, difference, self._admissible) else
               "two faults" if excuses.faults(program, difference, self._admissible, self._is_known) else None)
        if why is not None:
            self.outcome.excused[why] += 1
        return why is not None
