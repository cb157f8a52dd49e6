"""Programs made at random, and a part of the tests of the reference engine, under the asynchronous engine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from refengine import engine

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

CHOSEN = ('test_autograd.py', 'test_engine.py', 'test_dispatch.py', 'ndarray', 'customop', 'gluon/test_hybridize.py',
          'gluon/test_trainer.py', 'gluon/test_op_hooks.py')
"""What writes in place, waits, fails, records or runs code of the program; the whole takes minutes."""


def test_chosen_tests_pass_under_the_asynchronous_engine() -> None:
    if engine.queue is not None:        # this is such a run
        return
    done = subprocess.run(
        [sys.executable, '-X', 'faulthandler', '-m', 'pytest', '-q', '-p', 'no:xdist', '-p', 'no:cacheprovider',
         '-o', 'faulthandler_timeout=60', '-k', 'not long_chain', *(str(HERE / name) for name in CHOSEN)],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, 'MXNET_ENGINE_TYPE': 'ThreadedEnginePerDevice', 'PYTHONPATH': os.pathsep.join(sys.path),
             'PYTEST_ADDOPTS': ''})
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    found = re.search(r'(\d+) passed(?:, (\d+) skipped)?', done.stdout)
    assert found is not None
    assert int(found[1]) > 800
    assert int(found[2] or 0) < 10


def test_random_programs_see_the_same_numbers() -> None:
    """Bit for bit, whatever reads, writes, draws and differentiates comes after what."""
    found = []
    for kind in ('', 'ThreadedEnginePerDevice'):
        done = subprocess.run([sys.executable, '-m', 'tests.refengine.random_programs', '0', '120'], cwd=ROOT,
                              timeout=120, capture_output=True, text=True, check=False,
                              env={**os.environ, 'MXNET_ENGINE_TYPE': kind, 'PYTHONPATH': os.pathsep.join(sys.path)})
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.splitlines())
    assert len(found[0]) == 120
    assert len({line.split()[1] for line in found[0]}) == 120
    assert found[0] == found[1]
