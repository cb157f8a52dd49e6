"""What a session found, for a person (terminal), a page (markdown) and a program (json)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conformance.engine import Engine
from conformance.errors import writing
from conformance.markdown import cell
from conformance.oracle.script import script
from conformance.oracle.session import Finding, Outcome
from conformance.output import write_file

FORMATS = ("terminal", "markdown", "json")

NOT_WHOLE = "not shrunk fully: a smaller program may show it as well"


def render(outcome: Outcome, form: str) -> str:
    """The outcome as text in one of FORMATS."""
    return {"terminal": terminal, "markdown": markdown, "json": as_json}[form](outcome)


def summary(outcome: Outcome) -> str:
    """One sentence: how much was tried, and what came of it."""
    known = sum(outcome.known.values())
    found = len(outcome.findings)
    rate = outcome.programs / outcome.seconds * 60 if outcome.seconds else 0.0
    excused = "".join(f", {count} were {why}" for why, count in outcome.excused.most_common())
    unexamined = "" if not outcome.unexamined else (
        f", {outcome.unexamined} differed in ways that there was no time left to look into")
    return (f"{outcome.programs} programs in {outcome.seconds:.0f} s ({rate:.0f} a minute): {found or 'no'} new "
            f"difference{'' if found == 1 else 's'}; {known} programs showed {len(outcome.known)} known ones{excused}"
            f"{unexamined}, "
            f"{outcome.avoided} were not run because they are known to end an engine")


def _stale(outcome: Outcome) -> list[str]:
    return [f"known difference {entry.id} does not occur any more: remove it from the file" for entry in outcome.stale]


def terminal(outcome: Outcome) -> str:
    """Plain text."""
    names = [f"{name} {version}".strip() for name, version in zip(outcome.engines, outcome.versions)]
    lines = [f"{names[0]} against {names[1]}", ""]
    for number, finding in enumerate(outcome.findings, 1):
        lines += [f"{number}. {finding.signature[0]}: {finding.difference.kind} - {finding.verdict.text}"
                  f"{_times(finding)}", *(f"       {line}" for line in _code(finding)),
                  f"     {outcome.engines[0]}: {finding.difference.first}",
                  f"     {outcome.engines[1]}: {finding.difference.second}", f"     {finding.verdict.why}"]
        if not finding.whole:
            lines.append(f"     {NOT_WHOLE}")
        if finding.verdict.rules:
            lines.append(f"     rules: {', '.join(finding.verdict.rules[:8])}")
        lines.append("")
    lines += _stale(outcome)
    lines.append(summary(outcome))
    return "\n".join(lines) + "\n"


def _code(finding: Finding) -> list[str]:
    note = ["# under numpy shape semantics"] if finding.program.np_shape else []
    return [*note, *finding.program.lines]


def _times(finding: Finding) -> str:
    return f" ({finding.count} programs)" if finding.count > 1 else ""


def markdown(outcome: Outcome) -> str:
    """A page in markdown."""
    lines = [f"# {cell(outcome.engines[0])} against {cell(outcome.engines[1])}", "", cell(summary(outcome)) + ".", ""]
    lines += [f"- {cell(line)}" for line in _stale(outcome)] + [""] * bool(outcome.stale)
    for number, finding in enumerate(outcome.findings, 1):
        lines += [f"## {number}. {cell(finding.signature[0])}: {finding.difference.kind} "
                  f"({cell(finding.verdict.text)}){_times(finding)}", "", "```python", *_code(finding), "```", ""]
        lines += [f"- {cell(name)}: {cell(text)}" for name, text in
                  zip(outcome.engines, (finding.difference.first, finding.difference.second))]
        lines += [f"- {cell(finding.verdict.why)}"] + [f"- {NOT_WHOLE}"] * (not finding.whole)
        if finding.verdict.rules:
            lines.append(f"- rules: {cell(', '.join(finding.verdict.rules))}")
        lines.append("")
    return "\n".join(lines)


def as_dict(outcome: Outcome) -> dict[str, Any]:
    """Everything, as plain data."""
    return {
        "format": "gluon-conformance-oracle", "version": 1,
        "engines": [{"name": name, "version": version} for name, version in zip(outcome.engines, outcome.versions)],
        "programs": outcome.programs, "avoided": outcome.avoided, "unexamined": outcome.unexamined,
        "seconds": round(outcome.seconds, 1),
        "interrupted": outcome.interrupted, "known": dict(outcome.known.most_common()),
        "excused": dict(outcome.excused.most_common()),
        "stale": [entry.id for entry in outcome.stale], "notes": outcome.notes,
        "operators_only_in": dict(zip(outcome.engines, outcome.missing[::-1])),
        "differences": [{
            "operation": finding.signature[0], "kind": finding.difference.kind, "program": list(finding.program.lines),
            "np_shape": finding.program.np_shape, "variable": finding.difference.name,
            "shows": dict(zip(outcome.engines, (finding.difference.first, finding.difference.second))),
            "verdict": finding.verdict.text, "wrong": finding.verdict.wrong, "why": finding.verdict.why,
            "rules": list(finding.verdict.rules), "programs": finding.count,
            "shrunk": finding.whole} for finding in outcome.findings],
    }


def as_json(outcome: Outcome) -> str:
    """JSON."""
    return json.dumps(as_dict(outcome), indent=1) + "\n"


def write(outcome: Outcome, engines: tuple[Engine, Engine], folder: Path) -> list[Path]:
    """The result as ``oracle.json`` and a script for each difference; returns the paths."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    written = [folder / "oracle.json"]
    write_file(written[0], as_json(outcome))
    for number, finding in enumerate(outcome.findings, 1):
        name = "".join(c if c.isalnum() else "-" for c in finding.signature[0]).strip("-")[:40] or "difference"
        written.append(folder / f"{number:03}-{name}-{finding.difference.kind}.py")
        write_file(written[-1], script(finding, engines))
    _remove_old(folder, written)
    return written


def _remove_old(folder: Path, written: Sequence[Path]) -> None:
    """Scripts of an earlier session would be taken for this one's."""
    for path in folder.glob("[0-9][0-9][0-9]-*.py"):
        if path not in written:
            path.unlink()
