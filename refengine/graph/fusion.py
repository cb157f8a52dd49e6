"""Finding chains of elementwise steps in a program, and putting one step in the place of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from .. import storage
from ..op import Operator
from .blockwise import Chain, elementwise_step
from .program import Program, Step

LEAST = 4 << 20
"""Chains are made of arrays of at least this many bytes: below, whole arrays stay in a shared cache, and blocks of them
are not faster."""

_HUNGRY = frozenset({'erf', 'softsign', '_softrelu', 'rint', 'round', 'LeakyReLU'})
"""Operators with many temporary arrays of their own: they gain from blocks much earlier."""


def fuse(program: Program, seen: Mapping[int, Any], kept: Collection[int],
         bind: Callable[[Step], Callable[..., Any]]) -> Program:
    """The program with chains in place of elementwise steps on large arrays; ``kept`` are slots needed after it.

    A chain runs where its last step ran: nothing in between reads its results or changes what it reads.
    """
    steps = program.steps
    group: dict[int, set[int]] = {}         # number of a step: the numbers of its chain
    maker = {slot: number for number, step in enumerate(steps) for slot in step.outputs}
    for number, step in enumerate(steps):
        if not _fits(step, seen):
            continue
        chain = {number}
        before = {maker[s] for s in step.inputs if s in maker and maker[s] in group}
        for other in sorted(before, reverse=True):
            if other not in chain and _alike(steps[other], step, seen):
                together = chain | group[other]
                if movable(steps, together):
                    chain = together
        for member in chain:
            group[member] = chain
    chains = {max(chain): sorted(chain) for chain in group.values() if len(chain) > 1 and _pays(steps, chain, seen)}
    if not chains:
        return program
    readers: dict[int, set[int]] = {}
    for number, step in enumerate(steps):
        for slot in step.inputs:
            if slot is not None:
                readers.setdefault(slot, set()).add(number)
    inside = {member for chain in chains.values() for member in chain}
    fused = []
    for number, step in enumerate(steps):
        if number in chains:
            members = chains[number]
            outputs = [slot for member in members for slot in steps[member].outputs
                       if slot in kept or readers.get(slot, set()) - set(members)]
            if outputs:
                chained = Chain([steps[member] for member in members], outputs, seen, bind)
                fused.append(Step(chained, chained.name, {}, chained.inputs, outputs))
        elif number not in inside:
            fused.append(step)
    return program.with_steps(fused)


def movable(steps: Sequence[Step], numbers: set[int]) -> bool:
    """Whether steps can all run where the last of them runs."""
    first, last = min(numbers), max(numbers)
    made = {slot for number in numbers for slot in steps[number].outputs}
    read = {slot for number in numbers for slot in steps[number].inputs}
    written = {steps[number].inputs[position] for number in numbers
               for position in getattr(steps[number].op, 'mutates', ()) if position < len(steps[number].inputs)}
    for number in range(first, last):
        if number in numbers:
            continue
        step = steps[number]
        if any(slot in made or slot in written for slot in step.inputs):
            return False
        if any(position < len(step.inputs) and step.inputs[position] in read
               for position in getattr(step.op, 'mutates', ())):
            return False
    return True


def _fits(step: Step, seen: Mapping[int, Any]) -> bool:
    """Whether a step can be part of a chain: elementwise, on large arrays of one shape and memory order."""
    if not elementwise_step(step) or len(step.outputs) != 1 or None in step.inputs or not step.inputs:
        return False
    like = seen[step.outputs[0]]
    if like.alias is not None or not like.dense or not like.own or like.nbytes < storage.LARGE:
        return False
    for slot in step.inputs:
        found = seen[slot]
        if found.shape != like.shape:
            if found.size != 1 or (isinstance(step.op, Operator) and not step.op.name.startswith('broadcast_')):
                return False
        elif not found.dense or found.order != like.order:
            return False
    return True


def _pays(steps: Sequence[Step], chain: set[int], seen: Mapping[int, Any]) -> bool:
    size = max(seen[steps[number].outputs[0]].nbytes for number in chain)
    return size >= LEAST or any(steps[number].op.name in _HUNGRY for number in chain)


def _alike(a: Step, b: Step, seen: Mapping[int, Any]) -> bool:
    first, second = seen[a.outputs[0]], seen[b.outputs[0]]
    return bool(first.shape == second.shape and first.order == second.order)
