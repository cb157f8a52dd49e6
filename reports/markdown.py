"""The report as GitHub-flavoured markdown: for a pull request, a job summary or a release note."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from reports.matrix import Cell, Engine, Report, Row
from reports.outcomes import LEVELS, OUTCOMES, VERDICTS
from reports.summary import percent, tally
from reports.text import duration, one_line, plural, shorten

_MARKS = {
    "conforms": "✅",
    "does-not-conform": "❌",
    "no-surprise": "✅",
    "surprise": "⚠️",
    "nothing-run": "⚠️",
    "incomplete": "⚠️",
}


def render(report: Report, *, title: str = "Gluon conformance", details: int = 25, differences: int = 50) -> str:
    """Return the report; of each engine *details* failures are spelled out, and *differences* rules in a table."""
    blocks = [f"## {escape(title)}"]
    blocks += [f"> {escape(remark)}" for remark in report.remarks]
    blocks.append(_engines(report))
    if len(report.areas) > 1:
        blocks.append(_details("By area: passed of judged", _areas(report)))
    for index, engine in enumerate(report.engines):
        blocks += _failures(report, index, engine, details)
    if len(report.engines) > 1:
        blocks += _differences(report, differences)
    blocks.append(
        "A rule passes only if all its cases do; “unsupported” and “no case yet” are not passes. "
        + ", ".join(
            f"{escape(engine.label)}: {plural(len(engine.result.cases), 'case')} in {duration(engine.result.seconds)}"
            for engine in report.engines
        )
        + f"; suite {escape(report.engines[0].result.suite_version)}."
    )
    return "\n\n".join(blocks) + "\n"


def escape(text: str) -> str:
    """Text that shows as itself: no markup, no HTML, no mention of a user or an issue, no table cell boundary.

    >>> escape("*a* <b> @you #1 a|b")
    '\\\\*a\\\\* &lt;b&gt; &#64;you &#35;1 a\\\\|b'
    """
    text = _escape(one_line(text))
    text = re.sub(r"^(\d+)([.)])(?=\s|$)", r"\1\\\2", text)  # lists and headings begin a line
    return re.sub(r"^([-+=#])", r"\\\1", text)


def _escape(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\`*_\[\]{}|~!$])", r"\\\1", text)
    text = re.sub(r"(?<=[0-9A-Za-z])\\_(?=[0-9A-Za-z])", "_", text)  # inside a word it marks nothing up
    text = re.sub(r"#(?=\d)", "&#35;", text)
    return text.replace("@", "&#64;").replace("://", ":&#47;/")


def prose(text: str) -> str:
    """Text in which single backticks mark code, as the inventory writes it.

    >>> prose("`step(*a)`, then *nothing*")
    '`step(*a)`, then \\\\*nothing\\\\*'
    """
    parts = re.split(r"(?<!`)`([^`]+)`(?!`)", one_line(text))
    if len(parts) == 1:
        return escape(text)
    return "".join(code(part) if index % 2 else _escape(part) for index, part in enumerate(parts))


def code(text: str) -> str:
    """Text as a code span, with a fence longer than any run of backticks in it.

    >>> code("a `b` c")
    '`` a `b` c ``'
    """
    text = one_line(text)
    if not text:
        return ""
    fence = "`" * (_longest_run(text) + 1)
    pad = " " if len(fence) > 1 or text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def code_cell(text: str) -> str:
    """A code span inside a table, where a bar would end the cell even there."""
    return code(text).replace("|", "\\|")


def _fenced(text: str, language: str = "text") -> str:
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> str:
    rule = ["---:" if number in right else "---" for number in range(len(head))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *rows))


def _details(summary: str, body: str) -> str:
    text = html.escape(summary).replace("@", "&#64;").replace("://", ":&#47;/")  # no markdown inside an HTML tag
    return f"<details><summary>{text}</summary>\n\n{body}\n\n</details>"


def _engines(report: Report) -> str:
    rows = []
    for index, engine in enumerate(report.engines):
        result = engine.result
        counted = tally(report.states(index))
        verdict = VERDICTS[result.verdict]
        if result.verdict == "surprise":
            verdict = plural(len(result.surprises), "surprise")
        rows.append(
            [
                f"**{escape(engine.label)}** {escape(result.version)}".rstrip(),
                f"{_MARKS[result.verdict]} {verdict}",
                *(_rate(report, index, level) for level in LEVELS),
                ", ".join(f"{number:,} {OUTCOMES[state].label}" for state, number in counted.counts),
                ", ".join(
                    f"{name} {escape(version)}"
                    for name, version in (("Python", result.python), ("numpy", result.numpy))
                    if version
                ),
            ]
        )
    return _table(["Engine", "Verdict", *LEVELS, "Rules", "Runs on"], rows, right=(2, 3, 4))


def _rate(report: Report, index: int, level: str) -> str:
    counted = tally(report.states(index, level=level))
    return f"{percent(counted.rate)} ({counted.passed:,}/{counted.judged:,})" if counted.judged else "n/a"


def _areas(report: Report) -> str:
    rows = []
    for area in report.areas:
        if area in report.bare_areas:
            continue
        cells = []
        for index in range(len(report.engines)):
            counted = tally(report.states(index, area))
            if counted.judged:
                cells.append(f"{counted.passed:,}/{counted.judged:,}")
            else:
                cells.append(OUTCOMES[max(counted.counts, key=lambda item: item[1])[0]].label)
        rows.append([escape(area), f"{sum(row.rule.area == area for row in report.rows):,}", *cells])
    columns = range(1, 2 + len(report.engines))
    table = _table(["Area", "Rules", *(escape(engine.label) for engine in report.engines)], rows, right=tuple(columns))
    if not report.bare_areas:
        return table
    bare = ", ".join(escape(area) for area in report.bare_areas)
    return f"{table}\n\nNo case yet in {plural(len(report.bare_areas), 'area')}: {bare}."


def _failures(report: Report, index: int, engine: Engine, details: int) -> Iterable[str]:
    wanted = report.attention(index)
    if not wanted:
        return
    yield f"### {escape(engine.label)}: {plural(len(wanted), 'rule')} to look at"
    for row in wanted[:details]:
        yield _failure(row, row.cells[index])
    if len(wanted) > details:
        yield f"{len(wanted) - details:,} more are not shown here."


def _failure(row: Row, cell: Cell) -> str:
    rule = row.rule
    blocks = [prose(rule.statement)]
    if cell.surprise is not None:
        detail = f" {escape(cell.surprise_detail)}" if cell.surprise_detail else ""
        blocks.append(
            f"**Surprise:** the inventory says {code(cell.surprise.expected)}, observed "
            f"{code(cell.surprise.observed)}.{detail}"
        )
    failing = [case for case in cell.cases if case.outcome not in ("pass", "unsupported")]
    for case in failing:
        lines = [f"{case.id}: {OUTCOMES[case.outcome].label}"]
        failure = case.failure
        if failure is None:
            lines.append(case.message)
        else:
            for name in ("doing", "expected", "got", "tolerance"):
                text = getattr(failure, name)
                if text:
                    lines.append(f"{'observed' if name == 'doing' else name}: {shorten(text, 1500)}")
            if case.outcome != "fail" and failure.traceback:
                lines.append("\n".join(failure.traceback.rstrip().splitlines()[-8:]))
            if case.outcome in ("crash", "timeout") and failure.output:
                lines.append("\n".join(failure.output.rstrip().splitlines()[-8:]))
        blocks.append(_fenced("\n".join(line for line in lines if line)))
    replays = dict.fromkeys(case.replay for case in failing or cell.cases if case.replay)
    if replays:
        blocks.append(_fenced("\n".join(replays), "sh"))
    summary = f"{OUTCOMES[cell.state].label}: {rule.id} ({rule.level})"
    return _details(summary, "\n\n".join(blocks))


def _differences(report: Report, limit: int) -> Iterable[str]:
    rows = [row for row in report.rows if row.differs]
    if not rows:
        yield "The engines agree wherever more than one of them was judged."
        return
    table = _table(
        ["Rule", *(escape(engine.label) for engine in report.engines)],
        (
            [f"{code_cell(row.rule.id)} {row.rule.level}", *(OUTCOMES[cell.state].label for cell in row.cells)]
            for row in rows[:limit]
        ),
    )
    left = f"\n\n{len(rows) - limit:,} more are not shown here." if len(rows) > limit else ""
    yield _details(f"The engines differ in {plural(len(rows), 'rule')}", table + left)
