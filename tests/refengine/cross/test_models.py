"""Models that MXNet 1.9.1 has trained and saved give the same outputs here, and the other way round."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

import refengine as mx
from tests.refengine.cross import models

TOLERANCE = 1e-5

KINDS = [f'{name}-{kind}' for name in models.NAMES for kind in ('parameters', 'graph')]


def release(task, folder):
    """Have the release save or load in a folder."""
    from conformance.engine import find_engine
    from conformance.engines.provision import interpreter_for
    command = [interpreter_for(find_engine('mxnet-1.9.1')), models.__file__, 'mxnet', task, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False,
                          env={'OMP_NUM_THREADS': '1', 'PATH': '/usr/bin:/bin'})
    assert done.returncode == 0, done.stderr[-3000:]


def agree(folder, case):
    """Compare what was loaded with what the engine that had trained the model gave."""
    expected = np.load(folder / f'{case.split("-")[0]}.npz')['y']
    with np.load(folder / 'loaded.npz') as loaded:
        given = loaded[case]
    assert given.shape == expected.shape
    assert given.dtype == expected.dtype == np.float32
    assert np.abs(expected).max() > 0.01
    assert np.abs(given - expected).max() <= TOLERANCE * np.abs(expected).max()


@pytest.fixture(scope='module')
def from_the_release(tmp_path_factory):
    folder = tmp_path_factory.mktemp('from')
    release('save', folder)
    models.load(mx, str(folder))
    return folder


@pytest.fixture(scope='module')
def to_the_release(tmp_path_factory):
    folder = tmp_path_factory.mktemp('to')
    models.save(mx, str(folder))
    release('load', folder)
    return folder


@pytest.mark.needs_mxnet
@pytest.mark.parametrize('case', KINDS)
def test_a_model_of_the_release_loads_here(from_the_release, case):
    agree(from_the_release, case)


@pytest.mark.needs_mxnet
@pytest.mark.parametrize('case', KINDS)
def test_a_model_from_here_loads_in_the_release(to_the_release, case):
    agree(to_the_release, case)


def test_a_model_comes_back(tmp_path):
    """Without a release: saving and loading here."""
    models.save(mx, str(tmp_path))
    models.load(mx, str(tmp_path))
    for case in KINDS:
        agree(tmp_path, case)
