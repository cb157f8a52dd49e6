"""The walks back through the graph that recording built: what heads depend on, and gradients on their way there."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from types import FunctionType
from typing import Any

from . import device
from .base import MXNetError
from .op import Operator
from .tape import FREED, GONE, IDLE, LEAF, MANY, RESULT, Leaf, Node, Output, Pair

# Dispatch stands above the tape and puts these here: the raw name space of an array module, and arrays from raw data.
raw: Any = None
wrap: Any = None

_by_sequence = attrgetter('sequence')


def reachable(starts: Sequence[Any]) -> tuple[list[Any], list[Leaf], bool]:
    """Nodes in reverse order of recording, and the variables, that the heads' entries depend on; whether it is a chain.

    MXNetError when a part of the graph was freed: the gradient would silently lack its share.
    """
    leaves: dict[Any, None] = {}
    nodes: list[Any] = []
    if len(starts) != 1:
        return _branching(starts, nodes, leaves)
    # As long as the graph is a chain, where each call depends on one other at most, none can be met twice.
    ahead = starts[0]
    while ahead is not None:
        kind = ahead.kind
        if kind >= LEAF:
            leaves[ahead] = None
            break
        if kind == GONE:
            raise MXNetError(FREED)
        if kind == MANY and ahead.__class__ is Output:
            ahead = ahead.node
        nodes.append(ahead)
        if ahead.__class__ is Pair:
            left, right = ahead.left, ahead.right
            if left is None:
                ahead = right
                continue
            if right is None:
                ahead = left
                continue
            parents: Any = (left, right)
        else:
            parents = ahead.parents
        ahead = None
        for parent in parents:
            if parent is None:
                continue
            kind = parent.kind
            if kind >= LEAF:
                leaves[parent] = None
            elif kind == GONE:
                raise MXNetError(FREED)
            elif ahead is None:
                ahead = parent
            elif parent is not ahead:
                return _branching([nodes.pop()], nodes, leaves)
    return nodes, list(leaves), True


def _branching(starts: Sequence[Any], nodes: list[Any],
               leaves: dict[Any, None]) -> tuple[list[Any], list[Leaf], bool]:
    """The general way of ``reachable``, which goes on from a chain of nodes and the leaves met so far."""
    stack: list[Any] = []
    seen: set[Any] = set()

    def meet(entry: Any) -> None:
        if entry.__class__ is Output:
            entry = entry.node
        if entry not in seen:
            seen.add(entry)
            stack.append(entry)

    for start in starts:
        meet(start)
    while stack:
        node = stack.pop()
        kind = node.kind
        if kind >= LEAF:
            leaves[node] = None
        elif kind == GONE:
            raise MXNetError(FREED)
        else:
            nodes.append(node)
            for entry in node.parents:
                if entry is not None and entry not in seen:
                    meet(entry)
    nodes.sort(key=_by_sequence, reverse=True)
    return nodes, list(leaves), False


def since(start: int, entries: Sequence[Any]) -> list[Any]:
    """The calls after one with this number that entries depend on, in reverse order of recording."""
    found: set[Any] = set()
    stack = list(entries)
    while stack:
        entry = stack.pop()
        if entry.__class__ is Output:
            entry = entry.node
        if entry.sequence > start and entry not in found:
            found.add(entry)
            stack += [parent for parent in entry.parents if parent is not None]
    return sorted(found, key=_by_sequence, reverse=True)


# ---- gradients on their way: a node's value is the gradient of its output, or a list for several outputs ----------

def add(grads: dict[Any, Any], entry: Any, gradient: Any) -> None:
    """Add a gradient to what an entry has got so far."""
    if entry.kind != MANY:
        grads[entry] = grads[entry] + gradient if entry in grads else gradient
        return
    node, index = entry.node, entry.index
    slots = grads.get(node)
    if slots is None:
        slots = grads[node] = [None] * len(node.outputs)
    slots[index] = gradient if slots[index] is None else slots[index] + gradient


def _hand_on(node: Any, result: Sequence[Any], grads: dict[Any, Any]) -> None:
    """Add the gradients of a node's inputs to what its parents have got so far.

    A gradient may be a function of no arguments, which is called only when somebody needs its result.
    """
    for entry, gradient in zip(node.parents, result):
        if entry is None or gradient is None or entry.kind == IDLE:
            continue
        if gradient.__class__ is FunctionType:
            gradient = gradient()
            if gradient is None:
                continue
        add(grads, entry, gradient)


def _complete(node: Any, ograds: list[Any], zeros_like: Any) -> None:
    """Outputs that were not used have gradient zero; hidden outputs stay None."""
    for index in range(node.op.visible_count(node.params)):
        if ograds[index] is None:
            ograds[index] = zeros_like(node.outputs[index])


class Given(Exception):
    """What a gradient of somebody else raised, a function of the user say: it passes as it is."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def _given(function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is handed on
        raise Given(error) from None


