"""Running ``conform`` as a person does: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def conform(
    *arguments: str | Path, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command and return what it printed, both streams apart."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH", "")])])
    return subprocess.run(
        [sys.executable, "-m", "conformance", *map(str, arguments)], capture_output=True, text=True, check=False,
        cwd=cwd, env={**os.environ, "PYTHONPATH": path, "COLUMNS": "110", **environment}, timeout=300,
    )
