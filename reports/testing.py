"""Small results made in memory, for doctests and for people who write a renderer of their own."""

from __future__ import annotations

import json
from typing import Any

from reports.model import Result, parse

#: One rule of the sample: id, level, the outcome of its case (None: it has no case yet).
_RULES: tuple[tuple[str, str, str | None], ...] = (
    ("TRAINER-CORE-001", "MUST", "pass"),
    ("TRAINER-STEP-002", "MUST", "fail"),
    ("OPT-SGD-001", "SHOULD", "unsupported"),
    ("OPT-ADAM-001", "MAY", None),
)


def sample(name: str = "sample") -> Result:
    """A result of four rules: one passes, one fails, one is unsupported, one has no case yet."""
    return parse("\n".join(json.dumps(record) for record in records(name)) + "\n", f"{name}.jsonl")


def records(name: str = "sample") -> list[dict[str, Any]]:
    """The records of :func:`sample`, as they stand in the file."""
    rules, cases = [], []
    for identifier, level, outcome in _RULES:
        area = "trainer" if identifier.startswith("TRAINER") else "optimizer"
        case = f"{identifier}/observe"
        rules.append(rule(identifier, area, level, cases=[case] if outcome else []))
        if outcome:
            cases.append(case_record(case, area, level, outcome, name))
    counts = {outcome: 1 for _, _, outcome in _RULES if outcome}
    return [header(name), *rules, *cases, footer(counts, len(rules), verdict="does-not-conform", exit_code=1)]


def header(name: str, **engine: Any) -> dict[str, Any]:
    """A header record; keywords replace fields of its engine."""
    return {
        "record": "header",
        "format": "gluon-conformance-result",
        "version": 1,
        "engine": {
            "name": name,
            "version": "1.0",
            "module": name,
            "interpreter": "/usr/bin/python3",
            "python": "3.11.7",
            "numpy": "2.3.0",
            "platform": "Linux-6.1-x86_64",
            "capabilities": ["float16"],
            "inventory": None,
        }
        | engine,
        "suite": {"version": "0.1.0", "rules": 4, "cases": 3},
        "started": "2026-01-02T03:04:05+00:00",
        "options": {},
    }


def rule(identifier: str, area: str, level: str, **fields: Any) -> dict[str, Any]:
    """A rule record; keywords replace its fields."""
    base = {
        "record": "rule",
        "id": identifier,
        "area": area,
        "level": level,
        "statement": f"What {identifier} asks for.",
        "source": "handbook, section 1",
        "verdict": "spec",
        "api": ["gluon.Trainer"],
        "needs": [],
        "notes": "",
        "releases": {"mxnet-1.9.1": {"status": "holds", "observation": "as stated"}},
        "pending": not fields.get("cases"),
        "cases": [],
        "mutants": [],
    }
    return base | fields


def case_record(identifier: str, area: str, level: str, outcome: str, engine: str, **fields: Any) -> dict[str, Any]:
    """A case record; keywords replace its fields. A failing one gets a failure."""
    rule_id = identifier.split("/", 1)[0]
    failure = None
    if outcome in ("fail", "error", "crash", "timeout", "unstable"):
        failure = {
            "kind": outcome,
            "doing": "weight after the step",
            "expected": "array([-2., -2., -2.])",
            "got": "array([-4., -4., -4.])",
            "tolerance": "exact",
            "traceback": None,
            "output": None,
        }
    base = {
        "record": "case",
        "id": identifier,
        "rule": rule_id,
        "area": area,
        "level": level,
        "outcome": outcome,
        "seconds": 0.002,
        "message": None if outcome == "pass" else f"{outcome}: weight after the step",
        "failure": failure,
        "blocked_by": [],
        "waiver": None,
        "replay": f"conform run --engine {engine} --rule '{identifier}'",
    }
    return base | fields


def footer(counts: dict[str, int], rules: int, **fields: Any) -> dict[str, Any]:
    """A footer record that fits *counts* and the number of rules; keywords replace its fields."""
    base = {
        "record": "footer",
        "counts": counts,
        "total": sum(counts.values()),
        "rules": rules,
        "seconds": 0.5,
        "surprises": [],
        "verdict": "conforms",
        "exit_code": 0,
    }
    return base | fields
