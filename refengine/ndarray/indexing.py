"""Reading and writing parts of an NDArray."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import device, dispatch, engine
from ..base import IN_GRAPH, MXNetError
from ..op import registry
from ..ops.binary import number
from ..tape import state
from ..util import semantics
from .arithmetic import INPLACE_RECORDED

_BASIC = (int, np.integer, slice, type(Ellipsis), type(None))


def _normal(key: Any, ndim: int) -> tuple[tuple[Any, ...], bool]:
    """The key as a tuple of numpy index parts, and whether it is basic; ValueError for what cannot index."""
    parts = key if isinstance(key, tuple) else (key,)
    normal = []
    basic = True
    for part in parts:
        if isinstance(part, (bool, np.bool_)):
            normal.append(int(part))
        elif isinstance(part, _BASIC):
            normal.append(part)
        elif isinstance(part, (list, tuple, range, np.ndarray, dispatch.NDArray)):
            basic = False
            normal.append(_index_array(part))
        else:
            raise ValueError(f'NDArray does not support slicing with key {part} of type {type(part)}.')
    if sum(part is Ellipsis for part in normal) > 1:
        raise IndexError("an index can only have a single ellipsis, got more than one ellipsis ('...')")
    if sum(part is not None and part is not Ellipsis for part in normal) > ndim:
        raise IndexError(f'too many indices for array: array is {ndim}-dimensional')
    return tuple(normal), basic


def _index_array(part: Any) -> np.ndarray:
    """An integer index array; comparisons give numbers, so bools are the integers 0 and 1 (ND-INDEX-009, -010)."""
    if isinstance(part, dispatch.NDArray):
        if part._data.dtype == bool:
            raise ValueError('Cannot perform boolean indexing in legacy mode. Please activate numpy semantics by '
                             'calling `npx.set_np()` in the beginning of your code.')
        engine.wait(part._data)
        part = device.to_host(part._data)
    elif not isinstance(part, np.ndarray):
        part = np.array([p.asnumpy() if isinstance(p, dispatch.NDArray) else p for p in part])
    if part.size == 0:
        return part.astype(np.int64)
    if part.dtype.kind not in 'iufb':
        raise ValueError(f'NDArray does not support slicing with key {part} of type {type(part)}.')
    return part if part.dtype == np.int64 else part.astype(np.int64)


def _check_zero_step(parts: tuple[Any, ...]) -> None:
    for part in parts:
        if isinstance(part, slice) and part.step == 0:
            raise ValueError('slice step cannot be zero')


def _whole(key: Any) -> bool:
    return (type(key) is slice and key.start is None and key.stop is None and key.step in (None, 1)) or (
        type(key) is tuple and not key)


def getitem(self: Any, key: Any) -> Any:
    """The selected part: a view for contiguous basic indexing, else a copy; recorded."""
    if type(key) is int and not state.recording:       # the most common case: a row
        data = self._data
        if data.ndim > 1 and data.flags.c_contiguous:
            try:
                return dispatch.wrap(data[key], self._ctx, type(self))
            except IndexError:
                pass        # worded below
    if _whole(key):
        return self
    if self._data.ndim == 0:
        raise IndexError('too many indices for array: array is 0-dimensional')
    parts, basic = _normal(key, self._data.ndim)
    if basic:
        return _basic(self, parts)
    return _advanced(self, parts)


def _basic(self: Any, parts: tuple[Any, ...]) -> Any:
    _check_zero_step(parts)
    data = self._data
    if not data.flags.c_contiguous:
        data = self._data = np.ascontiguousarray(data)
    view = data[parts]
    if not isinstance(view, type(data)):
        view = data[parts + (Ellipsis,)]
    if view.ndim == 0 and not semantics.shape:
        view = view.reshape((1,))
    if not view.flags.c_contiguous:
        view = view.copy()
    result = dispatch.wrap(view, self._ctx, type(self))
    if state.recording and dispatch.in_graph(self):
        slices = all(isinstance(p, slice) for p in parts)
        if slices:
            params = {'begin': tuple(p.start for p in parts), 'end': tuple(p.stop for p in parts),
                      'step': tuple(p.step for p in parts)}
            dispatch.record(registry['slice'], params, (self,), (data,), (view,), (result,), self._ctx)
        else:
            dispatch.record(registry['_basic_index'], {'key': parts, 'shape': view.shape}, (self,), (data,), (view,),
                            (result,), self._ctx)
    return result


def _checked_advanced(shape: tuple[int, ...], parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Index arrays within the bounds of their axes; IndexError names index, axis and size.

    An ellipsis becomes the slices that it stands for: where that is none, it does not keep two index arrays apart.
    """
    axis = 0
    width = sum(p is not None and p is not Ellipsis for p in parts)
    arrays = [p for p in parts if isinstance(p, np.ndarray)]
    try:
        np.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError:
        shapes = [a.shape for a in arrays]
        raise ValueError(f'shape {shapes[0]} is not broadcastable to shape {shapes[-1]}') from None
    for part in parts:
        if part is None:
            continue
        if part is Ellipsis:
            axis += len(shape) - width
            continue
        if isinstance(part, np.ndarray) and part.size:
            low, high, size = int(part.min()), int(part.max()), shape[axis]
            if low < -size or high >= size:
                bad = high if high >= size else low
                raise IndexError(f'index {bad} is out of bounds for axis {axis} with size {size}')
        axis += 1
    return tuple(one for part in parts for one in (
        (slice(None),) * (len(shape) - width) if part is Ellipsis else (part,)))


