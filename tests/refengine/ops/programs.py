"""Calls of smooth operators that samples cannot describe: with modes, states, random numbers, or a gradient by rule."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from refengine import autograd, nd, op
from tests.refengine.gradients import Program

_numbers = itertools.count()


def _program(name: str, what: str, run: Callable[..., Any], *shapes: tuple[int, ...], low: float = -1.5,
             high: float = 1.5) -> Program:
    """``run`` on arrays of these shapes."""
    number = next(_numbers)
    random = np.random.default_rng(number + 400)
    arrays = tuple(random.uniform(low, high, shape) for shape in shapes)
    return Program(op.get(name), number, arrays, (True,) * len(arrays), (False,) * len(arrays), {'what': what},
                   lambda a: run(*a))


def _double(value: Any) -> Any:
    return nd.array(value, dtype='float64')


# ---- normalization with moving statistics ------------------------------------------------------------------------

def _normalized(name: str, **params: Any) -> Callable[..., Any]:
    def run(data: Any, gamma: Any, beta: Any) -> Any:
        channels = gamma.shape[0]
        mean, variance = _double(np.linspace(-0.2, 0.3, channels)), _double(np.linspace(0.5, 1.5, channels))
        return getattr(nd, name)(data, gamma, beta, mean, variance, **params)
    return run


_NORMALIZED = [_program(name, what, _normalized(name, **params), (3, 2, 2), (2,), (2,)) for name, what, params in (
    ('BatchNorm', 'statistics of the batch', {'fix_gamma': False}),
    ('BatchNorm', 'moving statistics', {'fix_gamma': False, 'use_global_stats': True}),
    ('BatchNorm', 'fixed gamma', {}),
)]


def _first_version(data: Any, gamma: Any, beta: Any) -> Any:
    return nd.BatchNorm_v1(data, gamma, beta, moving_mean=_double([0.1, 0.2]), moving_var=_double([0.5, 1.5]),
                           fix_gamma=False)


def _sync(data: Any, gamma: Any, beta: Any) -> Any:
    return nd.contrib.SyncBatchNorm(data, gamma, beta, _double([0.1, 0.2]), _double([0.5, 1.5]), key='higher',
                                    fix_gamma=False)


def _with_relu(data: Any, gamma: Any, beta: Any) -> Any:
    return nd.contrib.BatchNormWithReLU(data, gamma, beta, _double([0.1, 0.2]), _double([0.5, 1.5]), fix_gamma=False)


# ---- random numbers: the same in every run -------------------------------------------------------------------------

def _between_layers(data: Any, parameters: Any, state: Any) -> Any:
    with autograd.train_mode():
        return nd.RNN(data, parameters, state, mode='rnn_tanh', state_size=2, num_layers=2, p=0.5)


def _random_slopes(data: Any) -> Any:
    with autograd.train_mode():
        return nd.LeakyReLU(data, act_type='rrelu')


# ---- outputs whose gradient is that of a loss ------------------------------------------------------------------------

_ROWS, _SHARES = [1, 0, 2], [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8], [0.6, 0.2, 0.2]]


def _softmax(label: Any, **params: Any) -> Callable[..., Any]:
    return lambda data: nd.SoftmaxOutput(data, _double(label), **params)


BY_LOSS = [
    _program('SoftmaxOutput', 'classes', _softmax(_ROWS), (3, 3)),
    _program('SoftmaxOutput', 'probabilities', _softmax(_SHARES, grad_scale=0.7), (3, 3)),
    _program('SoftmaxOutput', 'a class that does not count', _softmax(_ROWS, use_ignore=True, ignore_label=2,
                                                                     normalization='valid'), (3, 3)),
    _program('SoftmaxOutput', 'positions', _softmax([[0, 1], [2, 1]], multi_output=True), (2, 3, 2)),
    _program('SoftmaxOutput', 'all axes together', _softmax([1, 3]), (2, 2, 2)),
    _program('SoftmaxOutput', 'the last axis', _softmax([[0, 1], [2, 1]], preserve_shape=True, smooth_alpha=0.1,
                                                       normalization='batch'), (2, 2, 3)),
    _program('LinearRegressionOutput', 'difference',
             lambda data: nd.LinearRegressionOutput(data, _double(_SHARES), grad_scale=2), (3, 3)),
    _program('LogisticRegressionOutput', 'cross entropy',
             lambda data: nd.LogisticRegressionOutput(data, _double(_SHARES)), (3, 3)),
    _program('MAERegressionOutput', 'sign', lambda data: nd.MAERegressionOutput(data, _double(_SHARES)), (3, 3)),
    _program('SVMOutput', 'squares', lambda data: nd.SVMOutput(data, _double(_ROWS)), (3, 3)),
    _program('SVMOutput', 'hinges', lambda data: nd.SVMOutput(data, _double(_ROWS), use_linear=True), (3, 3)),
    _program('MakeLoss', 'constant', lambda data: nd.MakeLoss(data * data), (3, 3)),
    _program('make_loss', 'constant', lambda data: nd.make_loss(data * data), (3, 3)),
]
"""Programs whose first gradient is not that of their outputs, but the gradient of another smooth function."""


def _hawkes(mu: Any, alpha: Any, beta: Any, state: Any, lags: Any, horizon: Any) -> Any:
    marks, lengths = nd.array([[0, 1, 1], [1, 0, 0]], dtype='int32'), _double([3, 2])
    return nd.contrib.hawkesll(mu, alpha, beta, state, lags, marks, lengths, horizon + 4)


def _flipped(name: str) -> Callable[..., Any]:
    return lambda data: getattr(nd.image, name)(data)


SMOOTH = [
    *_NORMALIZED,
    _program('BatchNorm_v1', 'statistics of the batch', _first_version, (3, 2, 2), (2,), (2,)),
    _program('_contrib_SyncBatchNorm', 'statistics of the batch', _sync, (3, 2, 2), (2,), (2,)),
    _program('_contrib_BatchNormWithReLU', 'statistics of the batch', _with_relu, (3, 2, 2), (2,), (2,)),
    _program('Dropout', 'elements', lambda data: nd.Dropout(data, p=0.4, mode='always'), (4, 5)),
    _program('Dropout', 'rows', lambda data: nd.Dropout(data, p=0.4, mode='always', axes=(1,)), (4, 5)),
    _program('RNN', 'dropout between layers', _between_layers, (2, 2, 3), (26,), (2, 2, 2)),
    _program('LeakyReLU', 'random slopes', _random_slopes, (4, 5)),
    _program('_contrib_hawkesll', 'intensities', _hawkes, (2, 2), (2,), (2,), (2, 2), (2, 3), (2,), low=0.3, high=0.9),
    *(_program(f'_image_random_flip_{way}', 'half of the calls', _flipped(f'random_flip_{way}'), (3, 4, 2))
      for way in ('left_right', 'top_bottom')),
    _program('_backward_gather_nd', 'places that meet',
             lambda data: nd._internal._backward_gather_nd(data, nd.array([[0, 2, 0], [1, 0, 1]]), shape=(3, 2)), (3,)),
    _program('_basic_index', 'rows and columns', lambda data: data[1:, ::2] * data[0, 1], (3, 4)),
    _program('_copyto', 'a copy', lambda data: (data * data).copyto(nd.zeros((3, 2), dtype='float64')), (3, 2)),
]
"""Programs whose derivatives are checked from the first one on."""
