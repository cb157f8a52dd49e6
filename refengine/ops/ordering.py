"""Sorting and the largest elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import MXNetError
from ..op import Bool, Dtype, Enum, Int, normal_axis, register
from .binary import zero_gradient

_INDEX_TYPES = ('float16', 'float32', 'float64', 'int32', 'int64', 'uint8')


def _lined(data: Any, axis: Any, name: str) -> tuple[Any, int]:
    """The data and the axis to sort along; without an axis the data is flattened."""
    if axis is None:
        return data.reshape(-1), 0
    return data, normal_axis(axis, data.ndim, f'Operator {name}: Invalid axis! axis should be between 0 and '
                                              f'{data.ndim}, found axis={axis}')


def _order(xp: Any, data: Any, axis: int, ascending: bool) -> Any:
    """Positions in sorted order: equal keys keep their order and NaN stands last when ascending (ND-NAN-001)."""
    if ascending:
        return xp.argsort(data, axis=axis, kind='stable')
    if data.dtype.kind == 'f':
        keys = xp.where(xp.isnan(data), -xp.inf, data)
        keys = -keys
    elif data.dtype.kind == 'b':
        keys = ~data
    else:
        keys = ~data        # order reversing without overflow
    return xp.argsort(keys, axis=axis, kind='stable')


def _scatter(F: Any, gradient: Any, positions: Any, data: Any, axis: Any) -> Any:
    """A gradient of selected elements put back to where they came from."""
    if axis is None:
        flat = F._ordered_backward(F.reshape(gradient, shape=(-1,)), F.reshape(positions, shape=(-1,)),
                                   F.reshape(data, shape=(-1,)), axis=0)
        return F.reshape(flat, shape=data.shape)
    return F._ordered_backward(gradient, positions, data, axis=axis)


@register('_ordered_backward', inputs=('data', 'positions', 'like'), mixed=True, params={'axis': Int(-1)},
          grad=lambda F, ograds, inputs, outputs, params: (F._along(ograds[0], inputs[1], axis=params['axis']), None,
                                                           None))
def _ordered_backward(xp: Any, data: Any, positions: Any, like: Any, axis: int = -1) -> Any:
    """Zeros of the shape of another array with the data at the given positions along an axis."""
    result = xp.zeros(like.shape, data.dtype)
    xp.put_along_axis(result, positions.astype(np.int64), data, axis=axis)
    return result


@register('_along', inputs=('data', 'positions'), mixed=True, params={'axis': Int(-1)},
          grad=lambda F, ograds, inputs, outputs, params: (
              F._ordered_backward(ograds[0], inputs[1], inputs[0], axis=params['axis']), None))
def _along(xp: Any, data: Any, positions: Any, axis: int = -1) -> Any:
    """The elements at the given positions along an axis."""
    return xp.take_along_axis(data, positions.astype(np.int64), axis=axis)


_SORT = {'axis': Int(-1, none=True), 'is_ascend': Bool(True)}


@register('sort', params=_SORT, num_outputs=2, visible=1, rules=('ND-SORT-001',),
          samples=((((2, 4),), {}), (((2, 3),), {'axis': 0, 'is_ascend': False}), (((2, 3),), {'axis': None})),
          grad=lambda F, ograds, inputs, outputs, params: (
              _scatter(F, ograds[0], outputs[1], inputs[0], params['axis']),))
def _sort(xp: Any, data: Any, axis: Any = -1, is_ascend: bool = True) -> Any:
    """The elements in order along an axis; without an axis flattened."""
    lined, place = _lined(data, axis, 'sort')
    order = _order(xp, lined, place, is_ascend)
    return xp.take_along_axis(lined, order, axis=place), order


@register('argsort', params={**_SORT, 'dtype': Dtype('float32', values=_INDEX_TYPES)}, grad=zero_gradient,
          rules=('ND-SORT-001',))
def _argsort(xp: Any, data: Any, axis: Any = -1, is_ascend: bool = True, dtype: Any = 'float32') -> Any:
    """The positions of the elements in order along an axis."""
    lined, place = _lined(data, axis, 'argsort')
    return _order(xp, lined, place, is_ascend).astype(dtype)


_TOPK = {'axis': Int(-1, none=True), 'k': Int(1), 'ret_typ': Enum(('value', 'indices', 'mask', 'both'), 'indices'),
         'is_ascend': Bool(False), 'dtype': Dtype('float32', values=_INDEX_TYPES)}


def _topk_visible(params: dict[str, Any]) -> int:
    return 2 if params['ret_typ'] == 'both' else 1


def _topk_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    if params['ret_typ'] not in ('value', 'both'):
        return (F.zeros_like(inputs[0]),)
    return (_scatter(F, ograds[0], outputs[-1], inputs[0], params['axis']),)


@register('topk', params=_TOPK, visible=_topk_visible, grad=_topk_grad, rules=('ND-TOPK-001', 'ND-TOPK-002'),
          num_outputs=lambda params: _topk_visible(params) + (params['ret_typ'] in ('value', 'both')),
          samples=((((2, 4),), {'k': 2, 'ret_typ': 'value'}), (((2, 3),), {'axis': None, 'k': 2, 'ret_typ': 'value'})))
def _topk(xp: Any, data: Any, axis: Any = -1, k: int = 1, ret_typ: str = 'indices', is_ascend: bool = False,
          dtype: Any = 'float32') -> Any:
    """The k largest (or smallest) elements along an axis: their values, positions, both, or a mask of them."""
    lined, place = _lined(data, axis, 'topk')
    size = lined.shape[place]
    if k > size:
        raise MXNetError(f'Operator topk: k must be smaller than {size}, get k = {k}')
    count = k if k > 0 else size
    order = xp.take(_order(xp, lined, place, is_ascend), xp.arange(count), axis=place)
    if ret_typ == 'indices':
        return order.astype(dtype)
    if ret_typ == 'mask':
        mask = xp.zeros(lined.shape, lined.dtype)
        xp.put_along_axis(mask, order, 1, axis=place)
        return mask.reshape(data.shape)
    values = xp.take_along_axis(lined, order, axis=place)
    if ret_typ == 'value':
        return values, order
    return values, order.astype(dtype), order
