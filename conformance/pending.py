"""The one visible list of rules whose cases have not come yet: ``conformance/rules/pending.yaml``."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml

from conformance.rule import RULES_FOLDER, Rule, RuleError


@dataclass(frozen=True, slots=True)
class Pending:
    """One entry: either a whole ``file`` of rules or a glob over their ids (``rules``), and the ``reason``."""

    file: str
    rules: str
    reason: str
    line: int

    def covers(self, rule: Rule) -> bool:
        """True if the entry is about this rule."""
        return rule.file == self.file if self.file else fnmatch.fnmatchcase(rule.id, self.rules)

    def __str__(self) -> str:
        return f"pending.yaml:{self.line}: {self.file or self.rules}"


def load_pending(path: Path | str | None = None) -> list[Pending]:
    """Read the list; RuleError with file and line if an entry is not one."""
    path = RULES_FOLDER / "pending.yaml" if path is None else Path(path)
    text = path.read_text(encoding="utf-8")
    entries = yaml.load(text, Loader=yaml.SafeLoader) or []
    lines = [number for number, line in enumerate(text.split("\n"), 1) if line.startswith("- ")]
    found = []
    for line, entry in zip(lines, entries, strict=True):
        keys = set(entry) if isinstance(entry, dict) else set()
        if keys not in ({"file", "reason"}, {"rules", "reason"}) or not all(
            isinstance(value, str) and value for value in entry.values()
        ):
            raise RuleError(f"{path.name}:{line}: expected 'file' or 'rules', and 'reason', got {entry!r}")
        found.append(Pending(entry.get("file", ""), entry.get("rules", ""), entry["reason"], line))
    return found


def pending_rules(rules: Iterable[Rule], with_case: Iterable[str], pending: Iterable[Pending]) -> dict[str, str]:
    """Rule id -> reason, for every rule that has no case and stands in the list."""
    cased = set(with_case)
    entries = list(pending)
    found = {}
    for rule in rules:
        if rule.id not in cased:
            for entry in entries:
                if entry.covers(rule):
                    found[rule.id] = entry.reason
                    break
    return found
