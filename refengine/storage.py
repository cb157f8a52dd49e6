"""Buffers of dense arrays: large ones are lent by a pool."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from . import env, forksafe
from .base import MXNetError
from .pool import Memory, Pieces, is_part, new_block, rounding

LARGE = 64 * 1024
"""Arrays of at least this many bytes come from the pool: the page faults of fresh memory cost more than the work."""

_lock = forksafe.lock()
_free = Pieces()
_leased = 0
_peak = 0
_ceiling: int | None = None
_kind = env.get('MXNET_CPU_MEM_POOL_TYPE')
_limit = 0 if _kind == 'Unpooled' else env.get('REFENGINE_POOL_LIMIT_MB') * 1024 * 1024
_round = rounding(_kind)


class _Lease(np.ndarray):
    """A buffer on loan; it goes back to the pool when the last view of it dies."""

    def __del__(self) -> None:
        global _leased
        owner = self.base
        if type(owner) is not Memory:
            return
        size = owner.nbytes
        with _lock:
            _leased -= size
            kept = _free.kept + size
            if is_part(owner):
                _free.add(owner)        # its memory stays as long as the rest of its block is in use
                if kept > _limit:
                    _free.drop(_limit)
            elif kept <= _limit and (_ceiling is None or _leased + kept <= _ceiling):
                _free.add(owner)


def empty(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """A numpy array without defined content, from the pool when it is large.

    MXNetError when that would exceed the limit of ``set_ceiling``.
    """
    global _leased, _peak
    dtype = np.dtype(dtype)
    size = prod(shape) * dtype.itemsize
    if size < LARGE:
        return np.empty(shape, dtype)
    rounded = _round(size)
    with _lock:
        if _ceiling is not None and _leased + rounded > _ceiling:
            _make_room(rounded)
        owner = _free.take(rounded)
        if owner is None and _ceiling is not None and _leased + _free.kept + rounded > _ceiling:
            _make_room(rounded)
        _leased += rounded
        if _leased > _peak:
            _peak = _leased
    if owner is None:
        owner = new_block(rounded)
    return np.ndarray(shape, dtype, buffer=owner.view(_Lease))


def empty_like(data: np.ndarray) -> np.ndarray:
    """A row-major array of the same shape and dtype, without defined content."""
    return empty(data.shape, data.dtype)


def memory_order(data: np.ndarray) -> tuple[int, ...] | None:
    """The axes from the largest stride to the smallest, or None for row-major order."""
    if data.flags.c_contiguous or data.ndim < 2:
        return None
    strides = data.strides
    order = tuple(sorted(range(data.ndim), key=lambda axis: -abs(strides[axis])))
    return None if order == tuple(range(data.ndim)) else order


def run(data: np.ndarray) -> np.ndarray | None:
    """The elements in the order of memory, as a view; None for arrays that do not fill one piece of memory."""
    if data.flags.c_contiguous:
        return data.reshape(-1)
    order = memory_order(data)
    dense = data if order is None else data.transpose(order)
    return dense.reshape(-1) if dense.flags.c_contiguous else None


def empty_in_order(shape: tuple[int, ...], dtype: Any, like: np.ndarray) -> np.ndarray:
    """An array without defined content in the memory order of another one with as many axes.

    Images are kept channels-last under their logical shape; results of elementwise operators must keep that order, or
    every second operator would transpose.
    """
    order = memory_order(like)
    if order is None:
        return empty(shape, dtype)
    base = empty(tuple(shape[axis] for axis in order), dtype)
    return base.transpose([order.index(axis) for axis in range(len(order))])


def copy(data: np.ndarray) -> np.ndarray:
    """An independent row-major copy."""
    if data.nbytes < LARGE:
        return np.array(data, order='C', copy=True, subok=False)
    result = empty(data.shape, data.dtype)
    np.copyto(result, data)
    return result


_BLOCK = 128


def rowmajor(view: np.ndarray) -> np.ndarray:
    """An independent row-major copy of a view in any memory order; large transposes go block by block.

    Reading columns row by row misses the cache at every element; in blocks a large matrix takes half the time.
    """
    result = empty(view.shape, view.dtype)
    if view.ndim == 2 and view.nbytes >= 1 << 20 and view.strides[1] > view.strides[0] > 0:
        rows, columns = view.shape
        for i in range(0, rows, _BLOCK):
            for j in range(0, columns, _BLOCK):
                result[i:i + _BLOCK, j:j + _BLOCK] = view[i:i + _BLOCK, j:j + _BLOCK]
    else:
        np.copyto(result, view)
    return result


def _make_room(size: int) -> None:
    """Drop what is kept for reuse, so that this many bytes fit below the limit (rule MEMPLAN-SET-006)."""
    assert _ceiling is not None
    empty_cache()
    if _leased + _free.kept + size > _ceiling:
        raise MXNetError(f'out of memory: {size} bytes requested, {_leased} bytes in use, the limit of the pool is '
                         f'{_ceiling} bytes')


def set_ceiling(size: int | None) -> None:
    """Most bytes that the pool may hold, in use or kept for reuse; None is no limit. Living arrays stay."""
    global _ceiling
    with _lock:
        _ceiling = size
        if size is not None and _leased + _free.kept > size:
            empty_cache()


def peak_bytes(reset: bool = False) -> int:
    """The most that ``used_bytes`` was; ``reset`` begins anew with what it is now."""
    global _peak
    with _lock:
        peak = _peak
        if reset:
            _peak = _leased
    return peak


def empty_cache(ctx: Any = None) -> None:
    """Give all memory that is kept for reuse back to the system."""
    with _lock:
        _free.drop()
    if ctx is not None and ctx.is_gpu:
        from . import device
        device.module(ctx).get_default_memory_pool().free_all_blocks()


def kept_bytes() -> int:
    """How many bytes are kept for reuse."""
    return _free.kept


def used_bytes() -> int:
    """How many bytes large arrays use; what is kept for reuse counts as free."""
    return _leased
