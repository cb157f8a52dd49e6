"""Rules, cases and mutants side by side, and the gates that keep them in step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from conformance.case import Case, load_suite
from conformance.errors import HarnessFault
from conformance.mutants import Mutant, load_mutants
from conformance.pending import Pending, load_pending, pending_rules
from conformance.rule import Rule, load_rules

_PACKAGE = Path(__file__).parent
T = TypeVar("T")
Item = TypeVar("Item", Case, Mutant)


@dataclass(frozen=True)
class Gap:
    """One thing that is missing or left over: which gate says so, about what, and what to do."""

    gate: str
    subject: str
    text: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.text}"


@dataclass(frozen=True)
class Catalogue:
    """Everything the suite consists of."""

    rules: Mapping[str, Rule]
    cases: Mapping[str, Case]
    mutants: Mapping[str, Mutant]
    pending_list: tuple[Pending, ...]

    @cached_property
    def cases_of(self) -> Mapping[str, tuple[Case, ...]]:
        """Rule id -> its cases, also for ids that are no rule."""
        return _grouped((case.rule, case) for case in self.cases.values())

    @cached_property
    def mutants_of(self) -> Mapping[str, tuple[Mutant, ...]]:
        """Rule id -> the mutants that name it, also for ids that are no rule."""
        return _grouped((rule, mutant) for mutant in self.mutants.values() for rule in mutant.rules)

    @cached_property
    def pending(self) -> Mapping[str, str]:
        """Rule id -> reason, for the rules that have no case yet and stand in the pending list."""
        return pending_rules(self.rules.values(), self.cases_of, self.pending_list)

    def gaps(self, capabilities: frozenset[str] | None = None) -> list[Gap]:
        """Everything that keeps rules, cases and mutants from being in step; an empty list is a sound suite.

        capabilities: the names that rules and cases may need; None leaves that gate out.
        """
        return [*self._rule_gaps(), *self._case_gaps(), *self._mutant_gaps(), *self._need_gaps(capabilities)]

    def _rule_gaps(self) -> Iterator[Gap]:
        for rule in self.rules.values():
            if rule.id in self.cases_of:
                if rule.check:
                    yield Gap("check", rule.where, f"{rule.id} has a case: remove its `check`, the case says it now")
                if rule.level == "MUST" and rule.id not in self.mutants_of:
                    yield Gap("mutant", rule.where, f"{rule.id} is a MUST with a case: it needs a mutant")
            elif rule.id not in self.pending:
                yield Gap("case", rule.where, f"{rule.id} has no case and is not in pending.yaml")
            elif not rule.check:
                yield Gap("check", rule.where, f"{rule.id} has neither a case nor a `check` to write one from")
        for entry in self.pending_list:
            if not any(entry.covers(self.rules[identifier]) for identifier in self.pending):
                yield Gap("pending", str(entry), "every rule it covers has a case: remove the entry")

    def _case_gaps(self) -> Iterator[Gap]:
        for case in self.cases.values():
            if case.rule not in self.rules:
                yield Gap("rule", place_of(case), f"case {case.id} is about no rule of the inventory")
            for other in case.after:
                if other not in self.rules:
                    yield Gap("rule", place_of(case), f"case {case.id} stands on {other}, which is no rule")

    def _mutant_gaps(self) -> Iterator[Gap]:
        for mutant in self.mutants.values():
            for rule in mutant.rules:
                if rule not in self.rules:
                    yield Gap("rule", place_of(mutant), f"mutant {mutant.id} breaks {rule}, which is no rule")
                elif rule not in self.cases_of:
                    yield Gap("case", place_of(mutant), f"mutant {mutant.id} breaks {rule}, which has no case")

    def _need_gaps(self, known: frozenset[str] | None) -> Iterator[Gap]:
        if known is None:
            return
        for rule in self.rules.values():
            for need in rule.needs:
                if need not in known:
                    yield Gap("capability", rule.where, f"{rule.id} needs {need!r}, which is no known capability")
        for case in self.cases.values():
            for need in case.needs:
                if need not in known:
                    yield Gap("capability", place_of(case), f"{case.id} needs {need!r}, which is no known capability")


def load_catalogue(suite: str = "conformance.suite", mutants: str = "conformance.mutants") -> Catalogue:
    """Load the inventory, the pending list, every case and every mutant; HarnessFault if one cannot be loaded."""
    return Catalogue(
        rules=load_rules(),
        cases=_loaded("cases", lambda: _below(suite, load_suite(suite))),
        mutants=_loaded("mutants", lambda: _below(mutants, load_mutants(mutants))),
        pending_list=tuple(load_pending()),
    )


def place_of(item: Case | Mutant) -> str:
    """Where a case or a mutant stands, as ``path:line``, relative to the folder above the package where it can be.

    >>> place_of(load_suite()["TRAINER-CORE-001/one_iteration"]).split(":")[0]
    'conformance/suite/trainer/core.py'
    """
    code = item.function.__code__
    path = Path(code.co_filename)
    if path.is_relative_to(_PACKAGE):
        path = Path(_PACKAGE.name) / path.relative_to(_PACKAGE)
    return f"{path.as_posix()}:{code.co_firstlineno}"


def _grouped(pairs: Iterator[tuple[str, T]]) -> dict[str, tuple[T, ...]]:
    found: dict[str, list[T]] = {}
    for key, item in pairs:
        found.setdefault(key, []).append(item)
    return {key: tuple(items) for key, items in found.items()}


def _below(package: str, registered: Mapping[str, Item]) -> dict[str, Item]:
    """Only what a package registered itself; another one may have been loaded into the same process."""
    return {name: item for name, item in registered.items() if f"{item.module}.".startswith(f"{package}.")}


def _loaded(what: str, load: Callable[[], T]) -> T:
    try:
        return load()
    except Exception as error:  # a module of the suite may raise anything while it is imported
        raise HarnessFault(f"the {what} could not be loaded: {type(error).__name__}: {error}") from error
