"""The graph that recording builds, and whether a thread records; ``tape_walk`` goes back through it."""

from __future__ import annotations

import itertools
import threading
from typing import Any, ClassVar

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
