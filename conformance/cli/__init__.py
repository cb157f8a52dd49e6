"""The ``conform`` command: a group that imports a command's file only when that command is used."""

from __future__ import annotations

import importlib

import click

from conformance import __version__
from conformance.exit_codes import ExitCode

#: Name of each command and the module that holds it as ``command``; the order is that of ``--help``.
COMMANDS = {
    "run": "conformance.cli.run",
    "smoke": "conformance.cli.smoke",
    "engines": "conformance.cli.engines",
    "exec": "conformance.cli.exec_",
    "rules": "conformance.cli.rules",
    "explain": "conformance.cli.explain",
    "mutants": "conformance.cli.mutants",
    "reproduce": "conformance.cli.reproduce",
    "report": "conformance.cli.report",
    "perf": "conformance.cli.perf",
}


class LazyGroup(click.Group):
    """A group whose commands are imported on use, so that every command starts at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(COMMANDS[cmd_name]).command
        assert isinstance(command, click.Command)
        return command


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Examples:  conform run --engine refengine   |   conform explain TRAINER-STALE-001\n\n"
    + "\n\n".join(["Exit codes:", *(f"{int(code):>3}  {code.sentence}" for code in ExitCode)]),
)
@click.version_option(__version__, prog_name="conform")
def main() -> None:
    """Hold an engine of the MXNet/Gluon programming model against its documented rules."""
