"""Outputs that know their loss: backward gives the gradient of the loss and does not look at what comes from above."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ..base import MXNetError
from ..op import Bool, Enum, Float, register, registry
from ._nn import require_float, require_shape

# ---- SoftmaxOutput ---------------------------------------------------------------------------------------------

_SOFTMAX = {'grad_scale': Float(1.0, 'factor of the gradient'),
            'ignore_label': Float(-1.0, 'label that counts as none'),
            'multi_output': Bool(False, 'axis 1 holds the classes, the axes after it are positions'),
            'use_ignore': Bool(False, 'samples with ignore_label get no gradient'),
            'preserve_shape': Bool(False, 'the last axis holds the classes'),
            'normalization': Enum(('null', 'batch', 'valid'), 'null', 'what the gradient is divided by'),
            'out_grad': Bool(False, 'multiply with the gradient from above'),
            'smooth_alpha': Float(0.0, 'share of the label that goes to the other classes', low=0.0, high=1.0)}


def _class_axis(ndim: int, params: dict[str, Any]) -> int:
    """The axis of the classes; -1 stands for all axes after the first together."""
    if params['multi_output']:
        return 1
    return ndim - 1 if params['preserve_shape'] or ndim == 2 else -1


def _softmax_infer(arrays: Any, params: dict[str, Any]) -> None:
    data, label = arrays
    require_float('SoftmaxOutput', data)
    if label.shape == data.shape:
        return
    shape = data.shape
    if params['multi_output']:
        options = [(shape[0], *shape[2:]), (shape[0], prod(shape[2:])), (shape[0], 1, *shape[2:])]
        if label.shape not in options:
            require_shape('SoftmaxOutput', label.shape, options[0])
    elif params['preserve_shape']:
        if label.size != prod(shape[:-1]):
            require_shape('SoftmaxOutput', label.shape, shape[:-1])
    elif label.shape not in ((shape[0],), (shape[0], 1)):
        require_shape('SoftmaxOutput', label.shape, (shape[0],))


def _softmax_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    own = {key: params[key] for key in _SOFTMAX}
    return F._softmax_output_backward(ograds[0], outputs[0], inputs[1], inputs[0], **own), F.zeros_like(inputs[1])


@register('SoftmaxOutput', 'Softmax', inputs=('data', 'label'), mixed=True, params=_SOFTMAX, infer=_softmax_infer,
          grad=_softmax_grad)
def _softmax_output(xp: Any, data: Any, label: Any, **params: Any) -> Any:
    """softmax of data, whose gradient is that of the cross entropy with label.

    Labels are class numbers, or probabilities in the shape of data.
    """
    axis = _class_axis(data.ndim, {'multi_output': False, 'preserve_shape': False, **params})
    softmax = registry['softmax'].forward
    if axis < 0:
        return softmax(xp, data.reshape(data.shape[0], -1)).reshape(data.shape)
    return softmax(xp, data, axis=axis)


def _parted(output: Any, label: Any, multi_output: bool, preserve_shape: bool) -> tuple[Any, Any]:
    """The output as (sample, class, position), and the labels as (sample, position)."""
    axis = _class_axis(output.ndim, {'multi_output': multi_output, 'preserve_shape': preserve_shape})
    if axis == 1:
        probabilities = output.reshape(*output.shape[:2], -1)
    elif axis < 0:
        probabilities = output.reshape(output.shape[0], -1, 1)
    else:
        probabilities = output.reshape(-1, output.shape[-1], 1)
    return probabilities, label.reshape(probabilities.shape[0], probabilities.shape[2])


def _softmax_second(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    """The way back through probability minus label, times a factor that is constant.

    It leads to data directly: by way of the output it would come to the gradient that the output has by rule.
    """
    ograd, output, label, data = inputs
    own = {key: params[key] for key in _SOFTMAX}
    factor = ograds[0] * F._softmax_output_factor(output, label, **own)
    above = None
    if params['out_grad']:
        def above() -> Any:
            return ograds[0] * F._softmax_output_backward(ograd, output, label, data, **{**own, 'out_grad': False})
        factor = factor * ograd

    def below() -> Any:
        axis = _class_axis(data.ndim, params)
        flat = (data.shape[0], -1) if axis < 0 else data.shape
        shares, moves = F.softmax(F.reshape(data, shape=flat), axis=axis), F.reshape(factor, shape=flat)
        moves = F.broadcast_sub(moves, F.sum(shares * moves, axis=axis, keepdims=True))
        return F.reshape(shares * moves, shape=data.shape)

    return above, None, -factor if label.shape == data.shape else None, below


@register('_softmax_output_factor', inputs=('output', 'label'), mixed=True, params=_SOFTMAX)
def _softmax_output_factor(xp: Any, output: Any, label: Any, grad_scale: float = 1.0, ignore_label: float = -1.0,
                           multi_output: bool = False, use_ignore: bool = False, preserve_shape: bool = False,
                           normalization: str = 'null', out_grad: bool = False, smooth_alpha: float = 0.0) -> Any:
    """What the difference of probability and label is multiplied with, in the shape of the output."""
    if label.shape == output.shape:
        return xp.full_like(output, grad_scale)
    probabilities, chosen = _parted(output, label, multi_output, preserve_shape)
    counts = chosen != ignore_label
    divisor = 1.0
    if normalization == 'batch':
        divisor = float(len(probabilities))
    elif normalization == 'valid':
        divisor = max(float(counts.sum()) if use_ignore else float(chosen.size), 1.0)
    if multi_output and normalization != 'valid':
        divisor *= probabilities.shape[2]
    result = xp.full_like(probabilities, grad_scale / divisor)
    if use_ignore:
        result *= counts[:, None, :]
    return result.reshape(output.shape)


@register('_softmax_output_backward', inputs=('ograd', 'output', 'label', 'data'), mixed=True, params=_SOFTMAX,
          grad=_softmax_second)
def _softmax_output_backward(xp: Any, ograd: Any, output: Any, label: Any, data: Any, multi_output: bool = False,
                             preserve_shape: bool = False, out_grad: bool = False, smooth_alpha: float = 0.0,
                             **params: Any) -> Any:
    """The gradient of the cross entropy by data, the input of the softmax whose result is there already."""
    factor = _softmax_output_factor(xp, output, label, multi_output=multi_output, preserve_shape=preserve_shape,
                                    **params)
    if label.shape == output.shape:
        result = output - label
    else:
        probabilities, chosen = _parted(output, label, multi_output, preserve_shape)
        count, classes, positions = probabilities.shape
        result = probabilities.copy()
        sample, position = xp.arange(count)[:, None], xp.arange(positions)[None, :]
        index = xp.clip(chosen.astype(np.int64), 0, classes - 1)
        if smooth_alpha:
            share = smooth_alpha / (classes - 1) if classes > 1 else 0.0
            result -= result.dtype.type(share)
            result[sample, index, position] -= 1 - smooth_alpha - share
        else:
            result[sample, index, position] -= 1
        result = result.reshape(output.shape)
    result = result * factor
    return result * ograd if out_grad else result


# ---- regression ------------------------------------------------------------------------------------------------

def _regression_infer(arrays: Any, params: dict[str, Any]) -> None:
    data, label = arrays
    if label.size != data.size or label.shape[0] != data.shape[0]:
        require_shape('RegressionOutput', label.shape, data.shape)


def _regression(name: str, forward: Callable[..., Any], difference: Callable[..., Any], doc: str) -> None:
    def grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
        data, label = inputs        # not the output: by rule its gradient is another one
        scale = params['grad_scale'] / max(prod(label.shape[1:]), 1)
        result = difference(F, data, F.reshape(label, shape=data.shape)) * scale
        return result, F.zeros_like(label)

    def body(xp: Any, data: Any, label: Any, grad_scale: float = 1.0) -> Any:
        return forward(xp, data)

    register(name, inputs=('data', 'label'), mixed=True, params={'grad_scale': Float(1.0, 'factor of the gradient')},
             infer=_regression_infer, grad=grad, doc=doc)(body)


_regression('LinearRegressionOutput', lambda xp, x: x.copy(), lambda F, x, label: x - label,
            'The input itself; its gradient is that of half the squared difference from label.')
_regression('MAERegressionOutput', lambda xp, x: x.copy(), lambda F, x, label: (x > label) * 2 - 1,
            'The input itself; its gradient is that of the absolute difference from label, -1 where they are equal.')
_regression('LogisticRegressionOutput', lambda xp, x: registry['sigmoid'].forward(xp, x),
            lambda F, x, label: F.sigmoid(x) - label,
            'sigmoid of the input; its gradient is that of the cross entropy with label.')


# ---- SVMOutput -------------------------------------------------------------------------------------------------

def _svm_infer(arrays: Any, params: dict[str, Any]) -> None:
    data, label = arrays
    if data.ndim < 2:
        raise MXNetError(f'Error in operator SVMOutput: expected data of shape (batch, ..., classes), got {data.shape}')
    require_shape('SVMOutput', label.shape, data.shape[:-1])


def _svm_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    data, label = inputs
    margin, strength = params['margin'], params['regularization_coefficient']
    # +1 for the class of the label, -1 for the others: what is missing to the margin counts.
    sign = F.one_hot(label, depth=data.shape[-1], on_value=1.0, off_value=-1.0, dtype=np.dtype(data.dtype).name)
    missing = F.relu(margin - sign * data)
    if params['use_linear']:
        return -(sign * F.sign(missing)) * strength, F.zeros_like(label)
    return -(sign * missing) * (2 * strength), F.zeros_like(label)


@register('SVMOutput', inputs=('data', 'label'), mixed=True, infer=_svm_infer, grad=_svm_grad,
          params={'margin': Float(1.0, 'how far scores should be on the right side'),
                  'regularization_coefficient': Float(1.0, 'factor of the gradient'),
                  'use_linear': Bool(False, 'hinge loss instead of its square')})
def _svm_output(xp: Any, data: Any, label: Any, margin: float = 1.0, regularization_coefficient: float = 1.0,
                use_linear: bool = False) -> Any:
    """The input itself; its gradient is that of the one-against-all hinge loss with label."""
    return data.copy()
