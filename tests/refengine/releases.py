"""Running code in a real release of MXNet, in an environment that the harness makes."""

from __future__ import annotations

import subprocess
from pathlib import Path

RELEASES = ("mxnet-1.9.1", "mxnet-2.0.0b1")


def run(engine: str, source: str, folder: Path) -> str:
    """Run Python source with the release's ``mxnet`` bound to ``mx``, in a folder; what it printed.

    2.x is switched to legacy arrays first. Mark the test ``needs_mxnet``.
    """
    from conformance.engine import find_engine
    from conformance.engines.provision import interpreter_for

    head = ("import warnings; warnings.simplefilter('ignore')\nimport numpy as np\nimport mxnet as mx\n"
            "if mx.__version__.startswith('2'):\n    mx.npx.reset_np()\n")
    environment = {"OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"}
    done = subprocess.run([interpreter_for(find_engine(engine)), "-c", head + source], cwd=folder, timeout=120,
                          check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
