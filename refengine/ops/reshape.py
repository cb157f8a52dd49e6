"""Operators that give the same elements another shape or order."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..base import MXNetError, shape_text
from ..op import Axes, Bool, Enum, Float, Int, Shape, normal_axis, register, shape_error
from ..util import semantics


class ReshapeError(MXNetError, ValueError):
    """A shape with another number of elements; the releases raise sometimes the one class, sometimes the other."""


# ---- shape arithmetic --------------------------------------------------------------------------------------------

def target_shape(source: tuple[int, ...], codes: tuple[int, ...], reverse: bool = False) -> tuple[int, ...]:
    """The shape that the codes 0, -1, -2, -3 and -4 give for a source shape (rules ND-RESHAPE-004 to -007)."""
    if not reverse and prod(codes) == prod(source) and codes and min(codes) > 0:
        return tuple(codes)
    if reverse:
        source, codes = source[::-1], _reversed_codes(tuple(codes))
    codes = tuple(int(c) for c in codes)
    result: list[int] = []
    position = index = 0
    inferred = None
    while index < len(codes):
        code = codes[index]
        if code == 0 and not (semantics.shape and position >= len(source)):
            if position >= len(source):
                raise MXNetError(f'reshape code 0 at position {index} has no source dimension in {shape_text(source)}')
            result.append(source[position])
            position += 1
        elif code == -1:
            if inferred is not None:
                raise MXNetError('One and only one dim can be inferred')
            inferred = len(result)
            result.append(1)
            position += 1
        elif code == -2:
            result.extend(source[position:])
            position = len(source)
        elif code == -3:
            if position + 1 >= len(source):
                raise MXNetError(f'reshape code -3 needs two more source dimensions of {shape_text(source)}')
            result.append(source[position] * source[position + 1])
            position += 2
        elif code == -4:
            if index + 2 >= len(codes) or position >= len(source):
                raise MXNetError('reshape code -4 must be followed by two dimensions')
            first, second = codes[index + 1], codes[index + 2]
            whole = source[position]
            if reverse:
                first, second = second, first
            if first == -1 and second == -1:
                raise MXNetError('Split dims cannot both be -1.')
            if first == -1:
                first = whole // second if second else 0
            elif second == -1:
                second = whole // first if first else 0
            if first * second != whole:
                raise MXNetError(f'Split dims {first}, {second} do not divide original dim {whole}')
            result.extend((second, first) if reverse else (first, second))
            position += 1
            index += 2
        elif code < -4:
            raise MXNetError(f'shape dim size must be >= -1, but got {code}: reshape knows the codes 0, -1, -2, -3, -4')
        else:
            result.append(code)
            position += 1
        index += 1
    size, known = prod(source), prod(result)
    if inferred is not None:
        if known == 0 or size % known:
            raise _wrong_size(source, codes)
        result[inferred] = size // known
    elif known != size:
        raise _wrong_size(source, codes)
    return tuple(reversed(result)) if reverse else tuple(result)


def _reversed_codes(codes: tuple[int, ...]) -> tuple[int, ...]:
    """The codes from right to left; a split keeps its three numbers together."""
    groups: list[tuple[int, ...]] = []
    index = 0
    while index < len(codes):
        width = 3 if codes[index] == -4 else 1
        groups.append(codes[index:index + width])
        index += width
    return tuple(n for group in reversed(groups) for n in group)


def _wrong_size(source: tuple[int, ...], codes: Any) -> MXNetError:
    size = prod(source)
    wanted = [c for c in codes if c > 0]
    word = 'larger' if wanted and prod(wanted) > size else 'other'
    text = ('target shape size is larger than the current shape' if word == 'larger'
            else 'target shape size is different from the current shape')
    return ReshapeError(f'Cannot reshape array of size {size} into shape {tuple(codes)}: {text} {shape_text(source)}')


def squeezed_shape(shape: tuple[int, ...], axis: Any) -> tuple[int, ...]:
    """The shape without its axes of length 1, or without the given ones; never empty in legacy semantics."""
    if axis is None:
        kept = tuple(n for n in shape if n != 1)
    else:
        axes = (axis,) if isinstance(axis, int) else tuple(axis)
        chosen = {normal_axis(a, len(shape), f'Operator squeeze: axis {a} is out of bounds for array of dimension '
                                             f'{len(shape)}') for a in axes}
        for a in chosen:
            if shape[a] != 1:
                raise MXNetError(f'Operator squeeze: cannot select an axis to squeeze out which has size={shape[a]} '
                                 f'not equal to one')
        kept = tuple(n for i, n in enumerate(shape) if i not in chosen)
    return kept if kept or semantics.shape else (1,)


def _back(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, ...]:
    """The gradient of everything that only changes the shape."""
    return (F.reshape(ograds[0], shape=inputs[0].shape), *(None for _ in inputs[1:]))


@register('reshape', 'Reshape', params={
    'shape': Shape((), 'the new shape, or the codes 0, -1, -2, -3, -4'), 'reverse': Bool(False, 'read codes from the right'),
    'target_shape': Shape((), 'old name'), 'keep_highest': Bool(False, 'old switch')}, grad=_back, samples=(
        (((2, 6),), {'shape': (3, 4)}), (((2, 3, 4),), {'shape': (0, -1)}), (((2, 3, 4),), {'shape': (-3, 4)})),
    rules=('ND-RESHAPE-003', 'ND-RESHAPE-004', 'ND-RESHAPE-005', 'ND-RESHAPE-006', 'ND-RESHAPE-007'))
def _reshape(xp: Any, data: Any, shape: tuple[int, ...] = (), reverse: bool = False,
             target_shape: tuple[int, ...] = (), keep_highest: bool = False) -> Any:
    """The array in another shape.

    0 keeps the dimension at that place, -1 is inferred, -2 copies all that remain, -3 merges two, -4 splits one into
    the two numbers that follow.
    """
    return data.reshape(_reshape_target(data.shape, shape or target_shape, reverse))


_reshape_target = target_shape


@register('reshape_like', inputs=('lhs', 'rhs'), mixed=True, params={
    'lhs_begin': Int(None, none=True), 'lhs_end': Int(None, none=True), 'rhs_begin': Int(None, none=True),
    'rhs_end': Int(None, none=True)}, grad=_back, samples=((((6,), (2, 3)), {}),), rules=('ND-RESHAPE-009',))
def _reshape_like(xp: Any, lhs: Any, rhs: Any, lhs_begin: Any = None, lhs_end: Any = None, rhs_begin: Any = None,
                  rhs_end: Any = None) -> Any:
    """The first array in the shape of the second, or some of its axes in that of some of the second's."""
    left = slice(lhs_begin, lhs_end).indices(lhs.ndim)
    right = slice(rhs_begin, rhs_end).indices(rhs.ndim)
    shape = lhs.shape[:left[0]] + rhs.shape[right[0]:right[1]] + lhs.shape[max(left[1], left[0]):]
    if prod(shape) != lhs.size:
        raise MXNetError(f'Operator reshape_like: cannot reshape array of shape {shape_text(lhs.shape)} like '
                         f'{shape_text(rhs.shape)} because they have different size')
    return lhs.reshape(shape)


