"""Copies, casts, constants, and the operators that steer the flow of gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import storage
from ..base import MXNetError
from ..op import REQUIRED, Bool, Dtype, Enum, Float, Int, Scalar, Shape, Str, check_same, register
from .binary import zero_gradient
from .ranges import bounds_of_range, require_rows


def _through(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, ...]:
    return (ograds[0], *(None for _ in inputs[1:]))


def _copied(xp: Any, data: Any) -> Any:
    return storage.copy(data) if xp is np else data.copy()


_ONE = ((((2, 3),), {}),)


@register('_copy', 'identity', grad=_through, samples=_ONE, any_shape=True)
def _copy(xp: Any, data: Any) -> Any:
    """An independent copy."""
    return _copied(xp, data)


@register('_copyto', grad=_through, any_shape=True)
def _copyto(xp: Any, data: Any) -> Any:
    """A copy into another array or onto another context."""
    return _copied(xp, data)


@register('BlockGrad', 'stop_gradient', grad=zero_gradient, rules=('AUTOGRAD-DETACH-002',))
def _block_grad(xp: Any, data: Any) -> Any:
    """A copy through which no gradient flows: the graph stays connected, the gradient is zero."""
    return _copied(xp, data)


@register('make_loss', grad=lambda F, ograds, inputs, outputs, params: (F.ones_like(inputs[0]),),
          rules=('AUTOGRAD-LOSS-001',))
def _make_loss(xp: Any, data: Any) -> Any:
    """A copy whose gradient is one, whatever comes in."""
    return _copied(xp, data)


def _make_loss_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    x, scale = inputs[0], params['grad_scale']
    if params['normalization'] == 'batch':
        return (F.ones_like(x) * (scale * x.shape[-1] / x.size),)      # a sample is a row along the last axis
    if params['normalization'] == 'valid':
        valid = F._greater_scalar(x, scalar=params['valid_thresh'])
        return (F.ones_like(x) * scale / F._maximum_scalar(F._expand_like(F.sum(valid), x), scalar=1.0),)
    return (F.ones_like(x) * scale,)


@register('MakeLoss', params={'grad_scale': Float(1.0), 'valid_thresh': Float(0.0),
                              'normalization': Enum(('null', 'batch', 'valid'), 'null')}, grad=_make_loss_grad,
          rules=('AUTOGRAD-LOSS-001',))
def _make_loss_scaled(xp: Any, data: Any, grad_scale: float = 1.0, valid_thresh: float = 0.0,
                      normalization: str = 'null') -> Any:
    """A copy whose gradient is grad_scale, divided by the batch size or by the number of valid elements."""
    return _copied(xp, data)


def _cast_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    return (F.cast(ograds[0], dtype=np.dtype(inputs[0].dtype).name),)


@register('cast', 'Cast', params={'dtype': Dtype(REQUIRED)}, grad=_cast_grad,
          samples=((((2, 3),), {'dtype': 'float64'}),), rules=('ND-CAST-001',), any_shape=True)
def _cast(xp: Any, data: Any, dtype: Any = 'float32') -> Any:
    """The array with another element type: toward zero for integers, wrapping for the narrow ones."""
    kind = np.dtype(dtype)
    if data.dtype.kind == 'f' and kind.kind in 'iu' and kind.itemsize < 4:
        return data.astype(np.int64).astype(kind)
    return data.astype(kind)


@register('amp_cast', params={'dtype': Dtype(REQUIRED)}, grad=_cast_grad, samples=((((2, 3),), {'dtype': 'float64'}),))
def _amp_cast(xp: Any, data: Any, dtype: Any = 'float32') -> Any:
    """A cast between floating point types; other arrays pass unchanged."""
    return data.astype(np.dtype(dtype)) if data.dtype.kind == 'f' else data.copy()


@register('zeros_like', grad=zero_gradient, rules=('ND-CREATE-018',), any_shape=True)
def _zeros_like(xp: Any, data: Any) -> Any:
    """Zeros of the shape, dtype and context of the array."""
    return xp.zeros(data.shape, data.dtype)


@register('ones_like', grad=zero_gradient, rules=('ND-CREATE-018',), any_shape=True)
def _ones_like(xp: Any, data: Any) -> Any:
    """Ones of the shape, dtype and context of the array."""
    return xp.ones(data.shape, data.dtype)


@register('shape_array', grad=zero_gradient)
def _shape_array(xp: Any, data: Any) -> Any:
    """The shape as int64 array."""
    return xp.asarray(data.shape, dtype=np.int64)


@register('size_array', grad=zero_gradient)
def _size_array(xp: Any, data: Any) -> Any:
    """The number of elements as int64 array."""
    return xp.asarray([data.size], dtype=np.int64)


def _check_add_n(arrays: Any, params: Any) -> None:
    check_same('add_n', arrays, shapes=True)


@register('add_n', 'ElementWiseSum', variadic=True, inputs=('args',), infer=_check_add_n,
          grad=lambda F, ograds, inputs, outputs, params: tuple(ograds[0] for _ in inputs),
          samples=((((2, 3), (2, 3), (2, 3)), {}),), rules=('BCAST-ELEM-001',))
def _add_n(xp: Any, *args: Any) -> Any:
    """The sum of arrays of one shape."""
    if len(args) == 1:
        return args[0].copy()
    total = xp.add(args[0], args[1], out=storage.empty(args[0].shape, args[0].dtype) if xp is np else None)
    for other in args[2:]:
        total += other
    return total


@register('_grad_add', inputs=('lhs', 'rhs'), samples=((((2, 3), (2, 3)), {}),),
          grad=lambda F, ograds, inputs, outputs, params: (ograds[0], ograds[0]))
def _grad_add(xp: Any, lhs: Any, rhs: Any) -> Any:
    """The sum of two gradients."""
    return lhs + rhs


# ---- arrays from nothing -------------------------------------------------------------------------------------------

_SHAPE = {'shape': Shape(()), 'dtype': Dtype('float32')}


def _made(shape: tuple[int, ...]) -> tuple[int, ...]:
    if any(n < 0 for n in shape):
        raise MXNetError(f'inferring shapes failed: a dimension of {shape} is negative')
    return shape


@register('_zeros', 'zeros', inputs=(), params=_SHAPE, source=True)
def _zeros(xp: Any, shape: Any = (), dtype: Any = 'float32', ctx: Any = None) -> Any:
    """Zeros."""
    return xp.zeros(_made(shape), dtype)


@register('_ones', 'ones', inputs=(), params=_SHAPE, source=True)
def _ones(xp: Any, shape: Any = (), dtype: Any = 'float32', ctx: Any = None) -> Any:
    """Ones."""
    return xp.ones(_made(shape), dtype)


@register('_full', inputs=(), params={**_SHAPE, 'value': Scalar()}, source=True)
def _full(xp: Any, shape: Any = (), dtype: Any = 'float32', value: float = 0.0, ctx: Any = None) -> Any:
    """One number everywhere."""
    return xp.full(_made(shape), value, dtype)


@register('_eye', inputs=(), params={'N': Int(), 'M': Int(0), 'k': Int(0), 'dtype': Dtype('float32')}, source=True)
def _eye(xp: Any, N: int = 1, M: int = 0, k: int = 0, dtype: Any = 'float32', ctx: Any = None) -> Any:
    """Ones on the k-th diagonal; as many columns as rows unless M is positive."""
    require_rows(N)
    return xp.eye(N, M if M > 0 else N, k, dtype=dtype)


@register('_arange', inputs=(), params={'start': Float(), 'stop': Float(None, none=True), 'step': Float(1.0),
                                        'repeat': Int(1), 'infer_range': Bool(False), 'dtype': Dtype('float32')},
          source=True)
def _arange(xp: Any, start: float = 0.0, stop: Any = None, step: float = 1.0, repeat: int = 1,
            infer_range: bool = False, dtype: Any = 'float32', ctx: Any = None) -> Any:
    """Numbers from start to stop, each repeated."""
    start, stop = bounds_of_range(start, stop, step)
    return xp.repeat(xp.arange(start, stop, step), repeat).astype(dtype)


def _repeated(xp: Any, count: int, repeat: int) -> Any:
    """0, 1, 2, … each as often as asked for; a negative number of times counts down, toward zero."""
    steps = xp.arange(count) // abs(repeat)
    return steps if repeat > 0 else -steps


@register('_contrib_arange_like', params={'start': Float(0.0), 'step': Float(1.0), 'repeat': Int(1),
                                          'ctx': Str('', 'is that of the array, whatever it says'),
                                          'axis': Int(None, none=True)}, grad=zero_gradient)
def _arange_like(xp: Any, data: Any, start: float = 0.0, step: float = 1.0, repeat: int = 1, ctx: str = '',
                 axis: Any = None) -> Any:
    """Numbers from start, as many as the array (or one of its axes) has elements."""
    count = data.size if axis is None else data.shape[axis]
    values = (start + step * _repeated(xp, count, repeat)).astype(data.dtype)
    return values.reshape(data.shape) if axis is None else values


@register('all_finite', params={'init_output': Bool(True)}, rules=('ND-FINITE-002',))
def _all_finite(xp: Any, data: Any, init_output: bool = True) -> Any:
    """1 if every element is finite, else 0, as float32."""
    return xp.asarray([xp.isfinite(data).all()], dtype=np.float32)


@register('multi_all_finite', variadic=True, mixed=True, rules=('ND-FINITE-002',),
          num_inputs=lambda params: params['num_arrays'],
          params={'num_arrays': Int(1, 'how many arrays there are'), 'init_output': Bool(True)})
def _multi_all_finite(xp: Any, *data: Any, num_arrays: int = 1, init_output: bool = True) -> Any:
    """1 if every element of every array is finite, else 0, as float32."""
    return xp.asarray([all(bool(xp.isfinite(x).all()) for x in data)], dtype=np.float32)
