"""The graph that recording builds, and the walk back through it."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from operator import attrgetter
from types import FunctionType
from typing import Any, ClassVar

import numpy as np

from . import device
from .base import LateError, MXNetError
from .op import Operator

NOT_IN_GRAPH = ('Cannot differentiate node because it is not in a computational graph. You need to set is_recording to '
                'true or use autograd.record() to save computational graphs for backward. If you want to differentiate '
                'the same graph twice, you need to pass retain_graph=True to backward.')

FREED = ('There are no inputs in computation graph that require gradients: a part of the graph was freed by an earlier '
         'backward; pass retain_graph=True to the first one to differentiate it twice.')

recorders: set[int] = set()
"""The threads that record. While it is empty, which costs nothing to see, a small operator need not ask for more."""


class _Here:
    """What one thread does: ``now`` is whether it records; ``scopes`` holds what its open blocks will restore."""

    __slots__ = ('now', 'scopes', 'thread', 'training', 'watch')

    def __init__(self) -> None:
        self.now = False
        self.training = False
        self.thread = threading.get_ident()
        self.scopes: list[tuple[bool, bool]] = []
        self.watch: Any = None      # told when code that is being traced asks for the mode


class _State(threading.local):
    """Whether this thread records, and whether it is in training mode."""

    def __init__(self) -> None:
        self.here = _Here()

    @property
    def recording(self) -> bool:
        return self.here.now

    @recording.setter
    def recording(self, flag: bool) -> None:
        here = self.here
        here.now = flag
        if flag:
            recorders.add(here.thread)
        else:
            recorders.discard(here.thread)

    @property
    def training(self) -> bool:
        return self.here.training

    @training.setter
    def training(self, flag: bool) -> None:
        self.here.training = flag


state = _State()

_sequence = itertools.count()
next_number = _sequence.__next__
"""The number of the next call that is recorded; the walk back goes by these."""

# Dispatch stands above the tape and puts these here: the raw name space of an array module, and arrays from raw data.
raw: Any = None
wrap: Any = None

# An asynchronous engine puts these here: to queue a backward pass, and to have values in the place of pending ones.
queued: Any = None
resolve: Any = None


GONE, RESULT, MANY, LEAF, IDLE = range(-1, 4)
"""What stands behind an array: a freed call, a call with one output, one of several outputs of a call, a variable, a
variable whose gradient nobody wants. A number that is compared, because the walk asks this for every edge."""


class Leaf:
    """A variable: what ``attach_grad`` puts behind an array."""

    __slots__ = ('dtype', 'fresh', 'grad', 'kind', 'req')

    alive = True
    sequence = -1

    def __init__(self, grad: Any, req: str, dtype: Any) -> None:
        self.grad = grad
        self.req = req
        self.kind = IDLE if req == 'null' else LEAF
        self.fresh = False
        self.dtype = dtype        # of the variable, which its gradients have as well


class Node:
    """One recorded call of an operator.

    ``inputs`` and ``outputs`` are raw arrays, hidden outputs included. ``parents`` has one entry per input: None, the
    leaf, the node of a call with one output, or an ``Output``; the same stands behind an array as ``_node``. An
    operator whose gradient needs to see the node has ``backward(node, ograds)``.
    """

    __slots__ = ('ctx', 'inputs', 'kind', 'op', 'outputs', 'params', 'parents', 'sequence')

    def __init__(self, op: Any, params: Any, inputs: Any, outputs: Any, parents: Any, ctx: Any) -> None:
        self.op = op
        self.params = params
        self.inputs = inputs
        self.outputs = outputs
        self.parents = parents
        self.ctx = ctx
        self.kind = RESULT if len(outputs) == 1 else MANY
        self.sequence = next_number()

    @property
    def alive(self) -> bool:
        """Whether backward has not freed the node."""
        return self.kind != GONE

    def free(self) -> None:
        """Forget everything that was kept for the walk back."""
        self.kind = GONE
        self.inputs = self.outputs = self.parents = ()
        self.params = None


class Pair:
    """A recorded call of an operator of two arrays with partial derivatives: a Node without tuples.

    Most nodes of most programs are of this kind, and a small operation feels every object that is made for it.
    """

    __slots__ = ('a', 'b', 'ctx', 'kind', 'left', 'op', 'right', 'sequence', 'y')

    params: ClassVar[dict[str, Any]] = {}

    @property
    def alive(self) -> bool:
        """Whether backward has not freed the node."""
        return self.kind != GONE

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The two raw arrays."""
        return () if self.kind == GONE else (self.a, self.b)

    @property
    def outputs(self) -> tuple[Any, ...]:
        """The raw result."""
        return () if self.kind == GONE else (self.y,)

    @property
    def parents(self) -> tuple[Any, ...]:
        """The entries of the two inputs."""
        return () if self.kind == GONE else (self.left, self.right)

    def free(self) -> None:
        """Forget everything that was kept for the walk back."""
        self.kind = GONE
        self.a = self.b = self.y = self.left = self.right = None


