"""A report on mutants as text, JSON or markdown; pure functions of the report."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from conformance.kill import KillReport, RuleVerdict, Tried, Verdict
from conformance.kill_nulls import NullResult
from conformance.markdown import cell, table


def as_json(report: KillReport) -> str:
    """The whole report as one JSON document."""
    document = {
        "format": "gluon-conformance-mutants",
        "version": 1,
        "engine": {"name": report.engine, "version": report.version},
        "matrix": report.matrix,
        "forked": report.forked,
        "unbroken": dict(report.unbroken),
        "mutants": [
            {
                "id": tried.mutant,
                "doc": tried.doc,
                "where": tried.where,
                "seconds": round(tried.seconds, 4),
                "rules": [
                    {
                        "rule": verdict.rule,
                        "verdict": str(verdict.verdict),
                        "judged": verdict.judged,
                        "reason": verdict.reason,
                        "killed_by": [
                            {"case": ending.case, "outcome": str(ending.outcome), "message": ending.message}
                            for ending in verdict.killers
                        ],
                    }
                    for verdict in tried.verdicts
                ],
                "also_noticed_by": list(tried.others) if report.matrix == "full" else None,
            }
            for tried in report.tried
        ],
        "null_engines": [
            {
                "engine": null.engine,
                "cases": null.cases,
                "error": null.error,
                "passed": {rule: list(cases) for rule, cases in null.passed.items()},
            }
            for null in report.nulls
        ],
        "problems": report.problems,
        "counts": counts(report),
        "seconds": round(report.seconds, 3),
        "interrupted": report.interrupted,
        "exit_code": int(report.exit_code),
    }
    return json.dumps(document, indent=1)


def counts(report: KillReport) -> dict[str, int]:
    """How many pairs of mutant and rule there are of each verdict; all verdicts, in their order."""
    found = Counter(verdict.verdict for _, verdict in report.verdicts())
    return {str(verdict): found[verdict] for verdict in Verdict}


def headline(report: KillReport) -> str:
    """One line that says how it went."""
    pairs = ", ".join(f"{count} {verdict}" for verdict, count in counts(report).items() if count) or "nothing judged"
    problems = len(report.problems)
    end = f"{problems} problem{'s' if problems > 1 else ''}" if problems else "no problem"
    if not problems and not report.judged:
        end = "no mutant could be judged"
    if report.interrupted:
        end += f" so far, interrupted after {len(report.tried)} of {report.chosen} mutants"
    way = "forked copies" if report.forked else "a worker for each"
    return (
        f"{report.engine} {report.version}: {len(report.tried)} mutants ({pairs}), {len(report.nulls)} null engines; "
        f"{end}; {report.seconds:.1f} s, {way}"
    )


def as_markdown(report: KillReport) -> str:
    """The kill matrix as markdown tables."""
    name = f"{cell(report.engine)} {cell(report.version)}"
    rows = [
        [rule, cell(tried.mutant), str(verdict.verdict), cell(explained(verdict))]
        for rule, tried, verdict in by_rule(report)
    ]
    lines = [f"# Mutants on {name}", "", headline(report).partition(": ")[2] + ".", ""]
    lines += table(["Rule", "Mutant", "Verdict", "By"], rows)
    if report.matrix == "full":
        others = [[cell(tried.mutant), ", ".join(tried.others) or "nothing else"] for tried in report.tried]
        lines += ["", *table(["Mutant", "Also noticed by the cases of"], others)]
    if report.nulls:
        nulls = [[null.engine, null.cases, cell(null_text(null))] for null in report.nulls]
        lines += ["", *table(["Null engine", "Cases", "MUST rules passed"], nulls)]
    if report.problems:
        lines += ["", "## Problems", "", *(f"* {cell(problem)}" for problem in report.problems)]
    return "\n".join(lines)


def by_rule(report: KillReport) -> Iterable[tuple[str, Tried, RuleVerdict]]:
    """Every judged pair, ordered by rule and then by mutant."""
    rows = [(verdict.rule, tried, verdict) for tried, verdict in report.verdicts()]
    return sorted(rows, key=lambda row: (row[0], row[1].mutant))


def explained(verdict: RuleVerdict) -> str:
    """Who killed it, or why nobody did."""
    if verdict.verdict is not Verdict.KILLED:
        return verdict.reason
    names = [ending.case.partition("/")[2] for ending in verdict.killers]
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"{len(names)} of {verdict.judged}: {shown}"


def null_text(null: NullResult) -> str:
    """Which MUST rules a null engine passes."""
    return null.error or ", ".join(null.passed) or "none"


def print_terminal(report: KillReport, every: bool) -> None:
    """Print the matrix on standard output: the problems, and every killed mutant too if *every*."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    colours = {Verdict.KILLED: "green", Verdict.SURVIVED: "bold red", Verdict.ERROR: "red",
               Verdict.UNJUDGED: "bold yellow", Verdict.UNSUPPORTED: "yellow"}
    rows = [row for row in by_rule(report) if every or row[2].verdict is not Verdict.KILLED]
    if rows:
        table = Table(box=None, pad_edge=False, show_edge=False, header_style="bold")
        for heading in ("rule", "mutant", "verdict"):
            table.add_column(heading, no_wrap=heading != "mutant")
        table.add_column("by", overflow="fold")
        for rule, tried, verdict in rows:
            text = explained(verdict)
            if report.matrix == "full" and tried.others:
                text += f"; also noticed by {', '.join(tried.others)}"
            mark = Text(str(verdict.verdict), style=colours[verdict.verdict])
            table.add_row(rule, Text(tried.mutant), mark, Text(text))
        console.print(table)
    for null in report.nulls:
        text = f"null engine {null.engine}: passes {null_text(null)} of the MUST rules ({null.cases} cases)"
        console.print(Text(text), soft_wrap=True)
    for problem in report.problems:
        console.print(Text(f"problem: {problem}", style="red"), soft_wrap=True)
    console.print(Text(headline(report)), soft_wrap=True)