@register('Flatten', 'flatten', grad=_back, samples=((((2, 3, 4),), {}),), rules=('ND-RESHAPE-009',))
def _flatten(xp: Any, data: Any) -> Any:
    """All axes but the first merged."""
    return data.reshape(data.shape[0], -1)


@register('expand_dims', params={'axis': Int(doc='where the new axis goes')}, grad=_back,
          samples=((((2, 3),), {'axis': 1}), (((2, 3),), {'axis': -1})), rules=('ND-TRANS-004',))
def _expand_dims(xp: Any, data: Any, axis: int = 0) -> Any:
    """A new axis of length 1."""
    if not -data.ndim - 1 <= axis <= data.ndim:
        raise MXNetError(f'Operator expand_dims: axis must be in the range [{-data.ndim - 1},{data.ndim}], got {axis}')
    return xp.expand_dims(data, axis)


@register('squeeze', params={'axis': Axes(None)}, grad=_back, samples=((((2, 1, 3, 1),), {}), (((2, 1, 3, 1),), {'axis': 1})),
          rules=('ND-TRANS-004',))
def _squeeze(xp: Any, data: Any, axis: Any = None) -> Any:
    """Without the axes of length 1."""
    return data.reshape(squeezed_shape(data.shape, axis))


# ---- order -------------------------------------------------------------------------------------------------------

