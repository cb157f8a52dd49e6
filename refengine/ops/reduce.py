"""Reductions over axes: sums, products, extremes, norms and positions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import LateError, MXNetError
from ..op import Axes, Bool, Enum, Int, Operator, Shape, add, register
from ._moments import FAR, minus
from ._sums import total, total_of_products
from .binary import zero_gradient

PARAMS = {'axis': Axes(None, 'the axes to reduce; none or an empty tuple means all'),
          'keepdims': Bool(False, 'keep reduced axes with length 1'),
          'exclude': Bool(False, 'reduce all axes but the given ones')}


def reduced_axes(name: str, shape: tuple[int, ...], axis: Any, exclude: bool = False) -> tuple[int, ...]:
    """The axes to reduce, counted from the front; MXNetError for axes out of range or repeated (ND-REDUCE-003)."""
    ndim = len(shape)
    if axis is None or axis == ():
        return tuple(range(ndim))
    if isinstance(axis, int):
        axis = (axis,)
    chosen = []
    for a in axis:
        if not -ndim <= a < ndim:
            raise MXNetError(f'Operator {name}: axis {a} Exceeds input dimensions of {list(shape)}')
        chosen.append(a + ndim if a < 0 else a)
    if len(set(chosen)) != len(chosen):
        raise MXNetError(f'Operator {name}: Reduction axes have duplicates: {axis}')
    if exclude:
        return tuple(a for a in range(ndim) if a not in chosen)
    return tuple(sorted(chosen))


def _legacy(result: Any, keepdims: bool) -> Any:
    """A full reduction has shape (1,) (rule ND-NPSHAPE-002)."""
    if not hasattr(result, 'ndim') or result.ndim == 0:
        return np.asarray(result).reshape((1,)) if not hasattr(result, 'reshape') else result.reshape((1,))
    return result


def _reduce(name: str, body: Callable[..., Any]) -> Callable[..., Any]:
    def forward(xp: Any, data: Any, axis: Any = None, keepdims: bool = False, exclude: bool = False) -> Any:
        axes = reduced_axes(name, data.shape, axis, exclude)
        if not axes and not name.startswith('nan'):     # these are about the elements as well
            return data.copy() if keepdims or data.ndim else data.reshape((1,)).copy()
        if len(axes) == data.ndim:
            axes = None if not keepdims else axes      # numpy's short way
        return _legacy(body(xp, data, axes, keepdims), keepdims)

    return forward


def _sum(xp: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    if x.dtype == np.float16:
        return x.sum(axis=axis, keepdims=keepdims, dtype=np.float32).astype(np.float16)
    if x.dtype == bool:
        return x.any(axis=axis, keepdims=keepdims)
    return xp.add.reduce(x, axis, x.dtype, None, keepdims)


def _count(x: Any, axis: Any) -> int:
    return x.size if axis is None else int(np.prod([x.shape[a] for a in axis]))


def _mean(xp: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    if x.dtype.kind == 'f':
        # Not xp.mean: that warns for no elements, of which the mean is NaN.
        if x.dtype == np.float16:
            return (xp.add.reduce(x, axis, np.float32, None, keepdims) / np.float32(_count(x, axis))).astype(np.float16)
        return xp.add.reduce(x, axis, None, None, keepdims) / x.dtype.type(_count(x, axis))
    if x.dtype == bool:
        return x.any(axis=axis, keepdims=keepdims)
    total = xp.add.reduce(x, axis, np.int64, None, keepdims)
    return np.trunc(total / _count(x, axis)).astype(x.dtype)


def _extreme(word: str) -> Callable[..., Any]:
    def body(xp: Any, x: Any, axis: Any, keepdims: bool) -> Any:
        if x.size == 0:
            raise MXNetError(f"Operator {word}: Reduction input's size should > 0")
        return getattr(x, word)(axis=axis, keepdims=keepdims)

    return body


def _prod(xp: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    return x.prod(axis=axis, keepdims=keepdims, dtype=x.dtype)


def _nansum(xp: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    return _sum(xp, xp.where(xp.isnan(x), x.dtype.type(0), x), axis, keepdims)


def _nanprod(xp: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    return _prod(xp, xp.where(xp.isnan(x), x.dtype.type(1), x), axis, keepdims)


def _spread(F: Any, gradient: Any, data: Any, params: Any) -> Any:
    """A gradient or result of a reduction, repeated to the shape of the input."""
    if not params.get('keepdims') and gradient.shape != data.shape:
        axes = reduced_axes('reduction', data.shape, params.get('axis'), params.get('exclude', False))
        gradient = F.reshape(gradient, shape=tuple(1 if i in axes else n for i, n in enumerate(data.shape)))
    return gradient if gradient.shape == data.shape else F._expand_like(gradient, data)


def _grad(rule: Callable[..., Any]) -> Callable[..., Any]:
    """From rule(F, og, x, y, n): og and y are spread to the shape of x, n is the number of merged elements."""
    def grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
        x, y = inputs[0], outputs[0]
        og = _spread(F, ograds[0], x, params)
        return (rule(F, og, x, lambda: _spread(F, y, x, params), x.size // max(y.size, 1)),)

    return grad


ROWS: tuple[tuple[str, tuple[str, ...], Callable[..., Any], Callable[..., Any], str], ...] = (
    ('sum', ('sum_axis',), _sum, lambda F, og, x, y, n: og, 'The sum.'),
    ('mean', (), _mean, lambda F, og, x, y, n: og / n, 'The mean.'),
    ('prod', (), _prod, lambda F, og, x, y, n: og * (y() / x), 'The product.'),
    ('max', ('max_axis',), _extreme('max'), lambda F, og, x, y, n: og * (x == y()),
     'The largest element; NaN when there is one. Every largest element gets the full gradient.'),
    ('min', ('min_axis',), _extreme('min'), lambda F, og, x, y, n: og * (x == y()), 'The smallest element.'),
    ('nansum', (), _nansum, lambda F, og, x, y, n: og * (x == x), 'The sum without NaN.'),
    ('nanprod', (), _nanprod, lambda F, og, x, y, n: F.where(x == x, og * (y() / x), F.zeros_like(x)),
     'The product without NaN.'),
)

_SAMPLES = ((((2, 3),), {}), (((2, 3, 2),), {'axis': (0, 2)}), (((2, 3),), {'axis': -1, 'keepdims': True}),
            (((2, 3, 2),), {'axis': 1, 'exclude': True}))

for _name, _aliases, _body, _rule, _doc in ROWS:
    add(Operator(_name, _reduce(_name, _body), aliases=_aliases, params=PARAMS, grad=_grad(_rule), doc=_doc,
                 samples=_SAMPLES, rules=('ND-REDUCE-001', 'ND-REDUCE-002')))


def _integer_norm(xp: Any, data: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """The 2-norm of integers, accumulated in integers over a running scale as the releases do: (3, 4) gives 4."""
    kept = tuple(a for a in range(data.ndim) if a not in axes)
    rows = xp.abs(data.astype(np.int64)).transpose(axes + kept).reshape(-1, *(data.shape[a] for a in kept))
    scale = xp.zeros(rows.shape[1:], np.int64)
    squares = xp.ones(rows.shape[1:], np.int64)
    for row in rows:
        larger = row > scale
        safe = xp.where(row == 0, 1, row)
        grown = 1 + squares * (scale // safe) ** 2
        added = squares + (row // xp.where(scale == 0, 1, scale)) ** 2
        squares = xp.where(larger, grown, xp.where(row == 0, squares, added))
        scale = xp.where(larger, row, scale)
    result = (scale * xp.sqrt(squares)).astype(data.dtype)
    return result.reshape([1 if a in axes else n for a, n in enumerate(data.shape)]) if keepdims else result


def _norm_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    x, y = inputs[0], outputs[0]
    spread = {**params, 'exclude': False}
    og = _spread(F, ograds[0], x, spread)
    if params['ord'] == 1:
        return (og * F.sign(x),)
    return (og * (x / _spread(F, y, x, spread)),)


def _euclidean(xp: Any, x: Any, axes: Any, keepdims: bool) -> Any:
    """The root of the sum of squares; where the squares leave the range of the type, of the scaled elements."""
    squares = total_of_products(xp, x, x, axes)
    root = xp.sqrt(squares)
    limits = np.finfo(x.dtype)
    beyond = (squares < limits.tiny / limits.eps) | (squares == np.inf)
    if x.size and beyond.any():
        scale = xp.abs(x).max(axis=axes, keepdims=True)
        scale = xp.where((scale == 0) | (scale == np.inf), x.dtype.type(1), scale)
        scaled = x / scale
        root = xp.where(beyond, xp.sqrt(total_of_products(xp, scaled, scaled, axes)) * scale, root)
    return root if keepdims else xp.squeeze(root, axis=axes)


@register('norm', params={'ord': Int(2, '1 or 2'), 'axis': Axes(None), 'out_dtype': Enum(
    ('None', 'float16', 'float32', 'float64', 'int32', 'int64', 'int8'), None), 'keepdims': Bool(False)},
    grad=_norm_grad, samples=((((2, 3),), {}), (((2, 3),), {'axis': 1}), (((2, 3),), {'ord': 1, 'axis': 0})),
    rules=('ND-REDUCE-006',))
def _norm(xp: Any, data: Any, ord: int = 2, axis: Any = None, out_dtype: Any = None, keepdims: bool = False) -> Any:
    """The 1-norm or 2-norm over axes."""
    axes = reduced_axes('norm', data.shape, axis)
    if ord not in (1, 2):
        shape = data.sum(axis=axes, keepdims=keepdims).shape or (1,)
        raise LateError(MXNetError('norm only supports ord=1 and ord=2'), (np.zeros(shape, data.dtype),))
    if ord == 1 and data.dtype.kind == 'f' and data.dtype != np.float16:
        result = total(xp, xp.abs(data), axes)
        result = result if keepdims else xp.squeeze(result, axis=axes)
    elif ord == 1:
        result = _sum(xp, xp.abs(data), axes, keepdims)
    elif data.dtype.kind == 'f':
        wide = data.astype(np.float32) if data.dtype == np.float16 else data
        result = _euclidean(xp, wide, axes, keepdims).astype(data.dtype)
    else:
        result = _integer_norm(xp, data, axes, keepdims)
    result = _legacy(xp.asarray(result), keepdims)
    return result if out_dtype is None else result.astype(out_dtype)


def _position(name: str) -> Callable[..., Any]:
    def forward(xp: Any, data: Any, axis: Any = None, keepdims: bool = False) -> Any:
        dtype = data.dtype
        if dtype.kind == 'b':
            raise LateError(MXNetError(f'Operator {name} does not support boolean type'), (np.zeros(1, bool),))
        if axis is None:
            result = xp.asarray(getattr(data.reshape(-1), name)()).astype(dtype)
            return result.reshape((1,) * data.ndim if keepdims else (1,))
        if not -data.ndim <= axis < data.ndim:
            raise MXNetError(f'Operator {name}: axis {axis} exceeds the input dimension of {data.ndim}')
        result = xp.asarray(getattr(data, name)(axis=axis)).astype(dtype)
        if keepdims:
            result = xp.expand_dims(result, axis)
        return _legacy(result, keepdims)

    return forward


for _name in ('argmax', 'argmin'):
    add(Operator(_name, _position(_name), params={'axis': Int(None, none=True), 'keepdims': Bool(False)},
                 grad=zero_gradient, rules=('ND-REDUCE-007',), doc=(
                     f'The position of the {"largest" if _name == "argmax" else "smallest"} element along an axis, in '
                     f'the dtype of the input; the first of equal ones, and a NaN before all.')))


@register('argmax_channel', grad=zero_gradient)
def _argmax_channel(xp: Any, data: Any) -> Any:
    """The position of the largest element along axis 1."""
    return data.argmax(axis=1).astype(data.dtype)


@register('_square_sum', params=PARAMS, grad=_grad(lambda F, og, x, y, n: og * (2 * x)), samples=_SAMPLES)
def _square_sum(xp: Any, data: Any, axis: Any = None, keepdims: bool = False, exclude: bool = False) -> Any:
    """The sum of squares."""
    axes = reduced_axes('_square_sum', data.shape, axis, exclude)
    return _legacy(xp.asarray((data * data).sum(axis=axes, keepdims=keepdims, dtype=data.dtype)), keepdims)


@register('moments', params={'axes': Axes(None), 'keepdims': Bool(False)}, num_outputs=2,
          grad=lambda F, ograds, inputs, outputs, params: (_moments_grad(F, ograds, inputs, outputs, params),),
          samples=((((2, 3),), {'axes': (0,)}), (((2, 3),), {})))
def _moments(xp: Any, data: Any, axes: Any = None, keepdims: bool = False) -> Any:
    """Mean and variance over axes; of integers both are whole numbers, computed from the whole mean."""
    chosen = reduced_axes('moments', data.shape, axes)
    if data.dtype.kind == 'b':
        raise MXNetError('Operator moments does not support boolean type')
    if data.dtype.kind in 'iu':
        wide = data.astype(np.int64)
        count = math.prod(data.shape[axis] for axis in chosen)
        mean = xp.trunc(wide.sum(axis=chosen, keepdims=True) / count)
        variance = xp.trunc(((wide - mean) ** 2).sum(axis=chosen, keepdims=keepdims) / count)
        mean = mean if keepdims else mean.squeeze(axis=chosen)
        return tuple(_legacy(xp.asarray(x).astype(data.dtype), keepdims) for x in (mean, variance))
    wide = data.astype(np.float32) if data.dtype == np.float16 else data
    mean = total(xp, wide, chosen)
    count = wide.dtype.type(data.size // max(mean.size, 1))
    mean /= count
    centre = minus(xp, wide, mean)
    variance = total_of_products(xp, centre, centre, chosen)
    variance /= count
    if _rounded(xp, mean, variance):
        rest = total(xp, centre, chosen)
        rest /= count
        mean, variance = mean + rest, xp.maximum(variance - rest * rest, wide.dtype.type(0))
    return tuple(_legacy(xp.asarray(x if keepdims else xp.squeeze(x, axis=chosen)).astype(data.dtype, copy=False),
                         keepdims) for x in (mean, variance))


def _rounded(xp: Any, mean: Any, variance: Any) -> Any:
    """Whether the rounding of a mean may show in what is centred with it, because it is far from zero: see _moments."""
    if xp is not np:
        return True
    if mean.size <= 64:     # two calls, and a needless yes does no harm
        return mean.size and np.vdot(mean, mean) > FAR * FAR * np.minimum.reduce(variance, axis=None)
    return (mean * mean > FAR * FAR * variance).any()


def _moments_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> Any:
    x = inputs[0]
    spread = {'axis': params['axes'], 'keepdims': params['keepdims']}
    n = x.size // max(outputs[0].size, 1)
    axes = reduced_axes('moments', x.shape, params['axes'])
    kept = tuple(1 if i in axes else size for i, size in enumerate(x.shape))
    centre = F._centred(x, F.reshape(outputs[0], shape=kept), F.reshape(outputs[1], shape=kept), axes=axes)
    return _spread(F, ograds[0], x, spread) / n + _spread(F, ograds[1], x, spread) * centre * (2.0 / n)


def _centred_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, ...]:
    og = ograds[0]
    return F.broadcast_sub(og, F.mean(og, axis=params['axes'], keepdims=True)), None, None


@register('_centred', inputs=('data', 'mean', 'variance'), grad=_centred_grad,
          params={'axes': Shape(doc='the axes of mean and variance, which keep them with length 1')})
def _centred(xp: Any, data: Any, mean: Any, variance: Any, axes: tuple[int, ...] = ()) -> Any:
    """data - mean, and what was left of a mean far from zero because it was rounded."""
    if data.dtype.kind != 'f':
        return data - mean
    wide = data.astype(np.float32) if data.dtype == np.float16 else data
    out = minus(xp, wide, mean)
    if _rounded(xp, mean, variance):
        out -= total(xp, out, axes) / out.dtype.type(data.size // max(mean.size, 1))
    return out.astype(data.dtype, copy=False)


def _cumsum_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    axis = params['axis']
    og = ograds[0]
    if axis is None:
        og, axis = F.reshape(og, shape=(-1,)), 0
        flipped = F.reverse(F.cumsum(F.reverse(og, axis=0), axis=0), axis=0)
        return (F.reshape(flipped, shape=inputs[0].shape),)
    return (F.reverse(F.cumsum(F.reverse(og, axis=axis), axis=axis), axis=axis),)


@register('cumsum', '_np_cumsum', inputs=('a',), params={'axis': Int(None, none=True), 'dtype': Enum(
    ('None', 'float16', 'float32', 'float64', 'int8', 'int32', 'int64'), None)}, grad=_cumsum_grad,
    samples=((((2, 3),), {'axis': 1}), (((2, 3),), {})))
def _cumsum(xp: Any, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """The cumulative sum along an axis; without an axis of the flattened array. Truth values are counted."""
    return xp.cumsum(a, axis=axis, dtype=dtype or (np.int64 if a.dtype == bool else a.dtype))
