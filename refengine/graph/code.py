"""Programs as compiled functions: every kernel is bound ahead, values are dropped at their last use.

The text of such a function is made of slot numbers only::

    def run(I, S, B, rng):
        v0, v1, v2 = I
        v3 = f0(v0, v1, v2)
        v3 = f1(v3, out=v3)
        return (v3,), ()
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import dispatch, storage
from ..op import Operator
from . import primitives
from .program import Program, Step
from .shape_rules import ELEMENTWISE

_UNSAFE = frozenset({'_mod', 'broadcast_mod', 'erf', 'erfinv', 'gamma', 'gammaln', '_digamma', '_softrelu',
                     '_mod_scalar', '_rmod_scalar'})
_SAFE = (ELEMENTWISE | {'clip'}) - _UNSAFE


class Seen:
    """What a run showed of a slot: shape, dtype, order of axes in memory, and which operand it shares memory with."""

    __slots__ = ('alias', 'contiguous', 'dtype', 'order', 'own', 'shape')

    def __init__(self, data: Any, alias: int | None = None) -> None:
        self.shape = data.shape
        self.dtype = data.dtype
        self.order = storage.memory_order(data) if isinstance(data, np.ndarray) else None
        self.contiguous = bool(data.flags.c_contiguous)
        self.alias = alias
        # A repeated view, as of an expanded array, holds one element at many places: nobody may write into it.
        self.own = bool(getattr(data.flags, 'writeable', True)) and 0 not in data.strides

    def like(self, other: Seen) -> bool:
        """Whether a buffer of the other slot could hold this one."""
        return self.shape == other.shape and self.dtype == other.dtype and self.order == other.order

    def buffer(self) -> Any:
        """A new buffer for such a value."""
        if self.order is None:
            return storage.empty(self.shape, self.dtype)
        base = storage.empty(tuple(self.shape[axis] for axis in self.order), self.dtype)
        return base.transpose([self.order.index(axis) for axis in range(len(self.order))])


def alias_of(result: Any, step: Step, arrays: Sequence[Any]) -> int | None:
    """The slot of an operand that shares memory with a result, or None."""
    if not isinstance(result, np.ndarray):
        return next((slot for slot, a in zip(step.inputs, arrays, strict=True) if a is result), None)
    base = result.base
    for slot, array in zip(step.inputs, arrays, strict=True):
        if array is not None and (result is array or (base is not None and (base is array or base is array.base))):
            return slot
    return None


def takes_out(op: Any) -> bool:
    """Whether a kernel can write its result into a given array."""
    return 'out' in op.injected


def overwrites(op: Any) -> bool:
    """Whether a kernel may write its result over an operand."""
    return id(op) in primitives.IN_PLACE or (isinstance(op, Operator) and op.name in _SAFE and takes_out(op))


def bound(step: Step, xp: Any, is_train: bool, ctx: Any) -> tuple[Callable[..., Any], bool]:
    """The kernel of a step with everything but its arrays filled in, and whether it draws random numbers."""
    op, params = step.op, dict(step.params)
    if 'is_train' in op.injected:
        params['is_train'] = is_train
    if 'ctx' in op.injected:
        params['ctx'] = ctx
    if op.kernels:
        return partial(dispatch._with_kernels, op, xp, **params), 'rng' in op.injected
    return partial(op.forward, xp, **params), 'rng' in op.injected


class Compiled:
    """A program as one function; ``saved`` are the slots that it returns beside the heads."""

    def __init__(self, program: Program, seen: dict[int, Seen], *, saved: Sequence[int] = (), is_train: bool = False,
                 ctx: Any = None, xp: Any = np, planned: bool = False, given: Sequence[int] = ()) -> None:
        self.saved = tuple(saved)
        self._given = tuple(given)
        self.templates: list[Seen] = []
        self._lines: list[str] = []
        self._names: dict[str, Any] = {'copy': _copy}
        self._program = program
        self._seen = seen
        self._write(is_train, ctx, xp, planned and xp is np)      # devices have a pool of their own
        source = '\n'.join(self._lines)
        scope = dict(self._names)
        exec(compile(source, '<graph>', 'exec'), scope)  # the text above holds numbers of slots, nothing from outside
        self.run: Callable[..., Any] = scope['run']
        self.source = source

    def buffers(self) -> list[Any]:
        """New buffers for one run at a time."""
        return [template.buffer() for template in self.templates]

    def _write(self, is_train: bool, ctx: Any, xp: Any, planned: bool) -> None:
        program, seen = self._program, self._seen
        kept = {*program.heads, *self.saved}
        fixed = {*program.inputs, *program.constants, *self._given}
        last = program.last_reads()
        lines = ['def run(I, S, B, rng):']
        if program.inputs:
            lines.append('    ' + ', '.join(f'v{slot}' for slot in program.inputs) + ', = I')
        if self._given:
            lines.append('    ' + ', '.join(f'v{slot}' for slot in self._given) + ', = S')
        for slot, array in program.constants.items():
            self._names[f'v{slot}'] = array
        free: list[int] = []                # buffers that nobody reads any more
        owner: dict[int, int] = {}          # slot: its buffer
        for number, step in enumerate(program.steps):
            function, random = bound(step, xp, is_train, ctx)
            self._names[f'f{number}'] = function
            dying = [slot for slot in dict.fromkeys(step.inputs) if slot is not None and last[slot] == number
                     and slot not in kept and slot not in fixed]
            arguments = ['None' if slot is None else f'v{slot}' for slot in step.inputs]
            if random:
                arguments.append('rng=rng')
            target = step.outputs[0]
            over = None
            if len(step.outputs) == 1 and overwrites(step.op):
                over = next((slot for slot in dying if seen[slot].own and seen[slot].like(seen[target])
                             and not (slot in owner and target in program.heads)), None)
            if over is not None:
                arguments.append(f'out=v{over}')
                if over in owner:
                    owner[target] = owner.pop(over)
            elif planned and len(step.outputs) == 1 and takes_out(step.op) and target not in program.heads \
                    and seen[target].alias is None:
                index = next((i for i in free if self.templates[i].like(seen[target])), None)
                if index is None:
                    index = len(self.templates)
                    self.templates.append(seen[target])
                else:
                    free.remove(index)
                owner[target] = index
                arguments.append(f'out=B[{index}]')
            results = ', '.join(f'v{slot}' for slot in step.outputs)
            lines.append(f'    {results}{"," if len(step.outputs) > 1 else ""} = f{number}({", ".join(arguments)})')
            for slot in step.outputs:
                alias = seen[slot].alias
                if alias is not None and not (len(step.outputs) == 1 and alias in dying and alias not in owner
                                              and seen[slot].contiguous):
                    lines.append(f'    v{slot} = copy(v{slot})')
            gone = [slot for slot in (*dict.fromkeys(step.inputs), *step.outputs) if slot is not None
                    and last.get(slot, number) == number and slot not in kept and slot not in fixed
                    and slot not in program.constants]
            if gone:
                lines.append('    ' + ' = '.join(f'v{slot}' for slot in gone) + ' = None')
            for slot in gone:
                if slot in owner:
                    free.append(owner.pop(slot))
        heads = ', '.join(f'v{slot}' for slot in program.heads)
        saved = ', '.join(f'v{slot}' for slot in self.saved)
        lines.append(f'    return ({heads}{"," if program.heads else ""}), ({saved}{"," if self.saved else ""})')
        self._lines = lines


def _copy(data: Any) -> Any:
    return data.copy() if hasattr(data, 'copy') else np.asarray(data)

