"""Convolution and Deconvolution against loops written from the definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, nd

GEOMETRIES = [
    # sizes, kernel, stride, dilate, pad, groups, channels, filters
    ((7,), (3,), (2,), (1,), (1,), 1, 3, 4),
    ((6, 5), (3, 2), (1, 2), (2, 1), (1, 0), 1, 5, 3),
    ((5, 5), (3, 3), (1, 1), (1, 1), (0, 0), 1, 6, 2),
    ((5, 5), (3, 3), (1, 1), (1, 1), (2, 2), 2, 4, 6),
    ((6, 6), (3, 3), (2, 2), (1, 1), (1, 1), 4, 4, 8),
    ((4, 4), (1, 1), (1, 1), (1, 1), (0, 0), 1, 5, 3),
    ((4, 5), (1, 1), (2, 2), (1, 1), (0, 0), 1, 5, 3),
    ((4, 4, 4), (2, 3, 2), (1, 1, 2), (1, 1, 1), (0, 1, 1), 1, 2, 3),
    ((5, 4), (2, 2), (1, 1), (1, 1), (0, 0), 1, 9, 5),
]


def correlate(data, weight, stride, dilate, pad, groups):
    """The convolution by its definition."""
    data = np.pad(data, [(0, 0), (0, 0), *((p, p) for p in pad)])
    kernel = weight.shape[2:]
    out = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(data.shape[2:], kernel, stride, dilate)]
    result = np.zeros((data.shape[0], weight.shape[0], *out))
    inner, outer = data.shape[1] // groups, weight.shape[0] // groups
    for image, filter_, *place in itertools.product(*map(range, result.shape)):
        first = filter_ // outer * inner
        for channel in range(inner):
            for offset in itertools.product(*map(range, kernel)):
                where = tuple(o * s + k * d for o, s, k, d in zip(place, stride, offset, dilate))
                result[(image, filter_, *place)] += (data[(image, first + channel, *where)]
                                                     * weight[(filter_, channel, *offset)])
    return result


def make(geometry):
    sizes, kernel, stride, dilate, pad, groups, channels, filters = geometry
    random = np.random.default_rng(3)
    data = random.normal(size=(2, channels, *sizes))
    weight = random.normal(size=(filters, channels // groups, *kernel))
    params = {'kernel': kernel, 'stride': stride, 'dilate': dilate, 'pad': pad, 'num_group': groups}
    return data, weight, random.normal(size=filters), params


@pytest.mark.parametrize('geometry', GEOMETRIES)
def test_convolution(geometry):
    data, weight, bias, params = make(geometry)
    found = nd.Convolution(*(nd.array(a, dtype='float64') for a in (data, weight, bias)), num_filter=len(bias),
                           **params)
    expected = correlate(data, weight, *geometry[2:6]) + bias.reshape(-1, *(1,) * len(geometry[0]))
    np.testing.assert_allclose(found.asnumpy(), expected, atol=1e-12)


@pytest.mark.parametrize('geometry', GEOMETRIES)
def test_deconvolution_is_the_transposed_map(geometry):
    """<deconvolution(y, w), x> = <y, convolution(x, w)> for all x and y."""
    data, weight, _, params = make(geometry)
    above = correlate(data, weight, *geometry[2:6])
    random = np.random.default_rng(5)
    above = random.normal(size=above.shape)
    spatial = len(geometry[0])
    adj = tuple(n - (s * (o - 1) + d * (k - 1) + 1 - 2 * p) for n, o, k, s, d, p in zip(
        geometry[0], above.shape[2:], geometry[1], geometry[2], geometry[3], geometry[4]))
    back = nd.Deconvolution(nd.array(above, dtype='float64'), nd.array(weight, dtype='float64'), adj=adj,
                            num_filter=data.shape[1], **params)
    assert back.shape == data.shape
    np.testing.assert_allclose((back.asnumpy() * data).sum(),
                               (above * correlate(data, weight, *geometry[2:6])).sum(), rtol=1e-10)
    assert spatial == len(adj)


@pytest.mark.parametrize('geometry', [g for g in GEOMETRIES if len(g[0]) > 1])
def test_channels_last_layout(geometry):
    data, weight, bias, params = make(geometry)
    last = (0, *range(2, data.ndim), 1)
    layout = {4: 'NHWC', 5: 'NDHWC'}[data.ndim]
    arrays = [nd.array(a, dtype='float64') for a in (data.transpose(last), weight.transpose(last), bias)]
    for array in arrays:
        array.attach_grad()
    plain = [nd.array(a, dtype='float64') for a in (data, weight, bias)]
    for array in plain:
        array.attach_grad()
    with autograd.record():
        found = nd.Convolution(*arrays, num_filter=len(bias), layout=layout, **params)
        expected = nd.Convolution(*plain, num_filter=len(bias), **params)
        loss = (found * found).sum() + (expected * expected).sum()
    loss.backward()
    np.testing.assert_allclose(found.asnumpy(), expected.asnumpy().transpose(last))
    for a, b, axes in zip(arrays, plain, (last, last, (0,))):
        np.testing.assert_allclose(a.grad.asnumpy(), b.grad.asnumpy().transpose(axes), rtol=1e-9, atol=1e-9)


def test_blocks_join_seamlessly(monkeypatch):
    """However small the blocks are in which windows are copied, the result is the same."""
    from refengine.ops import _conv
    data, weight, _, params = make(GEOMETRIES[1])
    arrays = [nd.array(a, dtype='float64') for a in (data, weight)]
    for array in arrays:
        array.attach_grad()

    def run():
        with autograd.record():
            out = nd.Convolution(*arrays, num_filter=weight.shape[0], no_bias=True, **params)
            (out * out).sum().backward()
        return [out.asnumpy(), *(a.grad.asnumpy() for a in arrays)]

    whole = run()
    monkeypatch.setattr(_conv, 'BLOCK', 16)
    for a, b in zip(whole, run()):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_half_precision_sums_in_single():
    x = nd.ones((1, 3000, 1, 1), dtype='float16')
    w = nd.full((1, 3000, 1, 1), 0.5, dtype='float16')
    out = nd.Convolution(x, w, kernel=(1, 1), num_filter=1, no_bias=True)
    assert out.dtype == np.float16
    assert out.asscalar() == 1500


@pytest.mark.parametrize(('shapes', 'params', 'fragment'), [
    (((2, 3, 8), (4, 3, 3, 3), (4,)), {}, 'Input data should be 4D in batch-num_filter-y-x'),
    (((2, 3, 8, 8), (4, 2, 3, 3), (4,)), {}, r'Provided = \[4,2,3,3\], inferred shape=\(4,3,3,3\)'),
    (((2, 3, 8, 8), (4, 3, 3, 3), (5,)), {}, r'Provided = \[5\], inferred shape=\(4,\)'),
    (((2, 3, 2, 2), (4, 3, 3, 3), (4,)), {}, 'kernel size exceed input'),
    (((2, 3, 8, 8), (4, 3, 3, 3), (4,)), {'stride': (0, 1)}, 'incorrect stride size'),
    (((2, 3, 8, 8), (4, 3, 3, 3), (4,)), {'dilate': (1, 0)}, 'incorrect dilate size'),
    (((2, 3, 8, 8), (4, 3, 3, 3), (4,)), {'pad': (-1, 0)}, 'incorrect pad size'),
    (((2, 3, 8, 8), (4, 3, 3, 3), (4,)), {'stride': (2,)}, 'Stride must have the same number of dimensions'),
    (((2, 3, 8, 8), (4, 1, 3, 3), (4,)), {'num_group': 2}, 'must divide group size'),
    (((2, 3, 8, 8), (4, 3, 3, 3), (4,)), {'layout': 'NCW'}, 'Invalid layout'),
])
def test_errors(shapes, params, fragment):
    arrays = [nd.ones(s) for s in shapes]
    with pytest.raises(mx.MXNetError, match=fragment):
        nd.Convolution(*arrays, **{'kernel': (3, 3), 'num_filter': 4, **params})


def test_errors_of_types():
    x, w, b = nd.ones((2, 3, 8, 8)), nd.ones((4, 3, 3, 3)), nd.ones(4)
    with pytest.raises(mx.MXNetError, match="Expected 'float32' v.s. given 'float64' at 'weight'"):
        nd.Convolution(x, w.astype('float64'), b, kernel=(3, 3), num_filter=4)
    with pytest.raises(mx.MXNetError, match='only support floating point types, not int32'):
        nd.Convolution(*(a.astype('int32') for a in (x, w, b)), kernel=(3, 3), num_filter=4)
    with pytest.raises(mx.MXNetError, match='too big target shape'):
        nd.Deconvolution(x, nd.ones((3, 4, 3, 3)), kernel=(3, 3), num_filter=4, target_shape=(30, 30))
    with pytest.raises(mx.MXNetError, match='adj must be smaller than stride'):
        nd.Deconvolution(x, nd.ones((3, 4, 3, 3)), kernel=(3, 3), num_filter=4, stride=(2, 2), adj=(2, 2))


def test_target_shape_of_deconvolution():
    x, w = nd.ones((1, 1, 3, 3)), nd.ones((1, 1, 3, 3))
    out = nd.Deconvolution(x, w, kernel=(3, 3), num_filter=1, stride=(2, 2), target_shape=(6, 6))
    same = nd.Deconvolution(x, w, kernel=(3, 3), num_filter=1, stride=(2, 2), pad=(1, 1), adj=(1, 1))
    assert out.shape == (1, 1, 6, 6)
    assert (out.asnumpy() == same.asnumpy()).all()


@pytest.mark.inline_engine
def test_the_gradient_of_the_data_is_only_computed_when_needed(monkeypatch):
    """The first layer of a network needs no gradient of its input."""
    from refengine import op
    record = op.get('_conv_backward_data')
    called = []
    plain = record.forward
    monkeypatch.setattr(record, 'forward', lambda *a, **k: called.append(1) or plain(*a, **k))
    from refengine import dispatch
    dispatch.raw.cache_clear()
    x, w = nd.ones((1, 2, 4, 4)), nd.ones((3, 2, 3, 3))
    w.attach_grad()
    with autograd.record():
        out = nd.Convolution(x, w, kernel=(3, 3), num_filter=3, no_bias=True)
    out.backward()
    assert not called
    x.attach_grad()
    with autograd.record():
        out = nd.Convolution(x, w, kernel=(3, 3), num_filter=3, no_bias=True)
    out.backward()
    assert called
    dispatch.raw.cache_clear()
