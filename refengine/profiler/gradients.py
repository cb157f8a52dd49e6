"""How the way back is observed: a span for the gradient of each call, under the name that the release gives it.

What a gradient computes with is not shown, as little as what the body of an operator does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from .. import autograd, tape_backward, tape_walk
from ..graph import builder as graph_builder
from ..ndarray import custom
from ..ndarray import ndarray as front
from ..op import Operator
from ..ops.binary import zero_gradient
from ..symbol.executor import Executor
from ..tape import IDLE, MANY
from . import names
from .timer import Timer, depth, now, timed_call

Change = Callable[[Any, str, Any], None]


class _Computed(tuple[Any, ...]):
    """The gradients of one call on their way to whoever takes them on, and since when they were computed."""

    name: str
    start: int
    operands: Sequence[Any]


def install(timer: Timer, operators: Sequence[Operator], change: Change) -> None:
    """Time the gradients of all operators, and what stands around them."""
    for op in operators:
        if op.grad is not None and op.name not in names.PARTS:
            name = names.ZEROS if op.grad is zero_gradient else names.backward(op.name)
            change(op, 'grad', functools.partial(_grad, timer, name, op.grad))
        if op.name == 'Custom':
            change(op, 'backward', functools.partial(_custom_backward, timer, custom._backward))
            change(op, 'forward', functools.partial(_custom_forward, timer, op.forward))
    change(autograd._FunctionRecord, 'backward', _function_backward(timer, autograd._FunctionRecord.backward))
    change(tape_walk, '_hand_on', functools.partial(_hand_on, timer, tape_walk._hand_on))
    change(tape_walk, 'add', functools.partial(_add, timer, tape_walk.add))
    change(graph_builder, 'hand_on', functools.partial(_hand_on_in_graph, timer, graph_builder.hand_on))


def install_calls(session: Any, change: Change) -> None:
    """Time the calls that ask for gradients."""
    for owner, attribute, name in ((tape_backward, 'gradients', 'MXAutogradBackwardEx'),
                                   (front, 'gradients', 'MXAutogradBackwardEx'),
                                   (Executor, 'forward', 'MXExecutorForward'),
                                   (Executor, 'backward', 'MXExecutorBackwardEx')):
        change(owner, attribute, timed_call(session, getattr(owner, attribute), name))


def _grad(timer: Timer, name: str, grad: Callable[..., Any], F: Any, ograds: Any, inputs: Any, outputs: Any,
          params: Any) -> Any:
    """In place of an operator's gradient."""
    if depth.operator or not timer.running or (isinstance(F, graph_builder.Builder) and not F.concrete):
        return grad(F, ograds, inputs, outputs, params)
    start = now()
    depth.operator = 1
    try:
        computed = _Computed(grad(F, ograds, inputs, outputs, params))
    finally:
        depth.operator = 0
    computed.name, computed.start, computed.operands = name, start, inputs
    return computed


def _finish(timer: Timer, computed: _Computed, wanted: Sequence[bool]) -> list[Any]:
    """Compute what is left to compute, as far as it is wanted, and report the whole."""
    depth.operator = 1
    try:
        gradients = [(g() if g.__class__ is FunctionType else g) if w else None for g, w in zip(computed, wanted)]
    finally:
        depth.operator = 0
    found = [_raw(g) for g in gradients if g is not None]
    if found:
        timer.report(computed.name, computed.start, now(), [_raw(a) for a in computed.operands], found, called=False)
    return gradients


def _raw(value: Any) -> Any:
    """The raw array behind a value of the tape or of a graph."""
    if isinstance(value, front.NDArray):
        return value._data
    return value.data if isinstance(value, graph_builder.Value) else value


def _hand_on(timer: Timer, original: Callable[..., None], node: Any, result: Any, grads: dict[Any, Any]) -> None:
    if result.__class__ is _Computed:
        result = _finish(timer, result, [entry is not None and entry.kind != IDLE for entry in node.parents])
    original(node, result, grads)


def _hand_on_in_graph(timer: Timer, original: Callable[..., None], step: Any, result: Any, grads: dict[int, Any],
                      in_graph: set[int], add: Callable[[Any, Any], Any]) -> None:
    if result.__class__ is _Computed:
        result = _finish(timer, result, [slot in in_graph for slot in step.inputs])
        add = functools.partial(timer.call, names.SUM, add, _called=False)
    original(step, result, grads, in_graph, add)


def _add(timer: Timer, original: Callable[..., None], grads: dict[Any, Any], entry: Any, gradient: Any) -> None:
    """A sum is made where there was a gradient before."""
    if entry.kind == MANY:
        slots = grads.get(entry.node)
        before = None if slots is None else slots[entry.index]
    else:
        before = grads.get(entry)
    if before is None or depth.operator:
        original(grads, entry, gradient)
    else:
        timer.call(names.SUM, original, grads, entry, gradient, _operands=(_raw(before),), _called=False)


# ---- the program's own code ----------------------------------------------------------------------------------------

def _custom_forward(timer: Timer, forward: Callable[..., Any], xp: Any, *arrays: Any, **params: Any) -> Any:
    with timer.program(params['call'].name):
        return forward(xp, *arrays, **params)


def _custom_backward(timer: Timer, backward: Callable[..., Any], node: Any, ograds: Any) -> Any:
    with timer.program(f"_backward_{node.params['call'].name}"):
        return backward(node, ograds)


def _function_backward(timer: Timer, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def backward(self: Any, node: Any, ograds: Any) -> Any:
        start = now()
        with timer.program(''):
            result = original(self, node, ograds)
        timer.report('_backward_CustomFunction', start, now(), node.inputs, [_raw(g) for g in result], called=False)
        return result

    return backward
