"""BatchNorm: its modes, its moving statistics and its gradients."""

from __future__ import annotations

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, nd

SHAPE = (3, 2, 4)


def make(dtype='float64'):
    random = np.random.default_rng(0)
    values = [random.normal(size=SHAPE) * 2 + 1, random.uniform(0.5, 1.5, 2), random.normal(size=2),
              random.normal(size=2), random.uniform(0.5, 1.5, 2)]
    return values, [nd.array(v, dtype=dtype) for v in values]


def formula(x, gamma, beta, mean, variance, eps):
    shape = (1, -1, 1)
    return ((x - mean.reshape(shape)) / np.sqrt(variance.reshape(shape) + eps) * gamma.reshape(shape)
            + beta.reshape(shape))


def test_training_uses_the_batch_and_moves_in_backward():
    values, arrays = make()
    arrays[0].attach_grad()
    with autograd.record():
        out = nd.BatchNorm(*arrays, eps=1e-3, momentum=0.75, fix_gamma=False)
    x = values[0]
    mean, variance = x.mean(axis=(0, 2)), x.var(axis=(0, 2))
    np.testing.assert_allclose(out.asnumpy(), formula(x, values[1], values[2], mean, variance, 1e-3))
    assert arrays[3].asnumpy().tolist() == values[3].tolist()      # rule GLUON-HYBRID-025
    out.backward(retain_graph=True)
    np.testing.assert_allclose(arrays[3].asnumpy(), 0.75 * values[3] + 0.25 * mean)
    np.testing.assert_allclose(arrays[4].asnumpy(), 0.75 * values[4] + 0.25 * variance)
    out.backward()
    np.testing.assert_allclose(arrays[3].asnumpy(), 0.75 * (0.75 * values[3] + 0.25 * mean) + 0.25 * mean)


@pytest.mark.parametrize(('train', 'running'), [(False, False), (True, True), (False, True)])
def test_otherwise_the_moving_statistics_are_used(train, running):
    values, arrays = make()
    arrays[0].attach_grad()
    with autograd.record(train_mode=train):
        out = nd.BatchNorm(*arrays, eps=1e-3, fix_gamma=False, use_global_stats=running)
    np.testing.assert_allclose(out.asnumpy(), formula(*values, 1e-3))
    out.backward()
    assert arrays[3].asnumpy().tolist() == values[3].tolist()
    assert arrays[4].asnumpy().tolist() == values[4].tolist()
    scale = values[1] / np.sqrt(values[4] + 1e-3)
    np.testing.assert_allclose(arrays[0].grad.asnumpy(), np.broadcast_to(scale.reshape(1, 2, 1), SHAPE))


def test_fix_gamma_writes_one_and_gives_no_gradient():
    values, arrays = make()
    arrays[1].attach_grad()
    with autograd.record():
        out = nd.BatchNorm(*arrays, fix_gamma=True, eps=1e-3)
    assert arrays[1].asnumpy().tolist() == [1, 1]
    x = values[0]
    np.testing.assert_allclose(out.asnumpy(), formula(x, np.ones(2), values[2], x.mean(axis=(0, 2)),
                                                      x.var(axis=(0, 2)), 1e-3))
    out.backward()
    assert arrays[1].grad.asnumpy().tolist() == [0, 0]


def test_output_mean_var():
    values, arrays = make()
    with autograd.train_mode():
        out, mean, inverse = nd.BatchNorm(*arrays, eps=1e-3, fix_gamma=False, output_mean_var=True)
    np.testing.assert_allclose(mean.asnumpy(), values[0].mean(axis=(0, 2)))
    np.testing.assert_allclose(inverse.asnumpy(), 1 / np.sqrt(values[0].var(axis=(0, 2)) + 1e-3))
    assert out.shape == SHAPE


