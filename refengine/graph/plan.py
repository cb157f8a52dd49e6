"""Running one program for one signature of its inputs: the first run shows, the later ones go a compiled way."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Sequence
from typing import Any

from .. import device, dispatch, engine, random, tape
from ..base import LateError
from ..op import Operator, check_same
from . import mirror
from .builder import Builder, reachable, walk_back
from .code import Compiled, Seen, alias_of
from .primitives import PAIRS, ZEROS
from .program import Program, Step, injected


class State:
    """What a recorded forward run keeps for its backward run; it hands its buffers back when it dies."""

    __slots__ = ('__weakref__', 'buffers', 'compiled', 'inputs', 'plan', 'values')

    def __init__(self, plan: Plan, inputs: Sequence[Any], values: dict[int, Any], compiled: Compiled | None = None,
                 buffers: Any = None) -> None:
        self.plan = plan
        self.inputs = inputs
        self.values = values
        self.compiled = compiled
        self.buffers = buffers

    def __del__(self) -> None:
        if self.compiled is not None:
            self.compiled.spare(self.buffers)


class Plan:
    """A program for inputs of fixed shapes, dtypes, memory orders, context and mode.

    Results are those of eager execution, bit for bit: the same kernels see the same operands in the same memory order,
    and gradients are put together in the same sequence. Only ``fold`` changes them: it multiplies BatchNorm into the
    weights before it, which rounds in other places.
    """

    def __init__(self, program: Program, ctx: Any, is_train: bool, static_alloc: bool = False,
                 fusion: bool = True, fold: bool = False) -> None:
        self.program = program
        self.ctx = ctx
        self.xp = device.module(ctx)
        self.is_train = is_train
        self.static_alloc = static_alloc
        self.fusion = fusion
        self.fold = fold
        self.volatile = program.volatile
        self.seen: dict[int, Seen] = {}
        self._steps = {slot: step for step in program.steps for slot in step.outputs}
        self._draws = [slot for step in program.steps if 'rng' in step.op.injected for slot in step.outputs]
        self._plain: Compiled | None = None
        self._recorded: Compiled | None = None
        self._needed: set[int] = set()
        self._backwards: dict[Any, Backward] = {}

    def _rng(self) -> Any:
        return random.generator(self.ctx)

    # ---- forward -----------------------------------------------------------------------------------------------

    def forward(self, arrays: Sequence[Any], record: bool) -> tuple[Sequence[Any], State | None]:
        """The heads, and with ``record`` what backward will need."""
        compiled = self._recorded if record else self._plain
        if compiled is not None and not _failed(arrays):
            rng = self._rng() if self._draws else None
            token = device.error_state.set(device.ERRORS_IGNORED)
            buffers = compiled.buffers()
            try:
                heads, saved = compiled.run(arrays, (), buffers, rng)
            except LateError:
                pass            # the step-by-step way marks the results as failed
            else:
                if not record:
                    compiled.spare(buffers)
                    return heads, None
                return heads, State(self, arrays, dict(zip(compiled.saved, saved, strict=True)), compiled, buffers)
            finally:
                device.error_state.reset(token)
        values = self.observe(arrays, keep=record)
        heads = [values[slot] for slot in self.program.heads]
        if self.volatile or _failed(heads):
            return heads, State(self, arrays, values) if record else None
        if not record:
            self._plain = Compiled(self.program, self.seen, is_train=self.is_train, ctx=self.ctx, xp=self.xp,
                                   planned=self.static_alloc, fusion=self.fusion, fold=self.fold)
        return heads, State(self, arrays, values) if record else None

    def observe(self, arrays: Sequence[Any], keep: bool) -> dict[int, Any]:
        """Run step by step with all checks, as eager execution does, and note what comes out."""
        program = self.program
        values: dict[int, Any] = dict(zip(program.inputs, arrays, strict=True))
        values.update(program.constants)
        for slot, data in values.items():
            self.seen[slot] = Seen(data)
        last = program.last_reads()
        kept = set(program.heads)
        for number, step in enumerate(program.steps):
            self._step(step, values)
            if not keep:
                for slot in step.inputs:
                    if slot is not None and last[slot] == number and slot not in kept:
                        values.pop(slot, None)
        return values

    def _step(self, step: Step, values: dict[int, Any]) -> None:
        operands = [values[slot] for slot in step.inputs]
        if step.op.name == 'Custom':        # every call has a description and an operator of its own
            params = values[~step.outputs[0]] = {'call': copy.copy(step.params['call'])}
            params['call'].ctx = self.ctx
            step = Step(step.op, step.name, params, step.inputs, step.outputs)
        outputs = run_step(step, operands, self.is_train, self.ctx, self.xp, self._rng)
        for slot, data in zip(step.outputs, outputs, strict=True):
            alias = alias_of(data, step, operands)
            self.seen[slot] = Seen(data, alias)
            values[slot] = data if alias is None else dispatch._own(data, operands)

    # ---- backward ----------------------------------------------------------------------------------------------

    def value(self, state: State, slot: int) -> Any:
        """The content of a slot in a recorded run; what was not kept is computed again from what was."""
        values = state.values
        if slot in values:
            return values[slot]
        if slot in self.program.inputs:
            return state.inputs[slot]
        if slot in self.program.constants:
            return self.program.constants[slot]
        step = self._steps[slot]
        operands = [None if s is None else self.value(state, s) for s in step.inputs]
        outputs = run_step(step, operands, self.is_train, self.ctx, self.xp, self._rng)
        for number, data in zip(step.outputs, outputs, strict=True):
            values.setdefault(number, dispatch._own(data, operands))
        return values[slot]

    def backward(self, state: State, ograds: Sequence[Any], wanted: Sequence[int]) -> list[Any]:
        """The gradients of the wanted inputs; None for those that nothing flows back to.

        ``ograds`` has one entry per head, None for a head that was not used.
        """
        layout = tuple(None if g is None else (g.shape, g.dtype.char, getattr(g, 'strides', None)) for g in ograds)
        key = (layout, tuple(wanted))
        found = self._backwards.get(key)
        if found is not None and not self.volatile and not _failed([g for g in ograds if g is not None]):
            return found.run(state, ograds)
        built = Backward(self, state, ograds, wanted)
        first = built.first
        if state.buffers is not None:       # another run may use them before the gradients are read
            first = [g if g is None or getattr(g, 'base', None) is None else g.copy() for g in first]
        if not self.volatile and not _failed([*state.inputs, *(g for g in ograds if g is not None)]):
            self._backwards[key] = built
            needed = set(built.reads) | set(self._draws)
            if not needed <= self._needed or self._recorded is None:
                self._needed |= needed
                self._recorded = Compiled(self.program, self.seen, saved=sorted(self._needed), is_train=self.is_train,
                                          ctx=self.ctx, xp=self.xp, planned=self.static_alloc, fusion=self.fusion)
        return first


def _failed(arrays: Sequence[Any]) -> bool:
    return any(type(a) is engine.FailedArray for a in arrays)


def run_step(step: Step, operands: Sequence[Any], is_train: bool, ctx: Any, xp: Any,
             rng: Callable[[], Any]) -> tuple[Any, ...]:
    """One call with the checks that dispatch makes; errors while running mark the results as failed."""
    op, params = step.op, step.params
    arrays = list(operands)
    if not isinstance(op, Operator):
        return dispatch.compute(op, xp, arrays, params)
    if len(arrays) > 1 and not op.mixed:
        check_same(op.name, arrays, shapes=op.same_shape)
    if arrays and not op.any_shape and not dispatch.semantics.shape:
        dispatch.check_sizes(op, arrays)
    if op.infer is not None:
        try:
            op.infer(arrays, params)
        except LateError as late:
            failure = engine.Failure(late.error)
            return tuple(engine.fail(o, failure) for o in late.outputs)
    return dispatch.compute(op, xp, arrays, injected(op, params, is_train, ctx, rng))


class Backward:
    """The way back through a plan for one choice of used heads and wanted inputs.

    Making one runs it once on the data at hand: ``first`` are the gradients of that run. ``reads`` are the slots of the
    forward run that it needs.
    """

    def __init__(self, plan: Plan, state: State, ograds: Sequence[Any], wanted: Sequence[int]) -> None:
        program = plan.program
        self._plan = plan
        seen: dict[int, Seen] = {}

        def note(step: Step, operands: list[Any], made: list[Any]) -> None:
            for value in made:
                seen[value.slot] = Seen(value.data, alias_of(value.data, step, operands))

        builder = Builder(program.slots, plan.xp, plan.ctx, noted=note)
        steps = [Step(s.op, s.name, _with_mode(s, plan, state), s.inputs, s.outputs) for s in program.steps]
        known: dict[int, Any] = {}

        def values(slot: int | None) -> Any:
            if slot is None:
                return None
            if slot not in known:
                data = plan.value(state, slot)
                known[slot] = builder.value(slot, data.shape, data.dtype, data)
            return known[slot]

        grads: dict[int, Any] = {}
        self._seeds: list[int] = []
        self._used = [i for i, g in enumerate(ograds) if g is not None]
        for index in self._used:
            gradient = ograds[index]
            seed = builder.new_input(gradient.shape, gradient.dtype, gradient)
            self._seeds.append(seed.slot)
            slot = program.heads[index]
            grads[slot] = builder.emit(PAIRS['add'], (grads[slot], seed), {}) if slot in grads else seed
        grads = walk_back(
            builder, steps, values, grads, reachable(program.steps, wanted),
            lambda a, b: builder.emit(PAIRS['add'], (a, b), {}), lambda v: builder.emit(ZEROS, (v,), {}),
            lambda step, given: _special(builder, step, given, values, plan))
        results = [grads.get(slot) for slot in wanted]
        self.first = [None if g is None else g.data for g in results]
        self._program = _alive(Program([], builder._slots, [], builder._steps,
                                       [g.slot for g in results if g is not None]), self._seeds)
        self._places = [i for i, g in enumerate(results) if g is not None]
        self._count = len(results)
        made = set(seen)
        read = {slot for step in self._program.steps for slot in step.inputs if slot is not None}
        read |= set(self._program.heads)
        self.reads = sorted(read - made - set(self._seeds))
        self._seen = {**{slot: Seen(value.data) for slot, value in known.items()}, **seen}
        if mirror.enabled():
            self._program, sources = mirror.recompute(program, self._program,
                                                      lambda slot: plan.seen[slot].alias is None)
            self._seen.update((slot, plan.seen[source]) for slot, source in sources.items())
            made |= set(sources)
            read = {slot for step in self._program.steps for slot in step.inputs if slot is not None}
            self.reads = sorted((read | set(self._program.heads)) - made - set(self._seeds))
            self._seen.update((slot, plan.seen[slot]) for slot in self.reads if slot not in self._seen)
        self._given = [*self.reads, *self._seeds]
        for seed, index in zip(self._seeds, self._used, strict=True):
            self._seen[seed] = Seen(ograds[index])
        self._compiled: Compiled | None = None

    def run(self, state: State, ograds: Sequence[Any]) -> list[Any]:
        """The gradients of another run."""
        plan = self._plan
        if self._compiled is None:
            self._compiled = Compiled(self._program, self._seen, is_train=plan.is_train, ctx=plan.ctx, xp=plan.xp,
                                      planned=plan.static_alloc, given=self._given, fusion=plan.fusion)
        given = [plan.value(state, slot) for slot in self.reads]
        given += [ograds[index] for index in self._used]
        token = device.error_state.set(device.ERRORS_IGNORED)
        buffers = self._compiled.buffers()
        try:
            heads, _ = self._compiled.run((), given, buffers, None)
        finally:
            device.error_state.reset(token)
        self._compiled.spare(buffers)
        result: list[Any] = [None] * self._count
        for place, head in zip(self._places, heads, strict=True):
            result[place] = head
        return result


def _with_mode(step: Step, plan: Plan, state: State) -> dict[str, Any]:
    """The parameters as a gradient sees them: with the mode of the forward run."""
    own: dict[str, Any] | None = state.values.get(~step.outputs[0]) if step.outputs else None
    if own is not None:
        return own
    if 'is_train' in step.op.injected:
        return {**step.params, 'is_train': plan.is_train}
    return step.params


def _special(builder: Builder, step: Step, ograds: list[Any], values: Callable[[Any], Any], plan: Plan) -> list[Any]:
    """The gradients of an operator that must see its node: it runs on the data at hand, nothing is compiled."""
    in_graph = [types.SimpleNamespace(kind=tape.RESULT, req='write', alive=True, sequence=0) for _ in step.inputs]
    node = types.SimpleNamespace(op=step.op, params=step.params, ctx=plan.ctx, parents=in_graph,
                                 inputs=[values(s).data for s in step.inputs],
                                 outputs=[values(s).data for s in step.outputs])
    result = step.op.backward(node, [None if g is None else g.data for g in ograds])
    return [None if g is None else builder.new_input(g.shape, g.dtype, g) for g in result]


def _alive(program: Program, seeds: Sequence[int]) -> Program:
    """The program without steps whose results nobody needs; those that write into variables stay."""
    needed = set(program.heads)
    kept = []
    for step in reversed(program.steps):
        if getattr(step.op, 'mutates', ()) or any(slot in needed for slot in step.outputs):
            kept.append(step)
            needed.update(slot for slot in step.inputs if slot is not None)
    return Program(program.names, program.slots, program.inputs, kept[::-1], program.heads, program.constants)


