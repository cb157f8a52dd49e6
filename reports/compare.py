"""Run against run: what was fixed, what regressed, what is new and what is gone, case by case.

Only ``pass`` is good: a case that passed and is now unsupported, waived, blocked or not run has regressed, because
the run no longer shows that the rule holds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from reports.markdown import code_cell, escape
from reports.model import Case, Result
from reports.outcomes import OUTCOMES
from reports.text import one_line, plural

KINDS = ("regressed", "gone", "changed", "fixed", "new")

_TITLES = {
    "regressed": "Regressed: passed before, does not pass now",
    "gone": "Gone: in the first run only",
    "changed": "Changed: another outcome, still no pass",
    "fixed": "Fixed: passes now",
    "new": "New: in the second run only",
}


@dataclass(frozen=True)
class Change:
    """One case that is not as it was; ``before`` or ``after`` is None where it is not part of that run."""

    kind: str
    id: str
    rule: str
    level: str
    before: str | None
    after: str | None
    message: str
    replay: str


@dataclass(frozen=True)
class Comparison:
    """Two runs and their changes, worst first; ``same`` counts the cases that are as they were."""

    before: Result
    after: Result
    changes: tuple[Change, ...]
    same: int
    notes: tuple[str, ...]

    def of(self, kind: str) -> tuple[Change, ...]:
        """The changes of one kind."""
        return tuple(change for change in self.changes if change.kind == kind)

    @property
    def worse(self) -> bool:
        """Whether something that passed is no longer shown to pass."""
        return any(change.before == "pass" and change.kind in ("regressed", "gone") for change in self.changes)


def compare(before: Result, after: Result) -> Comparison:
    """Hold two results against each other, case by case."""
    old = {case.id: case for case in before.cases}
    new = {case.id: case for case in after.cases}
    changes = [
        change
        for identifier in sorted(old.keys() | new.keys())
        if (change := _change(old.get(identifier), new.get(identifier))) is not None
    ]
    changes.sort(key=lambda change: KINDS.index(change.kind))
    same = sum(identifier in new and new[identifier].outcome == case.outcome for identifier, case in old.items())
    return Comparison(before, after, tuple(changes), same, tuple(_notes(before, after)))


def _change(before: Case | None, after: Case | None) -> Change | None:
    if before is not None and after is not None:
        if before.outcome == after.outcome:
            return None
        kind = "fixed" if after.outcome == "pass" else "regressed" if before.outcome == "pass" else "changed"
    else:
        kind = "new" if before is None else "gone"
    case = after or before
    assert case is not None
    return Change(
        kind=kind,
        id=case.id,
        rule=case.rule,
        level=case.level,
        before=before.outcome if before else None,
        after=after.outcome if after else None,
        message=after.message if after and after.outcome != "pass" else "",
        replay=after.replay if after else "",
    )


def _notes(before: Result, after: Result) -> Iterable[str]:
    for name, old, new in (
        ("engine", before.name, after.name),
        ("version", before.version, after.version),
        ("suite", before.suite_version, after.suite_version),
        ("Python", before.python, after.python),
        ("numpy", before.numpy, after.numpy),
    ):
        if old != new:
            yield f"{name}: {old or 'unknown'} before, {new or 'unknown'} now"


def _word(outcome: str | None) -> str:
    return OUTCOMES[outcome].label if outcome else "absent"


def summary(comparison: Comparison) -> str:
    """One line: how many of each kind."""
    parts = [f"{len(comparison.of(kind)):,} {kind}" for kind in ("fixed", "regressed", "changed", "new", "gone")]
    return f"{', '.join(parts)}, {comparison.same:,} as before"


def render_text(comparison: Comparison, *, limit: int = 50, width: int = 80) -> str:
    """The comparison as plain lines; *limit* changes of each kind are shown."""
    before, after = comparison.before, comparison.after
    lines = [f"{before.name} before ({before.path}), {after.name} now ({after.path})"]
    lines += [f"  {note}" for note in comparison.notes]
    for kind in KINDS:
        changes = comparison.of(kind)
        if not changes:
            continue
        lines += ["", f"{_TITLES[kind]} ({len(changes):,})"]
        for change in changes[:limit]:
            lines.append(f"  {change.id} ({change.level}): {_word(change.before)} -> {_word(change.after)}")
            if kind == "regressed":
                lines += [f"      {one_line(text, width - 6)}" for text in (change.message,) if text]
                lines += [f"      {change.replay}"] if change.replay else []
        if len(changes) > limit:
            lines.append(f"  and {plural(len(changes) - limit, 'more case')}")
    return "\n".join([*lines, "", summary(comparison)]) + "\n"


def render_markdown(comparison: Comparison, *, limit: int = 100) -> str:
    """The comparison as GitHub-flavoured markdown."""
    mark = "❌" if comparison.worse else "✅"
    blocks = [f"## {mark} {escape(comparison.after.name)}: run against run", f"**{summary(comparison)}**"]
    if comparison.notes:
        blocks.append("\n".join(f"* {escape(note)}" for note in comparison.notes))
    for kind in KINDS:
        changes = comparison.of(kind)
        if not changes:
            continue
        lines = ["| Case | Level | Before | Now |", "| --- | --- | --- | --- |"]
        lines += [
            f"| {code_cell(change.id)} | {change.level} | {_word(change.before)} | {_word(change.after)} |"
            for change in changes[:limit]
        ]
        left = f"\n\n{plural(len(changes) - limit, 'more case')} not shown." if len(changes) > limit else ""
        blocks.append(f"### {_TITLES[kind]} ({len(changes):,})\n\n" + "\n".join(lines) + left)
    return "\n\n".join(blocks) + "\n"


def render_json(comparison: Comparison) -> str:
    """The comparison for programs."""
    before, after = comparison.before, comparison.after
    document = {
        "before": {"path": before.path, "engine": before.name, "version": before.version},
        "after": {"path": after.path, "engine": after.name, "version": after.version},
        "worse": comparison.worse,
        "counts": {kind: len(comparison.of(kind)) for kind in KINDS} | {"same": comparison.same},
        "changes": [asdict(change) for change in comparison.changes],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