@pytest.mark.parametrize('mode', ['batch', 'running', 'fixed'])
@pytest.mark.parametrize(('shape', 'axis'), [((3, 2, 4), 1), ((4, 3), 1), ((2, 3, 2, 2), -1), ((3, 2), 0)])
def test_first_and_second_gradient(shape, axis, mode):
    """Against central differences in double precision."""
    random = np.random.default_rng(1)
    size = shape[axis]
    start = [random.normal(size=shape), random.uniform(0.5, 1.5, size), random.normal(size=size)]
    statistics = [random.normal(size=size), random.uniform(0.5, 1.5, size)]
    weight, other = random.normal(size=shape), [random.normal(size=s.shape) for s in start]
    params = {'axis': axis, 'eps': 0.1, 'fix_gamma': mode == 'fixed', 'use_global_stats': mode == 'running'}

    def first(values):
        arrays = [nd.array(v, dtype='float64') for v in values]
        for array in arrays:
            array.attach_grad()
        with autograd.record():
            out = nd.BatchNorm(*arrays, *(nd.array(s, dtype='float64') for s in statistics), **params)
            loss = ((out + 0.3 * out * out) * nd.array(weight, dtype='float64')).sum()
            grads = autograd.grad(loss, arrays, create_graph=True, retain_graph=True)
            combined = sum(((g * nd.array(o, dtype='float64')).sum() for g, o in zip(grads, other)), nd.zeros(1,
                                                                                                              dtype='float64'))
        combined.backward()
        return loss.asscalar(), [g.asnumpy() for g in grads], [a.grad.asnumpy() for a in arrays]

    _, grads, second = first(start)
    step = 1e-5
    for which in range(3):
        if mode == 'fixed' and which == 1:
            assert not grads[1].any()
            continue
        for place in list(np.ndindex(start[which].shape))[:6]:
            moved = [s.copy() for s in start]
            moved[which][place] += step
            high = first(moved)
            moved[which][place] -= 2 * step
            low = first(moved)
            np.testing.assert_allclose(grads[which][place], (high[0] - low[0]) / (2 * step), rtol=1e-5, atol=1e-6)
            change = sum(((up - down) * o).sum() for up, down, o in zip(high[1], low[1], other)) / (2 * step)
            np.testing.assert_allclose(second[which][place], change, rtol=1e-5, atol=1e-5)


def test_half_precision_reduces_in_single():
    """Rule FP16-REDUCE-001."""
    values = np.random.default_rng(0).normal(100, 10, (4096, 1, 4, 4)).astype('float16')
    x = nd.array(values, dtype='float16')
    x.attach_grad()
    vectors = [nd.ones(1), nd.zeros(1), nd.zeros(1), nd.ones(1)]
    with autograd.record():
        out = nd.BatchNorm(x, *vectors, momentum=0, fix_gamma=False)
    out.backward()
    assert out.dtype == np.float16
    wide = values.astype('float64')
    np.testing.assert_allclose(vectors[2].asscalar(), wide.mean(), rtol=1e-3)
    np.testing.assert_allclose(vectors[3].asscalar(), wide.var(), rtol=1e-3)
    np.testing.assert_allclose(out.asnumpy().astype('float64').std(), 1, rtol=1e-3)


def test_errors():
    _, arrays = make()
    with pytest.raises(mx.MXNetError, match='Channel axis out of range'):
        nd.BatchNorm(*arrays, axis=7)
    with pytest.raises(mx.MXNetError, match=r'Provided = \[2\], inferred shape=\(4,\)'):
        nd.BatchNorm(*arrays, axis=2)
    with pytest.raises(mx.MXNetError, match='only support floating point types'):
        nd.BatchNorm(*(a.astype('int32') for a in arrays))


def test_with_relu():
    """The same as the two operators one after the other, gradients and statistics included."""
    def run(operator):
        _, arrays = make()
        for array in arrays[:3]:
            array.attach_grad()
        with autograd.record():
            out = operator(*arrays, fix_gamma=False, eps=1e-3)
            loss = (out * out).sum()
        loss.backward()
        return [out.asnumpy(), *(a.grad.asnumpy() for a in arrays[:3]), *(a.asnumpy() for a in arrays[3:])]

    for one, other in zip(run(nd.contrib.BatchNormWithReLU), run(lambda *a, **k: nd.relu(nd.BatchNorm(*a, **k)))):
        np.testing.assert_allclose(one, other, atol=1e-12)
