"""Operators that select by a condition, cut values off, or work on diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import storage
from ..base import LateError, MXNetError, shape_text
from ..op import Bool, Float, Int, register
from .gather import whole_indices


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


def _held(bound: float, kind: Any) -> Any:
    """The bound as an integer of a type, or the end of its range that is nearest."""
    info = np.iinfo(kind)
    return kind(info.min if bound <= info.min else info.max if bound >= info.max else bound)


@register('clip', params={'a_min': Float(), 'a_max': Float()}, grad=_clip_grad, rules=('ND-CLIP-001',),
          samples=((((2, 3),), {'a_min': -0.4, 'a_max': 0.3}),))
def _clip(xp: Any, data: Any, a_min: float = 0.0, a_max: float = 0.0, out: Any = None) -> Any:
    """Elements below a_min raised to it and above a_max lowered to it; NaN stays."""
    kind = data.dtype.type
    low, high = (kind(a_min), kind(a_max)) if data.dtype.kind == 'f' else (_held(a_min, kind), _held(a_max, kind))
    if low > high:      # the upper bound is looked at first
        return xp.where(data > high, high, xp.where(data < low, low, data))
    if out is not None and (out.shape != data.shape or out.dtype != data.dtype):
        out = None
    if out is None and xp is np and data.nbytes >= storage.LARGE:
        out = storage.empty_in_order(data.shape, data.dtype, data)
    return xp.clip(data, low, high, out=out)


@register('_contrib_boolean_mask', inputs=('data', 'index'), mixed=True, params={'axis': Int(0)},
          rules=('ND-CONTRIB-001',), grad=lambda F, ograds, inputs, outputs, params: (
              F._boolean_mask_backward(ograds[0], inputs[1], inputs[0], axis=params['axis']), F.zeros_like(inputs[1])),
          samples=((((3, 2), 'fixed:[1, 0, 1]'), {}),))
def _boolean_mask(xp: Any, data: Any, index: Any, axis: int = 0) -> Any:
    """The entries along an axis whose mask is not zero."""
    if index.ndim != 1 or index.shape[0] != data.shape[axis]:
        raise MXNetError(f'Operator _contrib_boolean_mask: the index has shape {shape_text(index.shape)}, expected '
                         f'[{data.shape[axis]}]')
    return xp.compress(index != 0, data, axis=axis)


@register('_boolean_mask_backward', inputs=('data', 'index', 'like'), mixed=True, params={'axis': Int(0)},
          any_shape=True, grad=lambda F, ograds, inputs, outputs, params: (
              F._contrib_boolean_mask(ograds[0], inputs[1], axis=params['axis']), None, None))
def _boolean_mask_backward(xp: Any, data: Any, index: Any, like: Any, axis: int = 0) -> Any:
    """Zeros with the gradients of kept entries where they came from."""
    result = xp.zeros(like.shape, data.dtype)
    result[(slice(None),) * (axis % like.ndim) + (index != 0,)] = data
    return result


@register('_contrib_index_copy', inputs=('old_tensor', 'index_vector', 'new_tensor'), mixed=True,
          rules=('ND-CONTRIB-002',), grad=lambda F, ograds, inputs, outputs, params: (
              F._contrib_index_copy(ograds[0], inputs[1], F.zeros_like(inputs[2])), None,
              F.take(ograds[0], inputs[1], axis=0, mode='clip')),
          samples=((((3, 2), 'fixed:[2, 0]', (2, 2)), {}),))
def _index_copy(xp: Any, old_tensor: Any, index_vector: Any, new_tensor: Any) -> Any:
    """A copy of the old array with given rows replaced."""
    result = old_tensor.copy()
    result[whole_indices(xp, index_vector)] = new_tensor
    return result


@register('_contrib_allclose', inputs=('a', 'b'), params={'rtol': Float(1e-5), 'atol': Float(1e-8),
                                                          'equal_nan': Bool(True)}, rules=('ND-CONTRIB-002',))
def _allclose(xp: Any, a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = True) -> Any:
    """1 if all elements are close, else 0, as uint8."""
    return xp.asarray(xp.allclose(a, b, rtol, atol, equal_nan), dtype=np.uint8)


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
