"""Pooling against loops written from the definition, and where a maximum sends its gradient."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, nd


def pool(data, kernel, stride, pad, convention, reduce):
    """Pooling by its definition; ``reduce`` gets the elements of a window and its size with padding."""
    sizes = data.shape[2:]
    rounding = math.floor if convention == 'valid' else math.ceil
    out = [rounding((n + 2 * p - k) / s) + 1 for n, k, s, p in zip(sizes, kernel, stride, pad)]
    result = np.zeros((*data.shape[:2], *out))
    for image, channel, *place in itertools.product(*map(range, result.shape)):
        starts = [o * s - p for o, s, p in zip(place, stride, pad)]
        ends = [min(b + k, n + p) for b, k, n, p in zip(starts, kernel, sizes, pad)]
        window = data[(image, channel, *(slice(max(b, 0), max(min(e, n), 0)) for b, e, n in zip(starts, ends, sizes)))]
        result[(image, channel, *place)] = reduce(window, math.prod(e - b for b, e in zip(starts, ends)))
    return result


REDUCTIONS = {
    'max': (lambda window, size: window.max(), {}),
    'sum': (lambda window, size: window.sum(), {}),
    'avg': (lambda window, size: window.sum() / size, {}),
    'avg without padding': (lambda window, size: window.mean(), {'count_include_pad': False}),
    'lp': (lambda window, size: np.sqrt((window ** 2).sum()), {'p_value': 2}),
}
GEOMETRIES = [
    ((7,), (3,), (2,), (1,)),
    ((6, 5), (2, 2), (2, 2), (0, 0)),
    ((6, 7), (3, 2), (2, 1), (1, 0)),
    ((5, 6), (2, 3), (3, 3), (0, 1)),
    ((4, 5, 6), (2, 2, 3), (2, 1, 2), (0, 1, 1)),
]


@pytest.mark.parametrize('convention', ['valid', 'full'])
@pytest.mark.parametrize('kind', list(REDUCTIONS))
@pytest.mark.parametrize('geometry', GEOMETRIES)
def test_pooling(geometry, kind, convention):
    sizes, kernel, stride, pad = geometry
    reduce, params = REDUCTIONS[kind]
    data = np.random.default_rng(1).normal(size=(2, 3, *sizes))
    found = nd.Pooling(nd.array(data, dtype='float64'), kernel=kernel, stride=stride, pad=pad,
                       pool_type=kind.split()[0], pooling_convention=convention, **params)
    np.testing.assert_allclose(found.asnumpy(), pool(data, kernel, stride, pad, convention, reduce), atol=1e-12)


def test_layouts():
    data = np.random.default_rng(1).normal(size=(2, 3, 6, 4)).astype('float32')
    last = nd.array(data.transpose(0, 2, 3, 1))
    for kind in ('max', 'avg'):
        a = nd.Pooling(nd.array(data), kernel=(2, 2), stride=(2, 2), pool_type=kind)
        b = nd.Pooling(last, kernel=(2, 2), stride=(2, 2), pool_type=kind, layout='NHWC')
        assert (b.asnumpy() == a.asnumpy().transpose(0, 2, 3, 1)).all()
        whole = nd.Pooling(last, global_pool=True, pool_type=kind, layout='NHWC')
        assert whole.shape == (2, 1, 1, 3)


@pytest.mark.parametrize(('params', 'expected'), [
    ({'kernel': (2, 2), 'stride': (2, 2)}, [[1, 0, 1, 0], [0, 0, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0]]),
    ({'kernel': (2, 2), 'stride': (1, 1)}, [[1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 0]]),
    ({'kernel': (3, 3), 'stride': (2, 2)}, [[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]),
    ({'kernel': (1, 1), 'stride': (3, 3)}, [[1, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 1]]),
    ({'global_pool': True}, [[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]),
])
def test_among_equal_elements_the_first_gets_the_gradient(params, expected):
    x = nd.ones((1, 1, 4, 4))
    x.attach_grad()
    with autograd.record():
        y = nd.Pooling(x, **params)
    y.backward()
    assert x.grad.asnumpy()[0, 0].tolist() == expected


def test_first_in_reading_order_in_overlapping_windows():
    x = nd.array([[[[0, 5, 0], [5, 0, 0], [0, 0, 0]]]])
    x.attach_grad()
    with autograd.record():
        y = nd.Pooling(x, kernel=(3, 3), stride=(1, 1), pad=(1, 1))
    y.backward()
    # Windows that see both fives choose the one in the upper row.
    assert x.grad.asnumpy()[0, 0].tolist() == [[0, 6, 0], [2, 1, 0], [0, 0, 0]]


@pytest.mark.parametrize(('shape', 'params', 'fragment'), [
    ((2, 3), {'kernel': (2,)}, 'Input data should be  3D in'),
    ((2, 3, 7), {'kernel': (2, 2)}, r'Input data should be 4D in \(batch, channel, y, x\)'),
    ((2, 3, 7, 7), {}, '0D pooling not supported'),
    ((2, 3, 2, 2), {'kernel': (3, 3)}, r'kernel size \(3\) exceeds input \(2 padded to 2\)'),
    ((2, 3, 7, 7), {'kernel': (2, 2), 'pad': (2, 2)}, 'pad'),
    ((2, 3, 7, 7), {'kernel': (2, 2), 'stride': (0, 0)}, 'stride is invalid'),
    ((2, 3, 7, 7), {'kernel': (2, 2), 'pool_type': 'foo'}, "valid values are: {'avg', 'lp', 'max', 'sum'}"),
    ((2, 3, 7, 7), {'kernel': (2, 2), 'pool_type': 'lp'}, 'p_value'),
    ((2, 3, 7, 7), {'kernel': (2, 2), 'pool_type': 'lp', 'p_value': 4}, 'p value of 4 is not supported'),
    ((2, 3, 7, 7), {'kernel': (2, 2), 'pooling_convention': 'same'}, "Currently 'same' supports Max Pooling 1-D"),
])
def test_errors(shape, params, fragment):
    with pytest.raises(mx.MXNetError, match=fragment):
        nd.Pooling(nd.ones(shape), **params)


def test_integers_are_refused():
    with pytest.raises(mx.MXNetError, match='only support floating point types, not int32'):
        nd.Pooling(nd.ones((1, 1, 4, 4), dtype='int32'), kernel=(2, 2))


def test_same_convention():
    x = nd.array(np.arange(7).reshape(1, 1, 7))
    assert nd.Pooling(x, kernel=(2,), stride=(2,), pooling_convention='same').asnumpy().tolist() == [[[1, 3, 5, 6]]]


@pytest.mark.parametrize("kernel", [(3, 3), (2, 2)])
def test_the_way_back_works_on_some_images_at_a_time(monkeypatch, kernel):
    """Each gives the gradient that it gives alone, and what is in between does not grow with the batch."""
    from refengine.ops import nn_pooling

    values = np.random.RandomState(0).rand(7, 3, 12, 12).astype("float32")

    def gradient(part):
        data = mx.nd.array(part)
        data.attach_grad()
        with mx.autograd.record():
            result = mx.nd.Pooling(data, kernel=kernel, stride=(2, 2), pad=(1, 1), pool_type="max")
        result.backward(mx.nd.array(np.arange(result.size).reshape(result.shape) % 5))
        return data.grad.asnumpy()

    whole = gradient(values)
    seen = []
    plain = nn_pooling._max_windows_backward
    monkeypatch.setattr(nn_pooling, "_AT_ONCE", 2 * values[0].nbytes)
    monkeypatch.setattr(nn_pooling, "_max_windows_backward",
                        lambda xp, og, data, *rest: seen.append(len(data)) or plain(xp, og, data, *rest))
    assert (gradient(values) == whole).all()
    assert seen == [2, 2, 2, 1]