def _transpose_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    axes = params.get('axes')
    if not axes:
        return (F.transpose(ograds[0]),)
    inverse = [0] * len(axes)
    for place, axis in enumerate(axes):
        inverse[axis] = place
    return (F.transpose(ograds[0], axes=tuple(inverse)),)


@register('transpose', params={'axes': Shape((), 'the new order of the axes; none reverses them')}, grad=_transpose_grad,
          samples=((((2, 3, 4),), {}), (((2, 3, 4),), {'axes': (1, 2, 0)})), rules=('ND-TRANS-002', 'ND-TRANS-003'))
def _transpose(xp: Any, data: Any, axes: tuple[int, ...] = ()) -> Any:
    """The axes in another order."""
    if axes and sorted(axes) != list(range(data.ndim)):
        raise MXNetError(f'Operator transpose: axes {axes} are no permutation of the {data.ndim} axes of the input '
                         f'{shape_text(data.shape)}')
    return xp.ascontiguousarray(data.transpose(axes or None))


@register('swapaxes', 'SwapAxis', params={'dim1': Int(0), 'dim2': Int(0)}, samples=((((2, 3, 4),), {'dim1': 0, 'dim2': 2}),),
          grad=lambda F, ograds, inputs, outputs, params: (
              F.swapaxes(ograds[0], dim1=params['dim1'], dim2=params['dim2']),))
def _swapaxes(xp: Any, data: Any, dim1: int = 0, dim2: int = 0) -> Any:
    """Two axes exchanged."""
    for axis in (dim1, dim2):
        normal_axis(axis, data.ndim, f'Operator SwapAxis: axis {axis} is out of range for {data.ndim} dimensions')
    return xp.ascontiguousarray(data.swapaxes(dim1, dim2))


@register('reverse', 'flip', params={'axis': Shape(doc='the axes to reverse')}, samples=((((2, 3),), {'axis': (1,)}),),
          grad=lambda F, ograds, inputs, outputs, params: (F.reverse(ograds[0], axis=params['axis']),))
def _reverse(xp: Any, data: Any, axis: Any = 0) -> Any:
    """The order of the elements along axes reversed."""
    return xp.ascontiguousarray(xp.flip(data, axis))


def _depth_to_space_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    return (F.space_to_depth(ograds[0], block_size=params['block_size']),)


@register('depth_to_space', params={'block_size': Int()}, grad=_depth_to_space_grad,
          samples=((((1, 4, 2, 3),), {'block_size': 2}),))
def _depth_to_space(xp: Any, data: Any, block_size: int = 1) -> Any:
    """Blocks of channels moved into height and width."""
    n, c, h, w = data.shape
    b = block_size
    if b < 1 or c % (b * b):
        raise MXNetError(f'Operator depth_to_space: {c} channels do not divide into blocks of {b}x{b}')
    parts = data.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)
    return parts.reshape(n, c // (b * b), h * b, w * b)


@register('space_to_depth', params={'block_size': Int()}, samples=((((1, 1, 4, 6),), {'block_size': 2}),),
          grad=lambda F, ograds, inputs, outputs, params: (
              F.depth_to_space(ograds[0], block_size=params['block_size']),))
def _space_to_depth(xp: Any, data: Any, block_size: int = 1) -> Any:
    """Blocks of height and width moved into channels."""
    n, c, h, w = data.shape
    b = block_size
    if b < 1 or h % b or w % b:
        raise MXNetError(f'Operator space_to_depth: {h}x{w} does not divide into blocks of {b}x{b}')
    return data.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4).reshape(n, c * b * b, h // b, w // b)


# ---- joining and parting -----------------------------------------------------------------------------------------

def _concat_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, ...]:
    axis = params['dim'] % inputs[0].ndim
    start, parts = 0, []
    for x in inputs:
        parts.append(F.slice_axis(ograds[0], axis=axis, begin=start, end=start + x.shape[axis]) if x.shape[axis] else None)
        start += x.shape[axis]
    return tuple(parts)