def first_gradients(nodes: Sequence[Any], grads: dict[Any, Any], chain: bool) -> None:
    """Walk back on raw arrays: ``grads`` maps a node to the gradients of its outputs, and finally leaves to theirs.

    In a chain the next node gets its gradient from this one alone: it need not be looked up.
    """
    take = grads.pop
    ctx = xp = F = following = None
    for node in nodes:
        if following is not None:
            ograd, following = following, None
        else:
            ograd = take(node, None)
            if ograd is None:
                continue
        if node.ctx is not ctx:
            ctx = node.ctx
            xp = device.module(ctx)
            F = raw(xp)
        op = node.op
        if node.__class__ is Pair and (partials := op.partials) is not None:
            a, b = node.a, node.b
            broadcast = a.shape != b.shape
            target = node.left
            if target is not None and (kind := target.kind) != IDLE:
                gradient = partials[0](F, ograd, a, b, node.y)
                if broadcast:
                    gradient = F._sum_like(gradient, a)
                if chain and kind == RESULT:
                    following = gradient
                else:
                    grads[target] = grads[target] + gradient if target in grads else gradient
            target = node.right
            if target is not None and (kind := target.kind) != IDLE:
                gradient = partials[1](F, ograd, a, b, node.y)
                if broadcast:
                    gradient = F._sum_like(gradient, b)
                if chain and kind == RESULT:
                    following = gradient if following is None else following + gradient
                else:
                    grads[target] = grads[target] + gradient if target in grads else gradient
            continue
        many = node.kind == MANY
        ograds = ograd if many else (ograd,)
        if op.backward is not None:
            _hand_on(node, _given(op.backward, node, ograds), grads)
        elif op.grad is not None:
            if many:
                _complete(node, ograd, xp.zeros_like)
            arguments = F, ograds, node.inputs, node.outputs, node.params
            _hand_on(node, op.grad(*arguments) if op.__class__ is Operator else _given(op.grad, *arguments), grads)


def second_gradients(nodes: Sequence[Node], grads: dict[Any, Any]) -> None:
    """The same walk on recorded arrays, so that the gradients can be differentiated again."""
    from . import ndarray

    def view(data: Any, ctx: Any, entry: Any) -> Any:
        array = wrap(data, ctx)
        array._node = entry
        return array

    for node in nodes:
        ograd = grads.pop(node, None)
        if ograd is None:
            continue
        op = node.op
        ograds = ograd if node.kind == MANY else [ograd]
        if op.backward is not None:
            result = _given(op.backward, node, ograds)
        elif op.grad is not None:
            inputs = [view(d, node.ctx, p) for d, p in zip(node.inputs, node.parents)]
            outputs = [view(d, node.ctx, Output(node, i) if node.kind == MANY else node)
                       for i, d in enumerate(node.outputs)]
            for index in range(op.visible_count(node.params)):
                if ograds[index] is None:
                    ograds[index] = ndarray.zeros_like(outputs[index])
            arguments = ndarray, ograds, inputs, outputs, node.params
            result = op.grad(*arguments) if op.__class__ is Operator else _given(op.grad, *arguments)
        else:
            continue
        _hand_on(node, result, grads)
