"""``conform exec``: run a script in an engine's interpreter, with ``mxnet`` answered by that engine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.errors import EngineFault

if TYPE_CHECKING:
    from conformance.engine import Engine


@click.command(
    "exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="""\b
Examples:
  conform exec --engine mxnet-1.9.1 train.py
  conform exec --engine refengine train.py --epochs 3""",
)
@click.option("--engine", "name", required=True, metavar="NAME", help="Engine from the table, entry point, or module.")
@click.option("--engines-file", type=click.Path(dir_okay=False, path_type=Path), help="TOML file with more engines.")
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(name: str, engines_file: Path | None, script: Path, arguments: tuple[str, ...]) -> None:
    """Run SCRIPT with ARGUMENTS in the interpreter of the engine; `import mxnet` gives the engine there.

    Exit code: that of the script; 2 wrong use, 3 the engine cannot be provided.
    """
    from conformance.engine import find_engine
    from conformance.engines import interpreter_for

    engine = find_engine(name, engines_file)
    interpreter = interpreter_for(engine, lambda line: click.echo(line, err=True))
    sys.stdout.flush()
    try:
        done = subprocess.run([interpreter, *launcher(engine), str(script), *arguments], check=False,
                              env=environment(engine, interpreter))
    except OSError as error:
        raise EngineFault(f"the interpreter of engine {engine.name} cannot be started: {interpreter}: "
                          f"{error.strerror}") from None
    # A signal is passed on as shells do.
    raise SystemExit(done.returncode if done.returncode >= 0 else 128 - done.returncode)


def launcher(engine: Engine) -> list[str]:
    """Arguments of the interpreter that come before the script."""
    from conformance.process import PACKAGE
    from conformance.worker import BOOT

    if engine.exec:
        return list(engine.exec)
    if engine.module == "mxnet" and not engine.setup and not engine.path:
        return []
    code = (f"{BOOT}_package({str(PACKAGE)!r})\nsys.path.extend({list(engine.path)!r})\n"
            f"from conformance.alias import run_script\nrun_script({engine.module!r}, {engine.setup!r}, sys.argv[1:])")
    return ["-c", code]


def environment(engine: Engine, interpreter: str) -> dict[str, str]:
    """Variables for the interpreter; one that is the harness's own imports from where the harness does."""
    from conformance.process import harness_path

    variables = {**os.environ, **engine.env}
    if interpreter == sys.executable:
        given = [entry for entry in variables.get("PYTHONPATH", "").split(os.pathsep) if entry]
        variables["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([*given, *harness_path()]))
    return variables
