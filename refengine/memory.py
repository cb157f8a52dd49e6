"""Settings of memory: planning for graphs that are built from now on, and a limit for the pool.

They belong to the process, and change no result (rule MEMPLAN-SET-009).
"""

from __future__ import annotations

import numbers
from typing import Any

from . import device, storage
from .context import Context, cpu

_TYPES = ('cpu', 'gpu')

_optimized = {'cpu': False, 'gpu': False}
_fractions: dict[str, float | None] = {'cpu': None, 'gpu': None}


# ---- planning -------------------------------------------------------------------------------------------------------

def _set_optimize(kind: str, flag: Any) -> bool:
    if not isinstance(flag, bool):
        raise TypeError(f'flag must be a bool, got {flag!r}')
    before, _optimized[kind] = _optimized[kind], flag
    return before


def set_cpu_memory_optimize(flag: bool) -> bool:
    """Plan the memory of all graphs on CPUs that are built from now on; returns the setting before.

    It is as if every block were hybridized with ``static_alloc=True``. Graphs that exist keep what they have. TypeError
    for anything but a bool (rules MEMPLAN-SET-001, -002).

    >>> import refengine as mx
    >>> mx.set_cpu_memory_optimize(True), mx.set_cpu_memory_optimize(False)
    (False, True)
    """
    return _set_optimize('cpu', flag)


def set_gpu_memory_optimize(flag: bool) -> bool:
    """The same for graphs on GPUs; it needs no GPU."""
    return _set_optimize('gpu', flag)


def optimized() -> frozenset[str]:
    """The types of devices whose graphs are planned now."""
    return frozenset(kind for kind, flag in _optimized.items() if flag)


# ---- the pool -------------------------------------------------------------------------------------------------------

def _type_of(place: Any) -> str:
    if isinstance(place, Context):
        kind = 'gpu' if place.is_gpu else 'cpu'
    else:
        kind = place
    if kind not in _TYPES:
        raise ValueError(f'unknown device {place!r}: expected "cpu", "gpu" or a Context')
    return kind


def set_memory_pool_size(device: Any, fraction: float | None) -> float | None:
    """Limit the memory pool of a type of devices to a fraction of its memory; returns the fraction before.

    device: "cpu", "gpu" or a Context;  fraction: in (0, 1], or None for no limit, as at first.

    What would exceed the limit raises MXNetError; arrays that live stay (rules MEMPLAN-SET-004 to -007). TypeError and
    ValueError for other arguments.

    >>> import refengine as mx
    >>> mx.set_memory_pool_size('cpu', 0.7), mx.set_memory_pool_size('cpu', None)
    (None, 0.7)
    """
    kind = _type_of(device)
    if fraction is not None:
        if isinstance(fraction, bool) or not isinstance(fraction, numbers.Real):
            raise TypeError(f'fraction must be a number in (0, 1] or None, got {fraction!r}')
        if not 0 < fraction <= 1:
            raise ValueError(f'fraction must be in (0, 1], got {fraction!r}')
        fraction = float(fraction)
    before, _fractions[kind] = _fractions[kind], fraction
    if kind == 'cpu':
        storage.set_ceiling(None if fraction is None else int(fraction * _total()))
    else:
        _limit_gpus(fraction)
    return before


def _total() -> int:
    return device.memory_info(cpu(0))[1]


def _limit_gpus(fraction: float | None) -> None:
    device.limit_gpu_pools(fraction)


def memory_pool_info(device: Any, reset_peak: bool = False) -> dict[str, int | None]:
    """Bytes of the pool of a type of devices: limit (None without one), in_use, cached and peak.

    ``reset_peak`` begins the peak anew, after it was read (rule MEMPLAN-SET-008). Arrays of less than 64 KiB are not
    from the pool. The peak of GPUs is not known: it is what is in use now.

    >>> import refengine as mx
    >>> sorted(mx.memory_pool_info('cpu'))
    ['cached', 'in_use', 'limit', 'peak']
    """
    kind = _type_of(device)
    fraction = _fractions[kind]
    if kind == 'gpu':
        return _gpu_info(fraction)
    limit = None if fraction is None else int(fraction * _total())
    return {'limit': limit, 'in_use': storage.used_bytes(), 'cached': storage.kept_bytes(),
            'peak': storage.peak_bytes(reset_peak)}


def _gpu_info(fraction: float | None) -> dict[str, int | None]:
    count = device.gpu_count()
    pools = [device.gpu_pool(index) for index in range(count)]
    used = sum(pool[0] for pool in pools)
    total = sum(device.memory_info(Context('gpu', index))[1] for index in range(count))
    return {'limit': None if fraction is None else int(fraction * total), 'in_use': used,
            'cached': sum(pool[1] for pool in pools), 'peak': used}
