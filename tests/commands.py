"""The commands of ``conform``, as click knows them."""

from __future__ import annotations

from collections.abc import Iterator

import click

from conformance.cli import main


def commands(command: click.Command = main, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of every command and group, as typed."""
    yield path
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            yield from commands(_inner(command, name), (*path, name))


def command_at(path: tuple[str, ...]) -> click.Command:
    """The command of a path."""
    command: click.Command = main
    for name in path:
        command = _inner(command, name)
    return command


def _inner(command: click.Command, name: str) -> click.Command:
    assert isinstance(command, click.Group)
    inner = command.get_command(click.Context(command), name)
    assert inner is not None
    return inner
