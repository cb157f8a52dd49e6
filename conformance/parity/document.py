"""The page about parity, ``docs/parity.md``, made from the table and the exceptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from conformance.markdown import cell, table
from conformance.parity.table import OF_CLASSES, STATUSES, Exception_, Function, status_of, tally

PAGE = Path(__file__).parents[2] / "docs" / "parity.md"


def page(functions: Mapping[str, Function], exceptions: Sequence[Exception_]) -> str:
    """Coverage per name space, the exceptions with their reasons, and all names."""
    spaces: dict[str, list[Function]] = {}
    for function in functions.values():
        spaces.setdefault(function.space, []).append(function)
    rows: list[Sequence[object]] = []
    total = Counter[str]()
    for space, members in sorted(spaces.items()):
        count = tally((f.name for f in members), exceptions)
        total += count
        rows.append(_row(f"`{space}`", count))
    rows.append(_row("all", total))
    lines = [
        "<!-- Generated from conformance/parity by `python -m conformance.parity`; do not edit. -->",
        "# Parity with MXNet 1.9.1",
        "",
        "Every public function of `mx.nd` and `mx.sym` and of their name spaces, every method of `NDArray` and",
        "`Symbol`, and the classes, methods and functions of gluon, modules, metrics, initialisers, callbacks,",
        "monitors, drawings, the profiler, `mx.rnn` and record files, taken from the package by introspection with",
        "the names and defaults of their parameters. `conform parity --engine NAME` holds an engine against the list;",
        "the reference engine is held to it by a test.",
        "",
        *table(["Name space", "Functions", *STATUSES, "Covered"], rows),
        "",
        "Covered: done, of all that are not excluded. A pending name is not done where it is there either: it may",
        "do no more than to say that it cannot yet.",
        "",
        "## Exceptions",
        "",
        *table(["Names", "Status", "Reason"], [[f"`{e.names}`", e.status, cell(e.reason)] for e in exceptions]),
    ]
    for space, members in sorted(spaces.items()):
        lines += ["", f"## {space}", ""]
        names = [f.name[len(space) + 1:] for f in members if f.kind not in OF_CLASSES]
        if space == "nd.op":
            lines.append(f"The {len(names)} operators of `nd`, under the same names.")
            continue
        lines.append(", ".join(f"`{n}`" + _mark(f"{space}.{n}", exceptions) for n in sorted(names)))
        of_classes = len(members) - len(names)
        if of_classes:
            lines += ["", f"With {of_classes} methods and properties of the classes."]
    return "\n".join(lines) + "\n"


def _row(name: str, count: Counter[str]) -> list[object]:
    wanted = count["done"] + count["pending"]
    share = 100 * count["done"] / wanted if wanted else 100.0
    shown = f"{share:.0f} %" if share in (0, 100) else f"{min(share, 99.9):.1f} %"
    return [name, sum(count.values()), *(count[s] for s in STATUSES), shown]


def _mark(name: str, exceptions: Sequence[Exception_]) -> str:
    status = status_of(name, exceptions)
    return "" if status == "done" else f" ({status})"
