"""The report as CTRF, the Common Test Report Format (https://ctrf.io): one test per case and engine.

CTRF's statuses are passed, failed, skipped, pending and other. Rules without a case are ``pending`` tests, so that
they are counted and never taken for passes. A failure that the engine's inventory records is ``other``: it is neither
a pass nor news. ``rawStatus`` keeps the outcome itself.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from reports.matrix import Cell, Engine, Report
from reports.model import Case, Rule
from reports.outcomes import OUTCOMES
from reports.text import shorten

STATUSES: Mapping[str, str] = {
    "pass": "passed",
    "fail": "failed",
    "unstable": "failed",
    "unexpected-pass": "failed",
    "error": "failed",
    "crash": "failed",
    "timeout": "failed",
    "blocked": "skipped",
    "waived": "skipped",
    "unsupported": "skipped",
    "not-run": "skipped",
}

_LIMIT = 20_000


def render(report: Report) -> str:
    """Return the JSON document."""
    tests = [test for index in range(len(report.engines)) for test in _tests(report, index)]
    found = Counter(test["status"] for test in tests)
    starts = [_milliseconds(engine.result.started) for engine in report.engines]
    stops = [start + round(engine.result.seconds * 1000) for start, engine in zip(starts, report.engines)]
    document = {
        "reportFormat": "CTRF",
        "specVersion": "0.0.0",
        "generatedBy": "gluon-conformance",
        "results": {
            "tool": {"name": "gluon-conformance", "version": report.engines[0].result.suite_version},
            "summary": {
                "tests": len(tests),
                **{name: found[name] for name in ("passed", "failed", "pending", "skipped", "other")},
                "suites": len(report.engines),
                "start": min(starts),
                "stop": max(stops),
            },
            "tests": tests,
            "extra": {"engines": [_engine(engine) for engine in report.engines], "remarks": list(report.remarks)},
        },
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _engine(engine: Engine) -> dict[str, Any]:
    result = engine.result
    return {
        "name": engine.label,
        "version": result.version,
        "python": result.python,
        "numpy": result.numpy,
        "platform": result.platform,
        "verdict": result.verdict,
        "surprises": [
            {"rule": item.rule, "expected": item.expected, "observed": item.observed, "detail": item.detail}
            for item in result.surprises
        ],
    }


def _tests(report: Report, index: int) -> list[dict[str, Any]]:
    engine = report.engines[index]
    tests = []
    for row in report.rows:
        cell = row.cells[index]
        tests += [_test(case, row.rule, cell, engine) for case in cell.cases]
        surprise = cell.surprise
        if surprise is not None and not any(STATUSES[case.outcome] == "failed" for case in cell.cases):
            # nothing failed, yet the inventory is wrong about it, and the run as a whole does not succeed
            tests.append(
                {
                    **_head(f"{row.rule.id}: inventory", row.rule, engine),
                    "status": "failed",
                    "rawStatus": "surprise",
                    "duration": 0,
                    "message": f"the inventory says {surprise.expected}, observed {surprise.observed}",
                }
            )
        if cell.state == "no-case":
            tests.append(
                {
                    **_head(row.rule.id, row.rule, engine),
                    "status": "pending",
                    "rawStatus": "no-case",
                    "duration": 0,
                    "message": "the suite has no case for this rule yet",
                }
            )
    return tests


def _head(name: str, rule: Rule, engine: Engine) -> dict[str, Any]:
    return {
        "name": name,
        "testId": f"{engine.label}:{name}",
        "suite": [engine.label, rule.area, rule.id],
        "tags": [rule.level, rule.area],
    }


def _test(case: Case, rule: Rule, cell: Cell, engine: Engine) -> dict[str, Any]:
    status = STATUSES[case.outcome]
    if status == "failed" and cell.known:
        status = "other"
    test = _head(case.id, rule, engine) | {
        "status": status,
        "rawStatus": case.outcome,
        "duration": round(case.seconds * 1000),
    }
    if case.outcome != "pass":
        test["message"] = shorten(case.message or OUTCOMES[case.outcome].label, _LIMIT)
    extra: dict[str, Any] = {"rule": rule.id, "statement": rule.statement, "replay": case.replay}
    if cell.surprise is not None:
        extra["surprise"] = {"expected": cell.surprise.expected, "observed": cell.surprise.observed}
    if case.blocked_by:
        extra["blockedBy"] = list(case.blocked_by)
    if case.waiver:
        extra["waiver"] = dict(case.waiver)
    failure = case.failure
    if failure is not None:
        if failure.traceback:
            test["trace"] = shorten(failure.traceback, _LIMIT)
        if failure.output:
            test["stdout"] = shorten(failure.output, _LIMIT).splitlines()
        parts = ("doing", "expected", "got", "tolerance")
        extra["failure"] = {name: shorten(text, _LIMIT) for name in parts if (text := getattr(failure, name))}
    return test | {"extra": extra}


def _milliseconds(started: str) -> int:
    """Milliseconds since the epoch; 0 for a time that cannot be read. A time without an offset is taken as UTC."""
    try:
        moment = datetime.fromisoformat(started)
    except ValueError:
        return 0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)
