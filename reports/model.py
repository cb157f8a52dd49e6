"""A result file in memory: frozen records, and the reader that refuses what is cut off, miscounted or malformed.

The format is JSON lines: one ``header``, then ``rule`` and ``case`` records, then one ``footer`` that counts
them. ``schema/result.schema.json`` describes each record; the reader here checks the same and more (order, counts,
references), and its errors name the line. Keys that it does not know are ignored, so that a file may carry more.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from reports.fields import Fields, FieldsError
from reports.outcomes import CASE_OUTCOMES, LEVELS, VERDICTS

FORMAT = "gluon-conformance-result"
VERSION = 1
STATUSES = ("holds", "differs", "absent", "untested")


class ResultError(ValueError):
    """A result file that cannot be trusted: which file, which line, what was expected and what is there."""

    def __init__(self, path: str, line: int | None, problem: str) -> None:
        self.path, self.line, self.problem = path, line, problem
        super().__init__(f"{path}{f', line {line}' if line else ''}: {problem}")


@dataclass(frozen=True)
class Release:
    """What an upstream release is known to do about a rule: ``holds``, ``differs``, ``absent`` or ``untested``."""

    status: str
    observation: str


@dataclass(frozen=True)
class Rule:
    """A rule as the run knew it; ``pending`` means that its case is still to come."""

    id: str
    area: str
    level: str
    statement: str
    source: str
    verdict: str
    api: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    notes: str = ""
    releases: Mapping[str, Release] = field(default_factory=dict)
    pending: bool = False
    cases: tuple[str, ...] = ()
    mutants: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failure:
    """Why a case did not pass, in the order in which a person reads it; absent parts are empty."""

    kind: str = ""
    doing: str = ""
    expected: str = ""
    got: str = ""
    tolerance: str = ""
    traceback: str = ""
    output: str = ""


@dataclass(frozen=True)
class Case:
    """What became of one case."""

    id: str
    rule: str
    area: str
    level: str
    outcome: str
    seconds: float
    message: str = ""
    failure: Failure | None = None
    blocked_by: tuple[str, ...] = ()
    waiver: Mapping[str, str] | None = None
    replay: str = ""


@dataclass(frozen=True)
class Surprise:
    """A rule whose result contradicts what the inventory says of this engine."""

    rule: str
    expected: str
    observed: str
    detail: str = ""


@dataclass(frozen=True)
class Result:
    """One engine's run: everything that a result file says."""

    path: str
    name: str
    version: str
    module: str
    interpreter: str
    python: str
    numpy: str
    platform: str
    capabilities: tuple[str, ...]
    inventory: str | None
    suite_version: str
    suite_rules: int
    suite_cases: int
    started: str
    options: Mapping[str, Any]
    rules: tuple[Rule, ...]
    cases: tuple[Case, ...]
    counts: Mapping[str, int]
    seconds: float
    surprises: tuple[Surprise, ...]
    verdict: str
    exit_code: int


def load(path: str | os.PathLike[str]) -> Result:
    """Read and check a result file; raises :class:`ResultError`, or ``OSError`` when it cannot be read at all."""
    return parse(Path(path).read_bytes(), os.fspath(path))


def parse(content: str | bytes, path: str = "<result>") -> Result:
    """Check the content of a result file; *path* is only for messages. Raises :class:`ResultError`."""
    return _Reader(path).read(content)


_Record = TypeVar("_Record", Rule, Case)


