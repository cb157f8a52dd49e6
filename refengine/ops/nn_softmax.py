"""softmax, log_softmax and softmin along one axis, with temperature and lengths."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import storage
from ..base import MXNetError
from ..op import Bool, Enum, Float, Int, normal_axis, register
from ._nn import aligned, require_float

PARAMS = {'axis': Int(-1, 'the axis that sums to 1'),
          'temperature': Float(None, 'divide the input by this first'),
          'dtype': Enum(('None', 'float16', 'float32', 'float64'), None, 'element type of the result'),
          'use_length': Bool(False, 'only the first elements count, as many as length says')}


def _infer(name: str) -> Callable[..., None]:
    def infer(arrays: Any, params: dict[str, Any]) -> None:
        require_float(name, arrays[0])
        axis = normal_axis(params['axis'], arrays[0].ndim, f'Operator {name}: axis {params["axis"]} exceeds the '
                                                           f'input dimension of {arrays[0].ndim}')
        if len(arrays) > 1:
            expected = arrays[0].shape[:axis] + arrays[0].shape[axis + 1:]
            if arrays[1].shape != expected:
                raise MXNetError(f'Error in operator {name}: length has shape {arrays[1].shape}, expected {expected}: '
                                 f'that of data without axis {axis}')
            if arrays[1].dtype.kind != 'i':
                raise MXNetError(f'Error in operator {name}: length must be of type int32 or int64, '
                                 f'got {arrays[1].dtype}')

    return infer


def _mask(xp: Any, shape: tuple[int, ...], length: Any, axis: int) -> Any:
    """True where an element counts."""
    positions = xp.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return positions < xp.expand_dims(length, axis)


def _prepared(xp: Any, data: Any, sign: float, temperature: Any) -> Any:
    """The input in at least single precision, times sign, divided by the temperature."""
    if data.dtype == np.float16:
        data = data.astype(np.float32)
    if temperature is not None and temperature != 1.0:
        data = data * data.dtype.type(sign / temperature if temperature else math.inf)
    elif sign < 0:
        data = -data
    return data


def _softmax(xp: Any, x: Any, axis: int, log: bool, mask: Any, out: Any = None) -> Any:
    if mask is not None:
        x = xp.where(mask, x, x.dtype.type(-np.inf))
    largest = x.max(axis=axis, keepdims=True)
    if mask is not None:
        largest = xp.where(xp.isfinite(largest), largest, x.dtype.type(0))
    out = aligned(out, x.shape, x.dtype)
    if out is None and xp is np and x.nbytes >= storage.LARGE and x.flags.c_contiguous:
        out = storage.empty_like(x)
    shifted = xp.subtract(x, largest, out=out)
    if log:
        total = xp.exp(shifted).sum(axis=axis, keepdims=True)
        shifted -= xp.log(total)
        return shifted
    xp.exp(shifted, out=shifted)
    total = shifted.sum(axis=axis, keepdims=True)
    if mask is not None:
        total = xp.where(total == 0, x.dtype.type(1), total)
    shifted /= total
    return shifted


def _forward(sign: float, log: bool) -> Callable[..., Any]:
    def forward(xp: Any, data: Any, length: Any = None, axis: int = -1, temperature: Any = None, dtype: Any = None,
                use_length: bool = False, out: Any = None) -> Any:
        axis %= data.ndim
        mask = None if length is None else _mask(xp, data.shape, length, axis)
        if out is not None and dtype is not None and out.dtype != dtype:
            out = None      # what cannot be the result is not written to
        result = _softmax(xp, _prepared(xp, data, sign, temperature), axis, log, mask, out)
        if mask is not None:
            # What does not count is 0: not -inf, and not NaN when one that counts is.
            result = xp.where(mask, result, result.dtype.type(0))
        return result.astype(dtype or data.dtype, copy=False)

    return forward


def _grad(sign: float, log: bool) -> Callable[..., Any]:
    def grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
        data, y, og = inputs[0], outputs[0], ograds[0]
        wide = np.promote_types(np.promote_types(data.dtype, y.dtype), np.float32)
        if wide != y.dtype:     # the differences of nearly equal numbers keep their digits
            y, og = F.cast(y, dtype=wide.name), F.cast(og, dtype=wide.name)
        axis = params['axis'] % data.ndim
        factor = sign / (params['temperature'] or 1.0)
        if log:
            if len(inputs) > 1:
                # Outside of the length the output is 0 whatever the input is.
                counts = F._length_mask(y, inputs[1], axis=axis)
                og = og * counts
                result = og - F.exp(y) * counts * _total(F, og, axis)
            else:
                result = og - F.broadcast_mul(F.exp(y), _total(F, og, axis, False))
        else:
            product = og * y
            result = product - F.broadcast_mul(y, _total(F, product, axis, False))
            if len(inputs) > 1:     # nothing comes from outside of the length, not even NaN
                result = F.where(F._length_mask(y, inputs[1], axis=axis), result, F.zeros_like(result))
        if factor != 1.0:
            result = result * factor
        if result.dtype != data.dtype:
            result = F.cast(result, dtype=np.dtype(data.dtype).name)
        return (result, None)[:len(inputs)]

    return grad


def _total(F: Any, x: Any, axis: int, spread: bool = True) -> Any:
    total = F.sum(x, axis=axis, keepdims=True)
    return F._expand_like(total, x) if spread else total


@register('_length_mask', inputs=('data', 'length'), params={'axis': Int(-1)}, mixed=True)
def _length_mask(xp: Any, data: Any, length: Any, axis: int = -1) -> Any:
    """1 where the position along the axis is below the length, else 0; the shape and type of data."""
    mask = _mask(xp, data.shape, length, axis % data.ndim)
    return xp.broadcast_to(mask, data.shape).astype(data.dtype)


_SAMPLES = ((((2, 3),), {}), (((2, 3, 4),), {'axis': 1}), (((2, 3),), {'temperature': 2.0}))

for _name, _sign, _log, _text in (
        ('softmax', 1.0, False, 'exp(x) divided by its sum along the axis.'),
        ('softmin', -1.0, False, 'exp(-x) divided by its sum along the axis.'),
        ('log_softmax', 1.0, True, 'The logarithm of softmax, computed without underflow.')):
    _length = _name == 'softmax'          # the others take their axis as second argument (release 1.9.1)
    register(_name, inputs=('data', 'length') if _length else ('data',), params=PARAMS, mixed=True,
             num_inputs=(lambda params: 2 if params['use_length'] else 1) if _length else None, infer=_infer(_name),
             grad=_grad(_sign, _log), samples=_SAMPLES, rules=('ND-SOFTMAX-001', 'ND-ARITH-013', 'FP16-REDUCE-003'),
             doc=_text + '\n\nThe maximum is subtracted first. With use_length, elements beyond the length give 0.')(
        _forward(_sign, _log))


def _activation_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any]:
    y, shape = outputs[0], inputs[0].shape
    if params['mode'] == 'channel':
        product = ograds[0] * y
        return (product - F.broadcast_mul(y, F.sum(product, axis=1, keepdims=True)),)
    rows = F.reshape(y, shape=(-1, shape[-1]))
    product = F.reshape(ograds[0], shape=(-1, shape[-1])) * rows
    result = product - F.broadcast_mul(rows, F.sum(product, axis=1, keepdims=True))
    return (F.reshape(result, shape=shape),)


@register('SoftmaxActivation', inputs=('data',), params={'mode': Enum(('instance', 'channel'), 'instance')},
          grad=_activation_grad, samples=((((2, 3),), {}), (((2, 3, 2),), {'mode': 'channel'}), (((2, 3, 2),), {})))
def _softmax_activation(xp: Any, data: Any, mode: str = 'instance') -> Any:
    """softmax over the last axis (instance) or over axis 1 (channel)."""
    return _forward(1.0, False)(xp, data, axis=1 if mode == 'channel' else -1)


def _cross_entropy_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    data, label = inputs
    chosen = F.one_hot(label, depth=data.shape[1], dtype=np.dtype(data.dtype).name)
    return F.broadcast_mul(F.softmax(data) - chosen, F.reshape(ograds[0], shape=(1, 1))), F.zeros_like(label)


def _cross_entropy_infer(arrays: Any, params: dict[str, Any]) -> None:
    data, label = arrays
    if data.ndim != 2:
        raise MXNetError(f'SoftmaxCrossEntropy only accept 2D data, got {data.shape}')
    if label.ndim != 1 or label.shape[0] != data.shape[0]:
        raise MXNetError(f'SoftmaxCrossEntropy needs one label per row: label {label.shape}, data {data.shape}')


@register('softmax_cross_entropy', inputs=('data', 'label'), infer=_cross_entropy_infer, grad=_cross_entropy_grad,
          samples=((((3, 4), 'index:3:4'), {}),))
def _softmax_cross_entropy(xp: Any, data: Any, label: Any) -> Any:
    """The sum over all rows of -log softmax(data)[label], with shape (1,)."""
    logs = _forward(1.0, True)(xp, data)
    rows = xp.arange(data.shape[0])
    picked = logs[rows, xp.clip(label.astype(np.int64), 0, data.shape[1] - 1)]
    return -picked.sum(dtype=logs.dtype).reshape(1)
