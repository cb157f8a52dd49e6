"""Recomputation: cheap results of the forward run are computed again on the way back instead of being kept.

MXNET_BACKWARD_DO_MIRROR switches it on (rule MEMPLAN-REUSE-008). What is given up must follow from values that are kept
anyway, so memory never grows; values are the same, bit for bit, because the same kernels run on the same operands.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from .. import env
from ..op import Operator
from ..ops.nn_batch_norm import normalised_again
from .primitives import Primitive
from .program import Program, Step
from .shape_rules import ELEMENTWISE

DEPTH = 4
"""The most steps in a row that are repeated for one value: what they make lives at one time."""

_AGAIN = Primitive('BatchNorm_again', normalised_again, True)
_CHEAP = ELEMENTWISE | {'clip', 'Activation'}


def enabled() -> bool:
    """Whether the environment asks for it; graphs that were run backward before keep what they do."""
    return bool(env.get('MXNET_BACKWARD_DO_MIRROR'))


def recompute(forward: Program, back: Program, single: Callable[[int], bool]) -> tuple[Program, dict[int, int]]:
    """The way back with steps that make values of the forward run again, each right before it is first read.

    ``single`` tells whether a slot of the forward run has memory of its own. The second result gives for each new slot
    the one that it repeats; slots of the forward run that the new program does not read need not be kept.
    """
    written = {slot for step in forward.steps if not _normalises(step) for slot in _written(step)}
    given = {*forward.inputs, *forward.constants} - written
    makers = {slot: step for slot, step in map(_maker, forward.steps) if step is not None and single(slot)}
    made = {slot: number for number, step in enumerate(forward.steps) for slot in step.outputs}
    read = {slot for step in back.steps for slot in step.inputs if slot is not None and slot in made}
    repeated = _choose(sorted(read, key=made.__getitem__), makers, given, {*forward.heads, *back.heads})
    slots = back.slots
    fresh: dict[int, int] = {}
    steps: list[Step] = []

    def again(slot: int) -> int:
        nonlocal slots
        if slot not in repeated:
            return slot
        if slot not in fresh:
            step = makers[slot]
            inputs = [None if s is None else again(s) for s in step.inputs]
            fresh[slot] = slots
            slots += 1
            steps.append(Step(step.op, step.name, step.params, inputs, [fresh[slot]]))
        return fresh[slot]

    for step in back.steps:
        steps.append(Step(step.op, step.name, step.params, [None if s is None else again(s) for s in step.inputs],
                          step.outputs))
    program = Program(back.names, slots, back.inputs, steps, back.heads, back.constants)
    return program, {new: old for old, new in fresh.items()}


def _normalises(step: Step) -> bool:
    """A BatchNorm reads none of the statistics that it writes once more, and a gamma that it writes is 1 after it."""
    return isinstance(step.op, Operator) and step.op.name == 'BatchNorm'


def _written(step: Step) -> list[int | None]:
    return [step.inputs[position] for position in getattr(step.op, 'mutates', ()) if position < len(step.inputs)]


def _maker(step: Step) -> tuple[int, Step | None]:
    """The step that makes the first result of a step again; None where that costs much, or gives something else."""
    op, slot = step.op, step.outputs[0] if step.outputs else -1
    if _normalises(step):
        data, gamma, beta = step.inputs[:3]
        return slot, Step(_AGAIN, step.name, {'axis': step.params['axis']},
                          [data, gamma, beta, step.outputs[1], step.outputs[2]], [slot])
    if (isinstance(op, Operator) and op.name in _CHEAP and len(step.outputs) == 1 and not op.mutates
            and 'rng' not in op.injected):
        return slot, step
    return slot, None


def _choose(read: Sequence[int], makers: dict[int, Step], given: Collection[int],
            heads: Collection[int]) -> set[int]:
    """The slots to repeat: those that are read and follow cheaply from kept ones, and what lies in between."""
    kept = {slot for slot in read if slot not in makers or slot in heads} | set(given)
    depth: dict[int, int] = {}

    def deep(slot: int) -> int:
        """How many steps in a row make a slot from kept ones; more than DEPTH where it cannot be done."""
        if slot in kept:
            return 0
        if slot not in depth:
            step = makers.get(slot)
            inputs = () if step is None else step.inputs
            found = 1 + max((deep(s) for s in inputs if s is not None), default=DEPTH)
            if found > DEPTH:
                return DEPTH + 1        # not noted: more may be kept later
            depth[slot] = found
        return depth[slot]

    for slot in read:
        if slot not in kept and deep(slot) > DEPTH:
            kept.add(slot)
    repeated: set[int] = set()

    def note(slot: int) -> None:
        if slot not in kept and slot not in repeated:
            repeated.add(slot)
            for source in makers[slot].inputs:
                if source is not None:
                    note(source)

    for slot in read:
        note(slot)
    return repeated
