"""Memory plans: which intermediate values of a graph share memory, worked out before anything runs.

A value lives from the step that makes it to the last step that reads it. An elementwise step may write over an operand
that dies there; values whose lives do not overlap may lie at the same place (rules MEMPLAN-REUSE).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from .. import env
from ..op import Operator
from . import mirror as mirroring
from .blockwise import elementwise_step
from .builder import Builder, reachable, walk_back
from .inference import infer_shapes, outputs
from .places import one_after_another, overwritable, place, size_of
from .primitives import PAIRS, ZEROS
from .products import parts, pools
from .program import Program, Step, build
from .types import infer_types

_VIEWS = frozenset({'reshape', 'Flatten', 'expand_dims', 'squeeze', 'reshape_like'})


@dataclass
class MemoryPlan:
    """Where every intermediate value of a graph lies in one block of memory, and what that saves.

    ``offsets`` and ``sizes`` are in bytes, by slot of ``program``; values that share memory by writing over each other
    have one offset. Arguments, auxiliary states and gradients of arguments lie outside.
    """

    program: Program
    sizes: dict[int, int]
    offsets: dict[int, int] = field(default_factory=dict)
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    unplanned_bytes: int = 0
    planned_bytes: int = 0
    live_bytes: int = 0
    in_place: int = 0

    @property
    def saved(self) -> float:
        """The part of the memory that sharing saves, between 0 and 1."""
        return 1 - self.planned_bytes / self.unplanned_bytes if self.unplanned_bytes else 0.0


def plan(graph: Any, shapes: Mapping[str, Sequence[int]], dtypes: Mapping[str, Any] | None = None,
         train: bool = False, wanted: Sequence[str] | None = None, *, share: bool = True,
         in_place: bool = True, mirror: bool = False) -> MemoryPlan:
    """The memory plan of a symbol for given shapes of its inputs, with the way back when ``train`` is set.

    ``wanted`` are the arguments that get gradients: all whose shapes were not given, if it is left out. ``share`` and
    ``in_place`` switch the two kinds of reuse, ``mirror`` the recomputation of cheap values on the way back. MXNetError
    when the shapes do not suffice.

    >>> import refengine as mx
    >>> x = mx.sym.var('x')
    >>> for layer in range(4):
    ...     x = mx.sym.relu(mx.sym.FullyConnected(x, num_hidden=8, name=f'fc{layer}'))
    >>> found = plan(x, {'x': (2, 8)})
    >>> found.unplanned_bytes, found.planned_bytes
    (512, 128)
    """
    variables, states = graph._variables()
    nodes = graph.nodes()
    kinds = {key: [k or np.dtype('float32') for k in values]
             for key, values in infer_types(nodes, dtypes or {}).items()}
    known = infer_shapes(nodes, shapes, kinds)
    program = build(graph._entries, [*variables, *states])
    described: dict[int, tuple[tuple[int, ...], Any]] = {}
    for slot, node in zip(program.inputs, [*variables, *states], strict=True):
        shape = known.shape((node, 0))
        if shape is None or 0 in shape:
            from ..base import MXNetError
            raise MXNetError(f"a memory plan needs the shape of '{node.name}', known is {shape or ()}")
        described[slot] = (shape, kinds[id(node)][0])
    if program.open:
        program = program.closed(*zip(*[described[slot] for slot in program.inputs], strict=True))
    for step in program.steps:
        found = outputs(step.op, step.params, [described[s][0] for s in step.inputs if s is not None],
                        [described[s][1] for s in step.inputs if s is not None], train)
        described.update(zip(step.outputs, found, strict=True))
    if train:
        names = [n.name for n in variables]
        chosen = [n for n in names if n not in shapes] if wanted is None else list(wanted)
        program = with_backward(program, described, [names.index(name) for name in chosen], mirror)
    return of_program(program, described, share=share, in_place=in_place,
                      in_parts=not train and bool(env.get('MXNET_USE_FUSION')))


def with_backward(program: Program, described: dict[int, tuple[tuple[int, ...], Any]],
                  wanted: Sequence[int], mirror: bool = False) -> Program:
    """The program followed by its way back; the gradients of the wanted inputs count as given from outside."""
    builder = Builder(program.slots, concrete=False)
    steps = [Step(s.op, s.name, {**s.params, 'is_train': True} if 'is_train' in s.op.injected else s.params, s.inputs,
                  s.outputs) for s in program.steps]

    def values(slot: int | None) -> Any:
        return None if slot is None else builder.value(slot, *described[slot])

    seeds = []
    grads: dict[int, Any] = {}
    for slot in program.heads:
        seed = builder.new_input(*described[slot])
        seeds.append(seed.slot)
        described[seed.slot] = described[slot]
        grads[slot] = builder.emit(PAIRS['add'], (grads[slot], seed), {}) if slot in grads else seed
    grads = walk_back(builder, steps, values, grads, reachable(steps, wanted),
                      lambda a, b: builder.emit(PAIRS['add'], (a, b), {}), lambda v: builder.emit(ZEROS, (v,), {}),
                      _refuse)
    for value in builder.made:
        described[value.slot] = (value.shape, value.dtype)
    results = [grads[slot].slot for slot in wanted if slot in grads]
    back = Program([], builder._slots, [], _needed(builder, results), results)
    if mirror:
        back, sources = mirroring.recompute(program, back, lambda slot: True)
        described.update((slot, described[source]) for slot, source in sources.items())
    full = Program(program.names, back.slots, [*program.inputs, *seeds], [*program.steps, *back.steps], program.heads)
    full.constants = dict.fromkeys(results)     # they go into the caller's arrays
    return full


def _needed(builder: Builder, results: Sequence[int]) -> list[Step]:
    needed = set(results)
    kept = []
    for step in reversed(builder._steps):
        if getattr(step.op, 'mutates', ()) or any(slot in needed for slot in step.outputs):
            kept.append(step)
            needed.update(slot for slot in step.inputs if slot is not None)
    return kept[::-1]


def _refuse(step: Step, ograds: Any) -> Any:
    from ..base import MXNetError
    raise MXNetError(f'operator {step.op.name} calls code of the program: its memory cannot be planned')


def of_program(program: Program, described: Mapping[int, tuple[tuple[int, ...], Any]], *, share: bool = True,
               in_place: bool = True, in_parts: bool = False) -> MemoryPlan:
    """The plan of a program whose slots have the described shapes and dtypes.

    With ``in_parts``, convolutions that only a Pooling needs are there for some images at a time.
    """
    outside = {*program.inputs, *program.constants}
    heads = set(program.heads)
    last = program.last_reads()
    end = len(program.steps)
    sizes = {slot: size_of(*described[slot]) for step in program.steps for slot in step.outputs if slot not in outside}
    result = MemoryPlan(program, sizes, unplanned_bytes=sum(sizes.values()))
    root: dict[int, int] = {}
    spans: dict[int, list[int]] = {}
    for number, step in enumerate(program.steps):
        over = _overwritten(step, number, described, last, outside | heads) if in_place else None
        for index, slot in enumerate(step.outputs):
            if slot in outside:
                continue
            until = end if slot in heads else last.get(slot, number)
            if over is not None and over in root and not index:
                root[slot] = root[over]
                spans[root[slot]][1] = max(spans[root[slot]][1], until)
                result.in_place += 1
            else:
                root[slot] = slot
                spans[slot] = [number, until]
    if in_place and in_parts:
        _in_parts(program, described, root, spans, sizes)
    result.spans = {slot: (first, until) for slot, (first, until) in spans.items()}
    result.live_bytes = _most_live(result.spans, sizes, end)
    placed = place(result.spans, sizes) if share else one_after_another(result.spans, sizes)
    result.offsets = {slot: placed[root[slot]] for slot in sizes}
    result.planned_bytes = max((placed[slot] + sizes[slot] for slot in spans), default=0)
    return result


def _overwritten(step: Step, number: int, described: Mapping[int, tuple[tuple[int, ...], Any]], last: dict[int, int],
                 outside: set[int]) -> int | None:
    """The operand that the first result of a step may take the place of."""
    view = isinstance(step.op, Operator) and step.op.name in _VIEWS
    target = described[step.outputs[0]]
    for position in range(len(step.inputs)) if view else overwritable(step):
        slot = step.inputs[position]
        if slot is None or slot in outside or last[slot] != number:
            continue
        shape, dtype = described[slot]
        if np.dtype(dtype) == np.dtype(target[1]) and (tuple(shape) == tuple(target[0]) or
                                                       (view and prod(shape) == prod(target[0]))):
            return slot
    return None


def _in_parts(program: Program, described: Mapping[int, tuple[tuple[int, ...], Any]], root: Mapping[int, int],
              spans: Mapping[int, list[int]], sizes: dict[int, int]) -> None:
    """Make room for some images only where Pooling follows a convolution, and keep what it reads until then."""
    readers: dict[int, list[int]] = {}
    for number, step in enumerate(program.steps):
        for slot in step.inputs:
            if slot is not None:
                readers.setdefault(slot, []).append(number)
    heads = set(program.heads)
    for step in program.steps:
        slot = step.outputs[0]
        if not isinstance(step.op, Operator) or step.op.name != 'Convolution' or slot not in root:
            continue
        images = parts(step, described[step.inputs[0]][0], described[slot][0])      # type: ignore[index]
        read = list(step.inputs)
        while images and slot not in heads and len(readers.get(slot, ())) == 1 and root.get(slot) == step.outputs[0]:
            after = program.steps[readers[slot][0]]
            if pools(after, step):
                shape, dtype = described[step.outputs[0]]
                sizes[step.outputs[0]] = size_of((images, *shape[1:]), dtype)
                for operand in read:
                    if operand in root:
                        span = spans[root[operand]]
                        span[1] = max(span[1], readers[slot][0])
                break
            if not (elementwise_step(after) or after.op.name == 'BatchNorm') or after.inputs.count(slot) != 1:
                break
            read += after.inputs
            slot = after.outputs[0]


def _most_live(spans: Mapping[int, tuple[int, int]], sizes: Mapping[int, int], end: int) -> int:
    """The most bytes that are alive at one time: no plan can do with less."""
    change = [0] * (end + 2)
    for slot, (first, until) in spans.items():
        change[first] += sizes[slot]
        change[until + 1] -= sizes[slot]
    most = alive = 0
    for difference in change:
        alive += difference
        most = max(most, alive)
    return most
