"""The ``conform`` command: a group that imports a command's file only when that command is used."""

from __future__ import annotations

import importlib
import signal
import sys
import textwrap
import threading
import traceback
from types import FrameType
from typing import Any

import click

from conformance import __version__
from conformance.cli.stdout import told
from conformance.exit_codes import ExitCode

#: Name of each command and the module that holds it as ``command``; the order is that of ``--help``.
COMMANDS = {
    "run": "conformance.cli.run",
    "smoke": "conformance.cli.smoke",
    "engines": "conformance.cli.engines",
    "exec": "conformance.cli.exec_",
    "rules": "conformance.cli.rules",
    "explain": "conformance.cli.explain",
    "parity": "conformance.cli.parity",
    "mutants": "conformance.cli.mutants",
    "oracle": "conformance.cli.oracle",
    "reproduce": "conformance.cli.reproduce",
    "report": "conformance.cli.report",
    "perf": "conformance.cli.perf",
}


class LazyGroup(click.Group):
    """A group whose commands are imported on use, so that every command starts at once."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Parse and run; standard output is watched while the one that prints can still say what is wrong."""
        with told():
            return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what nobody foresaw is a fault of the harness, and must not look like a verdict."""
        try:
            return self._flushed(ctx)
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            ctx.exit(int(ExitCode.INTERRUPTED))
        except (click.exceptions.Exit, click.Abort, click.ClickException, BrokenPipeError):
            raise
        except Exception as error:  # noqa: BLE001 - the last line of defence
            traceback.print_exc()
            click.echo(f"Error: a fault of the harness ({type(error).__name__}); please report it", err=True)
            ctx.exit(int(ExitCode.HARNESS))

    def _flushed(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(COMMANDS[cmd_name]).command
        assert isinstance(command, click.Command)
        return command


def _exit_codes() -> str:
    """The exit codes as a paragraph of help that is printed line by line."""
    lines = ["\b", "Exit codes:"]  # the first tells click to leave the line breaks alone
    for code in ExitCode:
        lines += textwrap.wrap(code.sentence, 77, initial_indent=f"{int(code):>3}  ", subsequent_indent=" " * 5)
    return "\n".join(lines)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Examples:  conform run --engine refengine   |   conform explain TRAINER-STALE-001\n\n" + _exit_codes(),
)
@click.version_option(__version__, prog_name="conform")
def main() -> None:
    """Hold an engine of the MXNet/Gluon programming model against its documented rules."""
    _end_politely()


def _end_politely() -> None:
    """Treat a request to terminate like Ctrl-C, so that the engines' processes end with the command."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        before = signal.signal(signal.SIGTERM, interrupt)
        # A program that calls the command as a function has its own way back afterwards.
        click.get_current_context().call_on_close(lambda: signal.signal(signal.SIGTERM, before))
