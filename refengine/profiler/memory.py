"""How much memory arrays use while a profile runs, per device.

A piece of memory counts from when an array first stands on it until numpy lets it go; views add nothing.

numpy lets go of memory at any moment and on any thread, also while that thread or another one holds a lock, because the
garbage collector runs then: what is gone is noted without waiting for anybody, and counted when it can be.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import engine, lazy
from ..ndarray.ndarray import NDArray

HOME = 'cpu/0'

_gone: deque[tuple[int, int, int]] = deque()
_counting = False       # whether the thread that holds the lock of the session is in the middle of it
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
    global _counting
    session = _session
    if session is None:
        return
    key = id(root)
    with session.lock:
        _settle()
        before, _counting = _counting, True
        try:
            found = _known.get(key)
            if found is not None:
                if found[1] == device:
                    return
                _change(session, found[1], -found[2])
            _known[key] = (weakref.ref(root, lambda _: _let_go(key)), device, root.nbytes)
            _change(session, device, root.nbytes)
        finally:
            _counting = before


def _let_go(key: int) -> None:
    """numpy has let go of a piece of memory."""
    _gone.append((key, time.perf_counter_ns(), threading.get_ident()))
    session = _session
    if session is not None and session.lock.acquire(blocking=False):
        try:
            _settle()
        finally:
            session.lock.release()


def _settle() -> None:
    """Count what is gone; the caller holds the lock of the session."""
    global _counting
    if _counting:
        return
    _counting = True
    try:
        while _gone:
            key, moment, thread = _gone.popleft()
            found = _known.pop(key, None)
            if found is not None:
                _change(_session, found[1], -found[2], moment, thread)
    finally:
        _counting = False


def _change(session: Any, device: str, difference: int, *when: int) -> None:
    used = _used[device] = _used.get(device, 0) + difference
    if session is not None:
        session.sample('Device Storage', f'Memory: {device}', used, True, *when)


def forget() -> None:
    """As in a new process; what was being counted at the moment of a fork is counted nowhere."""
    global _counting, _session
    _counting, _session = False, None
    for known in (_gone, _known, _used):
        known.clear()


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
    with session.lock:
        _settle()           # what went between two profiles is in neither
        _session = session
    data, ctx = NDArray.__dict__['_data'], NDArray.__dict__['_ctx']
    # Under an asynchronous engine a value may be pending: it is counted where it is computed, and nobody waits for it.
    read = data.__get__ if engine.queue is None else lazy._read

    def note(array: Any) -> None:
        try:
            device, raw = ctx.__get__(array, NDArray), read(array)
        except AttributeError:          # the other of the two comes next
            return
        if isinstance(raw, np.ndarray):
            _count(raw, label(device))

    NDArray._data = _Watched(data, note)    # type: ignore[assignment]
    NDArray._ctx = _Watched(ctx, note)      # type: ignore[assignment]

    def end() -> None:
        global _session
        with session.lock:
            _settle()
            _session = None
        NDArray._data, NDArray._ctx = data, ctx

    undo.append(end)
