"""Operators that pick or place elements: slices, gathers, scatters, masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import LateError, MXNetError, shape_text
from ..op import Bool, Dtype, Enum, Field, Float, Int, OptionalInts, Shape, normal_axis, register
from .binary import zero_gradient

# ---- slices ------------------------------------------------------------------------------------------------------

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
    (((3, 4),), {'begin': (1, 0), 'end': (3, 2)}), (((3, 4),), {'begin': (None, 3), 'end': (None, 0), 'step': (2, -1)})))
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
        raise MXNetError(f'Operator slice_axis: Invalid begin, end, get begin={begin}, end={end} for axis {axis} of size '
                         f'{size}')
    return axis, low, high


def _slice_axis_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    axis, low, high = _axis_bounds(inputs[0], params['axis'], params['begin'], params['end'])
    begin, end = (None,) * axis + (low,), (None,) * axis + (high,)
    return (F._slice_backward(ograds[0], inputs[0], begin=begin, end=end),)


@register('slice_axis', params={'axis': Int(), 'begin': Int(), 'end': Int(None, none=True)}, grad=_slice_axis_grad,
          samples=((((2, 4),), {'axis': 1, 'begin': 1, 'end': 3}), (((2, 4),), {'axis': -1, 'begin': -2, 'end': None})),
          rules=('ND-INDEX-018',))
def _slice_axis(xp: Any, data: Any, axis: int = 0, begin: int = 0, end: Any = None) -> Any:
    """A part along one axis."""
    axis, low, high = _axis_bounds(data, axis, begin, end)
    return xp.ascontiguousarray(data[(slice(None),) * axis + (slice(low, high),)])


def _slice_like_bounds(data: Any, like: Any, axes: Any) -> tuple[int, ...]:
    if axes:
        chosen = [a % data.ndim for a in axes]
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


# ---- gathers -----------------------------------------------------------------------------------------------------

def _whole_indices(xp: Any, indices: Any) -> Any:
    return indices if indices.dtype == np.int64 else indices.astype(np.int64)


def _taken(xp: Any, indices: Any, size: int, mode: str) -> Any:
    whole = _whole_indices(xp, indices)
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
    axis = normal_axis(axis, a.ndim, f'Operator take: Axis should be in the range [-{a.ndim}, {a.ndim - 1}], got {axis}')
    result = xp.take(a, _taken(xp, indices, a.shape[axis], mode), axis=axis)
    if mode == 'raise' and indices.size:
        whole = _whole_indices(xp, indices)
        if int(whole.min()) < 0 or int(whole.max()) >= a.shape[axis]:
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
              F.reshape(F.pick(ograds[0], inputs[2], **{k: params[k] for k in _PICK}), shape=inputs[0].shape), None, None))
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
        whole = _whole_indices(xp, indices[axis])
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


@register('gather_nd', inputs=('data', 'indices'), mixed=True, infer=lambda arrays, params: _check_nd('gather_nd', arrays),
          grad=lambda F, ograds, inputs, outputs, params: (
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
                                                  'dtype': Dtype('float32')}, grad=zero_gradient, rules=('ND-ONEHOT-001',))
def _one_hot(xp: Any, indices: Any, depth: int = 1, on_value: float = 1.0, off_value: float = 0.0,
             dtype: Any = 'float32') -> Any:
    """A row per index with on_value at its position; an index out of range gives a row of off_value."""
    whole = _whole_indices(xp, indices)
    hit = whole[..., None] == xp.arange(depth)
    kind = np.dtype(dtype).type
    return xp.where(hit, kind(on_value), kind(off_value))


# ---- masks -------------------------------------------------------------------------------------------------------

def _check_where(arrays: Any, params: Any) -> None:
    condition, x, y = arrays
    if x.dtype != y.dtype:
        raise MXNetError(f'Error in operator where: Incompatible attr in node where at 2-th input: expected {x.dtype}, '
                         f'got {y.dtype}')
    if x.shape != y.shape or not (condition.shape == x.shape or condition.shape == x.shape[:1]):
        lines = '\n'.join(shape_text(a.shape) for a in arrays)
        raise MXNetError(f'Operator where inferring shapes failed.\ninput shapes:\n{lines}')


def _where_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, Any, Any]:
    condition, og = inputs[0], ograds[0]
    zero = F.zeros_like(og)
    return F.zeros_like(condition), F.where(condition, og, zero), F.where(condition, zero, og)


def _late_bool(arrays: Any, params: Any) -> None:
    _check_where(arrays, params)
    if arrays[0].dtype == bool:
        raise LateError(MXNetError('Operator where: the condition must be numeric, expected a number type, got bool'),
                        (arrays[1].copy(),))


@register('where', inputs=('condition', 'x', 'y'), mixed=True, infer=_late_bool, grad=_where_grad,
          samples=((('mask:2x3', (2, 3), (2, 3)), {}), (('mask:2', (2, 3), (2, 3)), {})),
          rules=('ND-WHERE-001', 'ND-WHERE-002'))
def _where(xp: Any, condition: Any, x: Any, y: Any) -> Any:
    """Elements of x where the condition is not zero, else of y; a vector selects rows."""
    mask = condition if condition.dtype == bool else condition != 0     # bool comes from gradients only
    if mask.ndim < x.ndim:
        mask = mask.reshape(mask.shape + (1,) * (x.ndim - mask.ndim))
    return xp.where(mask, x, y)


def _clip_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    x = inputs[0]
    return (ograds[0] * (x >= params['a_min']) * (x <= params['a_max']),)


@register('clip', params={'a_min': Float(), 'a_max': Float()}, grad=_clip_grad, rules=('ND-CLIP-001',),
          samples=((((2, 3),), {'a_min': -0.4, 'a_max': 0.3}),))
def _clip(xp: Any, data: Any, a_min: float = 0.0, a_max: float = 0.0) -> Any:
    """Elements below a_min raised to it and above a_max lowered to it; NaN stays."""
    kind = data.dtype.type
    low = kind(a_min) if data.dtype.kind == 'f' else kind(max(a_min, float(np.iinfo(kind).min)))
    high = kind(a_max) if data.dtype.kind == 'f' else kind(min(a_max, float(np.iinfo(kind).max)))
    if low > high:      # the upper bound is looked at first
        return xp.where(data > high, high, xp.where(data < low, low, data))
    return xp.minimum(xp.maximum(data, low), high)


@register('_contrib_boolean_mask', inputs=('data', 'index'), mixed=True, params={'axis': Int(0)}, rules=('ND-CONTRIB-001',),
          grad=lambda F, ograds, inputs, outputs, params: (
              F._boolean_mask_backward(ograds[0], inputs[1], inputs[0], axis=params['axis']), F.zeros_like(inputs[1])),
          samples=((((3, 2), 'fixed:[1, 0, 1]'), {}),))
def _boolean_mask(xp: Any, data: Any, index: Any, axis: int = 0) -> Any:
    """The entries along an axis whose mask is not zero."""
    if index.ndim != 1 or index.shape[0] != data.shape[axis]:
        raise MXNetError(f'Operator _contrib_boolean_mask: the index has shape {shape_text(index.shape)}, expected '
                         f'[{data.shape[axis]}]')
    return xp.compress(index != 0, data, axis=axis)


@register('_boolean_mask_backward', inputs=('data', 'index', 'like'), mixed=True, params={'axis': Int(0)}, any_shape=True,
          grad=lambda F, ograds, inputs, outputs, params: (
              F._contrib_boolean_mask(ograds[0], inputs[1], axis=params['axis']), None, None))
def _boolean_mask_backward(xp: Any, data: Any, index: Any, like: Any, axis: int = 0) -> Any:
    """Zeros with the gradients of kept entries where they came from."""
    result = xp.zeros(like.shape, data.dtype)
    result[(slice(None),) * (axis % like.ndim) + (index != 0,)] = data
    return result


@register('_contrib_index_copy', inputs=('old_tensor', 'index_vector', 'new_tensor'), mixed=True, rules=('ND-CONTRIB-002',),
          grad=lambda F, ograds, inputs, outputs, params: (
              F._contrib_index_copy(ograds[0], inputs[1], F.zeros_like(inputs[2])), None,
              F.take(ograds[0], inputs[1], axis=0, mode='clip')),
          samples=((((3, 2), 'fixed:[2, 0]', (2, 2)), {}),))
def _index_copy(xp: Any, old_tensor: Any, index_vector: Any, new_tensor: Any) -> Any:
    """A copy of the old array with given rows replaced."""
    result = old_tensor.copy()
    result[_whole_indices(xp, index_vector)] = new_tensor
    return result


@register('_contrib_allclose', inputs=('a', 'b'), params={'rtol': Float(1e-5), 'atol': Float(1e-8),
                                                          'equal_nan': Bool(True)}, rules=('ND-CONTRIB-002',))
def _allclose(xp: Any, a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = True) -> Any:
    """1 if all elements are close, else 0, as uint8."""
    return xp.asarray([xp.allclose(a, b, rtol, atol, equal_nan)], dtype=np.uint8)


def _diag_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    return (F._diag_backward(ograds[0], inputs[0], k=params['k'], axis1=params['axis1'], axis2=params['axis2']),)


_DIAG = {'k': Int(0), 'axis1': Int(0), 'axis2': Int(1)}


@register('diag', params=_DIAG, grad=_diag_grad, samples=((((3,),), {}), (((3, 3),), {}), (((3, 4),), {'k': 1})))
def _diag(xp: Any, data: Any, k: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonal of a matrix, or the matrix with a vector as diagonal."""
    if data.ndim == 1:
        return xp.diag(data, k)
    result = xp.diagonal(data, k, axis1, axis2)
    if result.size == 0:
        raise MXNetError(f'Operator diag: there is no diagonal {k} in an array of shape {shape_text(data.shape)}')
    return result.copy()


@register('_diag_backward', inputs=('data', 'like'), params=_DIAG,
          grad=lambda F, ograds, inputs, outputs, params: (F.diag(ograds[0], **{k: params[k] for k in _DIAG}), None))
def _diag_backward(xp: Any, data: Any, like: Any, k: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The gradient of a diagonal where it came from."""
    if like.ndim == 1:
        return xp.diagonal(data, k).copy()
    result = xp.zeros(like.shape, data.dtype)
    moved = xp.moveaxis(result, (axis1, axis2), (-2, -1))
    rows = xp.arange(data.shape[-1])
    moved[..., rows + max(-k, 0), rows + max(k, 0)] = data
    return result
