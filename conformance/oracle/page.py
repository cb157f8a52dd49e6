"""The page about the differential mode: what it does, and every known difference (``python -m conformance.docs``)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from conformance.markdown import cell, table
from conformance.oracle.known import Known
from conformance.oracle.program import operations

FILE = Path(__file__).parents[2] / "docs" / "oracle.md"

#: So many operations are named in a row; the others stand in the data file.
NAMED = 4

_INTRODUCTION = """\
# One engine beside another

`conform oracle A B` runs the same small programs on two engines and compares what each statement did: values, element
types, shapes, gradients, errors by class and by what they are about, and the state after an error. It needs no expected
values, so it goes where no rule does.

    conform oracle refengine mxnet-1.9.1 --seconds 1800 --seed 7 --output found
    conform oracle your_package.engine refengine --operators 'nd.sum*'

The programs are the samples of every operator in every element type, and after them calls that differ from a sample
in up to three ways (parameters, shapes, element types, special numbers, views, `out`, arguments of another kind),
Python's operators, methods, reductions, indexing, assignment, and recorded chains. The same seed makes the same
programs. A difference is run again in new processes and shrunk to a few lines. It is none where rounding explains it
(arrays that are moved by a unit in the last place move the result as far, or float32 gives the same on both where
float16 does not), nor where a call has two faults and each engine names another one: then there are two simpler calls
that both engines refuse, one for either fault. What is left is judged: by numpy, for every operator that means what a
plain function of numpy means, and by finite differences where they can tell who is wrong; by the rules that name the
operation otherwise. `--output` writes a script for each, which runs on either engine and ends with status 1 where the
difference is there.

An engine that hangs costs `--timeout` each time, so a session may look into what it has found for some such times after
`--seconds`. What was not shrunk fully then says so, and the summary says how many programs were not looked into.

What is listed below is known and has a reason; it lies in `conformance/oracle/known.yaml`, where the example of an
entry is run at the start of every session: an entry that shows nothing any more is reported, and has to go. Programs
that end an engine, or damage its memory, are not run.
"""


def page(entries: Iterable[Known]) -> str:
    """The page for these known differences."""
    lines = ["<!-- Generated from conformance/oracle/known.yaml by `python -m conformance.docs`; do not edit. -->",
             _INTRODUCTION]
    pairs: dict[tuple[str, str], list[Known]] = {}
    for entry in entries:
        pairs.setdefault(entry.engines, []).append(entry)
    for engines, known in pairs.items():
        rows = [[cell(entry.id), _names(entry), cell(entry.reason), _example(entry)] for entry in known]
        lines += [f"## {' and '.join(engines)}", "",
                  *table([f"{len(known)} known differences", "Operations", "Why", "For example"], rows), ""]
    return "\n".join(lines)


def _names(entry: Known) -> str:
    names = [cell(name) for name in entry.operators[:NAMED]]
    more = len(entry.operators) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _example(entry: Known) -> str:
    """The statement that the entry is about: the last one of its example that does more than ask for gradients."""
    lines = [line.removeprefix("with mx.autograd.record(): ") for line in entry.example]
    asks = ("NDArray.backward", "autograd.backward")
    own = [line for line in lines if not any(name in asks for name in operations(line))]
    return "`" + (own or lines)[-1].replace("|", "\\|") + "`" + (" (ends an engine)" if entry.avoid else "")
