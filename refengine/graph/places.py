"""Where the results of a program's steps lie: over an operand that dies, in a planned block, or where kernels put them.

Values share memory in groups. A result that is a view of an operand, or that is written over one, joins the group of
the operand; a group lives from its first value to the last read of any of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from .. import env
from ..op import Operator
from . import primitives
from .program import Program, Step
from .shape_rules import ELEMENTWISE

ALIGN = 64
"""Places begin at cache lines."""

_UNSAFE = frozenset({'_mod', 'broadcast_mod', 'erf', 'erfinv', 'gamma', 'gammaln', '_digamma', '_softrelu',
                     '_mod_scalar', '_rmod_scalar'})
_SAFE = (ELEMENTWISE | {'clip', 'Activation'}) - _UNSAFE
_FIRST = {'BatchNorm': (0,), 'softmax': (0,), 'softmin': (0,), 'log_softmax': (0,), '_batch_norm_backward': (0, 1),
          '_relu_backward': (0, 1)}
"""Which operands of operators that are not elementwise the first result may take the place of."""


def takes_out(op: Any) -> bool:
    """Whether a kernel can write its (first) result into a given array."""
    return 'out' in op.injected


def targets(step: Step) -> int:
    """How many results of a step, from the first on, can be written into given arrays."""
    if not takes_out(step.op):
        return 0
    return len(step.outputs) if getattr(step.op, 'several', False) else 1


def overwritable(step: Step, index: int = 0) -> Sequence[int]:
    """The positions of operands that a result of a step may be written over."""
    op = step.op
    own = getattr(op, 'may_overwrite', None)
    if own is not None:
        return own(index)
    if index:
        return ()
    if id(op) in primitives.IN_PLACE or (isinstance(op, Operator) and op.name in _SAFE and takes_out(op)):
        return range(len(step.inputs))
    return _FIRST.get(op.name, ()) if isinstance(op, Operator) and takes_out(op) else ()


def size_of(shape: Sequence[int], dtype: Any) -> int:
    """The bytes of an array, rounded up to whole cache lines."""
    return -(-prod(shape) * np.dtype(dtype).itemsize // ALIGN) * ALIGN


def place(spans: Mapping[int, tuple[int, int]], sizes: Mapping[int, int]) -> dict[int, int]:
    """Offsets in one block: the largest values first, each in the smallest gap that is free during its life.

    Spans are the numbers of the first and the last step of a life, both included.
    """
    placed: list[tuple[int, int, int, int]] = []        # offset, end, first step, last step
    offsets: dict[int, int] = {}
    for slot in sorted(spans, key=lambda s: (-sizes[s], spans[s][0])):
        first, until = spans[slot]
        size = sizes[slot]
        at = 0
        best: tuple[int, int] | None = None
        for offset, finish, other_first, other_until in placed:
            if other_first <= until and first <= other_until:
                if offset - at >= size and (best is None or offset - at < best[0]):
                    best = (offset - at, at)
                at = max(at, finish)
        offsets[slot] = at if best is None else best[1]
        placed.append((offsets[slot], offsets[slot] + size, first, until))
        placed.sort()
    return offsets


def one_after_another(spans: Mapping[int, tuple[int, int]], sizes: Mapping[int, int]) -> dict[int, int]:
    """Offsets in one block where nothing is shared."""
    offsets, at = {}, 0
    for slot in spans:
        offsets[slot] = at
        at += sizes[slot]
    return offsets


def switches() -> tuple[bool, bool]:
    """Whether the environment allows sharing (NNVM_EXEC_MATCH_RANGE) and overwriting (MXNET_EXEC_ENABLE_INPLACE)."""
    return env.get('NNVM_EXEC_MATCH_RANGE') > 0, bool(env.get('MXNET_EXEC_ENABLE_INPLACE'))


class Places:
    """The choice for one program whose values were seen.

    ``kept`` are slots that are needed after the last step, ``fixed`` those whose memory belongs to others. Results:
    ``over`` gives for a slot the operand that it is written over, ``buffers`` for a slot its place in the planned block
    of ``size`` bytes, ``copies`` are views that must become arrays of their own. ``share`` tells whether values may
    take the memory of others that nobody reads any more.
    """

    def __init__(self, program: Program, seen: Mapping[int, Any], kept: Collection[int], fixed: Collection[int],
                 planned: bool) -> None:
        self.over: dict[int, int] = {}
        self.buffers: dict[int, int] = {}
        self.copies: set[int] = set()
        self._seen = seen
        self._heads = frozenset(program.heads)
        self._kept = kept
        self._written = program.written()
        self.share, in_place = switches()
        end = len(program.steps)
        last = program.last_reads()
        self._until = {slot: end if slot in kept else last.get(slot, -1) for slot in range(program.slots)}
        self._group: dict[int, int] = {slot: slot for slot in fixed}
        self._members: dict[int, list[int]] = {slot: [slot] for slot in fixed}
        self._fixed = frozenset(fixed)
        spans: dict[int, tuple[int, int]] = {}
        for number, step in enumerate(program.steps):
            taken: set[int] = set()
            for index, slot in enumerate(step.outputs):
                self._until[slot] = max(self._until[slot], number)
                if seen[slot].alias is not None:
                    self._view(number, slot, spans)
                    continue
                if index < targets(step):
                    over = self._operand(number, step, index, slot, taken, spans) if in_place else None
                    if over is not None:
                        self.over[slot] = over
                        taken.add(over)
                        self._join(slot, self._group[over], spans)
                        continue
                    if planned and slot not in self._heads and seen[slot].dense:
                        spans[slot] = (number, self._until[slot])
                self._group[slot] = slot
                self._members[slot] = [slot]
        sizes = {slot: size_of(seen[slot].shape, seen[slot].dtype) for slot in spans}
        self.spans, self.sizes = spans, sizes
        self.buffers = place(spans, sizes) if self.share else one_after_another(spans, sizes)
        self.size = max((self.buffers[slot] + sizes[slot] for slot in spans), default=0)

    def _join(self, slot: int, group: int, spans: dict[int, tuple[int, int]]) -> None:
        self._group[slot] = group
        self._members[group].append(slot)
        if group in spans:
            spans[group] = (spans[group][0], max(spans[group][1], self._until[slot]))

    def _alone(self, number: int, slot: int) -> bool:
        """Whether a slot dies in a step, and with it everything that shares its memory."""
        return self._until[slot] == number and all(
            other == slot or self._until[other] < number for other in self._members[self._group[slot]])

    def _view(self, number: int, slot: int, spans: dict[int, tuple[int, int]]) -> None:
        """A view stays one where nobody can tell."""
        seen, operand = self._seen[slot], self._seen[slot].alias
        group = self._group[operand]
        if not seen.contiguous:
            shared = False
        elif slot in self._heads:
            shared = group not in self._fixed and group not in spans and self._alone(number, operand) and seen.own
        elif group in self._fixed:
            shared = slot not in self._kept and group not in self._written
        else:
            shared = True
        if shared:
            self._join(slot, group, spans)
            return
        self.copies.add(slot)
        self._group[slot] = slot
        self._members[slot] = [slot]

    def _operand(self, number: int, step: Step, index: int, target: int, taken: set[int],
                 spans: Mapping[int, Any]) -> int | None:
        """The operand that a result is written over."""
        found = self._seen[target]
        for position in overwritable(step, index):
            slot = step.inputs[position]
            if slot is None or slot in taken or self._group[slot] in self._fixed:
                continue
            if self._group[slot] in spans and target in self._heads:
                continue            # results are the caller's: they lie in no block that is used again
            if self._seen[slot].own and self._seen[slot].like(found) and self._alone(number, slot):
                return slot
        return None
