"""Which cases a run is about: by rule, area, level, what failed last, and shard."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.errors import HarnessFault, UsageFault
from conformance.rule import Rule


@dataclass(frozen=True)
class CaseInfo:
    """What the worker says about a case (see ``Case.describe``)."""

    id: str
    rule: str
    needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    timeout: float | None = None
    module: str = ""
    line: int = 0
    doc: str = ""

    @classmethod
    def of(cls, described: Mapping[str, Any]) -> CaseInfo:
        """From the JSON values that came over the pipe."""
        return cls(**{**described, "needs": tuple(described["needs"]), "after": tuple(described["after"])})


@dataclass(frozen=True)
class Selection:
    """patterns: globs over rule and case ids;  only: exact case ids;  shard: (number from 1, of how many)."""

    patterns: tuple[str, ...] = ()
    areas: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    only: frozenset[str] | None = None
    shard: tuple[int, int] | None = None

    def admits_rule(self, rule: Rule) -> bool:
        """True if area and level are asked for; patterns and the like also look at cases."""
        return (not self.areas or rule.area in self.areas) and (not self.levels or rule.level in self.levels)

    def select(self, cases: Iterable[CaseInfo], rules: Mapping[str, Rule]) -> list[CaseInfo]:
        """The selected cases in their order."""
        chosen = [case for case in cases if self.admits_rule(rules[case.rule]) and self._named(case)]
        if self.shard is not None:
            # All cases of a rule go into one shard: what is known of a rule is known of all its cases together.
            number, of = self.shard
            place = {rule: index for index, rule in enumerate(sorted({case.rule for case in chosen}))}
            chosen = [case for case in chosen if place[case.rule] % of == number - 1]
        return chosen

    def select_rules(self, rules: Mapping[str, Rule], chosen: Sequence[CaseInfo]) -> list[str]:
        """The rules that the run is about: those of the chosen cases and selected ones that have no case yet."""
        with_cases = {case.rule for case in chosen}
        whole = self.only is None and self.shard is None
        return [
            rule.id for rule in rules.values()
            if rule.id in with_cases
            or (whole and self.admits_rule(rule) and (not self.patterns or _matches(rule.id, self.patterns)))
        ]

    def _named(self, case: CaseInfo) -> bool:
        if self.only is not None and case.id not in self.only:
            return False
        return not self.patterns or _matches(case.id, self.patterns) or _matches(case.rule, self.patterns)

    def check_patterns(self, cases: Sequence[CaseInfo], rules: Mapping[str, Rule]) -> None:
        """Every pattern matches a rule or a case, else UsageFault with the nearest name."""
        names = [*rules, *(case.id for case in cases)]
        for pattern in self.patterns:
            if not any(_matches(name, (pattern,)) for name in names):
                near = difflib.get_close_matches(pattern, names, 1)
                raise UsageFault(f"no rule and no case matches {pattern!r}",
                                 f"Did you mean {near[0]}?" if near else "See `conform rules`.")


def _matches(name: str, patterns: Sequence[str]) -> bool:
    # A sample stands in brackets, which mean something else in a glob: an exact id always matches itself.
    return any(name == pattern or fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def check_suite(cases: Iterable[CaseInfo], rules: Mapping[str, Rule]) -> None:
    """Every case has a rule, and stands on rules that exist; else HarnessFault."""
    for case in cases:
        if case.rule not in rules:
            raise HarnessFault(f"case {case.id} ({case.module}:{case.line}) has no rule in the inventory")
        for other in case.after:
            if other not in rules:
                raise HarnessFault(f"case {case.id} ({case.module}:{case.line}) stands on {other}, which is no rule")
