"""How much memory arrays use while a profile runs, per device.

A piece of memory counts from when an array first stands on it until numpy lets it go; views add nothing.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import forksafe
from ..ndarray.ndarray import NDArray

HOME = 'cpu/0'

_lock = forksafe.lock()
_known: dict[int, tuple[Any, str, int]] = {}
_used: dict[str, int] = {}
_session: Any = None


def _root(data: Any) -> Any:
    """The array that owns the memory of a view."""
    while isinstance(data, np.ndarray) and type(data.base) is np.ndarray:
        data = data.base
    return data


def label(ctx: Any) -> str:
    """How a trace names a context."""
    if ctx.device_type == 'cpu_pinned':
        return 'cpu pinned/'
    if ctx.device_type == 'cpu_shared':
        return 'cpu shared/'
    return f'{ctx.device_type}/{ctx.device_id}'


def device_of(operands: Any, result: Any) -> str:
    """The device that an operator ran on, as far as its operands tell."""
    ctx = getattr(result, '_ctx', None)
    if ctx is not None:
        return label(ctx)
    for operand in operands:
        found = _known.get(id(_root(operand)))
        if found is not None:
            return found[1]
    return HOME


def observe(result: Any, device: str) -> None:
    """Count the memory of the raw results of an operator."""
    if _session is None:
        return
    for data in result if isinstance(result, (tuple, list)) else (result,):
        if isinstance(data, np.ndarray):
            _count(data, device)


def _count(data: Any, device: str) -> None:
    root = _root(data)
    if not isinstance(root, np.ndarray) or not root.nbytes:
        return
    key = id(root)
    with _lock:
        found = _known.get(key)
        if found is not None:
            if found[1] == device:
                return
            _change(found[1], -found[2])
        _known[key] = (weakref.ref(root, lambda _: _gone(key)), device, root.nbytes)
        _change(device, root.nbytes)


def _gone(key: int) -> None:
    with _lock:
        found = _known.pop(key, None)
        if found is not None:
            _change(found[1], -found[2])


def _change(device: str, difference: int) -> None:
    used = _used[device] = _used.get(device, 0) + difference
    if _session is not None:
        _session.sample('Device Storage', f'Memory: {device}', used, memory=True)


class _Watched:
    """A slot of NDArray that reports what is put into it."""

    def __init__(self, slot: Any, note: Callable[[Any], None]) -> None:
        self._slot = slot
        self._note = note

    def __get__(self, array: Any, owner: Any = None) -> Any:
        return self if array is None else self._slot.__get__(array, owner)

    def __set__(self, array: Any, value: Any) -> None:
        self._slot.__set__(array, value)
        self._note(array)


def install(session: Any, undo: list[Callable[[], None]]) -> None:
    """Report to the session; ``undo`` receives what ends it."""
    global _session
    _session = session
    data, ctx = NDArray.__dict__['_data'], NDArray.__dict__['_ctx']

    def note(array: Any) -> None:
        try:
            device, raw = ctx.__get__(array, NDArray), data.__get__(array, NDArray)
        except AttributeError:          # the other of the two comes next
            return
        if isinstance(raw, np.ndarray):
            _count(raw, label(device))

    NDArray._data = _Watched(data, note)    # type: ignore[assignment]
    NDArray._ctx = _Watched(ctx, note)      # type: ignore[assignment]

    def end() -> None:
        global _session
        _session = None
        NDArray._data, NDArray._ctx = data, ctx

    undo.append(end)
