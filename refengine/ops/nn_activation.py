"""Activation functions that are chosen by a parameter: Activation, LeakyReLU and hard_sigmoid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import storage
from ..base import MXNetError, shape_text
from ..op import Enum, Float, register, registry
from ._nn import aligned, require_float
from .shapes import completes, merge

_TYPES = {'relu': 'relu', 'sigmoid': 'sigmoid', 'softrelu': '_softrelu', 'softsign': 'softsign', 'tanh': 'tanh'}
"""The elementwise operator behind each activation type."""


def _grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any]:
    if params['act_type'] == 'relu':
        return (F._relu_backward(ograds[0], outputs[0]),)
    return registry[_TYPES[params['act_type']]].grad(F, ograds, inputs, outputs, {})  # type: ignore[misc]


@register('Activation', inputs=('data',), params={'act_type': Enum(tuple(_TYPES), doc='which function')}, grad=_grad,
          infer=lambda arrays, params: require_float('Activation', arrays[0]),
          samples=tuple((((2, 3),), {'act_type': name}) for name in _TYPES), rules=('ND-ACT-001',))
def _activation(xp: Any, data: Any, act_type: str = 'relu', out: Any = None) -> Any:
    """An activation function, element by element: relu, sigmoid, softrelu, softsign or tanh."""
    return registry[_TYPES[act_type]].forward(xp, data, out)


@register('_relu_backward', inputs=('ograd', 'output'),
          grad=lambda F, ograds, inputs, outputs, params: (F._relu_backward(ograds[0], inputs[1]), None))
def _relu_backward(xp: Any, ograd: Any, output: Any, out: Any = None) -> Any:
    """The gradient where the output of relu is positive, else zero."""
    out = aligned(out, ograd.shape, ograd.dtype)
    if xp is not np or ograd.nbytes < storage.LARGE or (out is not None and np.may_share_memory(out, ograd)):
        return xp.multiply(ograd, output > 0, out=out)
    if out is None:
        out = storage.empty_in_order(ograd.shape, ograd.dtype, output)
    np.greater(output, ograd.dtype.type(0), out=out, casting='unsafe')
    out *= ograd
    return out


SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946
_SQRT2 = math.sqrt(2.0)


def _slope_shape(gamma: Sequence[int], data: Sequence[int]) -> tuple[int, ...]:
    """The shape in which the slopes of a prelu broadcast to the data; MXNetError if they do not.

    Slopes are per channel, per instance or both: their axes belong to the first two of the data, the last one first.
    """
    left, shape = list(gamma), [1] * len(data)
    for axis in reversed(range(min(len(data), 2))):
        if left and left[-1] in (1, data[axis]):
            shape[axis] = left.pop()
    if left:
        raise MXNetError(f'Error in operator LeakyReLU: Cannot broadcast gamma to data. gamma: {shape_text(gamma)}, '
                         f'data: {shape_text(data)}')
    return tuple(shape)


def _leaky_infer(arrays: Any, params: dict[str, Any]) -> None:
    require_float('LeakyReLU', arrays[0])
    if params['act_type'] == 'prelu':
        _slope_shape(arrays[1].shape, arrays[0].shape)


@completes('LeakyReLU')
def _complete(shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    if len(shapes) < 2:
        return shapes
    channels = shapes[0][1] if len(shapes[0]) > 1 else shapes[0][0]
    return [shapes[0], merge(shapes[1], (channels,))]


def _leaky_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    data, og, kind = inputs[0], ograds[0], params['act_type']
    positive = data > 0
    if kind == 'leaky':
        return (F.where(positive, og, og * params['slope']),)
    if kind == 'elu':
        return (F.where(positive, og, og * (F.exp(data) * params['slope'])),)
    if kind == 'selu':
        return (F.where(positive, og * SELU_SCALE, og * (F.exp(data) * (SELU_SCALE * SELU_ALPHA))),)
    if kind == 'gelu':
        density = F.exp(F.square(data) * -0.5) * (1 / math.sqrt(2 * math.pi))
        return (og * (0.5 * (1 + F.erf(data / _SQRT2)) + data * density),)
    if kind == 'prelu':
        gamma = inputs[1]
        slopes = F.reshape(gamma, shape=_slope_shape(gamma.shape, data.shape))
        zero = F.zeros_like(data)
        of_data = F.where(positive, og, F.broadcast_mul(og, slopes))
        of_gamma = F._sum_like(F.where(positive, zero, og * data), slopes)
        return of_data, F.reshape(of_gamma, shape=gamma.shape)
    slopes = outputs[1]                                    # rrelu: the slopes that were drawn
    return (og * slopes,)


@register('LeakyReLU', inputs=('data', 'gamma'),
          num_inputs=lambda params: 2 if params['act_type'] == 'prelu' else 1,
          num_outputs=lambda params: 2 if params['act_type'] == 'rrelu' else 1, visible=1,
          params={'act_type': Enum(('rrelu', 'leaky', 'prelu', 'elu', 'selu', 'gelu'), 'leaky', 'which function'),
                  'slope': Float(0.25, 'slope of leaky and elu for negative elements'),
                  'lower_bound': Float(0.125, 'lower bound of the random slopes of rrelu'),
                  'upper_bound': Float(0.334, 'upper bound of the random slopes of rrelu')},
          infer=_leaky_infer, grad=_leaky_grad,
          samples=(*((((2, 3),), {'act_type': kind}) for kind in ('leaky', 'elu', 'selu', 'gelu')),
                   (((2, 3, 2), (3,)), {'act_type': 'prelu'}), (((2, 3), (1,)), {'act_type': 'prelu'})))
def _leaky_relu(xp: Any, data: Any, gamma: Any = None, act_type: str = 'leaky', slope: float = 0.25,
                lower_bound: float = 0.125, upper_bound: float = 0.334, is_train: bool = False, rng: Any = None) -> Any:
    """Rectifiers with a negative side: leaky, prelu, rrelu, elu, selu; and gelu.

    x for positive elements; for the others slope · x (leaky, prelu, rrelu) or slope · (exp(x) - 1) (elu, selu).

    prelu takes its slopes from ``gamma``; rrelu draws them in training and uses their mean otherwise.
    """
    if act_type == 'leaky':
        return xp.maximum(data, data * data.dtype.type(slope)) if 0 <= slope <= 1 else xp.where(
            data > 0, data, data * data.dtype.type(slope))
    if act_type == 'elu':
        return xp.where(data > 0, data, slope * xp.expm1(data)).astype(data.dtype, copy=False)
    if act_type == 'selu':
        return (SELU_SCALE * xp.where(data > 0, data, SELU_ALPHA * xp.expm1(data))).astype(data.dtype, copy=False)
    if act_type == 'gelu':
        return (0.5 * data * (1 + registry['erf'].forward(xp, data / _SQRT2))).astype(data.dtype, copy=False)
    if act_type == 'prelu':
        slopes = gamma.reshape(_slope_shape(gamma.shape, data.shape))
        return xp.where(data > 0, data, data * slopes).astype(data.dtype, copy=False)
    if is_train:
        drawn = xp.asarray(rng.uniform(lower_bound, upper_bound, data.shape))
    else:
        drawn = xp.full(data.shape, (lower_bound + upper_bound) / 2)
    slopes = xp.where(data > 0, 1.0, drawn).astype(data.dtype)
    return data * slopes, slopes


def _hard_sigmoid_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any]:
    y = outputs[0]
    return (F.where((y > 0) * (y < 1), ograds[0] * params['alpha'], F.zeros_like(y)),)


@register('hard_sigmoid', params={'alpha': Float(0.2, 'slope'), 'beta': Float(0.5, 'value at 0')},
          grad=_hard_sigmoid_grad, samples=((((2, 3),), {}),))
def _hard_sigmoid(xp: Any, data: Any, alpha: float = 0.2, beta: float = 0.5) -> Any:
    """alpha · x + beta, cut off at 0 and 1."""
    return xp.clip(alpha * data + beta, 0, 1).astype(data.dtype, copy=False)
