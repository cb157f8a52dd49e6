"""Operators that give the elements another order: transposes, reversals, blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import storage
from ..base import MXNetError, shape_text
from ..op import Int, Shape, normal_axis, register


def _transpose_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    axes = params.get('axes')
    if not axes:
        return (F.transpose(ograds[0]),)
    inverse = [0] * len(axes)
    for place, axis in enumerate(axes):
        inverse[axis] = place
    return (F.transpose(ograds[0], axes=tuple(inverse)),)


def _ordered(xp: Any, view: Any) -> Any:
    return storage.rowmajor(view) if xp is np else xp.ascontiguousarray(view)


@register('transpose', params={'axes': Shape((), 'the new order of the axes; none reverses them')},
          grad=_transpose_grad,
          samples=((((2, 3, 4),), {}), (((2, 3, 4),), {'axes': (1, 2, 0)})), rules=('ND-TRANS-002', 'ND-TRANS-003'))
def _transpose(xp: Any, data: Any, axes: tuple[int, ...] = ()) -> Any:
    """The axes in another order."""
    if axes and sorted(axes) != list(range(data.ndim)):
        raise MXNetError(f'Operator transpose: axes {axes} are no permutation of the {data.ndim} axes of the input '
                         f'{shape_text(data.shape)}')
    return _ordered(xp, data.transpose(axes or None))


@register('swapaxes', 'SwapAxis', params={'dim1': Int(0), 'dim2': Int(0)},
          samples=((((2, 3, 4),), {'dim1': 0, 'dim2': 2}),), grad=lambda F, ograds, inputs, outputs, params: (
              F.swapaxes(ograds[0], dim1=params['dim1'], dim2=params['dim2']),))
def _swapaxes(xp: Any, data: Any, dim1: int = 0, dim2: int = 0) -> Any:
    """Two axes exchanged."""
    for axis in (dim1, dim2):
        normal_axis(axis, data.ndim, f'Operator SwapAxis: axis {axis} is out of range for {data.ndim} dimensions')
    return _ordered(xp, data.swapaxes(dim1, dim2))


@register('reverse', 'flip', params={'axis': Shape(doc='the axes to reverse')}, samples=((((2, 3),), {'axis': (1,)}),),
          grad=lambda F, ograds, inputs, outputs, params: (F.reverse(ograds[0], axis=params['axis']),))
def _reverse(xp: Any, data: Any, axis: Any = 0) -> Any:
    """The order of the elements along axes reversed."""
    return xp.ascontiguousarray(xp.flip(data, axis))


def _require_image(op: str, data: Any) -> None:
    if data.ndim != 4:
        raise MXNetError(f'Operator {op} requires exactly 4D tensor (batch, channels, height, width), got shape '
                         f'{shape_text(data.shape)}')


def _depth_to_space_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    return (F.space_to_depth(ograds[0], block_size=params['block_size']),)


@register('depth_to_space', params={'block_size': Int()}, grad=_depth_to_space_grad,
          samples=((((1, 4, 2, 3),), {'block_size': 2}),))
def _depth_to_space(xp: Any, data: Any, block_size: int = 1) -> Any:
    """Blocks of channels moved into height and width."""
    _require_image('depth_to_space', data)
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
    _require_image('space_to_depth', data)
    n, c, h, w = data.shape
    b = block_size
    if b < 1 or h % b or w % b:
        raise MXNetError(f'Operator space_to_depth: {h}x{w} does not divide into blocks of {b}x{b}')
    return data.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4).reshape(n, c * b * b, h // b, w // b)
