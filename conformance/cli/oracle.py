"""``conform oracle``: two engines against each other."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.numbers import COUNT, SECONDS
from conformance.errors import UsageFault
from conformance.exit_codes import ExitCode
from conformance.output import try_folder

if TYPE_CHECKING:
    from conformance.oracle.session import Finding, Outcome

FORMATS = ("terminal", "markdown", "json")


@click.command("oracle", epilog="""\b
Examples:
  conform oracle refengine mxnet-1.9.1 --seconds 300
  conform oracle mypackage.mx refengine --operators 'nd.sum*' --programs 5000""")
@click.argument("first", metavar="ENGINE")
@click.argument("second", metavar="ENGINE")
@click.option("--engines-file", type=click.Path(dir_okay=False, path_type=Path), help="TOML file with more engines.")
@click.option("--seconds", type=SECONDS, metavar="N", help="How long. [default: 60]")
@click.option("--programs", type=COUNT, metavar="N", help="How many programs.")
@click.option("--seed", type=click.IntRange(0), metavar="N", default=0, help="Other seed, other programs.")
@click.option("--operators", "globs", multiple=True, metavar="GLOB",
              help="Only such operations: 'nd.sum', 'NDArray[]'; repeatable.")
@click.option("--known", "known_file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="YAML of known differences.")
@click.option("--timeout", type=SECONDS, metavar="SECONDS", default=20.0,
              help="For each program. [default: 20]")
@click.option("--format", "form", type=click.Choice(FORMATS), default="terminal", metavar="FORM",
              help="terminal, markdown or json, on stdout.")
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
              help="For oracle.json and a script for each difference.")
def command(
    first: str, second: str, engines_file: Path | None, seconds: float | None, programs: int | None, seed: int,
    globs: tuple[str, ...], known_file: Path | None, timeout: float, form: str, output: Path | None,
) -> None:
    """Run the same programs on two engines; judge, shrink and report every difference.

    Exit code: 0 nothing new, 1 a new difference or a known one that is gone, 2 wrong use, 3 an engine did not start,
    4 harness fault, 5 nothing was run.
    """
    try:
        import hypothesis  # noqa: F401 - said at once, not after the engines have started
    except ModuleNotFoundError:
        raise UsageFault("programs are made by hypothesis, which is not installed",
                         "pip install 'gluon-conformance[oracle]'") from None
    from conformance.engine import find_engine
    from conformance.oracle import known, report
    from conformance.oracle.judge import rules_by_operation
    from conformance.oracle.session import Plan, Session

    if output is not None:
        try_folder(output)
    engines = find_engine(first, engines_file), find_engine(second, engines_file)
    if engines[0].name == engines[1].name:
        raise UsageFault("the two engines are the same", "Name two engines; see `conform engines`.")
    entries = known.load(known_file) if known_file else known.load()
    names = engines[0].name, engines[1].name
    plan = Plan(seconds=seconds if seconds or programs else 60.0, programs=programs, seed=seed, globs=globs,
                known=tuple(known.between(entries, names)), limit=timeout)
    outcome = Session(engines, plan, _Said(names), rules_by_operation()).run()
    click.echo(report.render(outcome, form), nl=False)
    if output is not None:
        paths = report.write(outcome, engines, output)
        click.echo(f"written: {paths[0]} and {len(paths) - 1} scripts", err=True)
    raise SystemExit(int(_code(outcome)))


def _code(outcome: Outcome) -> ExitCode:
    if outcome.interrupted:
        return ExitCode.INTERRUPTED
    if outcome.findings or outcome.stale or outcome.unexamined:
        return ExitCode.DIFFERS
    return ExitCode.OK if outcome.programs else ExitCode.NOTHING


class _Said:
    """Says on stderr how the session goes."""

    def __init__(self, names: tuple[str, str]) -> None:
        import time

        self._names, self._clock, self._said = names, time.monotonic, 0.0
        self._moving = sys.stderr.isatty()

    def note(self, text: str) -> None:
        self._line(text)

    def progress(self, programs: int, findings: int, known: int) -> None:
        if self._moving:
            click.echo(f"\r{programs} programs, {findings} new differences, {known} known\x1b[K", nl=False, err=True)
        elif self._clock() - self._said >= 10:
            self._said = self._clock()
            self._line(f"{programs} programs, {findings} new differences, {known} known")

    def found(self, finding: Finding) -> None:
        self._line(f"{finding.difference.kind} of {finding.signature[0]}: {finding.verdict.text}: "
                   f"{self._names[0]}: {finding.difference.first[:100]} | {self._names[1]}: "
                   f"{finding.difference.second[:100]}")

    def _line(self, text: str) -> None:
        click.echo(("\r\x1b[K" if self._moving else "") + text, err=True)
