"""The graph that recording builds, and the walk back through it."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numpy as np

from . import device
from .base import MXNetError

NOT_IN_GRAPH = ('Cannot differentiate node because it is not in a computational graph. You need to set is_recording to '
                'true or use autograd.record() to save computational graphs for backward. If you want to differentiate '
                'the same graph twice, you need to pass retain_graph=True to backward.')


class _State(threading.local):
    recording = False
    training = False


state = _State()
"""Whether this thread records, and whether it is in training mode."""

_sequence = itertools.count()

# Dispatch stands above the tape and puts these here: the raw name space of an array module, and arrays from raw data.
raw: Any = None
wrap: Any = None


class Leaf:
    """A variable: what ``attach_grad`` puts behind an array."""

    __slots__ = ('dtype', 'fresh', 'grad', 'req')

    alive = True
    sequence = -1
    parents: Sequence[Any] = ()

    def __init__(self, grad: Any, req: str, dtype: Any) -> None:
        self.grad = grad
        self.req = req
        self.fresh = False
        self.dtype = dtype        # of the variable, which its gradients have as well


class Node:
    """One recorded call of an operator."""

    __slots__ = ('alive', 'backward', 'cls', 'ctx', 'inputs', 'op', 'outputs', 'params', 'parents', 'sequence')

    def __init__(self, op: Any, params: Any, inputs: Any, outputs: Any, parents: Any, ctx: Any) -> None:
        self.op = op
        self.params = params
        self.inputs = inputs      # raw arrays
        self.outputs = outputs    # raw arrays, hidden outputs included
        self.parents = parents    # per input: None or (node or leaf, output index)
        self.ctx = ctx
        self.alive = True
        self.sequence = next(_sequence)
        self.backward = None      # a function that replaces the operator's gradient (autograd.Function)
        self.cls = None

    def free(self) -> None:
        """Forget everything that was kept for the walk back."""
        self.alive = False
        self.inputs = self.outputs = self.parents = ()
        self.params = self.backward = None


FREED = ('There are no inputs in computation graph that require gradients: a part of the graph was freed by an earlier '
         'backward; pass retain_graph=True to the first one to differentiate it twice.')


def _reachable(heads: Sequence[tuple[Any, int]]) -> tuple[list[Node], list[Leaf]]:
    """Nodes in reverse order of recording, and the variables, that the heads depend on.

    MXNetError when a part of the graph was freed: the gradient would silently lack its share.
    """
    seen: set[Any] = set()
    nodes: list[Node] = []
    leaves: list[Leaf] = []
    stack = [entry[0] for entry in heads]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.sequence < 0:
            leaves.append(node)
            continue
        if not node.alive:
            raise MXNetError(FREED)
        nodes.append(node)
        for parent in node.parents:
            if parent is not None:
                stack.append(parent[0])
    if len(nodes) > 1:
        nodes.sort(key=lambda n: n.sequence, reverse=True)
    return nodes, leaves


def _hand_on(node: Node, result: Sequence[Any], grads: dict[Any, list[Any]]) -> None:
    """Add the gradients of a node's inputs to what its parents have got so far.

    A gradient may be a function of no arguments, which is called only when somebody needs its result.
    """
    for parent, gradient in zip(node.parents, result):
        if parent is None or gradient is None:
            continue
        target, index = parent
        leaf = target.sequence < 0
        if leaf and target.req == 'null':
            continue
        if gradient.__class__ is FunctionType:
            gradient = gradient()
            if gradient is None:
                continue
        slots = grads.get(target)
        if slots is None:
            if leaf or len(target.outputs) == 1:
                grads[target] = [gradient]
                continue
            slots = grads[target] = [None] * len(target.outputs)
        slots[index] = gradient if slots[index] is None else slots[index] + gradient


def _first_gradients(nodes: Sequence[Node], grads: dict[Any, list[Any]]) -> None:
    """Walk back on raw arrays: ``grads`` maps a node to the gradients of its outputs, and finally leaves to theirs."""
    for node in nodes:
        ograds = grads.pop(node, None)
        if ograds is None:
            continue
        if node.backward is not None:
            result = node.backward(node, ograds)
        else:
            op = node.op
            if op.grad is None:
                continue
            xp = np if node.ctx.device_typeid != 2 else device.module(node.ctx)
            if len(ograds) > 1:
                _complete(node, ograds, xp.zeros_like)
            result = op.grad(raw(xp), ograds, node.inputs, node.outputs, node.params)
        _hand_on(node, result, grads)


def _complete(node: Node, ograds: list[Any], zeros_like: Any) -> None:
    """Outputs that were not used have gradient zero; hidden outputs stay None."""
    for index in range(node.op.visible_count(node.params)):
        if ograds[index] is None:
            ograds[index] = zeros_like(node.outputs[index])


def _second_gradients(nodes: Sequence[Node], grads: dict[Any, list[Any]]) -> None:
    """The same walk on recorded arrays, so that the gradients can be differentiated again."""
    from . import ndarray

    def view(data: Any, ctx: Any, parent: Any) -> Any:
        array = wrap(data, ctx)
        if parent is not None:
            array._node, array._index = parent
        return array

    for node in nodes:
        ograds = grads.pop(node, None)
        if ograds is None:
            continue
        if node.backward is not None:
            result = node.backward(node, ograds)
        else:
            if node.op.grad is None:
                continue
            inputs = [view(d, node.ctx, p) for d, p in zip(node.inputs, node.parents)]
            outputs = [view(d, node.ctx, (node, i)) for i, d in enumerate(node.outputs)]
            for index in range(node.op.visible_count(node.params)):
                if ograds[index] is None:
                    ograds[index] = ndarray.zeros_like(outputs[index])
            result = node.op.grad(ndarray, ograds, inputs, outputs, node.params)
        _hand_on(node, result, grads)


_ones: dict[Any, Any] = {}


def _ones_for(data: Any) -> Any:
    """Ones of the shape and dtype of an array; those of small arrays are made once."""
    if data.__class__ is np.ndarray and data.size <= 1024:
        key = (data.shape, data.dtype)
        found = _ones.get(key)
        if found is None:
            if len(_ones) > 512:
                _ones.clear()
            found = _ones[key] = np.ones(data.shape, data.dtype)
            found.flags.writeable = False
        return found
    return device.module_of(data).ones(data.shape, data.dtype)


def checked_head(gradient: Any) -> Any:
    """A head gradient; AttributeError for anything but an array (rule AUTOGRAD-BACK-004)."""
    _ = gradient.handle
    return gradient


def entry_of(array: Any) -> tuple[Any, int]:
    """Where an array stands in the graph; MXNetError when it stands nowhere."""
    node = array._node
    if node is None or not node.alive:
        raise MXNetError(NOT_IN_GRAPH)
    return (node, 0 if node.sequence < 0 else array._index)


def gradients(heads: Sequence[Any], head_grads: Sequence[Any] | None, *, retain_graph: bool, create_graph: bool,
              train_mode: bool, variables: Sequence[Any] | None = None) -> list[Any] | None:
    """Differentiate the sum of the heads.

    Without ``variables`` the gradients go into the buffers of the leaves; with them they come back as raw arrays, or as
    recorded arrays under ``create_graph``.
    """
    entries = [entry_of(h) for h in heads]
    nodes, leaves = _reachable(entries)
    wanted: list[Any] | None = None
    if variables is not None:
        wanted = []
        for index, variable in enumerate(variables):
            node = variable._node
            if node is None or node.sequence >= 0 or node.req == 'null':
                raise MXNetError(f'Cannot differentiate with respect to the {index + 1}-th variable because it does '
                                 f'not require gradient.')
            if node not in leaves:
                raise MXNetError(f'Cannot differentiate with respect to the {index + 1}-th variable because it is '
                                 f'unreachable from the outputs.')
            wanted.append(node)
    elif not any(leaf.req != 'null' for leaf in leaves):
        raise MXNetError('There are no inputs in computation graph that require gradients.')

    grads: dict[Any, list[Any]] = {}
    seen: set[tuple[Any, int]] = set()
    for position, (head, (node, index)) in enumerate(zip(heads, entries)):
        if (node, index) in seen:      # rule AUTOGRAD-BACK-012
            continue
        seen.add((node, index))
        given = None if head_grads is None else head_grads[position]
        if given is None:
            gradient = _ones_for(head._data)
        else:
            if given.shape != head.shape:
                raise MXNetError(f'The head gradient has shape {given.shape}, expected {head.shape} '
                                 f'(shape of the {position}-th head)')
            if given._data.dtype != head._data.dtype:
                raise MXNetError(f'The data type do not match: the head gradient has dtype {given._data.dtype}, '
                                 f'expected {head._data.dtype}')
            gradient = given._data
        if create_graph:
            gradient = given if given is not None else wrap(gradient, head._ctx.home)
        slots = grads.setdefault(node, [None] * (1 if node.sequence < 0 else len(node.outputs)))
        slots[index] = gradient

    previous = state.recording, state.training
    state.recording, state.training = create_graph, train_mode
    token = device.error_state.set(device.ERRORS_IGNORED)
    try:
        (_second_gradients if create_graph else _first_gradients)(nodes, grads)
    finally:
        device.error_state.reset(token)
        state.recording, state.training = previous

    result = None
    if wanted is None:
        for leaf in leaves:
            if leaf.req != 'null':
                _store(leaf, grads.get(leaf), create_graph)
    else:
        result = []
        for leaf in wanted:
            slots = grads.get(leaf)
            if slots is None or slots[0] is None:
                result.append(None)
            else:
                result.append(slots[0])
    if not retain_graph:
        for node in nodes:
            node.free()
    return result


def _bad_buffer(expected: Any, given: Any) -> MXNetError:
    return MXNetError(f'Incompatible attr in node backward at 0-th output: expected {expected}, got {given}: the '
                      f'gradient buffer does not fit the variable')


def _store(leaf: Leaf, slots: list[Any] | None, create_graph: bool) -> None:
    """Write or add a gradient into the buffer of a variable and mark it as fresh."""
    buffer = leaf.grad
    if buffer._data.dtype != leaf.dtype:
        raise _bad_buffer(leaf.dtype, buffer._data.dtype)
    leaf.fresh = True
    gradient = None if slots is None else slots[0]
    if gradient is None:
        if leaf.req == 'write':
            buffer._data[...] = 0
        return
    data = gradient._data if create_graph else gradient
    if data.shape != buffer.shape:
        raise _bad_buffer(data.shape, buffer.shape)
    target = buffer._data
    if data.__class__ is np.ndarray and target.__class__ is np.ndarray:
        if leaf.req == 'add':
            target += data
        else:
            target[...] = data
    else:       # failed results and device arrays
        buffer._write(target + data if leaf.req == 'add' else data)
    if create_graph:
        buffer._node, buffer._index = gradient._node, getattr(gradient, '_index', 0)
    elif buffer._node is not None:
        buffer._node = None

