"""Control flow on arrays: ``mx.nd.contrib.foreach``, ``while_loop`` and ``cond`` (rule GRAPH-STATIC-005).

The checks of what the functions of a loop are given and give stand here; the loops of graphs use them too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import MXNetError, dtype_text, numeric_types
from .ndarray import NDArray

# ---- checks --------------------------------------------------------------------------------------------------------

def shown(value: Any) -> str:
    """What was given, for a message: the value of small things, never the content of arrays."""
    return _brief(value) if isinstance(value, NDArray) else f'{_brief(value)} of type {type(value)}'


def _brief(value: Any) -> str:
    if isinstance(value, NDArray):
        return f'an NDArray of shape {value.shape}'
    if isinstance(value, np.ndarray):
        return f'an array of shape {value.shape}'
    if type(value) in (list, tuple) and len(value) <= 4:
        return f'[{", ".join(_brief(item) for item in value)}]'
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + '...'


def require_function(loop: str, what: str, function: Any) -> None:
    """TypeError for anything that cannot be called."""
    if not callable(function):
        raise TypeError(f'{loop}: {what} must be a function, got {shown(function)}: '
                        f"'{type(function).__name__}' object is not callable")


def refuse(loop: str, what: str, kind: str, value: Any) -> AssertionError:
    """The error for something that is neither an array (a symbol) nor a nested list of them."""
    return AssertionError(f'{loop} {what} must be (nested) list of {kind}, but got {shown(value)}')


def pair(loop: str, function: str, result: Any) -> tuple[Any, Any]:
    """The two things that a step gives; ValueError or TypeError for one thing, or more than two.

    An array (a symbol) with two entries is one thing, though Python could take it apart.
    """
    expected = f'{loop}: {function} must return two values, (outputs, {"states" if loop == "foreach" else "loop_vars"})'
    if isinstance(result, np.ndarray | str | dict) or hasattr(result, 'attach_grad') or hasattr(result, 'list_outputs'):
        raise ValueError(f'{expected}, got one: {shown(result)}')
    try:
        found = tuple(result)
    except TypeError:
        raise TypeError(f'{expected}, got {shown(result)}') from None
    if len(found) != 2:
        raise ValueError(f'{expected}, got {len(found)}')
    return found[0], found[1]


def iterations(given: Any) -> int:
    """The greatest number of steps; ValueError for none and for what is no number."""
    if given is None:
        raise ValueError('while_loop: max_iterations should be specified, got None')
    if isinstance(given, NDArray):
        given = given.asscalar() if given.size == 1 else shown(given)
    try:
        return int(given)
    except (TypeError, ValueError):
        raise ValueError(f'while_loop: Cannot convert max_iteration to python int: expected a number, got '
                         f'{shown(given)}') from None


def below(given: int, least: int) -> MXNetError:
    """The error for a number of steps that no loop can have."""
    return MXNetError(f'while_loop: value {given} for Parameter max_iterations should be greater equal to {least}')


def _truth(loop: str, what: str, value: Any, error: type[Exception]) -> bool:
    """The truth of a number or of an array of one element; ValueError for more or less of them."""
    if isinstance(value, numeric_types):
        return bool(value)
    if not isinstance(value, NDArray | np.ndarray):
        raise error(f'{loop}: {what} must be an array of one element or a number, got {shown(value)}')
    if value.size != 1:
        raise ValueError(f'{loop}: {what} must have one element, got shape {value.shape}: The current array is not a '
                         f'scalar')
    return bool(value.reshape((1,))[0])


# ---- nested lists of arrays ----------------------------------------------------------------------------------------

def _flatten(loop: str, what: str, value: Any) -> tuple[list[NDArray], Any]:
    if isinstance(value, NDArray):
        return [value], 0
    if not isinstance(value, (list, tuple)):
        raise refuse(loop, what, 'NDArray', value)
    flat, form = [], []
    for item in value:
        items, shape = _flatten(loop, what, item)
        flat += items
        form.append(shape)
    return flat, form


def _regroup(flat: Sequence[Any], form: Any) -> Any:
    rest = iter(flat)

    def take(form: Any) -> Any:
        return next(rest) if form == 0 else [take(part) for part in form]

    return take(form)


class _Steps:
    """The outputs of the steps so far: every step gives as many as the first, alike in shape and dtype."""

    def __init__(self, loop: str, function: str, error: type[Exception]) -> None:
        self._loop = loop
        self._function = function
        self._error = error         # for another number of outputs
        self._form: Any = None
        self._steps: list[list[NDArray]] = []

    def add(self, outputs: Any) -> None:
        """Keep the outputs of one more step."""
        flat, form = _flatten(self._loop, 'output', outputs)
        steps = self._steps
        if steps:
            first = steps[0]
            here = f'{self._loop}: {self._function} gave'
            now = f'in step {len(steps)}, expected'
            if len(flat) != len(first):
                raise self._error(f'{here} {len(flat)} outputs {now} {len(first)} as in step 0: Number of elements in '
                                  f'step_output should be the same in each step')
            if form != self._form:
                raise ValueError(f'{here} outputs nested in another way {now} them as in step 0')
            for number, (array, like) in enumerate(zip(flat, first)):
                if array.shape != like.shape:
                    raise MXNetError(f'{here} output {number} of shape {array.shape} {now} {like.shape} as in step 0')
                if array.dtype != like.dtype:
                    raise MXNetError(f'{here} output {number} of dtype {dtype_text(array.dtype)} {now} '
                                     f'{dtype_text(like.dtype)} as in step 0')
        self._form = form
        steps.append(flat)

    def stacked(self, length: int) -> Any:
        """The outputs along a new first axis, filled up with zeros to a length; [] when there was no step."""
        from . import concat, stack, zeros
        if not self._steps:
            return []
        missing = length - len(self._steps)
        whole = []
        for column in zip(*self._steps):
            array = stack(*column, axis=0)
            if missing > 0:
                like = column[0]
                array = concat(array, zeros((missing, *like.shape), ctx=like.context, dtype=like.dtype), dim=0)
            whole.append(array)
        return _regroup(whole, self._form)


# ---- the loops -----------------------------------------------------------------------------------------------------

def _length(arrays: Sequence[Any]) -> int:
    """How many entries the data have; IndexError when it is not one number."""
    if not arrays:
        raise IndexError('foreach: data must have at least one NDArray to go through, got none')
    for number, array in enumerate(arrays):
        if not array.shape:
            raise IndexError(f'foreach: data[{number}] must have an axis to go along, got shape ()')
        if len(array) != len(arrays[0]):
            raise IndexError(f'foreach: data[{number}] has length {len(array)}, expected {len(arrays[0])} as data[0]: '
                             f'index is out of bounds')
    return len(arrays[0])


def foreach(body: Callable[..., Any], data: Any, init_states: Any) -> tuple[Any, Any]:
    """Call ``body(slice, states)`` for every entry of the first axis and stack its outputs (AUTOGRAD-OPGRAD-011).

    ``body`` returns outputs and new states; the result is the stacked outputs and the last states. AssertionError for
    data, states or outputs that are no arrays, IndexError for data of different lengths, MXNetError without a single
    entry and for outputs that change shape or dtype.

    >>> import refengine as mx
    >>> outs, last = foreach(lambda x, s: (x + s, x + s), mx.nd.array([1, 2, 3]), mx.nd.array([0]))
    >>> outs.asnumpy().ravel().tolist(), last.asnumpy().tolist()
    ([1.0, 3.0, 6.0], [6.0])
    """
    require_function('foreach', 'body', body)
    flat, form = _flatten('foreach', 'input', data)
    _flatten('foreach', 'states', init_states)
    if form != 0 and any(part != 0 for part in form):
        raise AssertionError(f'foreach: data must be an NDArray or a list of them, got lists in a list: {form}')
    length = _length(flat)
    if not length:
        raise MXNetError('foreach: data must have at least one entry along the first axis, got shape '
                         f'{flat[0].shape}: without a step the outputs are unknown')
    states = init_states
    steps = _Steps('foreach', 'body', IndexError)
    for index in range(length):
        outputs, states = pair('foreach', 'body', body(flat[0][index] if form == 0 else [a[index] for a in flat],
                                                       states))
        steps.add(outputs)
    return steps.stacked(length), states


def while_loop(cond: Callable[..., Any], func: Callable[..., Any], loop_vars: Any,
               max_iterations: int | None = None) -> tuple[Any, Any]:
    """Call ``func(*loop_vars)`` while ``cond(*loop_vars)`` holds, at most max_iterations times.

    ``func`` returns step outputs and new loop variables; outputs are stacked and padded to max_iterations. ValueError
    without a limit or variables, for a condition that is not one truth value, and for outputs or variables whose number
    changes; MXNetError for a limit below 0 and for outputs that change shape or dtype.

    >>> import refengine as mx
    >>> outs, (last,) = while_loop(lambda i: i < 2, lambda i: (i * 10, [i + 1]), [mx.nd.array([0])], 3)
    >>> outs.asnumpy().ravel().tolist(), last.asnumpy().tolist()
    ([0.0, 10.0, 0.0], [2.0])
    """
    require_function('while_loop', 'cond', cond)
    require_function('while_loop', 'func', func)
    limit = iterations(max_iterations)
    if limit < 0:
        raise below(limit, 0)
    if not isinstance(loop_vars, NDArray | np.ndarray | list | tuple):
        raise TypeError(f'while_loop: loop_vars must be an NDArray or a list of them, got {shown(loop_vars)}')
    single = not isinstance(loop_vars, list | tuple)
    variables = [loop_vars] if single else list(loop_vars)
    if not variables:
        raise ValueError('while_loop: loop_vars should contain at least one element, got none')
    steps = _Steps('while_loop', 'func', ValueError)
    count = 0
    while count < limit and _truth('while_loop', 'the condition', cond(*variables), ValueError):
        outputs, new = pair('while_loop', 'func', func(*variables))
        new = [] if new is None else list(new) if isinstance(new, list | tuple) else [new]
        if len(new) != len(variables):
            raise ValueError(f'while_loop: func gave {len(new)} loop variables in step {count}, expected '
                             f'{len(variables)}: The length of loop_vars should be consistent during the loop')
        variables = new
        steps.add([] if outputs is None else outputs)
        count += 1
    return steps.stacked(limit), variables[0] if single else variables


def cond(pred: Any, then_func: Callable[[], Any], else_func: Callable[[], Any]) -> Any:
    """The result of one of two functions, chosen by a number or the truth of a one-element array.

    AssertionError for a ``pred`` of another kind, ValueError for an array with more or fewer elements.
    """
    holds = _truth('cond', 'pred', pred, AssertionError)
    chosen = then_func if holds else else_func
    require_function('cond', 'then_func' if holds else 'else_func', chosen)
    return chosen()
