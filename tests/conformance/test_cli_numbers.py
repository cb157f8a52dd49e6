"""Options that take numbers: whichever command they belong to, a number without a meaning there is wrong use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from conformance.cli import COMMANDS, main
from conformance.cli.numbers import SECONDS, Seconds
from conformance.engine import find_engine
from conformance.errors import UsageFault
from conformance.exit_codes import ExitCode
from tests.commands import command_at, commands


def options() -> Iterator[tuple[tuple[str, ...], click.Option]]:
    """Every option of every command, with the path of the command."""
    for path in commands():
        for parameter in command_at(path).params:
            if isinstance(parameter, click.Option):
                yield path, parameter


def needed(path: tuple[str, ...]) -> list[str]:
    """Values for what the command asks for, so that it looks at the option."""
    found = []
    for parameter in command_at(path).params:
        if parameter.required:
            found += [parameter.opts[0], "refengine"] if isinstance(parameter, click.Option) else ["refengine"]
    return found


NUMBERS = [(path, option) for path, option in options()
           if isinstance(option.type, Seconds | click.IntRange | click.types.IntParamType | click.types.FloatParamType)]


def test_there_are_some() -> None:
    assert len(NUMBERS) > 10
    assert {path[0] for path, _ in NUMBERS} <= set(COMMANDS)


@pytest.mark.parametrize(("path", "option"), NUMBERS, ids=lambda item: item.opts[0] if isinstance(item, click.Option)
                         else " ".join(item))
def test_a_number_without_meaning_is_wrong_use(path: tuple[str, ...], option: click.Option) -> None:
    values = ["nan", "inf", "-inf", "-1", "x", ""]
    values += ["0", "1e300"] if isinstance(option.type, Seconds) else ["1.5"]
    for value in values:
        result = CliRunner().invoke(main, [*path, *needed(path), option.opts[0], value], prog_name="conform")
        assert result.exit_code == int(ExitCode.USAGE), (value, result.output)
        assert f"Invalid value for '{option.opts[0]}" in result.output, (value, result.output)


def test_seconds() -> None:
    assert SECONDS.convert("0.25", None, None) == 0.25
    with pytest.raises(click.BadParameter, match="a number of seconds above 0 and at most 10000000, got 'inf'"):
        SECONDS.convert("inf", None, None)


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "0", "1e9"])
def test_a_table_of_engines_is_held_to_the_same(tmp_path: Path, value: str) -> None:
    table = tmp_path / "engines.toml"
    table.write_text(f'[engines.mine]\nmodule = "json"\ntimeouts = {{case = {value}}}\n')
    with pytest.raises(UsageFault, match=r"timeouts.case: expected a number of seconds above 0"):
        find_engine("mine", table)


def test_a_shard_is_two_plain_numbers() -> None:
    for value in ("²/3", "1/²", "0/1", "2/1", "nan/1", "1"):
        result = CliRunner().invoke(main, ["run", "--engine", "refengine", "--shard", value], prog_name="conform")
        assert result.exit_code == int(ExitCode.USAGE), result.output
        assert "expected i/n" in result.output
