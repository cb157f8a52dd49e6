"""From errors to diagnoses, without being asked as well; the log of calls."""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
import traceback

import pytest

import refengine as mx
from refengine import autograd, diagnose, nd
from refengine.diagnose import errors, gradients, holders, layers, leaks, naming, operators, trials, watching


@pytest.fixture(autouse=True)
def _forget():
    yield
    diagnose.forget()


def test_a_block_adds_the_diagnosis_to_the_traceback():
    a, b = nd.ones((2, 3)), nd.ones((3, 2))
    with pytest.raises(mx.MXNetError) as caught, diagnose.explain():
        a * b
    text = ''.join(traceback.format_exception(caught.value))
    assert 'change: a * b.T' in text
    with pytest.raises(ValueError, match='other'), diagnose.explain():
        raise ValueError('other')

    @diagnose.explain()
    def decorated():
        return a * b

    with pytest.raises(mx.MXNetError) as caught:
        decorated()
    assert len(caught.value.__notes__) == 1


def test_uncaught_errors_are_explained_when_asked_for():
    code = 'from refengine import nd\na, b = nd.ones((2, 3)), nd.ones((3, 2))\na + b\n'
    for flag, expected in (('1', True), ('', False)):
        done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, 'REFENGINE_DIAGNOSE': flag, 'PYTHONPATH': ':'.join(sys.path)})
        assert done.returncode == 1
        assert 'could not be broadcast' in done.stderr
        assert ('change: a + b.T' in done.stderr or 'b is transposed' in done.stderr) is expected


def test_a_write_while_recording():
    x = nd.ones(2)
    x.attach_grad()
    with autograd.record(), pytest.raises(mx.MXNetError) as caught:
        x[:] = 5
    result = diagnose.error(caught.value)
    assert result.problems[0].layer == 5
    assert result.place.text == 'x[:] = 5'
    assert 'x is in the graph' in str(result)
    with autograd.record(), pytest.raises(mx.MXNetError) as caught:
        x += 1
    assert 'x is in the graph' in str(diagnose.error(caught.value))


def test_a_late_error_is_traced_to_its_line():
    with diagnose.watch():
        bad = nd.random.normal(0, -1, shape=(2,))
        later = bad + 1
    with pytest.raises(mx.MXNetError) as caught:
        later.asnumpy()
    found = diagnose.error(caught.value).problems[0]
    assert found.place.text == 'bad = nd.random.normal(0, -1, shape=(2,))'


def test_an_error_of_another_kind_names_the_arrays():
    x = nd.ones((2, 3))
    with pytest.raises(mx.MXNetError) as caught:
        nd.sum(x, axis=7)
    assert 'x: shape (2, 3)' in str(diagnose.error(caught.value)) or 'x (2, 3)' in str(diagnose.error(caught.value))


def test_without_an_error():
    with pytest.raises(TypeError, match='none is being handled'):
        diagnose.error()


def test_the_log_knows_calls_writes_and_what_leaves():
    x = nd.ones(2)
    with diagnose.watch() as log:
        y = nd.exp(x * 2)
        y[0] = 5
        y += 1
        y.asnumpy()
    assert [e.kind for e in log.events] == ['call', 'call', 'write', 'write', 'leave']
    assert log.made(y).function == 'exp'
    assert [e.place.text for e in log.writes_to(y)] == ['y[0] = 5', 'y += 1']
    assert [e.function for e in log.ancestors(y)] == ['exp', 'x * 2']
    assert log.made(x) is None
    assert sys.getprofile() is None


def test_the_log_is_bounded(monkeypatch):
    monkeypatch.setattr(watching, 'LIMIT', 3)
    with diagnose.watch() as log:
        made = [nd.ones(1) for _ in range(6)]
    assert len(log.events) == 3
    assert log.made(made[0]) is None
    assert log.made(made[-1]) is not None


@pytest.mark.parametrize('module', [errors, gradients, holders, layers, leaks, naming, operators, trials,
                                    watching])
def test_examples_of_the_documentation(module):
    assert doctest.testmod(module).failed == 0
