"""Sums over the arrays of several devices, block by block while they are in the cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import device, storage
from ..base import MXNetError, dtype_text, shape_text

BLOCK = 64 * 1024
"""Elements that are added up, and handed out, at a time."""


def shape_mismatch(source: Any, target: Any) -> MXNetError:
    """The error for a copy between arrays of different shapes."""
    return MXNetError(f'operands shape mismatch from.shape = {shape_text(source.shape)} '
                      f'to.shape={shape_text(target.shape)}')


def check_alike(arrays: Sequence[Any]) -> None:
    """The values of one push have one shape and one dtype (rule KV-PUSH-012)."""
    first = arrays[0]
    for array in arrays[1:]:
        if array.shape != first.shape:
            raise shape_mismatch(array, first)
        if array.dtype != first.dtype:
            raise MXNetError(f'data type do not match specified type. Expected: {dtype_text(first.dtype)} '
                             f'v.s. given {dtype_text(array.dtype)}')


def _flat(arrays: Sequence[Any]) -> list[np.ndarray] | None:
    """One-dimensional views of host arrays, or None if some have no such view."""
    if all(type(a) is np.ndarray and a.flags.c_contiguous for a in arrays):
        return [a.reshape(-1) for a in arrays]
    return None


def add_up(arrays: Sequence[Any], ctx: Any, out: Any = None, copies: Sequence[Any] = ()) -> Any:
    """The sum of raw arrays on a context, from left to right, also written into ``copies``.

    ``out`` is a raw array for the result; it may be one of the arrays. The arrays stay as they are otherwise.
    """
    first = arrays[0]
    flat = None
    if not ctx.is_gpu:
        if out is None:
            out = storage.empty_like(first) if type(first) is np.ndarray else np.empty(first.shape, first.dtype)
        flat = _flat([*arrays, out, *copies])
    if flat is None:
        return _add_up_whole(arrays, ctx, out, copies)
    count = len(arrays)
    parts, total, targets = flat[:count], flat[count], flat[count + 1:]
    size = total.size
    # results may be inputs too: a sum is then complete before any of it is written
    apart = not targets and all(out is not a for a in arrays)
    buffer = None if apart else np.empty(min(BLOCK, size), total.dtype)
    for begin in range(0, size, BLOCK):
        end = min(begin + BLOCK, size)
        block = total[begin:end] if buffer is None else buffer[:end - begin]
        if count == 1:
            block[...] = parts[0][begin:end]
        else:
            np.add(parts[0][begin:end], parts[1][begin:end], block)
            for part in parts[2:]:
                np.add(block, part[begin:end], block)
        if buffer is not None:
            total[begin:end] = block
        for target in targets:
            target[begin:end] = block
    return out


def _add_up_whole(arrays: Sequence[Any], ctx: Any, out: Any, copies: Sequence[Any]) -> Any:
    total = device.transfer(arrays[0], ctx)
    for array in arrays[1:]:
        total += array if _is_on(array, ctx) else device.transfer(array, ctx)
    for target in copies:
        write(target, total)
    if out is None:
        return total
    write(out, total)
    return out


def _is_on(array: Any, ctx: Any) -> bool:
    """Whether a raw array can be used in computations on a context."""
    if isinstance(array, np.ndarray):
        return not ctx.is_gpu
    return bool(ctx.is_gpu) and array.device.id == ctx.device_id


def write(target: Any, source: Any) -> None:
    """Overwrite a raw array with another of the same shape, from any device and of any dtype."""
    if isinstance(target, np.ndarray):
        np.copyto(target, device.to_host(source), casting='unsafe')
        return
    xp = device.module_of(target)
    target[...] = xp.asarray(source).astype(target.dtype, copy=False)
