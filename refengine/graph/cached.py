"""A graph as a function of arrays: plans by signature, and one node on the tape for a whole recorded call."""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import Any

from .. import dispatch, memory, tape
from ..base import MXNetError
from ..tape import state as tape_state
from .builder import reachable, walk_back
from .plan import Plan, State
from .program import Program

_LIMIT = 64


class CachedGraph:
    """A program that is called with arrays; each signature of them has a plan of its own.

    ``static_alloc`` keeps the buffers of intermediate values between calls; results are always new arrays (rule
    GLUON-HYBRID-009).
    """

    def __init__(self, program: Program, name: str = 'CachedOp', static_alloc: bool = False) -> None:
        self.program = program
        self.name = name
        self.static_alloc = static_alloc
        self._optimized = memory.optimized()     # what is set when the graph is built counts (rule MEMPLAN-SET-002)
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
            plan = self.plans[key] = Plan(program, ctx, is_train, planned)
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
            found = _recorded_backward(kept.plan.program, kept.plan, node, ograds, wanted)
        else:
            found = kept.plan.backward(kept, ograds, wanted)
        gradients: list[Any] = [None] * len(node.parents)
        for index, gradient in zip(wanted, found, strict=True):
            gradients[index] = gradient
        return gradients


def _recorded_backward(program: Program, plan: Plan, node: Any, ograds: Sequence[Any], wanted: Sequence[int]) -> Any:
    """The same as recorded operations on arrays, so that gradients can be differentiated again."""
    from .. import ndarray as nd
    values: dict[int, Any] = {}
    for slot, data, entry in zip(program.inputs, node.inputs, node.parents, strict=True):
        array = dispatch.wrap(data, node.ctx)
        array._node = entry
        values[slot] = array
    for slot, data in program.constants.items():
        values[slot] = dispatch.wrap(data, node.ctx)
    if plan.is_train and any('rng' in step.op.injected for step in program.steps):
        raise MXNetError(f'{plan.program.names}: a compiled graph that draws random numbers cannot be differentiated '
                         f'twice; call hybridize(active=False)')
    training, tape.state.training = tape.state.training, plan.is_train
    try:
        for step in program.steps:
            result = _call_hidden(step, [values[slot] for slot in step.inputs], node.ctx, plan)
            values.update(zip(step.outputs, result, strict=True))
        grads: dict[int, Any] = {}
        for slot, gradient in zip(program.heads, ograds, strict=True):
            if gradient is not None:
                grads[slot] = grads[slot] + gradient if slot in grads else gradient
        grads = walk_back(nd, [_moded(s, plan) for s in program.steps], lambda slot: values[slot], grads,
                          reachable(program.steps, wanted), lambda a, b: a + b, nd.zeros_like, _refuse)
    finally:
        tape.state.training = training
    return [grads.get(slot) for slot in wanted]


def _refuse(step: Any, ograds: Any) -> Any:
    raise MXNetError(f'Operator {step.op.name} inside a compiled graph cannot be differentiated twice')


def _moded(step: Any, plan: Plan) -> Any:
    from .program import Step
    params = {**step.params, 'is_train': plan.is_train} if 'is_train' in step.op.injected else step.params
    return Step(step.op, step.name, params, step.inputs, step.outputs)


def _call_hidden(step: Any, inputs: list[Any], ctx: Any, plan: Plan) -> list[Any]:
    """A recorded call that gives hidden outputs too."""
    from .plan import run_step
    arrays = [a._data for a in inputs]
    outputs = [dispatch._own(o, arrays) for o in run_step(step, arrays, plan.is_train, ctx, plan.xp, plan._rng)]
    results = [dispatch.wrap(o, ctx) for o in outputs]
    dispatch.record(step.op, _moded(step, plan).params, inputs, arrays, outputs, results, ctx)
    return results