class _Reader:
    """Reads one file; keeps the line number for messages."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.line: int | None = None

    def refuse(self, problem: str, line: int | None = None) -> NoReturn:
        raise ResultError(self.path, line if line is not None else self.line, problem)

    def read(self, content: str | bytes) -> Result:
        if isinstance(content, bytes):
            try:
                content = content.decode("utf-8")
            except UnicodeDecodeError as error:
                self.refuse(f"is not UTF-8 text ({error.reason} at byte {error.start})")
        # split on newline alone: str.splitlines would also cut at U+2028 and others, which JSON allows in strings
        lines = content.split("\n")
        if not content.strip():
            self.refuse("is empty; expected a header record")
        complete = lines[-1] == ""
        if complete:
            lines.pop()
        rules: dict[str, Rule] = {}
        cases: dict[str, Case] = {}
        header: Fields | None = None
        footer: Fields | None = None
        for self.line, text in enumerate(lines, start=1):
            if footer is not None:
                self.refuse("there is more after the footer record")
            last = self.line == len(lines)
            record = self._record(text, cut_off=last and not complete)
            try:
                kind = record.text("record")
                if header is None:
                    if kind != "header":
                        self.refuse(f"expected a header record first, got record {kind!r}")
                    header = self._check_format(record)
                elif kind == "rule":
                    self._add(rules, _rule(record), "rule")
                elif kind == "case":
                    self._add(cases, self._known(_case(record), rules), "case")
                elif kind == "footer":
                    footer = record
                else:
                    self.refuse(f"expected record 'rule', 'case' or 'footer', got {kind!r}")
            except FieldsError as error:
                self.refuse(str(error))
        assert header is not None
        if footer is None:
            self.refuse(
                f"the file is cut off: no footer record after {len(cases)} case records; the run did not end or the "
                "file was not copied whole"
            )
        return self._result(header, tuple(rules.values()), tuple(cases.values()), footer)

    def _record(self, text: str, cut_off: bool) -> Fields:
        try:
            value = json.loads(text, parse_constant=_no_constant)
        except ValueError as error:
            if cut_off:
                self.refuse(f"the file is cut off in the middle of this line ({error})")
            self.refuse(f"is not JSON ({error})")
        except RecursionError:
            self.refuse("is not a record: nested too deeply")
        if not isinstance(value, dict):
            self.refuse(f"expected a JSON object, got {type(value).__name__}")
        return Fields(value)

    def _check_format(self, record: Fields) -> Fields:
        name = record.text("format")
        if name != FORMAT:
            self.refuse(f"expected format {FORMAT!r}, got {name!r}")
        version = record.integer("version")
        if version != VERSION:
            self.refuse(
                f"version {version} of the format is not known here; this program reads version {VERSION}. "
                "A newer gluon-conformance wrote the file: use that one to read it"
            )
        return record

    def _known(self, case: Case, rules: Mapping[str, Rule]) -> Case:
        rule = rules.get(case.rule)
        if rule is None:
            self.refuse(f"case {case.id!r} names rule {case.rule!r}, which has no rule record before it")
        if (case.area, case.level) != (rule.area, rule.level):
            self.refuse(
                f"case {case.id!r} says area {case.area!r} and level {case.level!r}, but its rule says "
                f"{rule.area!r} and {rule.level!r}"
            )
        return case

    def _add(self, known: dict[str, _Record], record: _Record, kind: str) -> None:
        if record.id in known:
            self.refuse(f"{kind} {record.id!r} is there a second time")
        known[record.id] = record

    def _result(self, header: Fields, rules: tuple[Rule, ...], cases: tuple[Case, ...], footer: Fields) -> Result:
        try:
            counts = footer.counts("counts", CASE_OUTCOMES)
            total = footer.integer("total")
            self._check_counts(cases, counts, total)
            if footer.integer("rules") != len(rules):
                self.refuse(f"miscounted: the footer counts {footer.integer('rules')} rules, the file has {len(rules)}")
            surprises = tuple(
                Surprise(item.text("rule"), item.text("expected"), item.text("observed"), item.text("detail", ""))
                for item in footer.objects("surprises")
            )
            known = {rule.id for rule in rules}
            for surprise in surprises:
                if surprise.rule not in known:
                    self.refuse(f"surprise about rule {surprise.rule!r}, which has no rule record")
            verdict = footer.choice("verdict", tuple(VERDICTS))
            seconds, exit_code = footer.number("seconds"), footer.integer("exit_code")
            self.line = 1
            engine, suite = header.object("engine"), header.object("suite")
            return Result(
                path=self.path,
                name=engine.text("name"),
                version=engine.text("version", ""),
                module=engine.text("module", ""),
                interpreter=engine.text("interpreter", ""),
                python=engine.text("python", ""),
                numpy=engine.text("numpy", ""),
                platform=engine.text("platform", ""),
                capabilities=engine.texts("capabilities"),
                inventory=engine.text("inventory", "") or None,
                suite_version=suite.text("version"),
                suite_rules=suite.integer("rules"),
                suite_cases=suite.integer("cases"),
                started=header.text("started"),
                options=header.plain("options"),
                rules=rules,
                cases=cases,
                counts=counts,
                seconds=seconds,
                surprises=surprises,
                verdict=verdict,
                exit_code=exit_code,
            )
        except FieldsError as error:
            self.refuse(str(error))

    def _check_counts(self, cases: tuple[Case, ...], counts: Mapping[str, int], total: int) -> None:
        if total != len(cases):
            self.refuse(f"miscounted: the footer counts {total} cases, the file has {len(cases)}")
        found = Counter(case.outcome for case in cases)
        for outcome in CASE_OUTCOMES:
            if counts.get(outcome, 0) != found[outcome]:
                self.refuse(
                    f"miscounted: the footer counts {counts.get(outcome, 0)} cases as {outcome!r}, "
                    f"the file has {found[outcome]}"
                )


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _rule(record: Fields) -> Rule:
    releases = {
        name: Release(item.choice("status", STATUSES), item.text("observation", ""))
        for name, item in record.object("releases").items_as_objects()
    }
    return Rule(
        id=record.text("id", empty=False),
        area=record.text("area", empty=False),
        level=record.choice("level", LEVELS),
        statement=record.text("statement"),
        source=record.text("source", ""),
        verdict=record.text("verdict", ""),
        api=record.texts("api"),
        needs=record.texts("needs"),
        notes=record.text("notes", ""),
        releases=releases,
        pending=record.boolean("pending"),
        cases=record.texts("cases"),
        mutants=record.texts("mutants"),
    )


def _case(record: Fields) -> Case:
    parts = record.object_or_none("failure")
    failure = None
    if parts is not None:
        failure = Failure(
            kind=parts.text("kind", ""),
            doing=parts.text("doing", ""),
            expected=parts.text("expected", ""),
            got=parts.text("got", ""),
            tolerance=parts.text("tolerance", ""),
            traceback=parts.text("traceback", ""),
            output=parts.text("output", ""),
        )
    waiver = record.object_or_none("waiver")
    return Case(
        id=record.text("id", empty=False),
        rule=record.text("rule", empty=False),
        area=record.text("area", empty=False),
        level=record.choice("level", LEVELS),
        outcome=record.choice("outcome", CASE_OUTCOMES),
        seconds=record.number("seconds"),
        message=record.text("message", ""),
        failure=failure,
        blocked_by=record.texts("blocked_by"),
        waiver=None if waiver is None else waiver.shown(),
        replay=record.text("replay", ""),
    )
