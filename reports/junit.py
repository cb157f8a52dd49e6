"""The report as JUnit XML: one suite per engine, one test case per case.

JUnit knows passed, failed, error and skipped. Only ``pass`` passes; what was not judged is skipped with its reason; a
failure that the engine's inventory records is skipped too, as expected failures are elsewhere, because the run as a
whole is then no failure. Rules without a case are no tests: their number is a property of the suite.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping

from reports.matrix import Cell, Engine, Report
from reports.model import Case, Rule
from reports.outcomes import OUTCOMES
from reports.text import shorten

#: What each outcome is in JUnit's words; None passes.
KINDS: Mapping[str, str | None] = {
    "pass": None,
    "fail": "failure",
    "unstable": "failure",
    "unexpected-pass": "failure",
    "error": "error",
    "crash": "error",
    "timeout": "error",
    "blocked": "skipped",
    "waived": "skipped",
    "unsupported": "skipped",
    "not-run": "skipped",
}

_LIMIT = 20_000


def render(report: Report) -> str:
    """Return the XML document."""
    root = ElementTree.Element("testsuites", name="gluon-conformance")
    for index, engine in enumerate(report.engines):
        root.append(_suite(report, index, engine))
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    root.set("time", f"{sum(engine.result.seconds for engine in report.engines):.3f}")
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(report: Report, index: int, engine: Engine) -> ElementTree.Element:
    result = engine.result
    suite = ElementTree.Element("testsuite", name=engine.label)
    properties = ElementTree.SubElement(suite, "properties")
    without = sum(row.cells[index].state == "no-case" for row in report.rows)
    for name, value in (
        ("engine.version", result.version),
        ("engine.python", result.python),
        ("engine.numpy", result.numpy),
        ("engine.platform", result.platform),
        ("suite.version", result.suite_version),
        ("verdict", result.verdict),
        ("surprises", str(len(result.surprises))),
        ("rules.without.case", str(without)),
    ):
        ElementTree.SubElement(properties, "property", name=name, value=value)
    tally = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for row in report.rows:
        cell = row.cells[index]
        for case in cell.cases:
            element, kind = _case(case, row.rule, cell, engine)
            suite.append(element)
            tally["tests"] += 1
            if kind is not None:
                tally[{"failure": "failures", "error": "errors"}.get(kind, kind)] += 1
        if cell.surprise is not None and not any(_kind(case, cell) in ("failure", "error") for case in cell.cases):
            suite.append(_surprise(row.rule, cell, engine))
            tally["tests"] += 1
            tally["failures"] += 1
    for name, number in tally.items():
        suite.set(name, str(number))
    suite.set("time", f"{result.seconds:.3f}")
    suite.set("timestamp", result.started)
    return suite


def _kind(case: Case, cell: Cell) -> str | None:
    kind = KINDS[case.outcome]
    return "skipped" if cell.known and kind in ("failure", "error") else kind


def _case(case: Case, rule: Rule, cell: Cell, engine: Engine) -> tuple[ElementTree.Element, str | None]:
    element = ElementTree.Element(
        "testcase",
        classname=f"{engine.label}.{rule.area}.{rule.id}",
        name=case.id,
        time=f"{case.seconds:.6f}",
    )
    kind = _kind(case, cell)
    if kind is None:
        return element, None
    message = case.message or OUTCOMES[case.outcome].label
    if case.blocked_by:
        message = f"blocked by {', '.join(case.blocked_by)}"
    if case.waiver:
        message = "waived: " + "; ".join(f"{name} {value}" for name, value in case.waiver.items())
    if cell.known and kind == "skipped":
        message = f"{OUTCOMES[case.outcome].label}, as the inventory of {engine.result.inventory} records: {message}"
    detail = ElementTree.SubElement(element, kind, message=shorten(message, 1000))
    if kind != "skipped":
        detail.set("type", case.outcome)
        detail.text = _text(case, rule)
        if case.failure is not None and case.failure.output:
            ElementTree.SubElement(element, "system-out").text = shorten(case.failure.output, _LIMIT)
    return element, kind


def _surprise(rule: Rule, cell: Cell, engine: Engine) -> ElementTree.Element:
    """A rule that passes though the inventory says otherwise: nothing failed, yet somebody must look."""
    assert cell.surprise is not None
    element = ElementTree.Element(
        "testcase", classname=f"{engine.label}.{rule.area}.{rule.id}", name=f"{rule.id}: inventory", time="0.000000"
    )
    message = f"the inventory says {cell.surprise.expected}, observed {cell.surprise.observed}"
    detail = ElementTree.SubElement(element, "failure", message=message, type="surprise")
    detail.text = "\n".join(part for part in (rule.statement, cell.surprise.detail) if part)
    return element


def _text(case: Case, rule: Rule) -> str:
    """Everything a person needs, in the order of a failure: rule, observation, both sides, tolerance, replay."""
    lines = [f"{rule.id} ({rule.level}): {rule.statement}"]
    if case.failure is not None:
        for name, value in (
            ("observed", case.failure.doing),
            ("expected", case.failure.expected),
            ("got", case.failure.got),
            ("tolerance", case.failure.tolerance),
            ("traceback", case.failure.traceback),
        ):
            if value:
                lines.append(f"{name}: {shorten(value, _LIMIT)}")
    if case.replay:
        lines.append(f"replay: {case.replay}")
    return "\n".join(lines)
