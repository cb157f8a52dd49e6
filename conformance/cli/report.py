"""``conform report``: result files in, artefacts out."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from conformance.errors import UsageFault
from conformance.exit_codes import ExitCode
from conformance.output import write_file
from reports import Report, Result, ResultError, load, merge

_FILES = click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
_OUTPUT = click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write to this file, all at once; without it, to standard output.",
)


@click.group(
    epilog="A FILE is a result file of `conform run`, or a folder: then all its *.jsonl files. "
    "Files that are cut off, miscounted or malformed are refused, with exit code 2."
)
def command() -> None:
    """Turn result files into a page, a summary, or a format that other tools read."""


@command.command()
@_FILES
@_OUTPUT
@click.option("--title", default="Gluon conformance", show_default=True, help="Heading of the page.")
def html(files: tuple[Path, ...], output: Path | None, title: str) -> None:
    """One self-contained page, with the engines side by side."""
    from reports.html import render  # the template engine is only needed here

    _put(render(_read(files), title), output)


@command.command()
@_FILES
@_OUTPUT
@click.option("--details", default=25, type=click.IntRange(0), show_default=True,
              help="Failures spelled out for each engine.")
def markdown(files: tuple[Path, ...], output: Path | None, details: int) -> None:
    """GitHub-flavoured markdown, for a pull request or a job summary."""
    from reports.markdown import render

    _put(render(_read(files), details=details), output)


@command.command()
@_FILES
@_OUTPUT
def junit(files: tuple[Path, ...], output: Path | None) -> None:
    """JUnit XML, one suite per engine."""
    from reports.junit import render

    _put(render(_read(files)), output)


@command.command()
@_FILES
@_OUTPUT
def ctrf(files: tuple[Path, ...], output: Path | None) -> None:
    """The Common Test Report Format, as JSON."""
    from reports.ctrf import render

    _put(render(_read(files)), output)


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@_OUTPUT
@click.option("--label", default="gluon conformance", show_default=True, help="The left half of the badge.")
def badge(file: Path, output: Path | None, label: str) -> None:
    """An SVG badge about the one engine of FILE."""
    from reports.badge import render

    report = _read((file,))
    try:
        text = render(report, label=label)
    except ValueError as error:
        raise UsageFault(str(error), "give the result file of one engine") from None
    _put(text, output)


@command.command()
@_FILES
@_OUTPUT
@click.option("--details", default=10, type=click.IntRange(0), show_default=True,
              help="Failures shown in full for each engine.")
@click.option("--width", type=click.IntRange(60, 10000), help="Columns; by default those of the terminal, else 80.")
def terminal(files: tuple[Path, ...], output: Path | None, details: int, width: int | None) -> None:
    """What `conform run` prints at its end."""
    from reports.terminal import render

    on_terminal = output is None and sys.stdout.isatty()
    columns = width or (shutil.get_terminal_size().columns if on_terminal else 80)
    _put(render(_read(files), width=max(60, columns), color=on_terminal, details=details), output)


@command.command()
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
@_OUTPUT
@click.option(
    "--format", "form", type=click.Choice(["terminal", "markdown", "json"]), default="terminal", show_default=True,
    help="How to print it.",
)  # fmt: skip
def compare(before: Path, after: Path, output: Path | None, form: str) -> None:
    """Hold the run AFTER against the run BEFORE: fixed, regressed, changed, new, gone.

    Ends with 1 when a case that passed before does not pass now, or is gone.
    """
    from reports import compare as comparing

    result = comparing.compare(_load(before), _load(after))
    renderers: dict[str, Callable[..., Any]] = {
        "terminal": comparing.render_text,
        "markdown": comparing.render_markdown,
        "json": comparing.render_json,
    }
    _put(renderers[form](result), output)
    sys.exit(ExitCode.DIFFERS if result.worse else ExitCode.OK)


def _read(paths: tuple[Path, ...]) -> Report:
    """Load and merge result files; a folder stands for the result files in it.

    Files keep their order; those of a folder go by name, engines that must obey every rule before recorded ones.
    """
    results: list[Result] = []
    for path in paths:
        if path.is_dir():
            inside = [_load(file) for file in sorted(path.glob("*.jsonl"))]
            if not inside:
                raise UsageFault(f"{path}: expected a folder with result files (*.jsonl), got one without")
            results += sorted(inside, key=lambda result: result.inventory is not None)
        else:
            results.append(_load(path))
    return merge(results)


def _load(path: Path) -> Result:
    try:
        return load(path)
    except ResultError as error:
        raise UsageFault(str(error)) from None
    except OSError as error:
        raise UsageFault(f"{path}: {error.strerror or error}") from None


def _put(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.buffer.write(text.encode())  # UTF-8 whatever the locale: these are file formats
        sys.stdout.buffer.flush()
        return
    write_file(output, text)
    click.echo(str(output), err=True)
