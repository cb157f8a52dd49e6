"""Making arrays: from data, from shapes, from numpy without a copy."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

from .. import device, dispatch, storage
from ..base import MXNetError, as_dtype
from ..context import Context, current_context
from ..op import DTYPES, Shape, registry, shape_error
from ..ops.ranges import bounds_of_range, require_rows
from ..util import semantics
from .ndarray import NDArray

_ALLOWED = {np.dtype(d) for d in DTYPES}


def _element_type(dtype: Any) -> np.dtype[Any]:
    """One of the element types of the engine; KeyError for a numpy dtype outside the set (ND-CREATE-008)."""
    result = as_dtype(np.float32 if dtype is None else dtype)
    if result not in _ALLOWED:
        raise KeyError(result.type)
    return result


def _context(ctx: Any) -> Context:
    if ctx is None:
        return current_context()
    if not isinstance(ctx, Context):
        raise AttributeError(f"'{type(ctx).__name__}' object has no attribute 'device_typeid'; "
                             f'a context is made by mx.cpu() or mx.gpu()')
    return ctx


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """A new array with a copy of a list, a numpy array or an NDArray.

    The result is float32 unless dtype says otherwise; only an NDArray passes its dtype on (ND-CREATE-001 to -008).
    Raises TypeError for sources that are no arrays, KeyError for element types that do not exist.

    >>> import refengine as mx
    >>> mx.nd.array([1, 2]).dtype.__name__
    'float32'
    """
    ctx = _context(ctx)
    if isinstance(source_array, NDArray):
        from ..tape import state
        kind = source_array._data.dtype if dtype is None else _element_type(dtype)
        result = source_array if source_array._data.dtype == kind else source_array.astype(kind)
        _ = state
        return result.copyto(ctx)
    kind = _element_type(dtype)
    if not isinstance(source_array, np.ndarray):
        source_array = _from_list(source_array, kind)
    elif source_array.dtype.kind not in 'iufb':
        raise TypeError('source_array must be array like object')
    if ctx.is_gpu:
        return dispatch.wrap(device.transfer(source_array.astype(kind), ctx), ctx)
    data = storage.empty(source_array.shape, kind)
    token = device.error_state.set(device.ERRORS_IGNORED)
    try:
        np.copyto(data, source_array, casting='unsafe')
    finally:
        device.error_state.reset(token)
    return dispatch.wrap(data, ctx)


def _from_list(source: Any, kind: np.dtype[Any]) -> np.ndarray:
    try:
        if isinstance(source, (list, tuple)) and source and isinstance(source[0], NDArray):
            raise ValueError('a list of arrays')
        result = np.array(source)
        if result.dtype == object and result.ndim == 0 and source is None:
            return np.array(float('nan'))
        if result.dtype.kind not in 'iufb':
            raise ValueError(result.dtype)
    except Exception:  # noqa: BLE001 - numpy raises many classes for what is no array
        raise TypeError('source_array must be array like object') from None
    return result


_SHAPE = Shape()


def _shape(shape: Any, name: str) -> tuple[int, ...]:
    if isinstance(shape, str):
        shape = _SHAPE.parse(shape, 'shape', name)
    try:
        if isinstance(shape, bool | np.bool_ | Set | Mapping | range):
            raise TypeError(shape)
        single = isinstance(shape, int | np.integer) or getattr(shape, 'ndim', None) == 0
        result = tuple(operator.index(n) for n in ((shape,) if single else shape))
    except TypeError:
        raise MXNetError(f"Invalid Parameter format for shape expect Shape(tuple) but value='{shape}', "
                         f'in operator {name}(name="", shape="{shape}")') from None
    if any(n < 0 for n in result) or (not semantics.shape and (not result or 0 in result)):
        raise shape_error(name, [], f'output shapes:\n[{",".join(map(str, result))}]')
    return result


def _text_context(ctx: Any) -> Context:
    from ..context import as_context
    return as_context(ctx)


def _filled(name: str, xp_name: str, shape: Any, ctx: Any, dtype: Any) -> NDArray:
    ctx = _text_context(ctx)
    target = _shape(shape, name)
    kind = as_dtype(np.float32 if dtype is None else dtype)
    if kind not in _ALLOWED:
        raise MXNetError(f"Invalid Input: '{kind.name}', valid values are: {{{', '.join(map(repr, DTYPES))}}}, "
                         f'in operator {name}(name="", dtype="{kind.name}")')
    xp = device.module(ctx)
    if xp is np:
        data = storage.empty(target, kind)
        data.fill(xp_name == 'ones')
    else:
        data = getattr(xp, xp_name)(target, kind)
    return dispatch.wrap(data, ctx)


def zeros(shape: Any, ctx: Any = None, dtype: Any = None, stype: str | None = None, out: Any = None,
          **kwargs: Any) -> NDArray:
    """An array of zeros; shape is an int or a sequence of ints, dtype float32 by default."""
    _no_more('_zeros', kwargs)
    if stype not in (None, 'default'):
        from . import sparse
        return sparse.zeros(stype, shape, ctx=ctx, dtype=dtype)
    result = _filled('_zeros', 'zeros', shape, ctx, dtype)
    return _into(out, result)


def ones(shape: Any, ctx: Any = None, dtype: Any = None, out: Any = None, **kwargs: Any) -> NDArray:
    """An array of ones."""
    _no_more('_ones', kwargs)
    return _into(out, _filled('_ones', 'ones', shape, ctx, dtype))


def _no_more(name: str, kwargs: dict[str, Any]) -> None:
    kwargs.pop('name', None)
    registry[name].parse(kwargs)       # refuses what it does not know, in its words


def _into(out: Any, result: NDArray) -> NDArray:
    if out is None:
        return result
    out[:] = result
    return out


def full(shape: Any, val: Any, ctx: Any = None, dtype: Any = np.float32, out: Any = None) -> NDArray:
    """An array filled with a number, or with an array-like that broadcasts to the shape."""
    if out is None:
        out = empty(shape, ctx, dtype)
        if not out.shape and not semantics.shape:
            raise shape_error('_full', [], 'output shapes:\n[]')
    out[:] = val
    return out


def empty(shape: Any, ctx: Any = None, dtype: Any = None, stype: str | None = None) -> NDArray:
    """An array without defined content."""
    if stype not in (None, 'default'):
        from . import sparse
        return sparse.empty(stype, shape, ctx=ctx, dtype=dtype)
    target = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if any(n < 0 for n in target):
        raise OverflowError(f'negative dimension in shape {target}')
    ctx = _context(ctx)
    xp = device.module(ctx)
    kind = _element_type(dtype)
    return dispatch.wrap(storage.empty(target, kind) if xp is np else xp.empty(target, kind), ctx)


def arange(start: float, stop: float | None = None, step: float = 1.0, repeat: int = 1, infer_range: Any = None,
           ctx: Any = None, dtype: Any = np.float32) -> NDArray:
    """Numbers from start to stop, each repeated; MXNetError for an empty range or step 0 (ND-CREATE-014, -015)."""
    start, stop = bounds_of_range(start, stop, step, semantics.shape)
    values = np.arange(start, stop, step, dtype=np.float64 if any(isinstance(v, float) for v in (start, stop, step))
                       else np.int64)
    return array(np.repeat(values, repeat), ctx, dtype)


def linspace(start: float, stop: float, num: int, endpoint: bool = True, ctx: Any = None,
             dtype: Any = np.float32) -> NDArray:
    """Evenly spaced numbers."""
    if num < 0:
        raise MXNetError(f'Number of sequence should be non-negative, received {num}')
    return array(np.linspace(start, stop, num, endpoint=endpoint), ctx, dtype)


def eye(N: int, M: int = 0, k: int = 0, ctx: Any = None, dtype: Any = None, **kwargs: Any) -> NDArray:
    """Ones on the k-th diagonal; as many columns as rows unless M is positive."""
    require_rows(N)
    return array(np.eye(N, M if M > 0 else N, k), ctx, dtype)


def full_like(a: NDArray, fill_value: Any, **kwargs: Any) -> NDArray:
    """An array of the shape, dtype and context of another, filled with a number; a constant for autograd."""
    return full(a.shape, fill_value, a._ctx, a.dtype)


def from_numpy(ndarray: Any, zero_copy: bool = True, array_cls: Any = NDArray) -> NDArray:
    """An array over the memory of a numpy array, which becomes read-only; ``zero_copy=False`` copies."""
    if not ndarray.flags['C_CONTIGUOUS']:
        raise ValueError('Only c-contiguous arrays are supported for zero-copy')
    if ndarray.dtype.name not in ('float16', 'float32', 'float64', 'uint8', 'int32', 'int64', 'bool'):
        raise ValueError(f'{ndarray.dtype.name} is not supported')
    if not zero_copy:
        return dispatch.wrap(ndarray.copy(), Context('cpu', 0), array_cls)
    data = ndarray.view(np.ndarray) if ndarray.flags.writeable else _writable_view(ndarray)
    ndarray.flags['WRITEABLE'] = False
    return dispatch.wrap(data, Context('cpu', 0), array_cls)


def _writable_view(ndarray: np.ndarray) -> np.ndarray:
    # Memory that was read-only from the start cannot be written; the array gets its own.
    return ndarray.copy()


def moveaxis(tensor: NDArray, source: Any, destination: Any) -> NDArray:
    """The array with axes moved to other positions."""
    ndim = tensor.ndim

    def normal(axes: Any, word: str) -> list[int]:
        chosen = [axes] if isinstance(axes, int) else list(axes)
        result = [a + ndim if a < 0 else a for a in chosen]
        if any(not 0 <= a < ndim for a in result):
            raise ValueError(f'{word} should verify 0 <= {word.lower()} < tensor.ndim ({ndim}).', f'Got {axes}')
        return result

    origin, target = normal(source, 'Source'), normal(destination, 'Destination')
    if len(origin) != len(target):
        raise ValueError('`source` and `destination` arguments must have the same number of elements')
    order = [a for a in range(ndim) if a not in origin]
    for place, axis in sorted(zip(target, origin)):
        order.insert(place, axis)
    return dispatch.invoke(registry['transpose'], (tensor,), {'axes': tuple(order)})


def concatenate(arrays: Sequence[NDArray], axis: int = 0, always_copy: bool = True) -> NDArray:
    """Join a list of arrays along an axis; not to be used on arrays in a recorded graph (ND-CONCAT-006)."""
    from ..tape import state
    from .arithmetic import INPLACE_RECORDED
    assert isinstance(arrays, list), 'concatenate expects a list of arrays'
    assert arrays, 'concatenate expects at least one array'
    assert isinstance(arrays[0], NDArray)
    if not always_copy and len(arrays) == 1:
        return arrays[0]
    first = arrays[0]
    for other in arrays[1:]:
        assert other.shape[:axis] == first.shape[:axis]
        assert other.shape[axis + 1:] == first.shape[axis + 1:]
        assert other.dtype == first.dtype
    if state.recording and any(dispatch.in_graph(a) for a in arrays):
        raise MXNetError(INPLACE_RECORDED)
    return dispatch.invoke(registry['Concat'], arrays, {'dim': axis})


def onehot_encode(indices: NDArray, out: NDArray) -> NDArray:
    """Write one-hot rows into an array."""
    out[:] = dispatch.invoke(registry['one_hot'], (indices,), {'depth': out.shape[1]})
    return out
