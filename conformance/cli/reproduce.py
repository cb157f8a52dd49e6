"""``conform reproduce``: a script that shows one case on one engine without this project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.errors import UsageFault
from conformance.output import try_file, write_file

if TYPE_CHECKING:
    from conformance.case import Case
    from conformance.catalogue import Catalogue


@click.command(
    "reproduce",
    epilog="""\b
Examples:
  conform reproduce TRAINER-STALE-001 --engine mxnet-1.9.1 > show.py
  conform reproduce OPT-ADAM-001 --engine mypackage.mx --to show.py""",
)
@click.argument("identifier", metavar="RULE|CASE")
@click.option("--engine", "name", required=True, metavar="NAME", help="Engine from the table, entry point, or module.")
@click.option("--engines-file", type=click.Path(dir_okay=False, path_type=Path), help="TOML file with more engines.")
@click.option("--to", "target", type=click.Path(dir_okay=False, path_type=Path), help="Write it there, not to stdout.")
@click.option("--results", type=click.Path(file_okay=False, path_type=Path), default=Path("results"), show_default=True,
              help="Folder of results: of a rule with several cases, one that failed there is taken.")
def command(identifier: str, name: str, engines_file: Path | None, target: Path | None, results: Path) -> None:
    """Print a script that runs one case with nothing but the engine and numpy.

    Exit code: 0 written, 2 wrong use, 4 faulty suite.
    """
    from conformance.catalogue import load_catalogue
    from conformance.engine import find_engine
    from conformance.reproduce import script

    if target is not None:
        try_file(target)
    engine = find_engine(name, engines_file)
    catalogue = load_catalogue()
    case = _chosen(catalogue, identifier, results / f"{engine.file_name}.jsonl")
    text = script(case, catalogue.rules[case.rule], engine)
    if target is None:
        click.echo(text, nl=False)
        return
    write_file(target, text)
    click.echo(f"{case.id} on {engine.name}: {target}", err=True)


def _chosen(catalogue: Catalogue, identifier: str, result_file: Path) -> Case:
    """The case of that id, or of that rule: the first that failed last time, else the first."""
    from conformance.result import last_failed
    from conformance.rule import near_names

    if identifier in catalogue.cases:
        return catalogue.cases[identifier]
    found = catalogue.cases_of.get(identifier, ())
    if not found:
        if identifier in catalogue.rules:
            raise UsageFault(f"{identifier} has no case yet", "See `conform rules --without-case`.")
        near = near_names(identifier, [*catalogue.rules, *catalogue.cases], 3)
        raise UsageFault(f"no rule and no case is called {identifier!r}", f"Near: {', '.join(near)}" if near else "")
    failed = last_failed(result_file) if result_file.exists() else frozenset[str]()
    case = next((case for case in found if case.id in failed), found[0])
    if len(found) > 1:
        others = ", ".join(other.id for other in found if other is not case)
        why = " (failed last time)" if case.id in failed else ""
        click.echo(f"{case.id}{why}; the rule's others: {others}", err=True)
    return case
