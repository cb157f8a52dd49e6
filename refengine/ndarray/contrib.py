"""Contributed operators and control flow: ``mx.nd.contrib``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import numeric_types
from ..op import registry as _registry
from . import functions as _functions
from .ndarray import NDArray

_PREFIXES = ('_contrib_',)


def _flatten(value: Any, what: str) -> tuple[list[Any], Any]:
    if isinstance(value, NDArray):
        return [value], 0
    assert isinstance(value, (list, tuple)), f'{what} must be (nested) list of NDArray, but got {value}'
    flat, form = [], []
    for item in value:
        items, shape = _flatten(item, what)
        flat += items
        form.append(shape)
    return flat, form


def _regroup(flat: list[Any], form: Any) -> tuple[Any, list[Any]]:
    if form == 0:
        return flat[0], flat[1:]
    result = []
    for part in form:
        item, flat = _regroup(flat, part)
        result.append(item)
    return result, flat


def foreach(body: Callable[..., Any], data: Any, init_states: Any) -> tuple[Any, Any]:
    """Call ``body(slice, states)`` for every entry of the first axis and stack its outputs (AUTOGRAD-OPGRAD-011).

    ``body`` returns outputs and new states; the result is the stacked outputs and the last states.
    """
    from . import stack
    single = isinstance(data, NDArray)
    arrays = [data] if single else list(data)
    states = init_states
    steps = arrays[0].shape[0]
    collected: list[list[Any]] = []
    form: Any = 0
    for index in range(steps):
        entry = arrays[0][index] if single else [a[index] for a in arrays]
        outputs, states = body(entry, states)
        flat, form = _flatten(outputs, 'the outputs of the body of foreach')
        collected.append(flat)
    stacked = [stack(*column, axis=0) for column in zip(*collected)]
    return _regroup(stacked, form)[0], states


def while_loop(cond: Callable[..., Any], func: Callable[..., Any], loop_vars: Any,
               max_iterations: int | None = None) -> tuple[Any, Any]:
    """Call ``func(*loop_vars)`` while ``cond(*loop_vars)`` holds, at most max_iterations times.

    ``func`` returns step outputs and new loop variables; outputs are stacked and padded to max_iterations.
    """
    from . import concat, stack, zeros
    if max_iterations is None:
        raise ValueError('max_iterations should be specified')
    max_iterations = int(max_iterations)
    if not loop_vars:
        raise ValueError('loop_vars should contain at least one element')
    single = isinstance(loop_vars, NDArray)
    variables = [loop_vars] if single else list(loop_vars)
    steps, form, collected = 0, None, []
    while steps < max_iterations and bool(cond(*variables)):
        outputs, variables = func(*variables)
        variables = [variables] if isinstance(variables, NDArray) else list(variables or [])
        flat, form = _flatten([] if outputs is None else outputs, 'step_output')
        collected.append(flat)
        steps += 1
    stacked = []
    for column in zip(*collected):
        whole = stack(*column, axis=0)
        if steps < max_iterations:
            rest = zeros((max_iterations - steps,) + column[0].shape, ctx=column[0].context, dtype=column[0].dtype)
            whole = concat(whole, rest, dim=0)
        stacked.append(whole)
    result = [] if form is None else _regroup(stacked, form)[0]
    return result, variables[0] if single and len(variables) == 1 else variables


def cond(pred: Any, then_func: Callable[[], Any], else_func: Callable[[], Any]) -> Any:
    """The result of one of two functions, chosen by the truth of a one-element array."""
    if isinstance(pred, numeric_types):
        return then_func() if pred else else_func()
    return then_func() if bool(pred) else else_func()


def __getattr__(name: str) -> Any:
    for prefix in _PREFIXES:
        op = _registry.get(prefix + name)
        if op is not None:
            value = globals()[name] = _functions.make(op, name)
            return value
    raise _functions.missing(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *(n[len(p):] for p in _PREFIXES for n in _registry if n.startswith(p))})
