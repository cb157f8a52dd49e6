"""Operators that repeat elements: tiles, borders, broadcasts to a shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import MXNetError, shape_text
from ..op import Axes, Enum, Float, Int, Shape, normal_axis, register, shape_error
from ..util import semantics
from .binary import number


def _tile_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    x, reps = inputs[0], tuple(params['reps'])
    width = max(x.ndim, len(reps))
    shape = (1,) * (width - x.ndim) + tuple(x.shape)
    reps = (1,) * (width - len(reps)) + reps
    mixed = tuple(n for pair in zip(reps, shape) for n in pair)
    parts = F.reshape(ograds[0], shape=mixed)
    return (F.reshape(F.sum(parts, axis=tuple(range(0, 2 * width, 2)), keepdims=True), shape=x.shape),)


@register('tile', params={'reps': Shape(doc='how often along each axis')}, grad=_tile_grad,
          samples=((((2, 3),), {'reps': (2, 1)}), (((3,),), {'reps': (2, 2)})))
def _tile(xp: Any, data: Any, reps: Any = ()) -> Any:
    """The array laid side by side with itself."""
    if 0 in reps and not semantics.shape:
        raise shape_error('tile', [data.shape], f'reps {reps} give an array without elements')
    return xp.tile(data, reps)


def _repeat_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    x, axis, n = inputs[0], params['axis'], params['repeats']
    if axis is None:
        return (F.reshape(F.sum(F.reshape(ograds[0], shape=(-1, n)), axis=1), shape=x.shape),)
    axis %= x.ndim
    parts = F.reshape(ograds[0], shape=x.shape[:axis + 1] + (n,) + x.shape[axis + 1:])
    return (F.reshape(F.sum(parts, axis=axis + 1), shape=x.shape),)


@register('repeat', params={'repeats': Int(), 'axis': Int(None, none=True)}, grad=_repeat_grad,
          samples=((((2, 3),), {'repeats': 2}), (((2, 3),), {'repeats': 2, 'axis': 1})))
def _repeat(xp: Any, data: Any, repeats: int = 1, axis: Any = None) -> Any:
    """Each element repeated; without an axis the result is flat."""
    return xp.repeat(data, repeats, axis=axis)


def _pad_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    x, width = inputs[0], params['pad_width']
    if params['mode'] == 'constant':
        begin = tuple(width[0::2])
        end = tuple(b + n for b, n in zip(begin, x.shape))
        return (F.slice(ograds[0], begin=begin, end=end),)
    return (F._pad_backward(ograds[0], x, mode=params['mode'], pad_width=width),)


_PAD = {'mode': Enum(('constant', 'edge', 'reflect')), 'pad_width': Shape(doc='before and after for each axis')}


@register('pad', 'Pad', params={**_PAD, 'constant_value': Float(0.0)},
          grad=_pad_grad, samples=(
    (((1, 2, 2, 3),), {'mode': 'constant', 'pad_width': (0, 0, 0, 0, 1, 0, 2, 1)}),
    (((1, 1, 3, 3),), {'mode': 'edge', 'pad_width': (0, 0, 0, 0, 1, 1, 0, 2)}),
    (((1, 1, 3, 3),), {'mode': 'reflect', 'pad_width': (0, 0, 0, 0, 1, 1, 2, 1)})), rules=('ND-PAD-001',))
def _pad(xp: Any, data: Any, mode: str = 'constant', pad_width: tuple[int, ...] = (),
         constant_value: float = 0.0) -> Any:
    """A border around height and width (and depth) of a 4-d or 5-d array."""
    if data.ndim not in (4, 5):
        raise MXNetError(f'Operator Pad: only 4-d and 5-d input is supported, got {data.ndim} dimensions')
    if len(pad_width) != 2 * data.ndim or any(pad_width[:4]):
        raise MXNetError(f'Operator Pad: pad_width must have {2 * data.ndim} numbers of which the first four are 0, '
                         f'got {pad_width}')
    if min(pad_width) < 0:
        raise MXNetError(f'Operator Pad: pad_width must have numbers in the range from 0, got {pad_width}')
    pairs = list(zip(pad_width[0::2], pad_width[1::2]))
    if mode == 'reflect' and any(max(pair) >= size for pair, size in zip(pairs, data.shape)):
        raise MXNetError(f'Operator Pad: reflection padding only supports padding sizes smaller than the input size, '
                         f'got pad_width {pad_width} for shape {data.shape}')
    if mode == 'constant':
        return xp.pad(data, pairs, mode='constant', constant_values=number(data.dtype, constant_value))
    return xp.pad(data, pairs, mode=mode)


@register('_pad_backward', inputs=('data', 'like'), params=_PAD, grad=lambda F, ograds, inputs, outputs, params: (
    F.pad(ograds[0], mode=params['mode'], pad_width=params['pad_width']), None))
def _pad_backward(xp: Any, data: Any, like: Any, mode: str = 'edge', pad_width: tuple[int, ...] = ()) -> Any:
    """The sum of a padded gradient over all places that show one element."""
    pairs = list(zip(pad_width[0::2], pad_width[1::2]))
    places = np.pad(np.arange(like.size).reshape(like.shape), pairs, mode=mode).reshape(-1)
    result = xp.zeros(like.size, data.dtype)
    xp.add.at(result, xp.asarray(places), data.reshape(-1))
    return result.reshape(like.shape)


# ---- broadcasting to a shape -------------------------------------------------------------------------------------

def _to(name: str, xp: Any, data: Any, shape: tuple[int, ...]) -> Any:
    if len(shape) != data.ndim:
        raise MXNetError(f'Operator {name}: operand of shape {shape_text(data.shape)} cannot be broadcasted to '
                         f'{shape_text(shape)}')
    shape = tuple(m or n for m, n in zip(shape, data.shape))
    if any(a not in (1, b) for a, b in zip(data.shape, shape)):
        raise MXNetError(f'Operator {name}: Array cannot be broadcasted from {shape_text(data.shape)} to '
                         f'{shape_text(shape)}')
    return xp.broadcast_to(data, shape).copy()


def _sum_back(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, ...]:
    return (F._sum_like(ograds[0], inputs[0]), *(None for _ in inputs[1:]))


@register('broadcast_to', params={'shape': Shape((), 'the new shape; 0 keeps a length')}, grad=_sum_back,
          samples=((((2, 1),), {'shape': (2, 3)}), (((1, 3),), {'shape': (2, 0)})),
          rules=('BCAST-TO-001', 'BCAST-TO-002'))
def _broadcast_to(xp: Any, data: Any, shape: tuple[int, ...] = ()) -> Any:
    """Axes of length 1 repeated up to a shape of the same number of dimensions."""
    return _to('broadcast_to', xp, data, shape)


@register('broadcast_axis', 'broadcast_axes', params={'axis': Shape(()), 'size': Shape(())}, grad=_sum_back,
          samples=((((2, 1),), {'axis': 1, 'size': 3}), (((1, 2, 1),), {'axis': (0, 2), 'size': (2, 3)})),
          rules=('BCAST-AXIS-001',))
def _broadcast_axis(xp: Any, data: Any, axis: Any = (), size: Any = ()) -> Any:
    """Given axes of length 1 repeated."""
    axis = (axis,) if isinstance(axis, int) else axis
    size = (size,) if isinstance(size, int) else size
    if len(axis) != len(size):
        raise MXNetError(f'Operator broadcast_axis: axis and size must have the same length, got {axis} and {size}')
    shape = list(data.shape)
    for a, n in zip(axis, size):
        if not 0 <= a < data.ndim:
            raise MXNetError(f'Operator broadcast_axis: axis {a} is out of range for {data.ndim} dimensions')
        if shape[a] != 1:
            raise MXNetError(f'Operator broadcast_axis: Broadcasting axis must have size 1, got {shape[a]} at axis {a}')
        shape[a] = n
    return xp.broadcast_to(data, shape).copy()


@register('broadcast_like', inputs=('lhs', 'rhs'), mixed=True, params={'lhs_axes': Axes(None), 'rhs_axes': Axes(None)},
          grad=_sum_back, samples=((((2, 1), (2, 3)), {}), (((2, 1), (5, 4)), {'lhs_axes': (1,), 'rhs_axes': (1,)})),
          rules=('BCAST-TO-005',))
def _broadcast_like(xp: Any, lhs: Any, rhs: Any, lhs_axes: Any = None, rhs_axes: Any = None) -> Any:
    """Axes of length 1 repeated up to the shape of another array, or to some axes of it."""
    if lhs_axes is None and rhs_axes is None:
        return _to('broadcast_like', xp, lhs, rhs.shape)
    if lhs_axes is None or rhs_axes is None or len(lhs_axes) != len(rhs_axes):
        raise MXNetError(f'Operator broadcast_like: lhs_axes and rhs_axes must have the same length, got {lhs_axes} '
                         f'and {rhs_axes}')
    shape = list(lhs.shape)
    for a, b in zip(lhs_axes, rhs_axes):
        a = normal_axis(a, lhs.ndim, f'Operator broadcast_like: axis {a} is out of range for {lhs.ndim} dimensions')
        b = normal_axis(b, rhs.ndim, f'Operator broadcast_like: axis {b} is out of range for {rhs.ndim} dimensions')
        if lhs.shape[a] != 1:
            raise MXNetError(f'Operator broadcast_like: Input axis {a} of length {lhs.shape[a]} cannot be broadcasted '
                             f'to {rhs.shape[b]}: axes that are named in lhs_axes have length 1')
        shape[a] = rhs.shape[b]
    return _to('broadcast_like', xp, lhs, tuple(shape))