def _check_concat(arrays: Any, params: Any) -> None:
    first = arrays[0]
    dim = normal_axis(params['dim'], first.ndim, f"Operator Concat: the concat axis {params['dim']} exceeds the input "
                                                 f'dimension of {first.ndim}')
    for index, other in enumerate(arrays):
        if other.dtype != first.dtype:
            raise MXNetError(f'Operator Concat: Non-uniform data type in Concat: expected {first.dtype}, got '
                             f'{other.dtype} at {index}-th input')
        if other.ndim != first.ndim or any(i != dim and a != b for i, (a, b) in enumerate(zip(other.shape, first.shape))):
            raise MXNetError(f'Operator Concat: Incompatible input shape: expected {shape_text(first.shape)}, got '
                             f'{shape_text(other.shape)} at {index}-th input, dim={params["dim"]}')


@register('Concat', 'concat', variadic=True, mixed=True, params={'dim': Int(1, 'the axis to join along')},
          grad=_concat_grad, infer=_check_concat, samples=((((2, 3), (2, 1)), {}), (((2, 3), (1, 3)), {'dim': 0})),
          rules=('ND-CONCAT-001',))
def _concat(xp: Any, *data: Any, dim: int = 1) -> Any:
    """Arrays joined along an axis that they have."""
    return xp.concatenate(data, axis=dim)


def _stack_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, ...]:
    axis = params['axis'] % ograds[0].ndim
    return tuple(F.reshape(F.slice_axis(ograds[0], axis=axis, begin=i, end=i + 1), shape=x.shape)
                 for i, x in enumerate(inputs))


def _check_stack(arrays: Any, params: Any) -> None:
    first = arrays[0]
    normal_axis(params['axis'], first.ndim + 1, f"Operator stack: axis {params['axis']} exceeds the input dimension of "
                                                f'{first.ndim}')
    for index, other in enumerate(arrays):
        if other.shape != first.shape:
            raise MXNetError(f'Operator stack: Incompatible attr in node stack at {index}-th input: expected '
                             f'{shape_text(first.shape)}, got {shape_text(other.shape)}')


@register('stack', variadic=True, params={'axis': Int(0, 'where the new axis goes')}, grad=_stack_grad, infer=_check_stack,
          samples=((((2, 3), (2, 3)), {}), (((2, 3), (2, 3)), {'axis': -1})), rules=('ND-CONCAT-003', 'ND-CONCAT-004'))
def _stack(xp: Any, *data: Any, axis: int = 0) -> Any:
    """Arrays of one shape joined along a new axis."""
    return xp.stack(data, axis=axis)


def _split_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    axis = params['axis'] % inputs[0].ndim
    parts = ograds
    if params['squeeze_axis']:
        parts = [F.expand_dims(g, axis=axis) for g in ograds]
    return (F.concat(*parts, dim=axis) if len(parts) > 1 else parts[0],)


@register('SliceChannel', 'split', params={'num_outputs': Int(doc='how many parts', low=1), 'axis': Int(1),
                                           'squeeze_axis': Bool(False, 'drop the axis when each part has length 1')},
          num_outputs=lambda params: params['num_outputs'], grad=_split_grad,
          samples=((((2, 4),), {'num_outputs': 2}), (((2, 3),), {'num_outputs': 2, 'axis': 0, 'squeeze_axis': True})),
          rules=('ND-SPLIT-001',))
