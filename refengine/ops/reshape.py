"""Operators that give the same elements another shape."""

from __future__ import annotations

from math import prod
from typing import Any

from ..base import MXNetError, shape_text
from ..op import Axes, Bool, Int, Shape, normal_axis, register
from ..util import semantics


class ReshapeError(MXNetError, ValueError):
    """A shape with another number of elements; the releases raise sometimes the one class, sometimes the other."""


# ---- shape arithmetic --------------------------------------------------------------------------------------------

def target_shape(source: tuple[int, ...], codes: tuple[int, ...], reverse: bool = False) -> tuple[int, ...]:
    """The shape that the codes 0, -1, -2, -3 and -4 give for a source shape (rules ND-RESHAPE-004 to -007).

    With ``reverse`` the source and the codes are read from right to left, so that the two factors of a split stand
    before their -4.
    """
    if not reverse and prod(codes) == prod(source) and codes and min(codes) > 0:
        return tuple(codes)
    if reverse:
        source, codes = source[::-1], tuple(codes)[::-1]
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
            if first == -1 and second == -1:
                raise MXNetError('Split dims cannot both be -1.')
            if first == -1:
                first = whole // second if second else 0
            elif second == -1:
                second = whole // first if first else 0
            if first * second != whole:
                raise MXNetError(f'Split dims {first}, {second} do not divide original dim {whole}')
            result.extend((first, second))
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


def _wrong_size(source: tuple[int, ...], codes: Any) -> MXNetError:
    size = prod(source)
    wanted = [c for c in codes if c > 0]
    word = 'larger' if wanted and prod(wanted) > size else 'other'
    text = ('target shape size is larger than the current shape' if word == 'larger'
            else 'target shape size is different from the current shape')
    return ReshapeError(f'Cannot reshape array of size {size} into shape {tuple(codes)}: {text} {shape_text(source)}')


def squeezed_shape(shape: tuple[int, ...], axis: Any) -> tuple[int, ...]:
    """The shape without its axes of length 1, or without the given ones; never empty."""
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
    return kept or (1,)


def _back(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, ...]:
    """The gradient of everything that only changes the shape."""
    return (F.reshape(ograds[0], shape=inputs[0].shape), *(None for _ in inputs[1:]))


@register('reshape', 'Reshape', params={
    'shape': Shape((), 'the new shape, or the codes 0, -1, -2, -3, -4'),
    'reverse': Bool(False, 'read codes from the right'),
    'target_shape': Shape((), 'the new shape in the old way: 0 is inferred'),
    'keep_highest': Bool(False, 'with target_shape: the first dimension stays')}, grad=_back, samples=(
        (((2, 6),), {'shape': (3, 4)}), (((2, 3, 4),), {'shape': (0, -1)}), (((2, 3, 4),), {'shape': (-3, 4)})),
    rules=('ND-RESHAPE-003', 'ND-RESHAPE-004', 'ND-RESHAPE-005', 'ND-RESHAPE-006', 'ND-RESHAPE-007'))
def _reshape(xp: Any, data: Any, shape: tuple[int, ...] = (), reverse: bool = False,
             target_shape: tuple[int, ...] = (), keep_highest: bool = False) -> Any:
    """The array in another shape.

    0 keeps the dimension at that place, -1 is inferred, -2 copies all that remain, -3 merges two, -4 splits one into
    the two numbers that follow. ``target_shape`` is the old way, in which 0 is what is inferred.
    """
    if shape or not (target_shape or keep_highest):
        return data.reshape(_reshape_target(data.shape, shape, reverse))
    return data.reshape(_old_target(data.shape, target_shape, keep_highest))


_reshape_target = target_shape


def _old_target(source: tuple[int, ...], target: tuple[int, ...], keep_highest: bool) -> tuple[int, ...]:
    """The shape that a target with at most one 0 means, with the first dimension of the source where that is kept.

    >>> _old_target((2, 6), (4, 0), False), _old_target((2, 6), (0, 3, 0), True)
    ((4, 3), (2, 3, 2))
    """
    if keep_highest:
        if not target:
            raise MXNetError('Operator Reshape: keep_highest needs a target_shape, index = 0 must be in range [0, 0)')
        target = (source[0] if source else 1, *target[1:])
    if min(target, default=0) < 0:
        raise MXNetError(f'Operator Reshape: the dimensions of target_shape must be 0 or larger, got {target}: the '
                         f'codes -1 to -4 are those of shape')
    inferred = [i for i, n in enumerate(target) if n == 0 and (i or not keep_highest)]
    if len(inferred) > 1:
        raise MXNetError(f'Operator Reshape: one dimension of target_shape may be 0 and is inferred, got {target}')
    known = prod(n for i, n in enumerate(target) if i not in inferred)
    if (inferred and (known == 0 or prod(source) % known)) or (not inferred and known != prod(source)):
        raise _wrong_size(source, target)
    return tuple(prod(source) // known if i in inferred else n for i, n in enumerate(target))


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


@register('squeeze', params={'axis': Axes(None)}, grad=_back,
          samples=((((2, 1, 3, 1),), {}), (((2, 1, 3, 1),), {'axis': 1})),
          rules=('ND-TRANS-004',))
def _squeeze(xp: Any, data: Any, axis: Any = None) -> Any:
    """Without the axes of length 1."""
    return data.reshape(squeezed_shape(data.shape, axis))
