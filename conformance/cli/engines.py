"""``conform engines``: the table of known engines, and their environments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from conformance.engine import CAPABILITIES, Engine, find_engine, known_engines
from conformance.engines import interpreter_for
from conformance.engines.provision import environment_folder, environments_folder, installed_interpreter, remove
from conformance.errors import UsageFault


@click.command(
    "engines", epilog="""\b
Examples:
  conform engines
  conform engines --install mxnet-1.9.1""",
)
@click.argument("names", nargs=-1)
@click.option("--engines-file", type=click.Path(dir_okay=False, path_type=Path), help="TOML file with more engines.")
@click.option("--install", is_flag=True, help="Make the environments of the named engines now.")
@click.option("--remove", "removing", is_flag=True, help="Remove the environments of the named engines.")
@click.option("--capabilities", is_flag=True, help="List what engines may be able to do.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True,
              help="How to print them.")
def command(
    names: tuple[str, ...], engines_file: Path | None, install: bool, removing: bool, capabilities: bool, form: str
) -> None:
    """List the engines that `--engine` knows, or make or remove the environments of some."""
    if capabilities:
        _print_capabilities(form)
        return
    if (install or removing) and not names:
        raise UsageFault("--install and --remove need the names of engines", "See `conform engines` for the names.")
    if names:
        engines = [find_engine(name, engines_file) for name in names]
    else:
        engines = list(known_engines(engines_file).values())
    for engine in engines if removing else ():
        click.echo(f"{engine.name}: {'removed' if remove(engine) else 'there was no environment'}", err=True)
    for engine in engines if install else ():
        interpreter = interpreter_for(engine, lambda line: click.echo(line, err=True))
        click.echo(f"{engine.name}: {interpreter}", err=True)
    entries = [_entry(engine) for engine in engines]
    if form == "json":
        click.echo(json.dumps(entries, indent=1))
    else:
        _print_table(entries)


def _entry(engine: Engine) -> dict[str, Any]:
    return {
        "name": engine.name, "doc": engine.doc, "module": engine.module, "origin": engine.origin,
        "interpreter": engine.interpreter, "requirements": list(engine.requirements), "python": list(engine.python),
        "environment": _environment(engine), "folder": str(environment_folder(engine)) if engine.requirements else None,
        "capabilities": None if engine.capabilities is None else sorted(engine.capabilities),
        "missing": dict(engine.missing), "inventory": engine.inventory,
    }


def _environment(engine: Engine) -> str:
    if engine.interpreter is not None:
        return "given"
    if not engine.requirements:
        return "the harness's own"
    return "made" if installed_interpreter(engine) else "not made yet"


def _print_table(entries: list[dict[str, Any]]) -> None:
    for entry in entries:
        click.echo(f"{entry['name']}  ({entry['origin']})")
        if entry["doc"]:
            click.echo(f"    {entry['doc']}")
        click.echo(f"    module {entry['module']}; environment: {entry['environment']}"
                   + (f"; installs {' '.join(entry['requirements'])}" if entry["requirements"] else ""))
        stated = "what the module declares" if entry["capabilities"] is None else ", ".join(entry["capabilities"])
        click.echo(f"    capabilities: {stated or 'none'}")
        if entry["inventory"]:
            click.echo(f"    held against what the inventory records of {entry['inventory']}")
    click.echo(f"environments: {environments_folder()}", err=True)


def _print_capabilities(form: str) -> None:
    if form == "json":
        click.echo(json.dumps(CAPABILITIES, indent=1))
        return
    width = max(map(len, CAPABILITIES))
    for name, doc in CAPABILITIES.items():
        click.echo(f"{name:{width}}  {doc}")
