"""The compute back ends: the only module that imports numpy or cupy to compute with."""

from __future__ import annotations

import contextvars
import functools
from typing import Any

import numpy as np
from numpy._core import umath

from .base import MXNetError
from .context import Context

ERRORS_IGNORED = umath._make_extobj(divide='ignore', over='ignore', under='ignore', invalid='ignore')
"""The floating point state in which operators run: infinities and NaN are values, never warnings.

``numpy.errstate`` says the same at ten times the cost, which a small operator would feel.
"""
error_state = umath._extobj_contextvar

_quiet_context = contextvars.Context()
_quiet_context.run(error_state.set, ERRORS_IGNORED)
quietly = _quiet_context.run
"""``quietly(ufunc, *arrays)`` calls a function of numpy in that state, for a third of what setting and resetting costs.

Only for what calls no Python code back. RuntimeError when another thread is in it at this moment: set the state then.
"""


@functools.cache
def _cupy() -> Any:
    try:
        import cupy
        if cupy.cuda.runtime.getDeviceCount() < 1:
            return None
        return cupy
    except Exception:  # noqa: BLE001 - cupy raises errors of its own when the driver is missing
        return None


@functools.cache
def gpu_count() -> int:
    """The number of usable GPUs."""
    cupy = _cupy()
    return int(cupy.cuda.runtime.getDeviceCount()) if cupy is not None else 0


def module(ctx: Context) -> Any:
    """The array module for a context; MXNetError that says what is missing for a GPU that is not there."""
    if ctx.device_typeid != 2:
        return np
    cupy = _cupy()
    if cupy is None:
        raise MXNetError(f'{ctx} is not available: GPU is not enabled. It needs the extra "gpu" '
                         f'(pip install gluon-conformance[gpu]) and an NVIDIA device')
    if ctx.device_id >= gpu_count():
        raise MXNetError(f'{ctx} is not available: GPU {ctx.device_id} does not exist, {gpu_count()} found')
    return cupy


def module_of(data: Any) -> Any:
    """The array module that a raw array belongs to."""
    return np if isinstance(data, np.ndarray) else _cupy()


def to_host(data: Any) -> np.ndarray:
    """A raw array as numpy array, without a copy where it already is one."""
    return data if isinstance(data, np.ndarray) else data.get()


def transfer(data: Any, ctx: Context) -> Any:
    """A raw array on the back end of a context; always an independent copy in row-major order."""
    xp = module(ctx)
    if xp is np:
        return np.array(to_host(data), order='C', copy=True)
    with xp.cuda.Device(ctx.device_id):
        return xp.array(data, order='C', copy=True)


def memory_info(ctx: Context) -> tuple[int, int]:
    """Free and total memory in bytes."""
    if ctx.is_gpu:
        if not gpu_count():
            raise MXNetError(f'No memory information for {ctx}: This call is only supported for MXNet built with CUDA '
                             f'support, which here means the extra "gpu" and an NVIDIA device.')
        xp = module(ctx)
        with xp.cuda.Device(ctx.device_id):
            free, total = xp.cuda.runtime.memGetInfo()
        return int(free), int(total)
    values = {}
    with open('/proc/meminfo', encoding='ascii') as file:
        for line in file:
            name, _, rest = line.partition(':')
            values[name] = int(rest.split()[0]) * 1024
    return values.get('MemAvailable', 0), values.get('MemTotal', 0)


def limit_gpu_pools(fraction: float | None) -> None:
    """Limit the memory pool of every GPU to a fraction of its memory; None is no limit. Nothing without a GPU."""
    for index in range(gpu_count()):
        cupy = _cupy()
        with cupy.cuda.Device(index):
            cupy.get_default_memory_pool().set_limit(**({'size': 0} if fraction is None else {'fraction': fraction}))


def gpu_pool(index: int) -> tuple[int, int]:
    """Bytes in use and bytes kept for reuse in the pool of a GPU."""
    cupy = _cupy()
    with cupy.cuda.Device(index):
        pool = cupy.get_default_memory_pool()
        return int(pool.used_bytes()), int(pool.free_bytes())


def synchronize(ctx: Context | None = None) -> None:
    """Wait until the devices have done what was asked of them."""
    cupy = _cupy() if _cupy.cache_info().currsize else None
    if cupy is not None:
        for index in range(gpu_count()):
            with cupy.cuda.Device(index):
                cupy.cuda.get_current_stream().synchronize()
