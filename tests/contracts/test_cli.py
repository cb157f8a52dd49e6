"""Every command explains itself on one screen, starts at once, and ends with a documented exit code."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from conformance.cli import COMMANDS, main
from conformance.exit_codes import ExitCode
from tests.commands import command_at, commands
from tests.contracts.sources import text_of

LINES = 40


ALL = list(commands())


def help_of(path: tuple[str, ...]) -> str:
    result = CliRunner().invoke(main, [*path, "--help"], prog_name="conform")
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_help_fits_one_screen_and_says_what_it_is_for(path: tuple[str, ...]) -> None:
    text = help_of(path)
    assert len(text.splitlines()) <= LINES
    assert max(map(len, text.splitlines())) <= 80
    summary = text.split("\n\n")[1].strip()
    assert len(summary) > 20, "the first paragraph says what the command is for"


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_option_is_explained(path: tuple[str, ...]) -> None:
    for parameter in command_at(path).params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{' '.join(path)} {parameter.opts[0]} has no help text"


def test_the_main_help_states_every_exit_code() -> None:
    text = " ".join(help_of(()).split())
    for code in ExitCode:
        assert f"{int(code)} {code.sentence}" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_exit_codes_of_a_command_are_those_of_the_enum(name: str) -> None:
    """Where a command says what its exit codes mean, they are numbers of the one enum."""
    found = re.search(r"Exit codes:(.*)", " ".join(help_of((name,)).split()))
    if found:
        numbers = {int(number) for number in re.findall(r"(?:^|[ ,])(\d+) [a-z]", found.group(1))}
        assert numbers
        assert numbers <= {int(code) for code in ExitCode}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["rules", "--rule", "TRAINER-CORE-001"], ExitCode.OK),
        (["rules", "--rule", "NO-SUCH-RULE-*"], ExitCode.NOTHING),
        (["explain", "NO-SUCH-RULE-001"], ExitCode.USAGE),
        (["run", "--engine", "no.such.engine"], ExitCode.USAGE),
        (["mutants", "--mutant", "no.such.mutant"], ExitCode.USAGE),
        (["no-such-command"], ExitCode.USAGE),
        (["run", "--no-such-option"], ExitCode.USAGE),
    ],
)
def test_a_command_ends_with(arguments: list[str], code: ExitCode) -> None:
    result = CliRunner().invoke(main, arguments, prog_name="conform")
    assert result.exit_code == int(code), result.output
    assert "Traceback" not in result.output


def test_no_exit_code_is_written_as_a_bare_number_twice() -> None:
    codes = [int(code) for code in ExitCode]
    assert len(set(codes)) == len(codes)
    assert [code.name for code in ExitCode][:2] == ["OK", "DIFFERS"]
    for code in ExitCode:
        assert code.sentence.endswith((".", "it."))


def test_help_imports_only_what_it_shows() -> None:
    """``conform --help`` starts at once: no engine, no numpy, no other command's imports."""
    code = (
        "import sys\nfrom conformance.cli import main\n"
        "try:\n    main(['--version'])\nexcept SystemExit:\n    pass\n"
        "heavy = 'numpy yaml rich jinja2 refengine pandas'.split()\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_every_command_module_is_a_file_of_its_own() -> None:
    for name, module in COMMANDS.items():
        text = text_of(f"{module.replace('.', '/')}.py")
        assert text.startswith('"""``conform'), f"{name}: the first line says which command it is"


def test_a_command_called_as_a_function_leaves_the_signals_of_its_program_alone() -> None:
    before = signal.getsignal(signal.SIGTERM)
    assert CliRunner().invoke(main, ["rules", "--rule", "TRAINER-CORE-001"]).exit_code == 0
    assert signal.getsignal(signal.SIGTERM) is before
