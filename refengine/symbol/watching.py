"""Running a graph operator by operator while somebody listens: monitors of executors, hooks of compiled blocks.

Values are those of the compiled graph, bit for bit. While autograd records, the listener also hears of the gradients
that every call passes back.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from .. import dispatch, tape
from ..graph.node import Entry, Node, topological
from ..ndarray import NDArray
from ..op import Operator

HIDDEN = {'BatchNorm': ('mean', 'var'), 'InstanceNorm': ('mean', 'var'), 'LayerNorm': ('mean', 'std'),
          'GroupNorm': ('mean', 'std'), 'Dropout': ('mask',)}
"""Further outputs, which the way back needs, of operators that give one array otherwise."""


class Listener:
    """Who hears of values; every method does nothing here."""

    def enters(self, node: Node, index: int, source: Entry, array: NDArray) -> None:
        """An input of a call, before the call."""

    def leaves(self, node: Node, index: int, array: NDArray) -> None:
        """An output of a call; those from the visible ones on are hidden."""

    def returns(self, node: Node, index: int, array: NDArray) -> None:
        """The gradient by an input of a call, when it is computed."""


def run(entries: Sequence[Entry], values: dict[int, list[NDArray]], ctx: Any, listener: Listener) -> list[NDArray]:
    """The results of a graph for the values of its variables, by the identity of the node.

    Nobody hears of calls whose values are given too.
    """
    calls = [node for node in topological(entries) if node.op is not None and id(node) not in values]
    for node in sorted(calls, key=lambda n: n.sequence):
        inputs = [values[id(source)][index] for source, index in node.inputs]
        for place, (source, array) in enumerate(zip(node.inputs, inputs, strict=True)):
            listener.enters(node, place, source, array)
        results = values[id(node)] = _call(node, inputs, ctx)
        for place, array in enumerate(results):
            listener.leaves(node, place, array)
        # The calls inside a loop or a branch are recorded one by one: none of them is its own.
        call = None if 'runner' in node.params else _call_behind(results)
        if call is not None:
            for place in range(len(results), len(output_words(node))):
                listener.leaves(node, place, dispatch.wrap(call.outputs[place], ctx))
            if node.op is not None and node.op.name != 'elemwise_add':
                # The gradient of elemwise_add is the one that it got: no operator of the release.
                call.op = _watched(call, node, listener)
    return [values[id(node)][index] for node, index in entries]


def _call(node: Node, inputs: list[NDArray], ctx: Any) -> list[NDArray]:
    assert node.op is not None
    runner = node.params.get('runner')
    if runner is not None:
        found: list[NDArray] = runner(inputs)
        return found
    # What a tape notes beside the parameters, such as the mode, is dispatch's to fill in.
    given = {key: value for key, value in node.params.items() if key in node.op.params}
    results = dispatch.invoke(node.op, inputs, given, ctx=ctx)
    return results if isinstance(results, list) else [results]


def output_words(node: Node) -> list[str]:
    """What distinguishes the outputs of a node, hidden ones that a listener hears of included."""
    op = node.op
    assert op is not None
    if op.name in HIDDEN:
        return ['output', *HIDDEN[op.name]]
    start = len(node.name) + 1
    return [name[start:] for name in node.output_names()]


# ---- the way back ----------------------------------------------------------------------------------------------

def _call_behind(results: Sequence[NDArray]) -> Any:
    """The recorded call that made the results, if there is one."""
    behind = results[0]._node
    if isinstance(behind, tape.Output):
        behind = behind.node
    return behind if isinstance(behind, tape.Node | tape.Pair) and behind.alive else None


def _watched(call: Any, node: Node, listener: Listener) -> Operator:
    """An operator like that of a recorded call, whose gradient tells the listener what it gives to whom."""
    op: Operator = copy.copy(call.op)
    parents, ctx = call.parents, call.ctx

    def tell(index: int, gradient: Any) -> None:
        listener.returns(node, index, gradient if isinstance(gradient, NDArray) else dispatch.wrap(gradient, ctx))

    def late(index: int, gradient: Any) -> Callable[[], Any]:
        def compute() -> Any:
            found = gradient()
            if found is not None:
                tell(index, found)
            return found

        return compute

    def told(result: Sequence[Any]) -> list[Any]:
        told_of = []
        for index, gradient in enumerate(result):
            parent = parents[index] if index < len(parents) else None
            if gradient is not None and parent is not None and parent.kind != tape.IDLE:
                if gradient.__class__ is FunctionType:
                    gradient = late(index, gradient)
                else:
                    tell(index, gradient)
            told_of.append(gradient)
        return told_of

    plain, special = call.op.grad, call.op.backward
    if special is not None:
        op.backward = lambda walked, ograds: told(special(walked, ograds))
    elif plain is not None:
        op.grad = lambda F, ograds, inputs, outputs, params: told(plain(F, ograds, inputs, outputs, params))
    return op


# ---- names of inputs, as the release gives them -----------------------------------------------------------------

_DATA_WITH_NAME = (
    'Dropout GridGenerator L2Normalization LRN MakeLoss Pooling Pooling_v1 SliceChannel _contrib_quadratic '
    '_image_normalize _split_v2 depth_to_space diag log_softmax moments pad repeat reverse space_to_depth squeeze '
    'swapaxes tile')
"""Operators of one array that call it ``data``; for the others it is ``input0``."""

_WITH_DATA = frozenset(_DATA_WITH_NAME.split())


def input_words(node: Node) -> list[str]:
    """What distinguishes the inputs of a node."""
    op = node.op
    assert op is not None
    count = len(node.inputs)
    if op.variadic or len(op.inputs) < count:
        return [f'arg{index}' for index in range(count)]
    if op.inputs == ('data',) and op.name not in _WITH_DATA:
        return ['input0']
    return list(op.inputs[:count])
