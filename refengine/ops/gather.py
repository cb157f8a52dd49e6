"""Operators that pick or place elements by position."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import LateError, MXNetError, shape_text
from ..op import Bool, Dtype, Enum, Float, Int, Shape, normal_axis, register
from .binary import element, zero_gradient


def whole_indices(xp: Any, indices: Any) -> Any:
    """Indices as int64; fractions are cut off."""
    return indices if indices.dtype == np.int64 else indices.astype(np.int64)


def _taken(xp: Any, indices: Any, size: int, mode: str) -> Any:
    whole = whole_indices(xp, indices)
    if mode == 'wrap':
        return xp.mod(whole, size)
    return xp.clip(whole, 0, size - 1)


def _take_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, Any]:
    return (F._take_backward(ograds[0], inputs[1], inputs[0], axis=params['axis'], mode=params['mode']),
            F.zeros_like(inputs[1]))


_TAKE = {'axis': Int(0), 'mode': Enum(('clip', 'raise', 'wrap'), 'clip')}


@register('take', inputs=('a', 'indices'), mixed=True, params=_TAKE, grad=_take_grad,
          samples=((((3, 2), 'index:4:3'), {}), (((2, 3), 'index:2:3'), {'axis': 1, 'mode': 'wrap'})),
          rules=('ND-TAKE-001', 'ND-TAKE-002', 'ND-TAKE-003'))
def _take(xp: Any, a: Any, indices: Any, axis: int = 0, mode: str = 'clip') -> Any:
    """Entries of an axis by position; positions out of range are clipped, counted around, or refused."""
    axis = normal_axis(axis, a.ndim,
                       f'Operator take: Axis should be in the range [-{a.ndim}, {a.ndim - 1}], got {axis}')
    result = xp.take(a, _taken(xp, indices, a.shape[axis], mode), axis=axis)
    # As they are given: a fraction beyond either end is outside, although what is left of it would not be.
    if mode == 'raise' and indices.size and (indices.min() < 0 or indices.max() > a.shape[axis] - 1):
        raise LateError(MXNetError('take operator contains indices out of bound'), (result,))
    return result


@register('_take_backward', inputs=('data', 'indices', 'like'), mixed=True, params=_TAKE,
          grad=lambda F, ograds, inputs, outputs, params: (
              F.take(ograds[0], inputs[1], axis=params['axis'], mode=params['mode']), None, None))
def _take_backward(xp: Any, data: Any, indices: Any, like: Any, axis: int = 0, mode: str = 'clip') -> Any:
    """The gradients of taken entries added up where they came from."""
    axis = axis % like.ndim
    places = _taken(xp, indices, like.shape[axis], mode).reshape(-1)
    width = max(indices.ndim, 0)
    source = xp.moveaxis(data.reshape(like.shape[:axis] + (-1,) + like.shape[axis + 1:]), axis, 0) if width != 1 else \
        xp.moveaxis(data, axis, 0)
    result = xp.zeros((like.shape[axis],) + like.shape[:axis] + like.shape[axis + 1:], data.dtype)
    xp.add.at(result, places, source)
    return xp.ascontiguousarray(xp.moveaxis(result, 0, axis))


@register('batch_take', inputs=('a', 'indices'), mixed=True, samples=((((3, 4), 'index:3:4'), {}),),
          grad=lambda F, ograds, inputs, outputs, params: (
              F._pick_backward(ograds[0], inputs[0], inputs[1], axis=1, keepdims=False, mode='clip'), None))
def _batch_take(xp: Any, a: Any, indices: Any) -> Any:
    """One entry per row."""
    return a[xp.arange(a.shape[0]), _taken(xp, indices.reshape(-1), a.shape[1], 'clip')].reshape(indices.shape)


def _picked(xp: Any, data: Any, index: Any, axis: Any, keepdims: bool, mode: str) -> tuple[int, Any]:
    """The axis and the index array with that axis as length 1; MXNetError when the shapes do not fit."""
    axis = normal_axis(axis, data.ndim, f'Operator pick: axis {axis} is out of range for {data.ndim} dimensions')
    reduced = data.shape[:axis] + data.shape[axis + 1:]
    kept = data.shape[:axis] + (1,) + data.shape[axis + 1:]
    if index.shape not in (reduced, kept) and not (not reduced and index.shape == (1,)):
        raise MXNetError(f'Operator pick: Shape inconsistent, Provided = {shape_text(index.shape)}, inferred '
                         f'shape={shape_text(kept if keepdims else reduced)}')
    return axis, _taken(xp, index, data.shape[axis], mode).reshape(kept)


_PICK = {'axis': Int(-1, none=True), 'keepdims': Bool(False), 'mode': Enum(('clip', 'wrap'), 'clip')}


@register('pick', 'choose_element_0index', inputs=('data', 'index'), mixed=True, params=_PICK, rules=('ND-PICK-001',),
          grad=lambda F, ograds, inputs, outputs, params: (
              F._pick_backward(ograds[0], inputs[0], inputs[1], axis=params['axis'], keepdims=params['keepdims'],
                               mode=params['mode']), F.zeros_like(inputs[1])),
          samples=((((3, 4), 'index:3:4'), {}), (((3, 4), 'index:4:3'), {'axis': 0}),
                   (((3, 4), 'index:3:4'), {'keepdims': True})))
def _pick(xp: Any, data: Any, index: Any, axis: Any = -1, keepdims: bool = False, mode: str = 'clip') -> Any:
    """One entry per position along an axis."""
    if axis is None:
        flat = data.reshape(-1)
        return flat[_taken(xp, index, flat.size, mode)].reshape(index.shape)
    axis, places = _picked(xp, data, index, axis, keepdims, mode)
    result = xp.take_along_axis(data, places, axis=axis)
    return result if keepdims else (result.reshape(result.shape[:axis] + result.shape[axis + 1:]) if data.ndim > 1
                                    else result.reshape(1))


@register('_pick_backward', inputs=('data', 'like', 'index'), mixed=True, params=_PICK,
          grad=lambda F, ograds, inputs, outputs, params: (
              F.reshape(F.pick(ograds[0], inputs[2], **{k: params[k] for k in _PICK}), shape=inputs[0].shape), None,
              None))
def _pick_backward(xp: Any, data: Any, like: Any, index: Any, axis: Any = -1, keepdims: bool = False,
                   mode: str = 'clip') -> Any:
    """Zeros with the gradients of picked entries where they came from."""
    result = xp.zeros(like.shape, data.dtype)
    if axis is None:
        xp.add.at(result.reshape(-1), _taken(xp, index, like.size, mode).reshape(-1), data.reshape(-1))
        return result
    axis, places = _picked(xp, like, index, axis, keepdims, mode)
    xp.put_along_axis(result, places, data.reshape(places.shape), axis=axis)
    return result


def _nd_places(name: str, xp: Any, indices: Any, shape: tuple[int, ...]) -> tuple[tuple[Any, ...], Exception | None]:
    """Index arrays for the leading axes, negative ones counted from the end, and the error of the first bad one."""
    parts, error = [], None
    for axis in range(indices.shape[0]):
        whole = whole_indices(xp, indices[axis])
        size = shape[axis]
        if error is None and whole.size and (int(whole.min()) < -size or int(whole.max()) >= size):
            bad = int(whole.max()) if int(whole.max()) >= size else int(whole.min())
            error = IndexError(f'index {bad} is out of bounds for axis {axis} with size {size}')
        parts.append(xp.clip(xp.where(whole < 0, whole + size, whole), 0, size - 1))
    return tuple(parts), error


def _check_nd(name: str, arrays: Any) -> None:
    data, indices = arrays
    if indices.ndim < 2:
        raise MXNetError(f'Operator {name}: {name} requires index tensor to have at least 2 dimensions, got '
                         f'{shape_text(indices.shape)}')
    if indices.shape[0] > data.ndim:
        raise MXNetError(f'Operator {name}: Number of indices exceeds data dimension: {indices.shape[0]} > {data.ndim}')


@register('gather_nd', inputs=('data', 'indices'), mixed=True,
          infer=lambda arrays, params: _check_nd('gather_nd', arrays), grad=lambda F, ograds, inputs, outputs, params: (
              F._gather_nd_backward(ograds[0], inputs[1], inputs[0]), F.zeros_like(inputs[1])),
          samples=((((3, 4), 'index:2x5:3'), {}), (((3, 4), 'index:1x2:3'), {})), rules=('ND-GATHER-001',))
def _gather_nd(xp: Any, data: Any, indices: Any) -> Any:
    """Entries whose coordinates stand in the columns of the index array."""
    places, error = _nd_places('gather_nd', xp, indices, data.shape)
    result = data[places]
    if error is not None:
        raise LateError(error, (result,))
    return result


@register('_gather_nd_backward', inputs=('data', 'indices', 'like'), mixed=True,
          grad=lambda F, ograds, inputs, outputs, params: (F.gather_nd(ograds[0], inputs[1]), None, None))
def _gather_nd_backward(xp: Any, data: Any, indices: Any, like: Any) -> Any:
    """The gradients of gathered entries added up where they came from."""
    result = xp.zeros(like.shape, data.dtype)
    places, _ = _nd_places('gather_nd', xp, indices, like.shape)
    xp.add.at(result, places, data.reshape(result[places].shape))
    return result


def _check_scatter(data: Any, indices: Any, shape: tuple[int, ...]) -> None:
    if indices.ndim < 2 or indices.shape[0] > len(shape) or data.shape != indices.shape[1:] + shape[indices.shape[0]:]:
        raise MXNetError(f'Operator scatter_nd: Invalid data, indices, and output shape combination for scatter_nd: '
                         f'{shape_text(data.shape)}, {shape_text(indices.shape)}, {shape_text(shape)}')


@register('scatter_nd', inputs=('data', 'indices'), mixed=True, params={'shape': Shape()}, rules=('ND-SCATTER-001',),
          grad=lambda F, ograds, inputs, outputs, params: (F.gather_nd(ograds[0], inputs[1]), F.zeros_like(inputs[1])),
          samples=(((((2,)), 'fixed:[[0, 1], [1, 2]]'), {'shape': (2, 3)}),))
def _scatter_nd(xp: Any, data: Any, indices: Any, shape: tuple[int, ...] = ()) -> Any:
    """Zeros with entries at the coordinates in the columns of the index array; the last of equal ones wins."""
    _check_scatter(data, indices, shape)
    result = xp.zeros(shape, data.dtype)
    places, _ = _nd_places('scatter_nd', xp, indices, shape)
    result[places] = data
    return result


@register('_backward_gather_nd', '_scatter_add_nd', inputs=('data', 'indices'), mixed=True, params={'shape': Shape()},
          grad=lambda F, ograds, inputs, outputs, params: (F.gather_nd(ograds[0], inputs[1]), F.zeros_like(inputs[1])))
def _scatter_add_nd(xp: Any, data: Any, indices: Any, shape: tuple[int, ...] = ()) -> Any:
    """Zeros with entries added at the coordinates in the columns of the index array."""
    _check_scatter(data, indices, shape)
    result = xp.zeros(shape, data.dtype)
    places, _ = _nd_places('scatter_nd', xp, indices, shape)
    xp.add.at(result, places, data)
    return result


@register('one_hot', inputs=('indices',), params={'depth': Int(), 'on_value': Float(1.0), 'off_value': Float(0.0),
                                                  'dtype': Dtype('float32')}, grad=zero_gradient,
          rules=('ND-ONEHOT-001',))
def _one_hot(xp: Any, indices: Any, depth: int = 1, on_value: float = 1.0, off_value: float = 0.0,
             dtype: Any = 'float32') -> Any:
    """A row per index with on_value at its position; an index out of range gives a row of off_value."""
    if depth < 0:
        raise MXNetError(f'Operator one_hot: depth must be a non-negative integer, got {depth}')
    whole = whole_indices(xp, indices)
    hit = whole[..., None] == xp.arange(depth)
    kind = np.dtype(dtype)
    return xp.where(hit, element(kind, on_value), element(kind, off_value))