def _advanced(self: Any, parts: tuple[Any, ...]) -> Any:
    data = self._data
    _check_zero_step(parts)
    parts = _checked_advanced(data.shape, parts)
    if data.__class__ is not np.ndarray and not isinstance(data, np.ndarray):
        xp = device.module_of(data)
        parts = tuple(xp.asarray(p) if isinstance(p, np.ndarray) else p for p in parts)
    picked = data[parts]
    if not isinstance(picked, type(data)):
        picked = device.module_of(data).asarray(picked)
    if picked.ndim == 0 and not semantics.shape:
        picked = picked.reshape((1,))
    picked = device.module_of(data).ascontiguousarray(picked)
    result = dispatch.wrap(picked, self._ctx, type(self))
    if state.recording and dispatch.in_graph(self):
        places = np.arange(data.size).reshape(data.shape)[parts].reshape(picked.shape)
        indices = np.stack(np.unravel_index(places, data.shape)).astype(np.int64)
        holder = dispatch.wrap(indices, self._ctx)
        dispatch.record(registry['gather_nd'], {}, (self, holder), (data, indices), (picked,), (result,), self._ctx)
    return result


def setitem(self: Any, key: Any, value: Any) -> None:
    """Write in place: numbers fill, arrays broadcast to the selected part and convert to the dtype.

    Raises ValueError when the value does not fit, IndexError for positions out of bounds, TypeError for values that are
    no arrays, MXNetError while recording when the array is in a graph.
    """
    recording = state.recording
    if recording and dispatch.in_graph(self):
        raise MXNetError(IN_GRAPH)
    data = self._data
    if type(data) is engine.FailedArray:
        data = self._data = data.view(np.ndarray)
    whole = _whole(key) or key is Ellipsis
    if isinstance(value, dispatch.NDArray):
        if recording and dispatch.in_graph(value):
            if not whole:
                raise MXNetError(INPLACE_RECORDED)
            source = value if value.shape == self.shape else value.broadcast_to(self.shape)
            source.copyto(self)
            return
        raw = value._data
        if type(raw) is engine.FailedArray and raw.failure is not None and not raw.failure.delivered:
            self._data = engine.fail(data, raw.failure)
            return
        if value._ctx.is_gpu != self._ctx.is_gpu:
            raw = device.transfer(raw, self._ctx)
    else:
        raw = _raw_value(value, data.dtype)
        if self._ctx.is_gpu and isinstance(raw, np.ndarray):
            raw = device.transfer(raw, self._ctx)
    if whole:
        parts: Any = Ellipsis
    elif data.ndim == 0:
        raise IndexError('scalar tensor can only accept `()` and `:` as index')
    else:
        parts, basic = _normal(key, data.ndim)
        _check_zero_step(parts)
        if not basic:
            parts = _checked_advanced(data.shape, parts)
    token = device.error_state.set(device.ERRORS_IGNORED)
    try:
        _assign(data, parts, raw)
    finally:
        device.error_state.reset(token)


def _assign(data: Any, parts: Any, raw: Any) -> None:
    if isinstance(raw, (int, float)):
        data[parts] = raw
        return
    target = data[parts].shape if parts is not Ellipsis else data.shape
    shape = raw.shape
    extra = len(shape) - len(target)
    if data.ndim == 0 and raw.size != 1:
        raise ValueError('setting an array element with a sequence.')
    if extra > 0:
        if any(n != 1 for n in shape[:extra]):
            raise _no_fit(shape, target)
        raw = raw.reshape(shape[extra:])
    if any(a not in (1, b) for a, b in zip(reversed(raw.shape), reversed(target))):
        if raw.size != 1:
            raise _no_fit(shape, target)
        raw = raw.reshape(())
    if raw.base is data or raw is data or (raw.base is not None and raw.base is data.base):
        _overlapping(data, parts, raw)
    else:
        data[parts] = raw


def _overlapping(data: Any, parts: Any, raw: Any) -> None:
    """Copy in element order, as the releases do when source and target overlap (rule ND-SETITEM-010)."""
    view = data[parts] if parts is not Ellipsis else data
    if (isinstance(view, np.ndarray) and view.ndim and np.may_share_memory(view, raw) and view.shape == raw.shape
            and view.ctypes.data > raw.ctypes.data):
        for index in range(view.shape[0]):
            view[index] = raw[index].copy()
        return
    data[parts] = raw


def _no_fit(shape: tuple[int, ...], target: tuple[int, ...]) -> ValueError:
    return ValueError(f'operands could not be broadcast together with remapped shapes [original->remapped]: '
                      f'{tuple(shape)} and requested shape {tuple(target)}')


def _raw_value(value: Any, dtype: np.dtype[Any]) -> Any:
    if value is None and dtype.kind == 'f':
        return float('nan')
    if isinstance(value, (bool, int, float, np.generic)) and not isinstance(value, (np.str_, np.bytes_)):
        wide = float(value)         # numbers travel in double precision (rule ND-SETITEM-009)
        if dtype.kind == 'f':
            return wide
        if dtype.kind == 'b':
            return bool(wide)
        return np.asarray(number(dtype, wide))
    try:
        raw = np.asarray(value)
    except Exception:  # noqa: BLE001 - numpy raises many classes for ragged input
        raw = np.asarray(None)
    if raw.dtype.kind not in 'iufb':
        raise TypeError(f'NDArray does not support assignment with non-array-like object {value} of type {type(value)}')
    return raw if raw.dtype == dtype else raw.astype(dtype)
