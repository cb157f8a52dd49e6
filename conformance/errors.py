"""The errors that end a command, each with the exit code it ends with and a hint where there is one.

A run is a conversation of several stages: read what the user gave (``UsageFault``), provide and start the engine
(``EngineFault``), and load the suite and inventory (``HarnessFault``). What goes wrong later, while cases run, is an
outcome of a case and never an error of these.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import IO, Any

import click

from conformance.exit_codes import ExitCode


class ConformError(click.ClickException):
    """The base: a message, an optional hint (what to do), optional details, and the exit code."""

    exit_code = int(ExitCode.HARNESS)

    def __init__(self, message: str, hint: str = "", details: str = "") -> None:
        super().__init__(message)
        self.hint, self.details = hint, details

    def __str__(self) -> str:
        parts = [self.message]
        if self.details:
            parts.append(self.details.rstrip())
        if self.hint:
            parts.append("What to do: " + self.hint)
        return "\n".join(parts)

    def show(self, file: IO[Any] | None = None) -> None:
        """Print to stderr, as everything does that is not data."""
        click.echo(f"Error: {self}", file=file if file is not None else sys.stderr)


class UsageFault(ConformError):
    """What the user gave cannot be used: an unknown engine or rule, a faulty file."""

    exit_code = int(ExitCode.USAGE)


class EngineFault(ConformError):
    """The engine cannot be provided or started."""

    exit_code = int(ExitCode.ENGINE)


class HarnessFault(ConformError):
    """The suite, the inventory or the harness contradicts itself."""

    exit_code = int(ExitCode.HARNESS)


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """What the operating system says against writing *path* in the block, as :class:`UsageFault`.

    >>> with writing("results/ours.jsonl"):
    ...     raise PermissionError(13, "Permission denied")
    Traceback (most recent call last):
        ...
    conformance.errors.UsageFault: results/ours.jsonl cannot be written: Permission denied
    What to do: Name a file or folder that can be written, or make room.
    """
    try:
        yield
    except OSError as error:
        raise UsageFault(f"{os.fspath(path)} cannot be written: {error.strerror or error}",
                         "Name a file or folder that can be written, or make room.") from None
