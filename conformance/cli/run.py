"""``conform run``: hold engines against the rules."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.numbers import FEW, SECONDS
from conformance.errors import UsageFault
from conformance.exit_codes import ExitCode
from conformance.rule import AREAS, LEVELS

if TYPE_CHECKING:
    from conformance.campaign import Finished, Plan

FORMATS = ("terminal", "markdown", "json", "junit", "ctrf")


class Shard(click.ParamType[tuple[int, int]]):
    """``i/n``: the i-th of n parts."""

    name = "i/n"

    def convert(
        self, value: str | tuple[int, int], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        number, slash, of = value.partition("/")
        if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
            self.fail(f"expected i/n with 1 <= i <= n, such as 1/4; got {value!r}", param, ctx)
        return int(number), int(of)


@click.command("run", epilog="""\b
Examples:
  conform run --engine refengine --engine mxnet-1.9.1
  conform run --engine mypackage.mx --rule 'TRAINER-*' --waivers waivers.toml""")
@click.option("--engine", "engines", multiple=True, required=True, metavar="NAME",
              help="Engine: from the table, entry point, or module; repeatable.")
@click.option("--engines-file", type=click.Path(dir_okay=False, path_type=Path), help="TOML file with more engines.")
@click.option("--rule", "patterns", multiple=True, metavar="GLOB", help="Rules or cases whose id matches; repeatable.")
@click.option("--area", "areas", multiple=True, type=click.Choice(AREAS), metavar="AREA", help="Only this area.")
@click.option("--level", "levels", multiple=True, type=click.Choice(LEVELS), metavar="LEVEL",
              help="Only MUST, SHOULD or MAY; repeatable.")
@click.option("--last-failed", is_flag=True, help="What did not pass in the last result in --output.")
@click.option("--shard", type=Shard(), help="The i-th of n parts.")
@click.option("--list", "listing", is_flag=True, help="Print the selected cases and run none.")
@click.option("--jobs", type=FEW, metavar="N", default=1, help="Workers at once. [default: 1]")
@click.option("--timeout", type=SECONDS, metavar="SECONDS", help="For each case.")
@click.option("--waivers", type=click.Path(dir_okay=False, path_type=Path), help="TOML file of waivers.")
@click.option("--strict", is_flag=True, help="A waiver for what passes now makes the run fail.")
@click.option("--isolation", type=click.Choice(["process", "none"]), default="process", metavar="HOW",
              help="process, or none: in this process, for a debugger.")
@click.option("--mutant", metavar="ID", help="Break the engine so first (conform mutants --list).")
@click.option("--format", "form", type=click.Choice(FORMATS), default="terminal", metavar="FORM",
              help="terminal, markdown, json, junit or ctrf, on stdout.")
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), default=Path("results"), metavar="FOLDER",
              help="For ENGINE.jsonl, report.html. [default: results]")
def command(
    engines: tuple[str, ...], engines_file: Path | None, patterns: tuple[str, ...], areas: tuple[str, ...],
    levels: tuple[str, ...], last_failed: bool, shard: tuple[int, int] | None, listing: bool, jobs: int,
    timeout: float | None, waivers: Path | None, strict: bool, isolation: str, mutant: str | None, form: str,
    output: Path,
) -> None:
    """Run the cases on one engine or several, each in its own interpreter, and say whether it conforms.

    Exit code: 0 conforms (no surprise), 1 does not, 2 wrong use, 3 engine did not start, 4 harness fault,
    5 nothing was run.
    """
    from conformance.campaign import Plan, conduct, exit_code, today
    from conformance.engine import find_engine
    from conformance.progress import progress
    from conformance.selection import Selection
    from conformance.session import Options
    from conformance.waivers import read_waivers

    found = tuple(find_engine(name, engines_file) for name in dict.fromkeys(engines))
    if isolation == "none" and len(found) > 1:
        raise UsageFault("--isolation none runs one engine, in this process", "Give one --engine.")
    if mutant is not None:
        _check_mutant(mutant)
    options = Options(
        selection=Selection(patterns, areas, levels, None, shard), jobs=jobs, timeout=timeout, isolation=isolation,
        smoke=isolation == "process", waivers=read_waivers(waivers, today()) if waivers else (), mutant=mutant,
    )
    plan = Plan(found, options, output, strict, last_failed)
    if listing:
        _list(plan)
        return
    with progress(sys.stderr) as observer:
        parts = conduct(plan, observer)
    _show(parts, form, output)
    raise SystemExit(int(exit_code(parts)))


def _check_mutant(identifier: str) -> None:
    from conformance.catalogue import load_catalogue
    from conformance.rule import near_names

    known = load_catalogue().mutants
    if identifier not in known:
        near = near_names(identifier, known, 3)
        raise UsageFault(f"unknown mutant {identifier!r}", f"Near: {', '.join(near)}" if near else
                         "See `conform mutants --list`.")


def _list(plan: Plan) -> None:
    """Print what is selected. The suite is loaded here: no engine has to start for this."""
    from dataclasses import replace

    from conformance import result
    from conformance.catalogue import load_catalogue
    from conformance.selection import CaseInfo

    catalogue = load_catalogue()
    cases = [CaseInfo.of(case.describe()) for case in catalogue.cases.values()]
    selection = plan.options.selection
    selection.check_patterns(cases, catalogue.rules)
    if plan.again:
        failed = frozenset[str]().union(*(result.last_failed(plan.path(engine)) for engine in plan.engines))
        selection = replace(selection, only=failed)
    chosen = selection.select(cases, catalogue.rules)
    for case in chosen:
        click.echo(case.id)
    click.echo(f"{len(chosen)} cases of {len({case.rule for case in chosen})} rules", err=True)
    if not chosen:
        raise SystemExit(int(ExitCode.NOTHING))


def _show(parts: list[Finished], form: str, output: Path) -> None:
    """Print the results in the wanted form on stdout; faults, stale waivers and where the files are on stderr."""
    from conformance.campaign import write_report

    for part in parts:
        if part.fault is not None:
            part.fault.show()
        for line in part.judgement.stale if part.judgement is not None else ():
            click.echo(line, err=True)
    paths = [part.path for part in parts if part.path is not None]
    if not paths:
        return
    click.echo(_rendered(paths, form), nl=False)
    report = write_report(paths, output)
    click.echo(f"results: {', '.join(str(path) for path in paths)}; report: {report}", err=True)


def _rendered(paths: list[Path], form: str) -> str:
    if form == "json":
        files = [[json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] for path in paths]
        return json.dumps(files, indent=1) + "\n"
    from conformance.campaign import side_by_side

    renderer = importlib.import_module(f"reports.{form}")
    terminal = {"width": shutil.get_terminal_size().columns, "color": sys.stdout.isatty()} if form == "terminal" else {}
    text = renderer.render(side_by_side(paths), **terminal)
    assert isinstance(text, str)
    return text if text.endswith("\n") else text + "\n"
