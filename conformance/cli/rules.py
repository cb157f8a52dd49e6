"""``conform rules``: list the rule inventory, filtered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

import click

from conformance.errors import UsageFault
from conformance.markdown import cell, table
from conformance.rule import AREAS, LEVELS, RELEASES, STATUSES, VERDICTS, Rule, load_rules, near_names, select

#: As the tables show a status.
MARKS = {"holds": "holds", "differs": "DIFFERS", "absent": "absent", "untested": "-"}


class StatusFilter(click.ParamType[tuple[str, str]]):
    """``RELEASE=STATUS``, such as ``mxnet-1.9.1=differs``."""

    name = "release=status"

    def convert(
        self, value: str | tuple[str, str], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        release, _, status = value.partition("=")
        if release not in RELEASES or status not in STATUSES:
            self.fail(
                f"expected one of {', '.join(RELEASES)}, '=' and one of {', '.join(STATUSES)}; got {value!r}",
                param,
                ctx,
            )
        return release, status


@click.command(
    "rules", short_help="List the rules, filtered.",
    epilog="Exit codes: 0 listed, 2 wrong use, 4 faulty inventory, 5 no rule fits the filters.",
)  # fmt: skip
@click.option("--area", "areas", multiple=True, type=click.Choice(AREAS), metavar="AREA", help="Only this area.")
@click.option("--level", "levels", multiple=True, type=click.Choice(LEVELS), help="Only this level.")
@click.option("--rule", "globs", multiple=True, metavar="GLOB", help="Only ids that match, e.g. 'TRAINER-STALE-*'.")
@click.option("--verdict", "verdicts", multiple=True, type=click.Choice(VERDICTS), help="Only this verdict.")
@click.option("--needs", multiple=True, metavar="CAPABILITY", help="Only rules that need it; 'none': that need none.")
@click.option("--status", "statuses", multiple=True, type=StatusFilter(), help="Only rules of which a release has it.")
@click.option("--without-case", is_flag=True, help="Only rules that have no case yet.")
@click.option(
    "--format", "form", type=click.Choice(["table", "json", "markdown"]), default="table", show_default=True,
    help="How to print them.",
)  # fmt: skip
def command(
    areas: tuple[str, ...],
    levels: tuple[str, ...],
    globs: tuple[str, ...],
    verdicts: tuple[str, ...],
    needs: tuple[str, ...],
    statuses: tuple[tuple[str, str], ...],
    without_case: bool,
    form: str,
) -> None:
    """List the rules that satisfy every given filter; an option given twice lets either value pass."""
    inventory = load_rules()
    from conformance.engine import CAPABILITIES

    for name in needs:
        if name != "none" and name not in CAPABILITIES:
            near = near_names(name, CAPABILITIES, 3)
            raise UsageFault(f"unknown capability {name!r}", f"Known: {', '.join(near or CAPABILITIES)}.")
    rules = select(inventory.values(), areas, levels, globs, verdicts, needs, statuses)
    if without_case:
        from conformance.catalogue import load_catalogue

        with_case = load_catalogue().cases_of
        rules = [rule for rule in rules if rule.id not in with_case]
    if not rules:
        click.echo("No rule fits these filters.", err=True)
        for glob in globs:
            near = near_names(re.sub(r"[*?\[\]]", "", glob), inventory, 3)
            if near:
                click.echo(f"Near {glob!r}: {', '.join(near)}", err=True)
        raise SystemExit(5)
    if form == "json":
        click.echo(json.dumps([{**rule.as_record(), "where": rule.where} for rule in rules], indent=1))
    elif form == "markdown":
        click.echo(as_markdown(rules))
    else:
        _print_table(rules)


def as_markdown(rules: Iterable[Rule]) -> str:
    """The rules as one markdown table."""
    heading = ["Rule", "Level", "Statement", "Needs", *(release.removeprefix("mxnet-") for release in RELEASES)]
    rows = []
    for rule in rules:
        statuses = [MARKS[rule.status(release)] for release in RELEASES]
        rows.append([rule.id, rule.level, cell(rule.statement), ", ".join(rule.needs) or "-", *statuses])
    return "\n".join(table(heading, rows))


def _print_table(rules: list[Rule]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    details = console.width >= 80  # ids and statements come first where there is little room
    table = Table(box=None, pad_edge=False, show_edge=False, header_style="bold")
    for heading in ("rule", "level", *(("1.9.1", "2.0.0b1", "needs") if details else ())):
        table.add_column(heading, no_wrap=True)
    table.add_column("statement", overflow="fold")
    for rule in rules:
        more = [*(MARKS[rule.status(release)] for release in RELEASES), ",".join(rule.needs)] if details else []
        table.add_row(rule.id, rule.level, *more, Text(rule.statement))
    console.print(table)
    console.print(f"{len(rules)} rule{'' if len(rules) == 1 else 's'}", style="dim")