class Output:
    """One output of a call with several."""

    __slots__ = ('index', 'node')

    def __init__(self, node: Node, index: int) -> None:
        self.node = node
        self.index = index

    @property
    def kind(self) -> int:
        """MANY, or GONE when the call was freed."""
        return self.node.kind

    @property
    def alive(self) -> bool:
        """Whether backward has not freed the call."""
        return self.node.kind != GONE

    @property
    def sequence(self) -> int:
        """The number of the call."""
        return self.node.sequence


_by_sequence = attrgetter('sequence')
_enter, _leave = device.error_state.set, device.error_state.reset


def _reachable(starts: Sequence[Any]) -> tuple[list[Any], list[Leaf], bool]:
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
    """The general way of ``_reachable``, which goes on from a chain of nodes and the leaves met so far."""
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

def _add(grads: dict[Any, Any], entry: Any, gradient: Any) -> None:
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
        _add(grads, entry, gradient)


def _complete(node: Any, ograds: list[Any], zeros_like: Any) -> None:
    """Outputs that were not used have gradient zero; hidden outputs stay None."""
    for index in range(node.op.visible_count(node.params)):
        if ograds[index] is None:
            ograds[index] = zeros_like(node.outputs[index])


class _Given(Exception):
    """What a gradient of somebody else raised, a function of the user say: it passes as it is."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def _given(function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is handed on
        raise _Given(error) from None


def _first_gradients(nodes: Sequence[Any], grads: dict[Any, Any], chain: bool) -> None:
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


def _second_gradients(nodes: Sequence[Node], grads: dict[Any, Any]) -> None:
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


# ---- heads -----------------------------------------------------------------------------------------------------

_ones: dict[Any, Any] = {}
_FLOAT32 = np.dtype('float32')


def _ones_for(data: Any) -> Any:
    """Ones of the shape and dtype of an array; those of small arrays are made once."""
    if data.__class__ is np.ndarray and data.size <= 1024:
        dtype = data.dtype
        key = data.shape if dtype is _FLOAT32 else (data.shape, dtype)
        found = _ones.get(key)
        if found is None:
            if len(_ones) > 512:
                _ones.clear()
            found = _ones[key] = np.ones(data.shape, dtype)
            found.flags.writeable = False
        return found
    return device.module_of(data).ones(data.shape, data.dtype)


def checked_head(gradient: Any) -> Any:
    """A head gradient; AttributeError for anything but an array (rule AUTOGRAD-BACK-004)."""
    _ = gradient.handle
    return gradient


def entry_of(array: Any) -> Any:
    """What stands behind an array in the graph; MXNetError when nothing does."""
    entry = array._node
    if entry is None or entry.kind == GONE:
        raise MXNetError(NOT_IN_GRAPH)
    return entry


def _head_gradient(head: Any, given: Any, position: int, create_graph: bool) -> Any:
    """The gradient to start from: what was given, or ones; MXNetError when it does not fit the head."""
    if given is None:
        data = _ones_for(head._data)
        return wrap(data, head._ctx.home) if create_graph else data
    if given.shape != head.shape:
        raise MXNetError(f'The head gradient has shape {given.shape}, expected {head.shape} '
                         f'(shape of the {position}-th head)')
    if given._data.dtype != head._data.dtype:
        raise MXNetError(f'The data type do not match: the head gradient has dtype {given._data.dtype}, '
                         f'expected {head._data.dtype}')
    return given if create_graph else given._data


def _seeds(heads: Sequence[Any], entries: Sequence[Any], head_grads: Sequence[Any] | None,
           create_graph: bool) -> dict[Any, Any]:
    """The gradients at the heads; a head that comes twice counts once (rule AUTOGRAD-BACK-012)."""
    if len(entries) == 1 and entries[0].kind != MANY:
        return {entries[0]: _head_gradient(heads[0], head_grads[0] if head_grads else None, 0, create_graph)}
    grads: dict[Any, Any] = {}
    seen: set[Any] = set()
    for position, (head, entry) in enumerate(zip(heads, entries)):
        place = (entry.node, entry.index) if entry.kind == MANY else entry
        if place not in seen:
            seen.add(place)
            given = None if head_grads is None else head_grads[position]
            _add(grads, entry, _head_gradient(head, given, position, create_graph))
    return grads


def _wanted(variables: Sequence[Any], leaves: Sequence[Leaf]) -> list[Leaf]:
    """The leaves behind the variables; MXNetError for one that is none, or that the heads do not depend on."""
    wanted = []
    for index, variable in enumerate(variables):
        node = variable._node
        if node is None or node.kind != LEAF:
            raise MXNetError(f'Cannot differentiate with respect to the {index + 1}-th variable because it does '
                             f'not require gradient.')
        if node not in leaves:
            raise MXNetError(f'Cannot differentiate with respect to the {index + 1}-th variable because it is '
                             f'unreachable from the outputs.')
        wanted.append(node)
    return wanted


def gradients(heads: Sequence[Any], head_grads: Sequence[Any] | None, retain_graph: bool = False,
              create_graph: bool = False, train_mode: bool = True,
              variables: Sequence[Any] | None = None) -> list[Any] | None:
    """Differentiate the sum of the heads.

    Without ``variables`` the gradients go into the buffers of the leaves; with them they come back as raw arrays, or as
    recorded arrays under ``create_graph``.
    """
    if queued is not None and variables is None and not create_graph and queued(heads, head_grads, retain_graph,
                                                                                train_mode):
        return None
    entries = [entry_of(heads[0])] if len(heads) == 1 else [entry_of(head) for head in heads]
    nodes, leaves, chain = _reachable(entries)
    if resolve is not None:
        resolve(nodes)
    if variables is not None:
        leaves = _wanted(variables, leaves)
    else:
        for leaf in leaves:
            if leaf.kind == LEAF:
                break
        else:
            raise MXNetError('There are no inputs in computation graph that require gradients.')
    grads = _seeds(heads, entries, head_grads, create_graph)

    here = state.here
    recording, training = here.now, here.training
    if recording is not create_graph:
        state.recording = create_graph
    here.training = train_mode
    token = _enter(device.ERRORS_IGNORED)
    try:
        if create_graph:
            _second_gradients(nodes, grads)
        else:
            _first_gradients(nodes, grads, chain)
    except _Given as given:
        raise given.error from given.error.__cause__
    except LateError as late:
        raise late.error from None
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise MXNetError(f'Error in a gradient: {error}') from error
    finally:
        _leave(token)
        here.training = training
        if recording is not create_graph:
            state.recording = recording

    result = None
    if variables is None:
        for leaf in leaves:
            if leaf.kind == LEAF:
                leaf.fresh = True
                _store(leaf, grads.get(leaf), create_graph)
    else:
        result = [grads.get(leaf) for leaf in leaves]
    if not retain_graph:
        for node in nodes:
            if node.__class__ is Pair:      # its free(), without a call
                node.kind = GONE
                node.a = node.b = node.y = node.left = node.right = None
            else:
                node.free()
    return result


# ---- buffers ---------------------------------------------------------------------------------------------------

def _bad_buffer(expected: Any, given: Any) -> MXNetError:
    return MXNetError(f'Incompatible attr in node backward at 0-th output: expected {expected}, got {given}: the '
                      f'gradient buffer does not fit the variable')


def _store(leaf: Leaf, gradient: Any, create_graph: bool) -> None:
    """Write or add a gradient into the buffer of a variable."""
    buffer = leaf.grad
    target = buffer._data
    dtype = target.dtype
    if dtype is not leaf.dtype and dtype != leaf.dtype:
        raise _bad_buffer(leaf.dtype, dtype)
    if gradient is None:
        if leaf.req == 'write':
            target[...] = 0
        return
    data = gradient._data if create_graph else gradient
    if data.shape != target.shape:
        raise _bad_buffer(data.shape, target.shape)
    if data.__class__ is np.ndarray and target.__class__ is np.ndarray:
        if leaf.req == 'add':
            if dtype.kind in 'iu' and data.dtype != dtype:      # loses its fraction, as where it is written
                data = data.astype(dtype)
            target += data
        else:
            target[...] = data
    else:       # failed results and device arrays
        buffer._write(target + data if leaf.req == 'add' else data)
    if create_graph:
        buffer._node = gradient._node
    elif buffer._node is not None:
        buffer._node = None
