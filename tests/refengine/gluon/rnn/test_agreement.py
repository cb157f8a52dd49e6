"""Recurrent cells and layers give the outputs, states and gradients that MXNet 1.9.1 gave."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest

import refengine as mx
from tests.refengine.gluon.rnn import cases, record

CASES = list(cases.cases())
RELEASE = json.loads(record.ANSWERS.read_text())


def agree(expected, given):
    """Compare two answers, with the tolerance of single precision sums."""
    assert len(expected) == len(given)
    for e, g in zip(expected, given, strict=True):
        assert e['shape'] == g['shape']
        np.testing.assert_allclose(g['some'], e['some'], rtol=1e-4, atol=2e-6)
        np.testing.assert_allclose(g['sums'], e['sums'], rtol=1e-4, atol=5e-6 * max(1, np.prod(e['shape']) ** 0.5))


def test_every_case_was_asked():
    assert list(RELEASE) == [name for name, _ in CASES]


@pytest.mark.parametrize('case', CASES, ids=lambda case: case[0])
def test_as_the_release(case):
    agree(RELEASE[case[0]], cases.ask(mx, case))


@pytest.mark.needs_mxnet
@pytest.mark.slow
def test_the_release_still_answers_so(tmp_path):
    from conformance.engine import find_engine
    from conformance.engines.provision import interpreter_for
    out = tmp_path / 'answers.json'
    command = [interpreter_for(find_engine('mxnet-1.9.1')), record.__file__, str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False,
                          env={'OMP_NUM_THREADS': '1', 'PATH': '/usr/bin:/bin'})
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(out.read_text())
    assert list(found) == list(RELEASE)
    for name, expected in RELEASE.items():
        agree(expected, found[name])