def _split(xp: Any, data: Any, num_outputs: int = 1, axis: int = 1, squeeze_axis: bool = False) -> Any:
    """The array parted into equal pieces along an axis."""
    axis = normal_axis(axis, data.ndim, f'Operator SliceChannel: axis {axis} is out of range for {data.ndim} dimensions')
    if data.shape[axis] % num_outputs:
        raise MXNetError(f'Operator SliceChannel: you are trying to split the {axis}-th axis of input tensor with shape '
                         f'{shape_text(data.shape)} into num_outputs={num_outputs} evenly sized chunks, but this is not '
                         f'possible because {num_outputs} does not evenly divide {data.shape[axis]}')
    parts = xp.split(data, num_outputs, axis=axis)
    if squeeze_axis:
        if data.shape[axis] != num_outputs:
            raise MXNetError(f'Operator SliceChannel: squeeze_axis needs parts of length 1, got '
                             f'{data.shape[axis] // num_outputs}')
        parts = [xp.squeeze(p, axis) for p in parts]
    return tuple(xp.ascontiguousarray(p) if p.ndim else p.reshape(1) for p in parts)


def _split_points(params: Any) -> int:
    return params['sections'] if params['sections'] > 0 else len(params['indices'])


def _split_v2_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    axis = params['axis'] % inputs[0].ndim
    parts = [F.expand_dims(g, axis=axis) for g in ograds] if params['squeeze_axis'] else list(ograds)
    return (F.concat(*parts, dim=axis) if len(parts) > 1 else parts[0],)


@register('_split_v2', params={'indices': Shape((), 'where the parts begin, 0 first'), 'axis': Int(1),
                               'squeeze_axis': Bool(False), 'sections': Int(0)}, num_outputs=_split_points,
          grad=_split_v2_grad, samples=((((2, 5),), {'indices': (0, 1, 3), 'axis': 1}),), rules=('ND-SPLIT-001',))
def _split_v2(xp: Any, data: Any, indices: tuple[int, ...] = (), axis: int = 1, squeeze_axis: bool = False,
              sections: int = 0) -> Any:
    """The array parted at given places along an axis."""
    axis = normal_axis(axis, data.ndim, f'Operator split_v2: axis {axis} is out of range for {data.ndim} dimensions')
    if sections > 0:
        if data.shape[axis] % sections:
            raise MXNetError(f'Operator split_v2: {sections} does not evenly divide {data.shape[axis]}')
        parts = xp.split(data, sections, axis=axis)
    else:
        parts = xp.split(data, list(indices[1:]), axis=axis)
    if squeeze_axis:
        parts = [xp.squeeze(p, axis) for p in parts]
    return tuple(xp.ascontiguousarray(p) if p.ndim else p.reshape(1) for p in parts)


# ---- repeating ---------------------------------------------------------------------------------------------------

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
def _pad(xp: Any, data: Any, mode: str = 'constant', pad_width: tuple[int, ...] = (), constant_value: float = 0.0) -> Any:
    """A border around height and width (and depth) of a 4-d or 5-d array."""
    if data.ndim not in (4, 5):
        raise MXNetError(f'Operator Pad: only 4-d and 5-d input is supported, got {data.ndim} dimensions')
    if len(pad_width) != 2 * data.ndim or any(pad_width[:4]):
        raise MXNetError(f'Operator Pad: pad_width must have {2 * data.ndim} numbers of which the first four are 0, got '
                         f'{pad_width}')
    pairs = list(zip(pad_width[0::2], pad_width[1::2]))
    if mode == 'constant':
        return xp.pad(data, pairs, mode='constant', constant_values=constant_value)
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
          samples=((((2, 1),), {'shape': (2, 3)}), (((1, 3),), {'shape': (2, 0)})), rules=('BCAST-TO-001', 'BCAST-TO-002'))
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
        raise MXNetError(f'Operator broadcast_like: lhs_axes and rhs_axes must have the same length, got {lhs_axes} and '
                         f'{rhs_axes}')
    shape = list(lhs.shape)
    for a, b in zip(lhs_axes, rhs_axes):
        a = normal_axis(a, lhs.ndim, f'Operator broadcast_like: axis {a} is out of range for {lhs.ndim} dimensions')
        b = normal_axis(b, rhs.ndim, f'Operator broadcast_like: axis {b} is out of range for {rhs.ndim} dimensions')
        shape[a] = rhs.shape[b]
    return _to('broadcast_like', xp, lhs, tuple(shape))
