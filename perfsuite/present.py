"""Comparisons as a terminal table, markdown or JSON."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from perfsuite.compare import Comparison, Measured
from perfsuite.record import FAMILIES

_STYLES = {"faster": "green", "slower": "bold red", "same": "dim", "too noisy": "yellow"}
_PREFIXES = [(1e9, "G"), (1e6, "M"), (1e3, "k")]


def rate(units_per_second: float, unit: str) -> str:
    """A rate with a prefix, short enough for a table whose title names what is counted.

    >>> rate(12.3e9, "byte")
    '12.3 GB/s'
    >>> rate(5120.0, "sample")
    '5.12 k/s'
    """
    name = "B" if unit == "byte" else ""
    for factor, prefix in _PREFIXES:
        if units_per_second >= factor:
            return f"{units_per_second / factor:.3g} {prefix}{name}/s"
    return f"{units_per_second:.3g}{' ' if name else ''}{name}/s"


def seconds(value: float) -> str:
    """A time with a unit that keeps three digits.

    >>> seconds(1.5e-6)
    '1.5 µs'
    """
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def plain(text: str) -> str:
    """A docstring's text without the marks around code.

    >>> plain("``a + b`` of :func:`add`, and `c`")
    'a + b of add, and c'
    """
    return re.sub(r"(?::[a-z:]+:)?(`{1,2})([^`]+)\1", r"\2", text)


def _cell(comparison: Comparison, measured: Measured) -> str:
    if measured.median is None:
        return "—"
    if comparison.unit == "call":
        return seconds(measured.median / comparison.amount)
    return rate(comparison.amount / measured.median, comparison.unit)


def _ratio_cell(comparison: Comparison, other: str, styled: bool) -> str:
    ratio = comparison.ratio(other)
    if ratio is None:
        return "—"
    text = f"{ratio.value:.2f}x [{ratio.low:.2f}, {ratio.high:.2f}]"
    if not styled:
        return f"{text} {ratio.verdict()}"
    return f"[{_STYLES[ratio.verdict()]}]{text.replace('[', chr(92) + '[')}[/]"


def _rows(comparisons: Sequence[Comparison], styled: bool) -> list[list[str]]:
    rows = []
    for comparison in comparisons:
        others = [m.engine for m in comparison.measured[1:]]
        rows.append([
            f"{comparison.record}/{comparison.size}",
            *(_cell(comparison, m) for m in comparison.measured),
            *(_ratio_cell(comparison, other, styled) for other in others),
        ])
    return rows


def _header(comparisons: Sequence[Comparison]) -> list[str]:
    engines = [m.engine for m in comparisons[0].measured]
    return ["workload", *engines, *(f"vs {other}" for other in engines[1:])]


def void_lines(comparisons: Sequence[Comparison]) -> list[str]:
    """A line for every engine and workload without a number, with its reason."""
    return [f"{c.record}/{c.size} on {m.engine}: {m.void}" for c in comparisons for m in c.measured if m.void]


def fact_lines(comparisons: Sequence[Comparison]) -> list[str]:
    """Facts that a workload reports (compression ratio, error), once per workload if the engines agree."""
    lines = []
    for comparison in comparisons:
        stated = {json.dumps(m.facts, sort_keys=True): m.engine for m in comparison.measured if m.facts}
        for facts, engine in stated.items():
            shown = ", ".join(f"{key} {value:.4g}" for key, value in json.loads(facts).items())
            on = "" if len(stated) == 1 else f" on {engine}"
            lines.append(f"{comparison.record}/{comparison.size}{on}: {shown}")
    return lines


def conditions(threads: int, clock: str, rounds: int, workers: Sequence[dict[str, Any]]) -> str:
    """One paragraph that says under which conditions the numbers came about."""
    engines = "; ".join(f"{w['name']} {w['version']} (Python {w['python']}, numpy {w['numpy']})" for w in workers)
    plural = "s" if threads > 1 else ""
    return (f"{platform.machine()}, {platform.system()}, {threads} compute thread{plural} for every engine, median "
            f"{clock} time of {rounds} interleaved rounds, results verified before and after. {engines}.")


def print_tables(console: Console, comparisons: Sequence[Comparison], condition: str) -> None:
    """One table per family, then facts, gaps and conditions."""
    for family, says in FAMILIES.items():
        chosen = [c for c in comparisons if c.family == family]
        if not chosen:
            continue
        table = Table(title=f"{family}: {says}", title_justify="left", title_style="bold", pad_edge=False)
        for number, name in enumerate(_header(chosen)):
            table.add_column(name, justify="left" if number == 0 else "right", no_wrap=True)
        for row in _rows(chosen, styled=True):
            table.add_row(*row)
        console.print(table)
    for line in fact_lines(comparisons):
        console.print(line, style="dim", markup=False)
    for line in void_lines(comparisons):
        console.print(f"no number: {line}", style="red", markup=False)
    console.print(condition, style="dim", markup=False)


def markdown(comparisons: Sequence[Comparison], condition: str) -> str:
    """The comparison as a markdown document."""
    parts = []
    for family, says in FAMILIES.items():
        chosen = [c for c in comparisons if c.family == family]
        if chosen:
            header = _header(chosen)
            lines = ["| " + " | ".join(row) + " |" for row in _rows(chosen, styled=False)]
            parts += [f"## {family}", f"\n{says[0].upper()}{says[1:]}.\n",
                      "| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|", *lines, ""]
    parts += [*(f"- {line}" for line in fact_lines(comparisons)),
              *(f"- no number: {line}" for line in void_lines(comparisons)), "", condition, ""]
    return "\n".join(parts)


def as_json(comparisons: Sequence[Comparison], condition: str) -> str:
    """The comparison as JSON, samples included."""
    return json.dumps({"conditions": condition, "comparisons": [c.as_json() for c in comparisons]}, indent=1)
