"""Errors found while computing: they wait, travel with the data, and come once."""

from __future__ import annotations

import gc
import subprocess
import sys

import numpy as np
import pytest

from refengine import MXNetError, engine, nd


def failed():
    return nd.random.normal(0, -1, shape=(2, 2))


@pytest.fixture(autouse=True)
def _drained():
    yield
    try:
        nd.waitall()
    except MXNetError:
        nd.waitall()


@pytest.mark.parametrize('wait', [lambda x: x.asnumpy(), lambda x: x.wait_to_read(), repr, lambda x: x[0, 0].asscalar(),
                                  lambda x: bool(x[0, 0]), lambda x: nd.waitall(), lambda x: (x + 1).asnumpy(),
                                  lambda x: nd.dot(x, x).wait_to_read(), lambda x: x.copy().asnumpy(),
                                  lambda x: x.reshape((4,)).asnumpy(), lambda x: (2 ** x).asnumpy(),
                                  lambda x: nd.concat(nd.ones((1, 2)), x, dim=0).asnumpy(),
                                  lambda x: x.sum().asscalar(), lambda x: x.T.asnumpy()])
def test_the_error_comes_at_the_wait(wait):
    x = failed()
    assert x.shape == (2, 2)
    with pytest.raises(MXNetError, match='scale parameter in gaussian has to be positive'):
        wait(x)


def test_the_error_comes_once():
    x = failed()
    with pytest.raises(MXNetError):
        x.wait_to_read()
    x.wait_to_read()
    assert x.asnumpy().shape == (2, 2)
    nd.waitall()


def test_a_write_of_a_failed_value_fails_the_target():
    for write in (lambda t, f: t.__setitem__(slice(None), f), lambda t, f: f.copyto(t),
                  lambda t, f: nd.exp(f, out=t)):
        target = nd.zeros((2, 2))
        write(target, failed())
        with pytest.raises(MXNetError, match='scale'):
            target.wait_to_read()


def test_others_do_not_fail():
    failed()
    other = nd.ones(2) + 1
    assert other.asnumpy().tolist() == [2, 2]


def test_waitall_raises_one_error_and_drops_the_rest():
    kept = [failed(), failed()]
    with pytest.raises(MXNetError):
        nd.waitall()
    nd.waitall()
    kept[1].wait_to_read()


def test_healthy_arrays_are_plain():
    assert type((nd.ones(2) + 1)._data) is np.ndarray


@pytest.mark.parametrize(('kind', 'word'), [('NaiveEngine', 'call'), ('ThreadedEngine', 'wait')])
def test_where_the_error_comes_depends_on_the_engine(kind, word):
    code = ("from refengine import nd, MXNetError\n"
            "try:\n    x = nd.random.normal(0, -1, shape=(2,))\nexcept MXNetError:\n    print('call')\nelse:\n"
            "    try:\n        x.asnumpy()\n    except MXNetError:\n        print('wait')\n")
    done = subprocess.run([sys.executable, '-c', code], env={'MXNET_ENGINE_TYPE': kind,
                                                             'PYTHONPATH': ':'.join(sys.path)},
                          capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == word


def test_bulk_size():
    previous = engine.set_bulk_size(7)
    assert engine.set_bulk_size(previous) == 7
    with engine.bulk(3):
        assert engine.set_bulk_size(3) == 3
    assert engine.set_bulk_size(previous) == previous


def test_an_error_that_was_raised_keeps_no_array_alive():
    """Not even until the collector of cycles comes: large arrays may be behind it."""
    def living():
        return sum(type(o) is nd.NDArray for o in gc.get_objects())

    def attempt(wait):
        x = failed()
        y = x + nd.ones((2, 2))
        with pytest.raises(MXNetError, match='scale'):
            wait(y)

    gc.disable()
    try:
        for wait in (lambda y: y.asnumpy(), lambda y: nd.waitall(), lambda y: y.wait_to_read()):
            attempt(wait)
            before = living()
            for _ in range(3):
                attempt(wait)
            assert living() == before
    finally:
        gc.enable()
