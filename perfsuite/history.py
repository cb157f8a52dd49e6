"""The asv history as a table: seconds per call turned round into units per second, with the commit and the machine.

asv keeps seconds, since it takes smaller as better; people ask for samples and bytes per second.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pandas

from perfsuite.record import load_records

COLUMNS = ["date", "commit", "machine", "family", "record", "size", "seconds", "unit", "per_second"]


class NoHistory(ValueError):
    """The results directory holds no results of these benchmarks."""


def load_history(results: str | Path) -> pandas.DataFrame:
    """Read every result below an asv results directory into a table with the columns of :data:`COLUMNS`.

    results: e.g. ``.asv/results``. Workloads that failed or were skipped have no row. Rows are in order of their date.
    Raises NoHistory, naming the directory, if nothing is found.
    """
    records = load_records()
    rows: list[dict[str, Any]] = []
    for path in sorted(Path(results).glob("*/*.json")):
        if path.name == "machine.json":
            continue
        stored = json.loads(path.read_text())
        columns = stored["result_columns"]
        for benchmark, values in stored["results"].items():
            if not benchmark.startswith("families."):
                continue
            entry = dict(zip(columns, values))
            workloads = itertools.chain(*entry["params"])
            for workload, seconds in zip(workloads, entry["result"] or []):
                name, _, size = workload.strip("'").partition("/")
                if seconds is None or seconds != seconds or name not in records or size not in records[name].sizes:
                    continue
                record = records[name]
                rows.append({
                    "date": pandas.Timestamp(stored["date"], unit="ms"), "commit": stored["commit_hash"][:10],
                    "machine": stored["params"].get("machine", path.parent.name), "family": record.family,
                    "record": name, "size": size, "seconds": seconds, "unit": record.unit,
                    "per_second": record.amount(size) / seconds,
                })
    if not rows:
        raise NoHistory(f"expected asv results of these benchmarks below {results}, found none: run `asv run` first")
    table = pandas.DataFrame(rows, columns=COLUMNS)
    return table.sort_values(["date", "family", "record", "size"], kind="stable").reset_index(drop=True)


def latest(table: pandas.DataFrame) -> pandas.DataFrame:
    """The newest row of each workload and machine, with ``change``: its seconds over those of the row before it."""
    grouped = table.groupby(["machine", "record", "size"], sort=False)
    last = grouped.tail(1).set_index(["machine", "record", "size"])
    before = grouped["seconds"].apply(lambda s: s.iloc[-2] if len(s) > 1 else float("nan"))
    last["change"] = last["seconds"] / before
    return last.reset_index()
