"""``conform perf memory``: what networks take without reuse, as planned, and measured, on engines side by side."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from conformance.cli.numbers import COUNT, SECONDS
from conformance.cli.perf_engines import engines_of, environment_of
from conformance.engine import Engine
from conformance.engines.provision import interpreter_for
from conformance.errors import UsageFault
from conformance.exit_codes import ExitCode
from conformance.output import try_file, write_file
from perfsuite.memory import ASKED, MODES, MemoryRun, NoMemoryRun, Subject, choose, joined, measure, read_run
from perfsuite.memory_models import MODELS
from perfsuite.memory_page import faults, markdown, print_tables
from perfsuite.memory_picture import svg


@click.command("memory", epilog="Examples:  conform perf memory --quick   |   conform perf memory --models 'resnet*' "
                                "--engines refengine   |   conform perf memory --from docs/memory.json "
                                "--format markdown --output docs/memory.md --picture docs/memory.svg")
@click.option("--engines", default="refengine,mxnet-1.9.1", show_default=True, help="Names, separated by commas.")
@click.option("--models", "patterns", multiple=True, metavar="GLOB",
              help=f"Models by name; repeatable. There are {', '.join(MODELS)}.")
@click.option("--quick", is_flag=True, help="Only the small models, with small batches.")
@click.option("--batch", type=COUNT, help="The batch of every model, instead of its own.")
@click.option("--limit", default=600.0, show_default=True, type=SECONDS,
              help="Seconds for each measurement.")
@click.option("--format", "form", type=click.Choice(["text", "markdown", "json"]), default="text", show_default=True,
              help="How to print it.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write here instead of to stdout.")
@click.option("--picture", type=click.Path(path_type=Path, dir_okay=False), help="Write bars as SVG here as well.")
@click.option("--from", "earlier", multiple=True, type=click.Path(path_type=Path, dir_okay=False, exists=True),
              help="Show the results of this JSON file, measure nothing; repeatable, they are joined.")
def command(
    engines: str, patterns: tuple[str, ...], quick: bool, batch: int | None, limit: float, form: str,
    output: Path | None, picture: Path | None, earlier: tuple[Path, ...],
) -> None:
    """Print bytes without reuse, planned, and the measured peak of networks.

    For inference and for a training step; each number comes from a process of its own. What cannot be told is a row
    with its reason; a failure also ends the command with status 1. An interrupted run shows what it has.
    """
    interrupted = False
    for target in (output, picture):
        if target is not None:
            try_file(target)
    if earlier:
        try:
            run = joined([read_run(path.read_text(encoding="utf-8")) for path in earlier])
        except NoMemoryRun as error:
            raise UsageFault(f"{', '.join(map(str, earlier))}: {error}") from error
    else:
        chosen = choose(patterns, quick, batch)
        if not chosen:
            raise UsageFault(f"no model matches {', '.join(patterns)}", f"there are {', '.join(MODELS)}")
        run, interrupted = _measured(engines_of(engines), chosen, limit)
    if picture is not None:
        write_file(picture, svg(run))
    _write(run, form, output, picture)
    raise SystemExit(ExitCode.INTERRUPTED if interrupted else ExitCode.DIFFERS if faults(run) else ExitCode.OK)


def _measured(engines: list[Engine], chosen: dict[str, int], limit: float) -> tuple[MemoryRun, bool]:
    """The run, or what there is of it when it was interrupted, and whether it was."""
    console = Console(stderr=True)
    subjects = [Subject(engine.name, str(interpreter_for(engine, lambda line: console.print(line, markup=False))),
                        engine.module, engine.setup, environment_of(engine)) for engine in engines]
    about: dict[str, dict[str, str]] = {}
    records = []
    interrupted = False
    with Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), console=console, transient=True,
                  disable=not console.is_terminal) as progress:
        task = progress.add_task("measuring", total=len(chosen) * len(MODES) * len(subjects) * len(ASKED))
        try:
            for model, mode, subject in itertools.product(chosen, MODES, subjects):
                progress.update(task, description=f"{model} {mode} on {subject.name}")
                record, known = measure(subject, model, mode, chosen[model], limit, lambda: progress.advance(task))
                records.append(record)
                about.setdefault(subject.name, {}).update(known)
        except KeyboardInterrupt:
            interrupted = True
    unknown = dict.fromkeys(("version", "python", "numpy"), "unknown")
    run = MemoryRun(tuple(records), tuple({"name": s.name, **unknown, **about.get(s.name, {})} for s in subjects))
    return run, interrupted


def _write(run: MemoryRun, form: str, output: Path | None, picture: Path | None) -> None:
    if form == "text":
        if output is None:
            console = Console()
            print_tables(console if console.is_terminal else Console(width=140), run)
            return
        console = Console(record=True, width=140, file=open(os.devnull, "w"))  # noqa: SIM115 - the console owns it
        print_tables(console, run)
        text = console.export_text()
    elif form == "markdown":
        folder = output.parent if output is not None else Path()
        text = markdown(run, None if picture is None else Path(os.path.relpath(picture, folder)).as_posix())
    else:
        text = run.as_json()
    if output is None:
        click.echo(text, nl=not text.endswith("\n"))
    else:
        write_file(output, text)
