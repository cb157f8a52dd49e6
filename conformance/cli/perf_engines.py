"""The engines of ``conform perf``: those of the table, and libraries that are only held against them."""

from __future__ import annotations

import os
from pathlib import Path

from conformance.engine import Engine, find_engine
from conformance.errors import UsageFault

BASELINES = Path(__file__).parents[2] / "perfsuite" / "baselines.toml"


def engines_of(names: str) -> list[Engine]:
    """The engines of a list of names, separated by commas; UsageFault for an empty list, or a name twice."""
    found = [name.strip() for name in names.split(",") if name.strip()]
    if len(set(found)) != len(found) or not found:
        raise UsageFault(f"expected different engine names, separated by commas, got {names!r}")
    return [find_engine(name, BASELINES) for name in found]


def environment_of(engine: Engine) -> dict[str, str]:
    """The variables of an engine's process."""
    return {**engine.env, **({"PYTHONPATH": os.pathsep.join(engine.path)} if engine.path else {})}
