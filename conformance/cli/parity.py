"""``conform parity``: which public functions of MXNet 1.9.1 an engine has, with which parameters."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command(
    "parity", short_help="Hold an engine's functions against those of MXNet 1.9.1.",
    epilog="""\b
Examples:
  conform parity --engine refengine
  conform parity --engine refengine --space nd.contrib --format json

Exit codes: 0 all there, 1 something is missing or different, 2 wrong use, 3 no engine.""",
)  # fmt: skip
@click.option("--engine", "name", required=True, metavar="NAME", help="Engine from the table, entry point, or module.")
@click.option("--engines-file", type=click.Path(dir_okay=False, path_type=Path), help="TOML file with more engines.")
@click.option("--space", "spaces", multiple=True, metavar="SPACE", help="Only this name space, e.g. nd.linalg.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="How to print the differences.")  # fmt: skip
def command(name: str, engines_file: Path | None, spaces: tuple[str, ...], form: str) -> None:
    """List each name of mx.nd, mx.sym, gluon and their kin that the engine lacks or that has other parameters.

    What needs a library that no engine must have is left out; `docs/parity.md` names it.
    """
    from conformance.engine import find_engine
    from conformance.errors import UsageFault
    from conformance.parity.table import (
        differences,
        exception_for,
        load_exceptions,
        load_functions,
        status_of,
        survey,
        tally,
    )

    exceptions = load_exceptions()
    functions = load_functions()
    known = {function.space for function in functions.values()}
    unknown = sorted(set(spaces) - known)
    if unknown:
        raise UsageFault(f"no name space {unknown[0]!r}", hint=f"one of {', '.join(sorted(known))}")
    wanted = {key: function for key, function in functions.items()
              if (not spaces or function.space in spaces) and status_of(key, exceptions) != "excluded"}
    found = differences(wanted, survey(find_engine(name, engines_file)))
    count = tally(wanted, exceptions, found)
    pending = [key for key in wanted if status_of(key, exceptions) == "pending"]
    if form == "json":
        click.echo(json.dumps({"engine": name, "functions": len(wanted), "done": count["done"], "pending": pending,
                               "differences": found}, indent=1))
    else:
        for key, text in sorted({**dict.fromkeys(pending, "there"), **found}.items()):
            exception = exception_for(key, exceptions)
            click.echo(f"{key}: {text}" + (f"; pending: {exception.reason}" if exception else ""))
        there = sum(key not in found for key in pending)
        waiting = f"; {len(pending)} are pending, of which {there} are there" if pending else ""
        click.echo(f"{count['done']} of {len(wanted)} functions as in MXNet 1.9.1{waiting}", err=True)
    raise SystemExit(1 if found else 0)
