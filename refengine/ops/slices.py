"""Operators that pick a rectangular part of an array."""

from __future__ import annotations

from typing import Any

from ..base import MXNetError, shape_text
from ..op import Field, Int, OptionalInts, Shape, normal_axis, register


def _slices(shape: tuple[int, ...], begin: Any, end: Any, step: Any) -> tuple[slice, ...]:
    step = tuple(step) if step else (None,) * len(begin)
    if not len(begin) == len(end) == len(step):
        raise MXNetError(f'Operator slice: begin, end and step must have the same length, got {begin}, {end}, {step}')
    if len(begin) > len(shape):
        raise MXNetError(f'Operator slice: {len(begin)} bounds for an array of {len(shape)} dimensions')
    for s in step:
        if s == 0:
            raise MXNetError('Operator slice: step must not be 0')
    return tuple(slice(b, e, s) for b, e, s in zip(begin, end, step))


def _slice_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    return (F._slice_backward(ograds[0], inputs[0], begin=params['begin'], end=params['end'], step=params['step']),)


_SLICE = {'begin': OptionalInts(), 'end': OptionalInts(), 'step': OptionalInts(())}


@register('slice', 'crop', params=_SLICE, grad=_slice_grad, rules=('ND-INDEX-018',), samples=(
    (((3, 4),), {'begin': (1, 0), 'end': (3, 2)}),
    (((3, 4),), {'begin': (None, 3), 'end': (None, 0), 'step': (2, -1)})))
def _slice(xp: Any, data: Any, begin: Any = (), end: Any = (), step: Any = ()) -> Any:
    """A rectangular part; None is an open bound."""
    return xp.ascontiguousarray(data[_slices(data.shape, begin, end, step)])


@register('_slice_backward', inputs=('data', 'like'), mixed=True, params=_SLICE, any_shape=True,
          grad=lambda F, ograds, inputs, outputs, params: (
              F.slice(ograds[0], begin=params['begin'], end=params['end'], step=params['step']), None))
def _slice_backward(xp: Any, data: Any, like: Any, begin: Any = (), end: Any = (), step: Any = ()) -> Any:
    """Zeros of the shape of another array with the data in a slice."""
    result = xp.zeros(like.shape, data.dtype)
    result[_slices(like.shape, begin, end, step)] = data
    return result


_KEY = {'key': Field(doc='a key of basic indexing'), 'shape': Shape(())}


@register('_basic_index', params=_KEY, any_shape=True, grad=lambda F, ograds, inputs, outputs, params: (
    F._basic_index_backward(ograds[0], inputs[0], key=params['key'], shape=params['shape']),))
def _basic_index(xp: Any, data: Any, key: Any = (), shape: Any = ()) -> Any:
    """The part selected by integers, slices, None and ellipsis."""
    return xp.asarray(data[key]).reshape(shape).copy()


@register('_basic_index_backward', inputs=('data', 'like'), mixed=True, params=_KEY, any_shape=True,
          grad=lambda F, ograds, inputs, outputs, params: (
              F._basic_index(ograds[0], key=params['key'], shape=params['shape']), None))
def _basic_index_backward(xp: Any, data: Any, like: Any, key: Any = (), shape: Any = ()) -> Any:
    """Zeros of the shape of another array with the data in the selected part."""
    result = xp.zeros(like.shape, data.dtype)
    part = result[key]
    if isinstance(part, type(result)) and part.ndim:
        result[key] = data.reshape(part.shape)
    else:
        result[key] = data.reshape(-1)[0]
    return result


def _axis_bounds(data: Any, axis: int, begin: int, end: Any) -> tuple[int, int, int]:
    axis = normal_axis(axis, data.ndim, f'Operator slice_axis: axis {axis} is out of range for {data.ndim} dimensions')
    size = data.shape[axis]
    low = begin + size if begin < 0 else begin
    high = size if end is None else end + size if end < 0 else end
    if high > size:
        raise MXNetError(f'Operator slice_axis: Invalid end for end={end} as axis {axis} has size {size}')
    if not 0 <= low < high:
        raise MXNetError(f'Operator slice_axis: Invalid begin, end, get begin={begin}, end={end} for axis {axis} of '
                         f'size {size}')
    return axis, low, high


def _slice_axis_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    axis, low, high = _axis_bounds(inputs[0], params['axis'], params['begin'], params['end'])
    begin, end = (None,) * axis + (low,), (None,) * axis + (high,)
    return (F._slice_backward(ograds[0], inputs[0], begin=begin, end=end),)


@register('slice_axis', params={'axis': Int(), 'begin': Int(), 'end': Int(none=True)}, grad=_slice_axis_grad,
          samples=((((2, 4),), {'axis': 1, 'begin': 1, 'end': 3}), (((2, 4),), {'axis': -1, 'begin': -2, 'end': None})),
          rules=('ND-INDEX-018',))
def _slice_axis(xp: Any, data: Any, axis: int = 0, begin: int = 0, end: Any = None) -> Any:
    """A part along one axis."""
    axis, low, high = _axis_bounds(data, axis, begin, end)
    return xp.ascontiguousarray(data[(slice(None),) * axis + (slice(low, high),)])


def _slice_like_bounds(data: Any, like: Any, axes: Any) -> tuple[int, ...]:
    if axes:
        fewest = min(data.ndim, like.ndim)
        chosen = [normal_axis(a, data.ndim, f'Operator slice_like: Slice axis: {a} too small for {data.ndim} dimensions'
                              if a < 0 else f'Operator slice_like: Slice axis: {a} exceeds first input: {data.ndim}')
                  for a in axes]
        for a in chosen:
            normal_axis(a, fewest, f'Operator slice_like: Slice axis: {a} exceeds second input: {like.ndim}')
    else:
        if data.ndim != like.ndim:
            raise MXNetError(f'Operator slice_like: number of dimensions differs: {shape_text(data.shape)} and '
                             f'{shape_text(like.shape)}')
        chosen = list(range(data.ndim))
    for a in chosen:
        if like.shape[a] > data.shape[a]:
            raise MXNetError(f'Operator slice_like: slice axis {a} with size {data.shape[a]} is smaller than the shape '
                             f'{shape_text(like.shape)} asks for')
    return tuple(like.shape[a] if a in chosen else data.shape[a] for a in range(data.ndim))


def _slice_like_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, Any]:
    end = _slice_like_bounds(inputs[0], inputs[1], params['axes'])
    return F._slice_backward(ograds[0], inputs[0], begin=(0,) * len(end), end=end), F.zeros_like(inputs[1])


@register('slice_like', inputs=('data', 'shape_like'), mixed=True, params={'axes': Shape(())}, grad=_slice_like_grad,
          samples=((((3, 4), (2, 3)), {}), (((3, 4), (2, 5)), {'axes': (0,)})))
def _slice_like(xp: Any, data: Any, shape_like: Any, axes: Any = ()) -> Any:
    """The part at the origin that has the shape of another array."""
    bounds = _slice_like_bounds(data, shape_like, axes)
    return xp.ascontiguousarray(data[tuple(slice(0, n) for n in bounds)])


def _assign_params() -> dict[str, Field]:
    return dict(_SLICE)


@register('_slice_assign', inputs=('lhs', 'rhs'), params=_assign_params())
def _slice_assign(xp: Any, lhs: Any, rhs: Any, begin: Any = (), end: Any = (), step: Any = ()) -> Any:
    """A copy of the first array with a slice replaced by the second."""
    result = lhs.copy()
    result[_slices(lhs.shape, begin, end, step)] = rhs
    return result
