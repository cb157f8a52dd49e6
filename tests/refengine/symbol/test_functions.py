"""Functions of mx.sym that are no plain operators: ranges, histograms, draws of classes, methods."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import refengine as mx

S = mx.sym
x = S.var('x')


def test_linspace() -> None:
    whole = S.linspace(0, 1, 5, name='q')
    assert (whole.name, whole.infer_shape()[1], whole.infer_type()[1]) == ('q', [(5,)], [np.float32])
    assert whole.eval()[0].asnumpy().tolist() == [0, 0.25, 0.5, 0.75, 1]
    part = S.linspace(0, 1, 4, endpoint=False, dtype='float64').eval()[0]
    assert (part.dtype, part.asnumpy().tolist()) == (np.float64, [0, 0.25, 0.5, 0.75])
    assert S.load_json(whole.tojson()).eval()[0].shape == (5,)


def test_histogram() -> None:
    data = mx.nd.array([0, 1, 1, 2.5])
    for graph, given in ((S.histogram(x, bins=3, range=(0, 3)), {}),
                         (S.histogram(x, bins=S.var('b')), {'b': mx.nd.array([0, 1, 2, 3])})):
        counts, edges = graph.eval(x=data, **given)
        assert (counts.dtype, counts.asnumpy().tolist()) == (np.int64, [1, 2, 1])
        assert edges.asnumpy().tolist() == [0, 1, 2, 3]
    assert [name.rsplit('_', 1)[1] for name in S.histogram(x, 2, (0, 1)).list_outputs()] == ['output0', 'output1']
    with pytest.raises(ValueError, match='null range'):
        S.histogram(x, bins=3)
    with pytest.raises(ValueError, match='either an integer'):
        S.histogram(x, bins='a')


def test_rand_zipfian() -> None:
    graph = S.Group(S.contrib.rand_zipfian(S.var('t'), 40, 100))
    drawn, true, counts = graph.eval(t=mx.nd.array([1, 2]))
    assert (drawn.dtype, drawn.shape) == (np.int64, (40,))
    assert 0 <= drawn.asnumpy().min() <= drawn.asnumpy().max() < 100
    expected = [40 * math.log((k + 2) / (k + 1)) / math.log(101) for k in (1, 2)]
    np.testing.assert_allclose(true.asnumpy(), expected)
    assert counts.shape == (40,)


def test_draws_like_an_array() -> None:
    graph = S.random.uniform_like(x, low=2, high=3)
    assert graph.name.startswith('uniform_like')
    found = graph.eval(x=mx.nd.zeros((50,)))[0].asnumpy()
    assert 2 <= found.min() < found.max() < 3
    assert {'uniform_like', 'normal_like', 'gamma_like'} <= set(dir(S.random))


@pytest.mark.parametrize(('made', 'shape'), [
    (lambda: x.expand_dims(1, inplace=True), (2, 1, 3, 1)), (lambda: x.flatten(inplace=True), (2, 3)),
    (lambda: x.squeeze(2), (2, 3)), (lambda: x.squeeze(), (2, 3)), (lambda: x.split_v2(3, axis=1)[0], (2, 1, 1)),
    (lambda: x.squeeze().diag(1), (2,)), (lambda: S.pow(2, x), (2, 3, 1)), (lambda: S.power(base=x, exp=2), (2, 3, 1)),
    (lambda: S.Group([x], create_fn=S.Symbol), (2, 3, 1))])
def test_methods(made: Any, shape: Any) -> None:
    assert made().infer_shape(x=(2, 3, 1))[1] == [shape]


@pytest.mark.parametrize('rescale', [0.5, S.var('scale')])
def test_adamw(rescale: Any) -> None:
    names = ('weight', 'grad', 'mean', 'var')
    graph = S.contrib.adamw_update(*(S.var(name) for name in names), rescale, lr=0.1, eta=1.0, wd=0.1)
    arrays = {name: mx.nd.array([1.0, 2.0]) for name in names}
    assert graph.list_auxiliary_states() == ['mean', 'var']
    expected = mx.nd.contrib.adamw_update(*(array.copy() for array in arrays.values()), 0.5, 0.1, 1.0, wd=0.1)
    given = {name: arrays[name] for name in ('weight', 'grad')}
    if isinstance(rescale, S.Symbol):
        given['scale'] = mx.nd.array([0.5])
    executor = graph.bind(mx.cpu(), given, grad_req='null', aux_states={name: arrays[name] for name in ('mean', 'var')})
    np.testing.assert_array_equal(executor.forward()[0].asnumpy(), expected.asnumpy())


def test_gradients_are_no_functions() -> None:
    with pytest.raises(mx.MXNetError, match='Not enough argument'):
        S.contrib.backward_quadratic()
