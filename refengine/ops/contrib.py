"""Contributed and small operators: index arithmetic, straight-through estimators, casts of several arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base import MXNetError, shape_text
from ..op import Bool, Float, Int, Shape, register
from .binary import zero_gradient


@register('_contrib_div_sqrt_dim', samples=((((2, 3),), {}),),
          grad=lambda F, ograds, inputs, outputs, params: (F._contrib_div_sqrt_dim(ograds[0]),))
def _div_sqrt_dim(xp: Any, data: Any) -> Any:
    """The array divided by the square root of the length of its last axis; integers by its whole part."""
    root = math.sqrt(data.shape[-1])
    if data.dtype.kind in 'iu':
        whole = data.dtype.type(root)
        low = data // whole
        return low + ((data < 0) & (low * whole != data)).astype(data.dtype)
    return (data / root).astype(data.dtype, copy=False)


@register('_contrib_quadratic', params={'a': Float(0.0), 'b': Float(0.0), 'c': Float(0.0)},
          samples=((((2, 3),), {'a': 1.0, 'b': 2.0, 'c': 3.0}),),
          grad=lambda F, ograds, inputs, outputs, params: (ograds[0] * (inputs[0] * (2 * params['a']) + params['b']),))
def _quadratic(xp: Any, data: Any, a: float = 0.0, b: float = 0.0, c: float = 0.0) -> Any:
    """a x² + b x + c."""
    return (a * data * data + b * data + c).astype(data.dtype, copy=False)


@register('_contrib_gradientmultiplier', params={'scalar': Float(1.0), 'is_int': Bool(True)},
          grad=lambda F, ograds, inputs, outputs, params: (ograds[0] * params['scalar'],))
def _gradient_multiplier(xp: Any, data: Any, scalar: Any = 1.0, is_int: bool = True) -> Any:
    """A copy whose gradient is multiplied by a number."""
    return data.copy()


@register('_contrib_backward_gradientmultiplier', params={'scalar': Float(1.0), 'is_int': Bool(True)},
          grad=lambda F, ograds, inputs, outputs, params: (ograds[0] * params['scalar'],),
          samples=((((2, 3),), {'scalar': 2.0}),))
def _backward_gradient_multiplier(xp: Any, data: Any, scalar: Any = 1.0, is_int: bool = True) -> Any:
    """The gradient that gradientmultiplier gives: the array times a number."""
    kind = data.dtype
    if kind.kind in 'biu':
        kind = np.dtype(np.float64 if not is_int else np.int64 if kind.kind == 'b' else kind)
    # Integers lose the fraction of the number and wrap around.
    with np.errstate(invalid='ignore'):
        return data * np.asarray(scalar, dtype=np.float64).astype(kind)[()]


def _straight(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    return (ograds[0],)


@register('_contrib_round_ste', grad=_straight)
def _round_ste(xp: Any, data: Any) -> Any:
    """round, with the gradient of the identity (straight-through estimator)."""
    if data.dtype.kind != 'f':
        return data.copy()
    return xp.copysign(xp.floor(xp.abs(data) + data.dtype.type(0.5)), data)


@register('_contrib_sign_ste', grad=_straight)
def _sign_ste(xp: Any, data: Any) -> Any:
    """sign, with the gradient of the identity (straight-through estimator)."""
    return xp.sign(data)


@register('_contrib_index_array', params={'axes': Shape(None, none=True)}, grad=zero_gradient)
def _index_array(xp: Any, data: Any, axes: Any = None) -> Any:
    """The coordinates of every element, as int64, along a new last axis."""
    grid = np.indices(data.shape, dtype=np.int64)
    chosen = grid if axes is None else grid[[a % data.ndim for a in axes]]
    return xp.asarray(np.ascontiguousarray(np.moveaxis(chosen, 0, -1)))


def _strides(shape: tuple[int, ...]) -> list[int]:
    steps = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        steps[axis] = steps[axis + 1] * shape[axis + 1]
    return steps


@register('_ravel_multi_index', 'ravel_multi_index', params={'shape': Shape(None)}, grad=zero_gradient)
def _ravel_multi_index(xp: Any, data: Any, shape: tuple[int, ...] | None = None) -> Any:
    """Flat positions from coordinates, one column each."""
    if not shape:
        raise MXNetError('Empty shape parameter for ravel operator.')
    if data.ndim < 1 or data.shape[0] != len(shape):
        raise MXNetError(f'Operator ravel_multi_index: the first axis of {shape_text(data.shape)} must have one '
                         f'entry per dimension of shape {shape}')
    total = xp.zeros(data.shape[1:], data.dtype)
    for row, step in zip(data, _strides(shape)):
        total = total + row * data.dtype.type(step)
    return total


@register('_unravel_index', 'unravel_index', params={'shape': Shape(None)}, grad=zero_gradient)
def _unravel_index(xp: Any, data: Any, shape: tuple[int, ...] | None = None) -> Any:
    """Coordinates from flat positions, one column each."""
    if not shape:
        raise MXNetError('Empty shape parameter for unravel operator.')
    rest = data.astype(np.int64)
    rows = []
    for step in _strides(shape):
        rows.append(rest // step)
        rest = rest % step
    return xp.stack(rows).astype(data.dtype)


@register('fill_element_0index', inputs=('lhs', 'mhs', 'rhs'), mixed=True, grad=zero_gradient)
def _fill_element(xp: Any, lhs: Any, mhs: Any, rhs: Any) -> Any:
    """A copy of a matrix in which one element of each row is replaced."""
    result = lhs.copy()
    result[xp.arange(lhs.shape[0]), rhs.astype(np.int64)] = mhs
    return result


def _multicast_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, ...]:
    return tuple(F.cast(g, dtype=np.dtype(x.dtype).name) for g, x in zip(ograds, inputs))


def _multicast_infer(arrays: Any, params: dict[str, Any]) -> None:
    if len(arrays) != params['num_outputs']:
        raise MXNetError(f'Operator amp_multicast expects {params["num_outputs"]} inputs, but got {len(arrays)} '
                         f'instead.')


@register('amp_multicast', variadic=True, mixed=True, params={'num_outputs': Int(), 'cast_narrow': Bool(False)},
          num_outputs=lambda params: params['num_outputs'], grad=_multicast_grad, infer=_multicast_infer,
          samples=((((2, 3), (2, 3)), {'num_outputs': 2}),))
def _amp_multicast(xp: Any, *data: Any, num_outputs: int = 1, cast_narrow: bool = False) -> Any:
    """Floating point arrays cast to the widest (or narrowest) of their types."""
    kinds = [x.dtype for x in data if x.dtype.kind == 'f']
    if not kinds:
        return tuple(x.copy() for x in data)
    target = (min if cast_narrow else max)(kinds, key=lambda k: k.itemsize)
    return tuple(x.astype(target) if x.dtype.kind == 'f' else x.copy() for x in data)


def _khatri_rao_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, ...]:
    rows, columns, count = [x.shape[0] for x in inputs], inputs[0].shape[1], len(inputs)
    whole = F.reshape(ograds[0], shape=(*rows, columns))
    wide = [F.reshape(x, shape=(*(rows[i] if i == j else 1 for j in range(count)), columns))
            for i, x in enumerate(inputs)]
    result = []
    for i in range(count):
        part = whole
        for j in range(count):
            if i != j:
                part = F.broadcast_mul(part, wide[j])
        axes = tuple(j for j in range(count) if j != i)
        result.append(F.sum(part, axis=axes) if axes else F.reshape(part, shape=inputs[0].shape))
    return tuple(result)


@register('khatri_rao', variadic=True, inputs=('args',), grad=_khatri_rao_grad,
          samples=((((2, 3), (4, 3)), {}), (((2, 2), (3, 2), (2, 2)), {})))
def _khatri_rao(xp: Any, *args: Any) -> Any:
    """The Kronecker product of matrices, column by column."""
    result = args[0]
    for other in args:
        if other.ndim != 2:
            raise MXNetError(f'Operator khatri_rao: expected matrices, got shape {shape_text(other.shape)}')
        if other.shape[1] != result.shape[1]:
            raise MXNetError(f'Operator khatri_rao: expected matrices of {result.shape[1]} columns, got '
                             f'{shape_text(other.shape)}')
    for other in args[1:]:
        result = (result[:, None, :] * other[None, :, :]).reshape(-1, result.shape[1])
    return result.copy()
