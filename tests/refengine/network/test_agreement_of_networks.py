"""Network operators give the results, gradients and statistics that MXNet 1.9.1 gave."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest

import refengine as mx
from tests.refengine.network import cases, record

CASES = cases.cases()
RELEASE = json.loads(record.ANSWERS.read_text())


def agree(expected, given):
    """Compare two answers, with the tolerance of single precision sums."""
    assert len(expected) == len(given)
    for e, g in zip(expected, given):
        assert e['shape'] == g['shape']
        np.testing.assert_allclose(g['some'], e['some'], rtol=3e-4, atol=3e-5)
        np.testing.assert_allclose(g['sums'], e['sums'], rtol=3e-4, atol=3e-4 * max(1, np.prod(e['shape']) ** 0.5))


def test_every_case_was_asked():
    assert len(RELEASE) == len(CASES)


@pytest.mark.parametrize('number', range(len(CASES)), ids=lambda n: f'{CASES[n][0]}-{n}')
def test_as_the_release(number):
    agree(RELEASE[number], cases.ask(mx, CASES[number], number))


@pytest.mark.parametrize('number', [n for n, c in enumerate(CASES) if c[0] in ('Convolution', 'Pooling', 'BatchNorm')
                                    and len(c[1][0]) == 4][::3])
def test_channels_last_memory_gives_the_same(number, monkeypatch):
    """The order of the axes in memory is no part of the result."""
    plain = cases.arrays

    def last(case, place):
        made, wanted = plain(case, place)
        made[0] = np.ascontiguousarray(made[0].transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
        return made, wanted

    make = mx.nd.array

    def keep(values, *args, **kwargs):
        result = make(values, *args, **kwargs)
        if isinstance(values, np.ndarray) and values.ndim == 4 and not values.flags.c_contiguous:
            result._data = values
        return result

    monkeypatch.setattr(cases, 'arrays', last)
    monkeypatch.setattr(mx.nd, 'array', keep)
    agree(RELEASE[number], cases.ask(mx, CASES[number], number))


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
    for expected, given in zip(RELEASE, json.loads(out.read_text())):
        agree(expected, given)
