"""The matrix as JSON for the page's script: small, and safe inside a script element."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from reports.matrix import Cell, Engine, Report, Row
from reports.model import Case, Failure, Rule
from reports.outcomes import OUTCOMES
from reports.text import shorten

#: Longest text of one field that the page carries; a run may attach far more.
LIMIT = 20_000

#: Stand for the ids in the replay command that the cases of an engine share.
RULE, CASE = "{rule}", "{case}"

_NUMBER = {name: number for number, name in enumerate(OUTCOMES)}


def embed(report: Report) -> str:
    """JSON that is safe inside ``<script type="application/json">``: no ``<``, ``>``, ``&`` or line separator in it."""
    text = json.dumps(_data(report), ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _data(report: Report) -> dict[str, Any]:
    replays = [_usual_replay(engine) for engine in report.engines]
    return {
        "engines": [
            {"label": engine.label, "inventory": engine.result.inventory, "replay": replay}
            for engine, replay in zip(report.engines, replays)
        ],
        "areas": list(report.areas),
        "outcomes": [
            {"name": outcome.name, "label": outcome.label, "group": outcome.group} for outcome in OUTCOMES.values()
        ],
        "rules": [_rule(row, replays) for row in report.rows],
    }


def _rule(row: Row, replays: Sequence[str]) -> dict[str, Any]:
    """A rule; the names of its cases stand once, and its cells refer to them by number."""
    rule = row.rule
    names = list(dict.fromkeys(case.id for cell in row.cells for case in cell.cases))
    return {
        "id": rule.id,
        "area": rule.area,
        "level": rule.level,
        "statement": rule.statement,
        "cells": [_cell(cell, rule, names, replay) for cell, replay in zip(row.cells, replays)],
    } | _present(
        names=[name.removeprefix(rule.id + "/") for name in names],
        source=rule.source,
        verdict=rule.verdict,
        api=list(rule.api),
        needs=list(rule.needs),
        notes=rule.notes,
        releases={name: [release.status, release.observation] for name, release in rule.releases.items()},
        mutants=list(rule.mutants),
        differs=row.differs,
    )


def _cell(cell: Cell, rule: Rule, names: Sequence[str], usual_replay: str) -> list[Any]:
    """``[outcome number, cases, {what is unusual}]``, as short as it can be: there is one per rule and engine."""
    surprise = cell.surprise
    more = _present(
        known=cell.known,
        news=cell.needs_attention,
        surprise=[surprise.expected, surprise.observed, cell.surprise_detail] if surprise else None,
    )
    packed = [_NUMBER[cell.state], [_case(case, names, usual_replay) for case in cell.cases], more]
    while len(packed) > 1 and not packed[-1]:
        packed.pop()
    return packed


def _usual_replay(engine: Engine) -> str:
    """The replay command that most cases of an engine share, with the ids of rule and case left open."""
    found = Counter(_pattern(case) for case in engine.result.cases if case.replay)
    return found.most_common(1)[0][0] if found else ""


def _pattern(case: Case) -> str:
    return case.replay.replace(case.id, CASE).replace(case.rule, RULE)


def _case(case: Case, names: Sequence[str], usual_replay: str) -> list[Any]:
    """``[name number, outcome number, seconds, {the rest}]``."""
    more = _present(
        message=shorten(case.message, LIMIT) if case.outcome != "pass" else "",
        failure=_failure(case.failure) if case.failure else None,
        blocked=list(case.blocked_by),
        waiver=dict(case.waiver) if case.waiver else None,
        replay=shorten(case.replay, LIMIT) if _pattern(case) != usual_replay else "",
    )
    short = [names.index(case.id), _NUMBER[case.outcome], float(f"{case.seconds:.3g}")]
    return [*short, more] if more else short


def _failure(failure: Failure) -> dict[str, Any]:
    return _present(
        kind=failure.kind,
        doing=shorten(failure.doing, LIMIT),
        expected=shorten(failure.expected, LIMIT),
        got=shorten(failure.got, LIMIT),
        tolerance=shorten(failure.tolerance, LIMIT),
        traceback=shorten(failure.traceback, LIMIT),
        output=shorten(failure.output, LIMIT),
    )


def _present(**values: Any) -> dict[str, Any]:
    """The values that say something: empty ones are left out, which makes the page a third smaller."""
    return {name: value for name, value in values.items() if value}
