"""``conform smoke``: try the few things without which no rule can be observed."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.errors import EngineFault


@click.command(
    "smoke", epilog="""\b
Examples:
  conform smoke --engine mxnet-1.9.1
  conform smoke --engine mypackage.mx"""
)
@click.option("--engine", "engines", multiple=True, required=True, metavar="NAME", help="May be given again.")
@click.option("--engines-file", type=click.Path(dir_okay=False, path_type=Path), help="TOML file with more engines.")
def command(engines: tuple[str, ...], engines_file: Path | None) -> None:
    """Start each engine and try import, arrays, autograd, a parameter and one step of a trainer.

    Exit code: 0 all stages work, 2 wrong use, 3 an engine stopped at a stage, 4 harness fault.
    """
    from conformance.engine import find_engine
    from conformance.engines import interpreter_for
    from conformance.process import start_worker
    from conformance.session import Options, check_smoke
    from conformance.smoke import STAGES

    stopped = []
    for engine in [find_engine(name, engines_file) for name in dict.fromkeys(engines)]:
        try:
            interpreter = interpreter_for(engine, lambda line: click.echo(line, err=True))
            config = {**Options().worker_config(engine, False), "suite": None}
            worker, ready = start_worker(engine, interpreter, config)
            try:
                check_smoke(engine, worker)
            finally:
                worker.close()
        except EngineFault as fault:
            fault.show()
            stopped.append(engine.name)
            continue
        able = ", ".join(sorted(engine.able(ready["declared"], ready["detected"]))) or "none"
        click.echo(f"{engine.name}: {len(STAGES)} stages work (version {ready['version']}, Python {ready['python']}, "
                   f"numpy {ready['numpy']}; capabilities: {able})")
    if stopped:
        raise SystemExit(EngineFault.exit_code)
