"""``conform mutants``: is every MUST rule guarded by a case that notices when it is broken?"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from conformance.cli.numbers import FEW, SECONDS
from conformance.errors import UsageFault

#: Where the mutants of this project are defined.
OWN = "conformance.mutants"

#: As --help states them.
EXIT_CODES = (
    "Exit codes: 0 every mutant that the engine can be judged by is killed and no null engine passes a MUST rule, "
    "1 a survivor, one that no case could judge, or another gap, 2 wrong use, 3 the engine did not start, "
    "4 faulty suite, 5 none could be judged, 130 interrupted."
)


@click.command("mutants", short_help="Break an engine: do the cases notice?", epilog=EXIT_CODES)
@click.option("--engine", default="refengine", show_default=True, help="The engine to break.")
@click.option("--engines-file", type=click.Path(path_type=Path), help="A table of further engines (toml).")
@click.option("--mutant", "globs", multiple=True, metavar="GLOB", help="Only these mutants, e.g. 'trainer_core.*'.")
@click.option("--rule", "rules", multiple=True, metavar="GLOB", help="Only at these rules.")
@click.option(
    "--matrix", type=click.Choice(["own", "full"]), default="own", show_default=True,
    help="Run the cases of the rules that a mutant names, or all (takes minutes).",
)  # fmt: skip
@click.option("--no-nulls", is_flag=True, help="Leave the null engines out.")
@click.option("--jobs", type=FEW, help="Workers side by side.  [default: one per core, at most 2]")
@click.option("--timeout", type=SECONDS, default=10.0, show_default=True, help="Seconds that a case may take.")
@click.option("--fresh", is_flag=True, help="A new worker for each mutant, instead of a forked copy.")
@click.option("--package", default=OWN, show_default=True, help="Where the mutants are defined.")
@click.option("--all", "every", is_flag=True, help="Show the killed ones too.")
@click.option("--list", "listing", is_flag=True, help="Only list the mutants.")
@click.option(
    "--format", "form", type=click.Choice(["table", "json", "markdown"]), default="table", show_default=True,
    help="How to print the result.",
)  # fmt: skip
def command(
    engine: str,
    engines_file: Path | None,
    globs: tuple[str, ...],
    rules: tuple[str, ...],
    matrix: str,
    no_nulls: bool,
    jobs: int | None,
    timeout: float,
    fresh: bool,
    package: str,
    every: bool,
    listing: bool,
    form: str,
) -> None:
    """Break an engine in every known way and see whether the cases notice."""
    from conformance import kill_report
    from conformance.catalogue import load_catalogue, place_of
    from conformance.engine import find_engine
    from conformance.kill import KillRun

    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # a vendor's own package of mutants may lie in the current folder
    if package != OWN:
        _try_package(package)
    catalogue = load_catalogue(mutants=package)
    progress = _Progress()
    run = KillRun(
        engine=find_engine(engine, engines_file),
        catalogue=catalogue,
        mutants=globs,
        rules=rules,
        matrix=matrix,
        jobs=jobs or min(2, os.cpu_count() or 1),
        timeout=timeout,
        fresh=fresh,
        nulls=not no_nulls and not globs,
        package=package,
        progress=progress,
        note=lambda text: click.echo(text, err=True),
    )
    if listing:
        for mutant in run.chosen():
            click.echo(f"{mutant.id}  {place_of(mutant)}\n  breaks {', '.join(mutant.rules)}: {mutant.doc}")
        return
    try:
        report = run.run()
    finally:
        progress.clear()
    if form == "json":
        click.echo(kill_report.as_json(report))
    elif form == "markdown":
        click.echo(kill_report.as_markdown(report))
    else:
        kill_report.print_terminal(report, every)
    raise SystemExit(int(report.exit_code))


def _try_package(package: str) -> None:
    """UsageFault unless a vendor's own package can be imported and defines mutants."""
    from conformance.mutants import load_mutants

    try:
        found = load_mutants(package)
    except Exception as error:  # noqa: BLE001 - a module of the package may raise anything
        raise UsageFault(f"the mutants of {package!r} cannot be loaded: {type(error).__name__}: {error}",
                         "Name a package of modules with mutants; the current folder is searched as well.") from None
    if not any(f"{mutant.module}.".startswith(f"{package}.") for mutant in found.values()):
        raise UsageFault(f"{package!r} defines no mutants", "See conformance/mutants/__init__.py for how that is done.")


class _Progress:
    """How far it is, on one line of a terminal; nothing elsewhere."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()

    def __call__(self, done: int, of: int) -> None:
        if self._shown:
            click.echo(f"\r{done} of {of} mutants", nl=False, err=True)

    def clear(self) -> None:
        if self._shown:
            click.echo("\r\033[K", nl=False, err=True)
