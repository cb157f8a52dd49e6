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
from .fusion import fuse
from .places import ALIGN, Places, switches
from .products import absorb
from .program import Program, Step


class Seen:
    """What a run showed of a slot: shape, dtype, order of axes in memory, and which operand it shares memory with."""

    __slots__ = ('alias', 'contiguous', 'dense', 'dtype', 'nbytes', 'order', 'own', 'shape', 'size')

    def __init__(self, data: Any, alias: int | None = None) -> None:
        self.shape = data.shape
        self.size = data.size
        self.nbytes = data.nbytes
        self.dtype = data.dtype
        self.order = storage.memory_order(data) if isinstance(data, np.ndarray) else None
        self.contiguous = bool(data.flags.c_contiguous)
        # Whether the elements fill one piece of memory, in the order of the axes that was seen.
        self.dense = self.contiguous or (self.order is not None and bool(data.transpose(self.order).flags.c_contiguous))
        self.alias = alias
        # A repeated view, as of an expanded array, holds one element at many places: nobody may write into it.
        self.own = bool(getattr(data.flags, 'writeable', True)) and 0 not in data.strides

    def like(self, other: Seen) -> bool:
        """Whether a buffer of the other slot could hold this one."""
        return (self.shape == other.shape and self.dtype == other.dtype and self.order == other.order
                and self.dense and other.dense)

    def empty(self, count: int | None = None) -> Any:
        """A new array for such a value; ``count`` is another length of the first axis."""
        shape = self.shape if count is None else (count, *self.shape[1:])
        if self.order is None:
            return storage.empty(shape, self.dtype)
        base = storage.empty(tuple(shape[axis] for axis in self.order), self.dtype)
        return base.transpose([self.order.index(axis) for axis in range(len(self.order))])

    def view(self, block: Any, offset: int) -> Any:
        """An array for such a value in a block of bytes."""
        shape = self.shape if self.order is None else tuple(self.shape[axis] for axis in self.order)
        found: Any = np.ndarray(shape, self.dtype, block, offset)
        return found if self.order is None else found.transpose([self.order.index(i) for i in range(found.ndim)])


def alias_of(result: Any, step: Step, arrays: Sequence[Any]) -> int | None:
    """The slot of an operand that shares memory with a result, or None."""
    if not isinstance(result, np.ndarray):
        return next((slot for slot, a in zip(step.inputs, arrays, strict=True) if a is result), None)
    base = result.base
    for slot, array in zip(step.inputs, arrays, strict=True):
        if array is not None and (result is array or (base is not None and (base is array or base is array.base))):
            return slot
    return None


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
    """A program as one function; ``saved`` are the slots that it returns beside the heads.

    With ``planned``, intermediate values lie in one block of memory for each run at a time; ``buffers`` gives one and
    ``spare`` takes it back.
    """

    def __init__(self, program: Program, seen: dict[int, Seen], *, saved: Sequence[int] = (), is_train: bool = False,
                 ctx: Any = None, xp: Any = np, planned: bool = False, given: Sequence[int] = (),
                 fusion: bool = False, fold: bool = False) -> None:
        self.saved = tuple(saved)
        self._given = tuple(given)
        self._names: dict[str, Any] = {'copy': _copy}
        self._seen = seen
        kept = {*program.heads, *saved}
        if fusion and xp is np and switches()[1]:       # a chain writes its values over each other
            def bind(step: Step) -> Callable[..., Any]:
                return bound(step, xp, is_train, ctx)[0]

            program = fuse(absorb(program, seen, kept, bind, is_train, fold), seen, kept, bind)
        self.program = program
        self.places = Places(program, seen, kept,
                             {*program.inputs, *program.constants, *given},
                             planned and xp is np)           # devices have a pool of their own
        self._spare: list[list[Any]] = []
        source = '\n'.join(self._text(is_train, ctx, xp))
        scope = dict(self._names)
        exec(compile(source, '<graph>', 'exec'), scope)  # the text above holds numbers of slots, nothing from outside
        self.run: Callable[..., Any] = scope['run']
        self.source = source

    def buffers(self) -> list[Any] | None:
        """The arrays of the planned block of one run; None where nothing is planned."""
        if not self.places.buffers:
            return None
        try:
            return self._spare.pop()
        except IndexError:
            pass
        block = storage.empty((self.places.size + ALIGN,), np.uint8)
        start = -block.ctypes.data % ALIGN
        return [self._seen[slot].view(block, start + offset) for slot, offset in self.places.buffers.items()]

    def spare(self, buffers: list[Any] | None) -> None:
        """Give the arrays of a run back, for the next one."""
        if buffers is not None:
            self._spare.append(buffers)

    def _text(self, is_train: bool, ctx: Any, xp: Any) -> list[str]:
        program, places = self.program, self.places
        kept = {*program.heads, *self.saved, *program.inputs, *program.constants, *self._given}
        last = program.last_reads()
        index = {slot: number for number, slot in enumerate(places.buffers)}
        lines = ['def run(I, S, B, rng):']
        if program.inputs:
            lines.append('    ' + ', '.join(f'v{slot}' for slot in program.inputs) + ', = I')
        if self._given:
            lines.append('    ' + ', '.join(f'v{slot}' for slot in self._given) + ', = S')
        for slot, array in program.constants.items():
            self._names[f'v{slot}'] = array
        for number, step in enumerate(program.steps):
            function, random = bound(step, xp, is_train, ctx)
            self._names[f'f{number}'] = function
            arguments = ['None' if slot is None else f'v{slot}' for slot in step.inputs]
            if random:
                arguments.append('rng=rng')
            out = [f'v{places.over[slot]}' if slot in places.over else f'B[{index[slot]}]' if slot in index else 'None'
                   for slot in step.outputs]
            if any(item != 'None' for item in out):
                several = getattr(step.op, 'several', False)
                arguments.append(f'out=({", ".join(out)},)' if several else f'out={out[0]}')
            results = ', '.join(f'v{slot}' for slot in step.outputs)
            lines.append(f'    {results}{"," if len(step.outputs) > 1 else ""} = f{number}({", ".join(arguments)})')
            lines += [f'    v{slot} = copy(v{slot})' for slot in step.outputs if slot in places.copies]
            gone = [slot for slot in (*dict.fromkeys(step.inputs), *step.outputs) if slot is not None
                    and last.get(slot, number) == number and slot not in kept]
            if gone and places.share:
                lines.append('    ' + ' = '.join(f'v{slot}' for slot in gone) + ' = None')
        heads = ', '.join(f'v{slot}' for slot in program.heads)
        saved = ', '.join(f'v{slot}' for slot in self.saved)
        lines.append(f'    return ({heads}{"," if program.heads else ""}), ({saved}{"," if self.saved else ""})')
        return lines


def _copy(data: Any) -> Any:
    return data.copy() if hasattr(data, 'copy') else np.asarray(data)
