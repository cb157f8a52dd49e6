"""The report for a terminal or a log: what each engine is worth, where it fails, and how to see it again.

Fits 80 columns. Colour is only ever added to words and glyphs that say the same without it.
"""

from __future__ import annotations

import io
from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from reports.matrix import Cell, Engine, Report, Row
from reports.model import Case
from reports.outcomes import LEVELS, OUTCOMES, VERDICTS
from reports.summary import percent, tally
from reports.text import duration, one_line, plural, shorten

_VERDICT_STYLES = {
    "conforms": "bold green",
    "does-not-conform": "bold red",
    "no-surprise": "bold cyan",
    "surprise": "bold yellow",
    "nothing-run": "bold yellow",
    "incomplete": "bold yellow",
}


def render(report: Report, *, width: int = 80, color: bool = False, details: int = 10) -> str:
    """Return the report as text of at most *width* columns.

    details: how many failures of each engine are shown in full; the rest is counted. With *color*, ANSI styles.
    """
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )
    for part in _parts(report, width, details):
        console.print(part)
    return "\n".join(line.rstrip() for line in stream.getvalue().split("\n"))


def _parts(report: Report, width: int, details: int) -> Iterable[RenderableType]:
    for remark in report.remarks:
        yield Text(f"Note: {remark}", "yellow")
    for index, engine in enumerate(report.engines):
        yield from _failures(report, index, engine, width, details)
    if len(report.areas) > 1:
        yield _areas(report, width)
        if report.bare_areas:
            bare = ", ".join(report.bare_areas)
            yield Text(f"no case yet in {plural(len(report.bare_areas), 'area')}: {bare}", "dim")
        yield ""
    for index, engine in enumerate(report.engines):
        yield from _engine(report, index, engine)
    if len(report.engines) > 1:
        differing = sum(row.differs for row in report.rows)
        yield Text(f"The engines differ in {plural(differing, 'rule')} of {len(report.rows):,}.")


def _engine(report: Report, index: int, engine: Engine) -> Iterable[RenderableType]:
    """The last words about an engine: verdict, counts, levels."""
    result = engine.result
    head = Text()
    head.append(engine.label, "bold")
    if result.version and not engine.label.endswith(result.version):
        head.append(f" {result.version}")
    head.append(": ")
    verdict = plural(len(result.surprises), "surprise") if result.surprises else VERDICTS[result.verdict]
    head.append(verdict, _VERDICT_STYLES[result.verdict])
    if result.inventory is not None:
        head.append(" against its inventory")
    yield head
    line = Text()
    for number, (state, amount) in enumerate(tally(report.states(index)).counts):
        line.append(", " if number else "")
        line.append(f"{amount:,} {OUTCOMES[state].label}", OUTCOMES[state].style)
    yield from _field("rules", line)
    levels = ((level, tally(report.states(index, level=level))) for level in LEVELS)
    shown = [f"{level} {percent(found.rate)} of {found.judged:,}" for level, found in levels if found.judged]
    yield from _field("judged", ", ".join(shown))
    facts = [f"Python {result.python}" if result.python else "", f"numpy {result.numpy}" if result.numpy else ""]
    facts += [f"suite {result.suite_version}", f"{plural(len(result.cases), 'case')} in {duration(result.seconds)}"]
    yield from _field("run", ", ".join(fact for fact in facts if fact), "dim")
    yield ""


def _areas(report: Report, width: int) -> Table:
    """Passed of judged by area and engine; as many engines as fit, the rest is in the other formats."""
    fitting = max(1, (width - 26) // 14)
    table = Table(box=None, padding=(0, 1), pad_edge=False, width=None)
    table.add_column("area", no_wrap=True, overflow="ellipsis", max_width=18)
    table.add_column("rules", justify="right", no_wrap=True)
    for engine in report.engines[:fitting]:
        table.add_column(one_line(engine.label, 18), justify="right", no_wrap=True, overflow="ellipsis", min_width=9)
    for area in report.areas:
        if area in report.bare_areas:
            continue
        cells = []
        for index in range(len(report.engines[:fitting])):
            counted = tally(report.states(index, area))
            if counted.judged:
                style = "green" if counted.passed == counted.judged else "red" if counted.failed else "yellow"
                cells.append(Text(f"{counted.passed:,}/{counted.judged:,}", style))
            else:
                state = max(counted.counts, key=lambda item: item[1])[0]
                cells.append(Text(OUTCOMES[state].label, "dim"))
        total = sum(row.rule.area == area for row in report.rows)
        table.add_row(Text(area), Text(f"{total:,}"), *cells)
    if len(report.engines) > fitting:
        table.caption = f"{len(report.engines) - fitting} more engines do not fit here"
    return table


def _failures(report: Report, index: int, engine: Engine, width: int, details: int) -> Iterable[RenderableType]:
    """What needs somebody's attention: surprises, and failures that no inventory explains."""
    wanted = report.attention(index)
    for row in wanted[:details]:
        yield from _failure(row, row.cells[index], engine, width)
        yield ""
    if len(wanted) > details:
        yield Text(f"{engine.label}: {len(wanted) - details:,} more rules like these are not shown here.")
        yield ""


def _failure(row: Row, cell: Cell, engine: Engine, width: int) -> Iterable[RenderableType]:
    rule = row.rule
    head = Text()
    head.append(OUTCOMES[cell.state].label.upper(), OUTCOMES[cell.state].style)
    head.append(f" {rule.id}", "bold")
    head.append(f" ({rule.level}) on {engine.label}")
    yield head
    yield Padding(Text(one_line(rule.statement)), (0, 0, 0, 2))
    if cell.surprise is not None:
        text = f"the inventory says {cell.surprise.expected}, observed {cell.surprise.observed}"
        yield from _field("surprise", "; ".join(part for part in (text, cell.surprise_detail) if part), "yellow")
    shown = [case for case in cell.cases if case.outcome not in ("pass", "unsupported")]
    for case in shown[:3]:
        yield from _case(case)
    if len(shown) > 3:
        yield from _field("", f"and {plural(len(shown) - 3, 'more case')}")
    replays = dict.fromkeys(case.replay for case in shown or cell.cases if case.replay)
    for command in list(replays)[:1]:
        yield from _field("replay", command, "cyan")


def _case(case: Case) -> Iterable[RenderableType]:
    yield from _field("case", case.id.removeprefix(case.rule + "/"))
    failure = case.failure
    if case.blocked_by:
        yield from _field("blocked by", ", ".join(case.blocked_by))
    elif failure is None or not (failure.expected or failure.got):
        yield from _field("message", shorten(case.message, 600))
    if failure is None:
        return
    yield from _field("observed", shorten(failure.doing, 300))
    yield from _field("expected", shorten(failure.expected, 600), "green")
    yield from _field("got", shorten(failure.got, 600), "red")
    yield from _field("tolerance", failure.tolerance)
    if case.outcome != "fail" and failure.traceback:
        yield from _field("traceback", "\n".join(failure.traceback.rstrip().splitlines()[-4:]))
    if case.outcome in ("crash", "timeout") and failure.output:
        yield from _field("output", "\n".join(failure.output.rstrip().splitlines()[-4:]))


def _field(name: str, text: str | Text, style: str = "") -> Iterable[RenderableType]:
    """A name and what belongs to it, aligned; nothing at all when there is no text."""
    if not text:
        return
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=10, no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(name, "dim"), Text(text.expandtabs(4), style) if isinstance(text, str) else text)
    yield Padding(grid, (0, 0, 0, 2))
