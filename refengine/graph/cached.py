"""A graph as a function of arrays: plans by signature, and one node on the tape for a whole recorded call."""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import Any

from .. import dispatch, env, memory, tape
from ..tape import state as tape_state
from . import backends
from .builder import reachable, walk_back
from .plan import Plan, State, _with_mode
from .program import Program, Step

_LIMIT = 64


class CachedGraph:
    """A program that is called with arrays; each signature of them has a plan of its own.

    ``static_alloc`` keeps the buffers of intermediate values between calls; results are always new arrays (rule
    GLUON-HYBRID-009). ``backend`` names one of ``backends``.
    """

    def __init__(self, program: Program, name: str = 'CachedOp', static_alloc: bool = False,
                 backend: str | None = None) -> None:
        self.program = program
        self.name = name
        self.static_alloc = static_alloc
        self._optimized = memory.optimized()     # what is set when the graph is built counts (rule MEMPLAN-SET-002)
        self._fusion = bool(env.get('MXNET_USE_FUSION'))
        self._fold = backends.folds(backend)
        self.plans: dict[Any, Plan] = {}
        self._record = _Call(self)
        self._rest: Sequence[Any] = ()
        self._rest_key: Any = ()

    def plan_for(self, arrays: Sequence[Any], ctx: Any, is_train: bool, changing: int | None = None) -> Plan:
        """The plan for inputs like these; those from ``changing`` on are most often the same objects every time."""
        head = arrays if changing is None else arrays[:changing]
        key: Any = (is_train, ctx.device_typeid, ctx.device_id, dispatch.raw(dispatch.np),
                    *[(a.shape, a.strides, a.dtype.char) for a in head])
        if changing is not None:
            rest = arrays[changing:]
            if len(rest) != len(self._rest) or not all(map(is_, rest, self._rest)):
                self._rest = rest
                self._rest_key = tuple([(a.shape, a.strides, a.dtype.char) for a in rest])
            key = (key, self._rest_key)
        plan = self.plans.get(key)
        if plan is None:
            if len(self.plans) >= _LIMIT:
                self.plans.pop(next(iter(self.plans)))
            program = self.program
            if program.open:
                shapes = [*[a.shape for a in arrays], *[c.shape for c in program.constants.values()]]
                dtypes = [*[a.dtype for a in arrays], *[c.dtype for c in program.constants.values()]]
                program = program.closed(shapes, dtypes)
            planned = self.static_alloc or ('gpu' if ctx.is_gpu else 'cpu') in self._optimized
            plan = self.plans[key] = Plan(program, ctx, is_train, planned, self._fusion, self._fold)
        return plan

    def __call__(self, inputs: Sequence[Any], changing: int | None = None) -> list[Any]:
        """The results for inputs in the order of the program's variables, recorded where recording is on."""
        program = self.program
        if not program.steps:
            constants = program.constants
            ctx = inputs[0]._ctx.home if inputs else None
            return [inputs[slot] if slot < len(inputs) else dispatch.wrap(constants[slot].copy(), ctx)
                    for slot in program.heads]
        arrays = [a._data for a in inputs]
        first = inputs[0]
        ctx = first._ctx.home
        here = tape_state
        record = here.recording and any(_alive(a._node) for a in inputs)
        plan = self.plan_for(arrays, ctx, here.training, changing)
        heads, kept = plan.forward(arrays, record)
        results = []
        for slot, head in zip(program.heads, heads, strict=True):
            if slot < len(arrays) and slot in program.inputs:
                head = head.copy()
            results.append(dispatch.wrap(head, ctx, first.__class__))
        if record:
            dispatch.record(self._record, {'state': kept}, inputs, arrays, heads, results, ctx)
        return results


def _alive(entry: Any) -> bool:
    return entry is not None and entry.alive


def _idle(entry: Any) -> bool:
    """Whether nobody wants the gradient behind an entry of the tape."""
    return entry is None or getattr(entry, 'req', 'write') == 'null'


class _Call:
    """What stands for the whole graph on the tape."""

    partials = grad = None
    kernels: Sequence[Any] = ()
    injected: frozenset[str] = frozenset()

    def __init__(self, graph: CachedGraph) -> None:
        self.graph = graph
        self.name = graph.name

    def visible_count(self, params: Any) -> int:
        """How many results there are."""
        return len(self.graph.program.heads)

    def backward(self, node: Any, ograds: Sequence[Any]) -> list[Any]:
        """Gradients of the inputs that somebody wants."""
        kept: State = node.params['state']
        wanted = [i for i, entry in enumerate(node.parents) if not _idle(entry)]
        if any(isinstance(g, dispatch.NDArray) for g in ograds):
            found = _recorded_backward(kept, node, ograds, wanted)
        else:
            found = kept.plan.backward(kept, ograds, wanted)
        gradients: list[Any] = [None] * len(node.parents)
        for index, gradient in zip(wanted, found, strict=True):
            gradients[index] = gradient
        return gradients


def _recorded_backward(kept: State, node: Any, ograds: Sequence[Any], wanted: Sequence[int]) -> Any:
    """The same as recorded operations on arrays, so that gradients can be differentiated again.

    The calls of the graph are put on the tape with the results that they had: nothing runs or draws a second time.
    """
    from .. import ndarray as nd
    plan = kept.plan
    program = plan.program
    values: dict[int, Any] = {}
    for slot, data, entry in zip(program.inputs, node.inputs, node.parents, strict=True):
        array = dispatch.wrap(data, node.ctx)
        array._node = entry
        values[slot] = array
    for slot, data in program.constants.items():
        values[slot] = dispatch.wrap(data, node.ctx)
    steps = [Step(s.op, s.name, _with_mode(s, plan, kept), s.inputs, s.outputs) for s in program.steps]
    training, tape.state.training = tape.state.training, plan.is_train
    try:
        for step in steps:
            _record_step(step, values, kept, node.ctx)
        grads: dict[int, Any] = {}
        for slot, gradient in zip(program.heads, ograds, strict=True):
            if gradient is not None:
                grads[slot] = grads[slot] + gradient if slot in grads else gradient
        grads = walk_back(nd, steps, values.__getitem__, grads, reachable(program.steps, wanted), lambda a, b: a + b,
                          nd.zeros_like, lambda step, given: _special(step, given, values, node.ctx))
    finally:
        tape.state.training = training
    return [grads.get(slot) for slot in wanted]


def _record_step(step: Step, values: dict[int, Any], kept: State, ctx: Any) -> None:
    """Put a call on the tape, hidden outputs included, as if it had been made on the arrays in ``values``."""
    inputs = [values[slot] for slot in step.inputs]
    outputs = [kept.plan.value(kept, slot) for slot in step.outputs]
    if kept.buffers is not None:        # the buffers serve another run when the state of this one dies
        outputs = [data.copy() for data in outputs]
    results = [dispatch.wrap(data, ctx) for data in outputs]
    if inputs:
        dispatch.record(step.op, step.params, inputs, [a._data for a in inputs], outputs, results, ctx)
    values.update(zip(step.outputs, results, strict=True))


def _special(step: Step, ograds: Sequence[Any], values: dict[int, Any], ctx: Any) -> Any:
    """The gradients of an operator that must see its node."""
    inputs, outputs = ([values[slot] for slot in slots] for slots in (step.inputs, step.outputs))
    node = tape.Node(step.op, step.params, [a._data for a in inputs], [a._data for a in outputs],
                     [a._node for a in inputs], ctx)
    return step.op.backward(node, ograds)
