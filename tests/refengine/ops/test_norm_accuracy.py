"""Normalisations of data whose mean is far above its deviation, held against the same in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, nd
from refengine.ops._sums import total, total_of_products

#: What Apache MXNet 1.9.1 reaches for a mean of 10000 and deviation 1 is 1e-4 to 1e-2 in most of these cases.
TOLERANCE = 4e-6

Arrays = tuple[np.ndarray, ...]


def _data(shape: tuple[int, ...], mean: float, seed: int = 7) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(seed)
    return (random.randn(*shape) + mean).astype(np.float32), random.randn(*shape).astype(np.float32)


def _vectors(size: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(size)
    return (random.rand(size) + 0.5).astype(np.float32), random.randn(size).astype(np.float32)


def _exact(x: np.ndarray, og: np.ndarray, gamma: np.ndarray, beta: np.ndarray, axes: tuple[int, ...],
           vector: tuple[int, ...], statistics: Any = None) -> Arrays:
    """Result and gradients by data, gamma and beta of (x - mean) / sqrt(variance + 1e-5) · gamma + beta."""
    x, og, gamma, beta = (a.astype(np.float64) for a in (x, og, gamma, beta))
    gamma, beta = gamma.reshape(vector), beta.reshape(vector)
    mean, variance = statistics if statistics is not None else (x.mean(axes, keepdims=True), x.var(axes, keepdims=True))
    scale = 1 / np.sqrt(variance + 1e-5)
    normal, g = (x - mean) * scale, og * gamma
    back = g * scale
    if statistics is None:
        back -= scale * (g.mean(axes, keepdims=True) + normal * (g * normal).mean(axes, keepdims=True))
    rest = tuple(axis for axis, n in enumerate(vector) if n == 1)
    return normal * gamma + beta, back, (og * normal).sum(rest), og.sum(rest)


def _run(function: Callable[..., Any], arrays: Arrays, og: np.ndarray, train: bool = True) -> Arrays:
    given = [nd.array(a) for a in arrays]
    for a in given:
        a.attach_grad()
    with autograd.record(train_mode=train):
        out = function(*given)
    out.backward(nd.array(og))
    return (out.asnumpy(), *(a.grad.asnumpy() for a in given))


def _agree(found: Arrays, exact: Arrays, tolerance: float = TOLERANCE) -> None:
    for number, (ours, truth) in enumerate(zip(found, exact, strict=True)):
        error = np.abs(ours.reshape(truth.shape) - truth).max() / np.abs(truth).max()
        assert error < tolerance, f'result {number}: error {error:.1e} relative to the largest, expected < {tolerance}'


def _vector(ndim: int, axis: int, size: int) -> tuple[int, ...]:
    return tuple(size if i == axis else 1 for i in range(ndim))


MEANS = pytest.mark.parametrize('mean', [0, 100, 1e4, 1e5])


@MEANS
@pytest.mark.parametrize(('shape', 'axis'), [((64, 64), 1), ((8, 1024), 1), ((8, 32, 20), 1), ((2, 3000, 5), 1)])
def test_layer_norm(shape: tuple[int, ...], axis: int, mean: float) -> None:
    (x, og), vectors = _data(shape, mean), _vectors(shape[axis])
    _agree(_run(lambda *a: nd.LayerNorm(*a, axis=axis, eps=1e-5), (x, *vectors), og),
           _exact(x, og, *vectors, (axis,), _vector(len(shape), axis, shape[axis])))


@MEANS
@pytest.mark.parametrize('shape', [(2, 8, 32, 32), (4, 6, 50)])
def test_instance_norm(shape: tuple[int, ...], mean: float) -> None:
    (x, og), vectors = _data(shape, mean), _vectors(shape[1])
    _agree(_run(lambda *a: nd.InstanceNorm(*a, eps=1e-5), (x, *vectors), og),
           _exact(x, og, *vectors, tuple(range(2, len(shape))), _vector(len(shape), 1, shape[1])))


@MEANS
def test_group_norm(mean: float) -> None:
    (x, og), vectors = _data((2, 8, 16, 16), mean), _vectors(4)
    split = (2, 4, 2 * 16 * 16)
    exact = _exact(x.reshape(split), og.reshape(split), *vectors, (2,), (1, 4, 1))
    _agree(_run(lambda *a: nd.GroupNorm(*a, num_groups=4, eps=1e-5), (x, *vectors), og), exact)


@MEANS
@pytest.mark.parametrize('mode', ['training', 'prediction', 'global'])
@pytest.mark.parametrize(('shape', 'axis'), [
    ((8, 16, 16, 16), 1), ((8, 24, 24, 16), 3), ((256, 32), 1), ((4, 8, 40), 1)])
def test_batch_norm(shape: tuple[int, ...], axis: int, mode: str, mean: float) -> None:
    (x, og), vectors = _data(shape, mean), _vectors(shape[axis])
    axes = tuple(i for i in range(len(shape)) if i != axis)
    running = [a.astype(np.float32) for a in (x.astype(np.float64).mean(axes), x.astype(np.float64).var(axes))]
    arrays = [nd.array(a) for a in running]
    vector = _vector(len(shape), axis, shape[axis])
    statistics = None if mode == 'training' else [a.astype(np.float64).reshape(vector) for a in running]
    found = _run(lambda *a: nd.BatchNorm(*a, *arrays, axis=axis, eps=1e-5, fix_gamma=False,
                                         use_global_stats=mode == 'global'),
                 (x, *vectors), og, train=mode != 'prediction')
    _agree(found, _exact(x, og, *vectors, axes, vector, statistics))


def test_batch_norm_over_devices() -> None:
    (x, og), vectors = _data((8, 4, 6, 6), 1e4), _vectors(4)
    exact = _exact(x, og, *vectors, (0, 2, 3), (1, 4, 1, 1))
    parts = [[nd.array(a[half], ctx=mx.cpu(device)) for a in (x, og)]
             for device, half in enumerate((slice(0, 4), slice(4, 8)))]
    states = [[nd.array(v, ctx=mx.cpu(device)) for v in (*vectors, np.zeros(4), np.ones(4))] for device in range(2)]
    for (data, _), _ in zip(parts, states, strict=True):
        data.attach_grad()
    with autograd.record():
        outs = [nd.contrib.SyncBatchNorm(data, *state, ndev=2, key='accuracy', eps=1e-5, fix_gamma=False)
                for (data, _), state in zip(parts, states, strict=True)]
    autograd.backward(outs, [part[1] for part in parts])
    found = (np.concatenate([o.asnumpy() for o in outs]), np.concatenate([d.grad.asnumpy() for d, _ in parts]))
    _agree(found, exact[:2])


@MEANS
@pytest.mark.parametrize(('shape', 'axes'), [((64, 300), (1,)), ((5000, 16), (0,)), ((8, 16, 16, 16), (0, 2, 3))])
def test_moments(shape: tuple[int, ...], axes: tuple[int, ...], mean: float) -> None:
    x, _ = _data(shape, mean)
    array = nd.array(x)
    array.attach_grad()
    with autograd.record():
        first, second = nd.moments(array, axes=axes)
    autograd.backward([second])
    wide = x.astype(np.float64)
    centre = wide - wide.mean(axes, keepdims=True)
    count = np.prod([shape[axis] for axis in axes])
    _agree((first.asnumpy(), second.asnumpy(), array.grad.asnumpy()),
           (wide.mean(axes), wide.var(axes), 2 * centre / count))


@MEANS
@pytest.mark.parametrize(('shape', 'axis'), [((5000, 16), 0), ((64, 300), 1), ((4, 2000, 6), 1), ((3, 100000), 1)])
def test_norms(shape: tuple[int, ...], axis: int, mean: float) -> None:
    x, _ = _data(shape, mean)
    wide = x.astype(np.float64)
    _agree((nd.norm(nd.array(x), axis=axis).asnumpy(), nd.norm(nd.array(x), axis=axis, ord=1).asnumpy()),
           (np.sqrt((wide ** 2).sum(axis)), np.abs(wide).sum(axis)), 1e-6)


@MEANS
@pytest.mark.parametrize(('mode', 'axes'), [('instance', (1, 2, 3)), ('channel', (1,)), ('spatial', (2, 3))])
def test_l2_normalization(mode: str, axes: tuple[int, ...], mean: float) -> None:
    x, og = _data((2, 600, 5, 5), mean)
    wide, g = x.astype(np.float64), og.astype(np.float64)
    norm = np.sqrt((wide ** 2).sum(axes, keepdims=True))
    y = wide / norm
    _agree(_run(lambda a: nd.L2Normalization(a, mode=mode), (x,), og),
           (y, (g - y * (g * y).sum(axes, keepdims=True)) / norm), 2e-6)


@pytest.mark.parametrize('value', [1e4 / 3, 0.1, 12345.678, -7e5])
def test_equal_numbers_have_no_variance(value: float) -> None:
    """What rounding left of their mean, squared, is no more than what is taken for their variance."""
    x, one = nd.full((3, 7), value), nd.ones(7)
    spread = nd.moments(x, axes=(1,))[1].asnumpy()
    assert (spread >= 0).all()
    assert (spread <= 1e-13 * value ** 2).all()
    assert np.abs(nd.LayerNorm(x, one, one, eps=1e-5).asnumpy() - 1).max() < 1e-3 * max(1, abs(value) * 1e-4)


def test_second_gradients_of_moments() -> None:
    x = nd.array(np.random.RandomState(1).randn(3, 5) + 1e4)
    x.attach_grad()
    with autograd.record():
        first = autograd.grad(nd.moments(x, axes=(1,))[1], x, create_graph=True)
    first.backward(nd.array(np.eye(3, 5)))
    expected = 2 / 5 * (np.eye(3, 5) - np.eye(3, 5).mean(1, keepdims=True))
    assert np.allclose(x.grad.asnumpy(), expected, atol=1e-6)


@pytest.mark.parametrize(('shape', 'axes'), [
    ((2000, 64), (0,)), ((257, 5), (0,)), ((3, 300, 7), (1,)), ((2, 17, 31, 5), (1, 2)), ((5000, 200), (0,)),
    ((4, 5, 900), (2,)), ((3, 4096), (0, 1)), ((0, 5), (0,)), ((600, 0), (0,)), ((700, 2, 3), (0, 2)), ((2048,), (0,)),
    ((2047, 1), (0,)), ((1025, 130), (0,))])
def test_sums(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    x = np.random.RandomState(0).rand(*shape).astype(np.float32)
    for a, b in ((x, x), (np.asfortranarray(x), x), (x, np.asfortranarray(x))):
        plain, products = total(np, a, axes), total_of_products(np, a, b, axes)
        for found, exact in ((plain, x.astype(np.float64)), (products, x.astype(np.float64) ** 2)):
            exact = exact.sum(axes, keepdims=True)
            assert found.shape == exact.shape
            assert np.allclose(found, exact, rtol=1e-6 if a.flags.c_contiguous and b.flags.c_contiguous else 1e-4)
