"""``conform perf``: engines side by side, the benchmark records, and the history that asv keeps."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from conformance.cli import perf_memory
from conformance.cli.numbers import COUNT, FEW
from conformance.cli.perf_engines import engines_of, environment_of
from conformance.engine import Engine
from conformance.engines.provision import interpreter_for
from conformance.errors import UsageFault
from conformance.exit_codes import ExitCode
from conformance.output import try_file, write_file
from perfsuite import present
from perfsuite.compare import Comparison, select
from perfsuite.compare import compare as compare_workload
from perfsuite.process import MeasuringWorker
from perfsuite.record import load_records


@click.group()
def command() -> None:
    """Measure engines: side by side now, or over the commits with asv."""


command.add_command(perf_memory.command)


def _worker(engine: Engine, threads: int) -> MeasuringWorker:
    """Start the measuring worker of an engine, with the thread count that all get."""
    kinds = {kind for record in load_records().values() for kind in record.builders}
    return MeasuringWorker(
        engine.name, str(interpreter_for(engine)), engine.module, setup=engine.setup, threads=threads,
        kind=engine.module if engine.module in kinds else "mx",
        environment=environment_of(engine),
    )


@command.command(epilog="Examples:  conform perf compare --engines refengine,mxnet-1.9.1   |   "
                        "conform perf compare --engines refengine,torch --select throughput --threads 2")
@click.option("--engines", required=True, help="Names, separated by commas; the first is held against each other one.")
@click.option("--select", "patterns", multiple=True, metavar="GLOB", help="Family, record, or record/size; repeatable.")
@click.option("--quick", is_flag=True, help="Only the quick size of each record.")
@click.option("--rounds", default=9, show_default=True, type=COUNT, help="Interleaved rounds per workload.")
@click.option("--threads", default=1, show_default=True, type=FEW, help="Compute threads, for all alike.")
@click.option("--clock", type=click.Choice(["cpu", "wall"]), default=None,
              help="Which time counts; cpu with one thread, wall with more, unless given.")
@click.option(
    "--format", "form", type=click.Choice(["terminal", "markdown", "json"]), default="terminal", show_default=True,
    help="How to print it.",
)  # fmt: skip
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write here instead of to stdout.")
def compare(
    engines: str, patterns: tuple[str, ...], quick: bool, rounds: int, threads: int, clock: str | None, form: str,
    output: Path | None,
) -> None:
    """Hold engines side by side: interleaved, verified, as ratios with an interval.

    A ratio above 1 says how many times faster the first engine is. A result that is wrong before or after the timing
    leaves no number, and the command ends with status 1. An interrupted one shows what it has.
    """
    if output is not None:
        try_file(output)
    chosen = engines_of(engines)
    workloads = list(select(load_records(), patterns, quick))
    if not workloads:
        raise UsageFault(f"no workload matches {', '.join(patterns)}", "see `conform perf list`")
    clock = clock or ("cpu" if threads == 1 else "wall")
    progress_console = Console(stderr=True)
    results: list[Comparison] = []
    interrupted = False
    with contextlib.ExitStack() as stack:
        workers = [stack.enter_context(_worker(engine, threads)) for engine in chosen]
        progress = stack.enter_context(Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), console=progress_console,
            transient=True, disable=not progress_console.is_terminal))
        task = progress.add_task("measuring", total=len(workloads) * rounds)
        try:
            for record, size in workloads:
                progress.update(task, description=f"{record.name}/{size}")
                results.append(compare_workload(workers, record, size, rounds, clock, lambda: progress.advance(task)))
        except KeyboardInterrupt:
            interrupted = True
        facts = [{"name": worker.name, **worker.facts} for worker in workers]
    _write(results, present.conditions(threads, clock, rounds, facts), form, output)
    wrong = [m for c in results for m in c.measured if m.void and m.void != "not built for this library"]
    if interrupted:
        click.echo(f"Interrupted after {len(results)} of {len(workloads)} workloads.", err=True)
        raise SystemExit(ExitCode.INTERRUPTED)
    raise SystemExit(ExitCode.DIFFERS if wrong else ExitCode.OK)


def _write(results: list[Comparison], condition: str, form: str, output: Path | None) -> None:
    if form == "terminal":
        if output is None:
            present.print_tables(Console(), results, condition)
            return
        console = Console(record=True, width=120, file=open(os.devnull, "w"))  # noqa: SIM115 - the console owns it
        present.print_tables(console, results, condition)
        text = console.export_text()
    else:
        text = (present.markdown if form == "markdown" else present.as_json)(results, condition)
    if output is None:
        click.echo(text)
        return
    write_file(output, text)


@command.command(name="list")
def list_records() -> None:
    """List the benchmark records with their families and sizes."""
    for record in load_records().values():
        click.echo(f"{record.family:12} {record.name:22} {', '.join(record.sizes)}")
        click.echo(f"{'':12} {present.plain(record.doc.splitlines()[0])}")


@command.command(epilog="Example:  asv run HEAD^! && conform perf history")
@click.option(
    "--results", default=".asv/results", show_default=True, type=click.Path(path_type=Path, file_okay=False),
    help="Folder that asv writes to.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True,
    help="How to print it.",
)  # fmt: skip
def history(results: Path, form: str) -> None:
    """Show what asv measured last, in units per second, and the change against the run before."""
    from perfsuite.history import NoHistory, latest, load_history

    try:
        table = latest(load_history(results))
    except NoHistory as error:
        raise UsageFault(str(error)) from error
    if form == "csv":
        click.echo(table.to_csv(index=False), nl=False)
    elif form == "json":
        click.echo(table.to_json(orient="records", date_format="iso", indent=1))
    else:
        shown = table.assign(rate=[present.rate(v, u) for v, u in zip(table["per_second"], table["unit"])])
        click.echo(shown[["family", "record", "size", "rate", "change", "commit"]].to_string(index=False))
