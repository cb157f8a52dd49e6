"""Running an update rule on arrays: checks, blocks that fit the cache, scratch memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import device, engine
from ..base import IN_GRAPH, MXNetError, dtype_text, shape_text
from ..ops.update_rules import kernels
from ..tape import state as tape_state

BLOCK = 64 * 1024
"""Elements that a rule handles at a time: the six arrays of an Adam step then stay in the second-level cache."""

_local = threading.local()


def scratch(dtype: Any, size: int, count: int = 2) -> list[np.ndarray]:
    """``count`` arrays of ``size`` elements without defined content; small ones are reused by the next call."""
    if size > BLOCK:
        return [np.empty(size, dtype) for _ in range(count)]
    try:
        buffers = _local.buffers[dtype]
    except (AttributeError, KeyError):
        if not hasattr(_local, 'buffers'):
            _local.buffers = {}
        buffers = _local.buffers[dtype] = [np.empty(BLOCK, dtype) for _ in range(3)]
    return [buffer[:size] for buffer in buffers[:count]]


def run_flat(rule: Callable[..., None], w: np.ndarray, g: np.ndarray, states: Sequence[Any],
             scalars: tuple[Any, ...]) -> None:
    """Run an elementwise rule on one-dimensional numpy arrays, block by block."""
    kernel = kernels.get(rule)
    if kernel is not None and kernel(w, g, states, scalars):
        return
    size = w.size
    if size <= BLOCK:
        rule(np, w, g, states, scratch(w.dtype, size), *scalars)
        return
    for begin in range(0, size, BLOCK):
        end = min(begin + BLOCK, size)
        rule(np, w[begin:end], g[begin:end], [s if s is None else s[begin:end] for s in states],
             scratch(w.dtype, end - begin), *scalars)


def run_flat_half(rule: Callable[..., None], w: np.ndarray, g: np.ndarray, master: np.ndarray, states: Sequence[Any],
                  scalars: tuple[Any, ...]) -> None:
    """As ``run_flat`` for float16 weights and gradients beside a float32 copy of the weights."""
    size = w.size
    for begin in range(0, size, BLOCK):
        end = min(begin + BLOCK, size)
        wide = master[begin:end]
        *pair, g32 = scratch(wide.dtype, end - begin, 3)
        np.copyto(g32, g[begin:end])
        rule(np, wide, g32, [s if s is None else s[begin:end] for s in states], pair, *scalars)
        w[begin:end] = wide


def run(rule: Callable[..., None], xp: Any, w: Any, g: Any, states: Sequence[Any], scalars: tuple[Any, ...],
        whole: bool = False) -> None:
    """Run a rule on raw arrays of any layout; ``whole`` rules see the weight in one piece."""
    if xp is np and not whole and w.flags.c_contiguous and g.flags.c_contiguous and all(
            s is None or s.flags.c_contiguous for s in states):
        run_flat(rule, w.reshape(-1), g.reshape(-1), [s if s is None else s.reshape(-1) for s in states], scalars)
        return
    rule(xp, w, g, states, [xp.empty_like(w), xp.empty_like(w)], *scalars)


def check(name: str, weight: Any, grad: Any, states: Sequence[Any], shapes: bool = True) -> None:
    """The arrays of one update fit together, else MXNetError naming expected and given."""
    expected = weight._data
    for position, array in enumerate((grad, *states), start=1):
        if array is None:
            continue
        data = array._data
        if data.dtype != expected.dtype:
            raise MXNetError(f'Error in operator {name}: Incompatible attr in node {name} at {position}-th input: '
                             f'expected {dtype_text(expected.dtype)}, got {dtype_text(data.dtype)}')
        if data.shape != expected.shape and (shapes or position == 1):
            raise MXNetError(f'Error in operator {name}: Incompatible attr in node {name} at {position}-th input: '
                             f'expected {shape_text(expected.shape)}, got {shape_text(data.shape)}')


def check_writable(weight: Any) -> None:
    """MXNetError when the weight is part of a graph that is being recorded (rule TRAINER-STEP-007)."""
    if tape_state.recording:
        node = weight._node
        if node is not None and node.alive:
            raise MXNetError(IN_GRAPH)


def apply(name: str, rule: Callable[..., None], weight: Any, grad: Any, states: Sequence[Any],
          scalars: tuple[Any, ...], gradient: Any = None, whole: bool = False) -> None:
    """Run a rule on NDArrays; ``gradient`` is a raw array that takes the place of ``grad``.

    An error that the gradient carries along passes to the weight, as from any input to any result.
    """
    check(name, weight, grad, states, shapes=not whole)
    check_writable(weight)
    w = weight._data
    g = grad._data if gradient is None else gradient
    raw = [s if s is None else s._data for s in states]
    failure = engine.failure_of([w, g, *raw])
    if failure is not None:
        weight._data = engine.fail(w, failure)
        return
    token = device.error_state.set(device.ERRORS_IGNORED)
    try:
        run(rule, device.module_of(w), w, g, raw, scalars, whole)
    finally:
        device.error_state.reset(token)
