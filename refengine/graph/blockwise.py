"""Chains of elementwise steps as one step that runs over blocks of memory small enough for the cache.

All arrays of a chain have one shape and one memory order, so they are runs of elements in which the same place means
the same element. Values that only the chain reads exist one block at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np

from .. import storage
from ..op import Operator
from .places import overwritable, takes_out
from .program import Step
from .shape_rules import ELEMENTWISE

BLOCK = 1 << 15
"""About how many elements a block has: 128 KiB of float32, a few of which fit into the cache of a core."""

_ROUND = 64
_NAMES = (ELEMENTWISE | {'clip', 'Activation', '_relu_backward', 'smooth_l1', 'hard_sigmoid', 'where'}) - {
    'erfinv', 'gamma', 'gammaln', '_digamma'}


class Chain:
    """Elementwise steps as one operation: ``inputs`` and ``outputs`` are slots of the program they come from.

    Results are those of the single steps, bit for bit: the same bodies run over parts of the same runs of elements.
    """

    name = 'chain'
    several = True
    mutates: ClassVar[tuple[int, ...]] = ()
    kernels: ClassVar[list[Any]] = []
    backward = grad = infer = None
    injected: ClassVar[frozenset[str]] = frozenset({'out'})

    def __init__(self, steps: Sequence[Step], outputs: Sequence[int], seen: Mapping[int, Any],
                 bind: Callable[[Step], Callable[..., Any]]) -> None:
        self.steps = list(steps)
        self.outputs = list(outputs)
        self.num_outputs = len(self.outputs)
        made = {slot for step in steps for slot in step.outputs}
        self.inputs = list(dict.fromkeys(s for step in steps for s in step.inputs if s is not None and s not in made))
        self._seen = {slot: seen[slot] for slot in (*self.inputs, *made)}
        self._like = self._seen[self.outputs[0]]
        self._functions = {f'f{number}': bind(step) for number, step in enumerate(steps)}
        self._whole = {slot for slot in self.inputs if self._seen[slot].shape == self._like.shape}
        self._numbers = frozenset(self.inputs) - self._whole        # arrays of one element
        self._last = {slot: number for number, step in enumerate(steps) for slot in step.inputs if slot is not None}
        self._kinds: list[Any] = []         # element types of the blocks for values in between
        self._direct: dict[str, Any] = {}
        self.block = self._compiled()
        self.forward = self._forward

    def __repr__(self) -> str:
        return f'<Chain {" ".join(step.op.name for step in self.steps)}>'

    def may_overwrite(self, index: int) -> list[int]:
        """The operands that a result may be written over: those that no later step of the chain reads."""
        slot = self.outputs[index]
        number = next(n for n, step in enumerate(self.steps) if slot in step.outputs)
        step = self.steps[number]
        free = {step.inputs[position] for position in overwritable(step)}
        return [position for position, operand in enumerate(self.inputs) if operand in self._whole and (
            self._last[operand] < number or (self._last[operand] == number and operand in free))]

    # ---- running -----------------------------------------------------------------------------------------------

    def _forward(self, xp: Any, *arrays: Any, out: Sequence[Any] | None = None) -> Any:
        """All results for whole arrays; those for which ``out`` has an array are written there."""
        results = [self._target(slot, None if out is None else out[i]) for i, slot in enumerate(self.outputs)]
        runs = [self.run(slot, a) for slot, a in zip(self.inputs, arrays, strict=True)]
        if any(run is None for run in runs):
            self._stepwise(arrays, results)
        else:
            flat = [self.run(slot, a) for slot, a in zip(self.outputs, results, strict=True)]
            self.over(runs, flat)
        return tuple(results) if len(results) > 1 else results[0]

    def over(self, runs: Sequence[Any], results: Sequence[Any]) -> None:
        """Run over runs of elements, block by block."""
        size = results[0].size
        count = -(-size // BLOCK)
        scratch = self.scratch(min(size, size // count + _ROUND))
        start = 0
        for number in range(1, count + 1):
            stop = size if number == count else number * size // count // _ROUND * _ROUND
            self.block(runs, results, scratch, start, stop)
            start = stop

    def scratch(self, size: int) -> list[Any]:
        """Blocks for values in between."""
        return [storage.empty((size,), kind) for kind in self._kinds]

    def _target(self, slot: int, out: Any) -> Any:
        seen = self._seen[slot]
        if out is not None and out.shape == seen.shape and out.dtype == seen.dtype and self.run(slot, out) is not None:
            return out
        return seen.empty()

    def run(self, slot: int, array: Any) -> Any:
        """The elements of an array in the order of memory as a view; None where memory is ordered otherwise."""
        if slot in self._numbers:
            return array.reshape(1)
        order = self._like.order
        dense = array if order is None else array.transpose(order)
        return dense.reshape(-1) if dense.flags.c_contiguous else None

    def is_whole(self, slot: int) -> bool:
        """Whether an operand has an element for each one of the results, and is no single number."""
        return slot in self._whole

    def _stepwise(self, arrays: Sequence[Any], results: Sequence[Any]) -> None:
        """For arrays in another memory order than expected."""
        values = dict(zip(self.inputs, arrays, strict=True))
        for number, step in enumerate(self.steps):
            values[step.outputs[0]] = self._functions[f'f{number}'](*[values[s] for s in step.inputs])
        for slot, result in zip(self.outputs, results, strict=True):
            result[...] = values[slot]

    # ---- compiling ---------------------------------------------------------------------------------------------

    def _arguments(self, number: int, step: Step, names: Mapping[int, str]) -> list[str]:
        """The operands of a step; where numpy has the whole step as a function, that is called without detours."""
        arguments = [names[slot] for slot in step.inputs if slot is not None]
        ufunc, where = _ufunc(step, self._seen)
        if ufunc is not None:
            self._direct[f'f{number}'] = ufunc
            if where == 'zeros':        # half the time of the number 0, and the same bits
                self._direct[f'k{number}'] = _zeros(self._seen[step.outputs[0]].dtype)
                arguments.append(f'k{number}[:n]')
            if 'scalar' in step.params:
                scalar = step.params['scalar']
                self._direct[f'k{number}'] = float(scalar) if isinstance(step.op, Operator) else scalar
                arguments.insert(0 if where == 'first' else len(arguments), f'k{number}')
        return arguments

    def _compiled(self) -> Callable[..., None]:
        """``block(runs, results, scratch, start, stop)``: all steps for the elements from start to stop."""
        lines = ['def block(I, O, T, a, z):', '    n = z - a']
        names = {}
        for number, slot in enumerate(self.inputs):
            names[slot] = f'x{number}'
            lines.append(f'    x{number} = I[{number}]' + ('[a:z]' if slot in self._whole else ''))
        for number in range(len(self.outputs)):
            lines.append(f'    y{number} = O[{number}][a:z]')
        free: list[int] = []
        owner: dict[int, int] = {}
        body: list[str] = []
        for number, step in enumerate(self.steps):
            slot = step.outputs[0]
            kind = self._seen[slot].dtype
            arguments = ', '.join(self._arguments(number, step, names))
            dying = [s for s in dict.fromkeys(step.inputs) if s in owner and self._last[s] == number]
            if slot not in self.outputs and takes_out(step.op):
                places = {step.inputs[position] for position in overwritable(step)}
                over = next((s for s in dying if s in places and self._kinds[owner[s]] == kind), None)
                if over is not None:
                    owner[slot] = owner.pop(over)
                    dying.remove(over)
                else:
                    index = next((i for i in free if self._kinds[i] == kind), None)
                    if index is None:
                        index = len(self._kinds)
                        self._kinds.append(kind)
                    else:
                        free.remove(index)
                    owner[slot] = index
            if slot in self.outputs:
                names[slot] = target = f'y{self.outputs.index(slot)}'
                if takes_out(step.op):
                    body.append(f'    r = f{number}({arguments}, out={target})')
                    body.append(f'    if r is not {target}: {target}[...] = r')
                else:
                    body.append(f'    {target}[...] = f{number}({arguments})')
            else:
                names[slot] = f'w{number}'
                out = f', out=t{owner[slot]}' if slot in owner else ''
                body.append(f'    w{number} = f{number}({arguments}{out})')
            free += [owner.pop(s) for s in dying]
        lines += [f'    t{index} = T[{index}][:n]' for index in range(len(self._kinds))]
        scope: dict[str, Any] = {**self._functions, **self._direct}
        exec(compile('\n'.join(lines + body), '<chain>', 'exec'), scope)  # numbers only, nothing from outside
        return scope['block']  # type: ignore[no-any-return]


@cache
def _zeros(kind: Any) -> Any:
    return np.zeros(BLOCK + _ROUND, kind)


def _ufunc(step: Step, seen: Mapping[int, Any]) -> tuple[Any, str]:
    """The function of numpy that a step is when all its arrays have one floating type, and where its number goes."""
    op = step.op
    kind = seen[step.outputs[0]].dtype
    if op.name == 'relu' or (op.name == 'Activation' and step.params['act_type'] == 'relu'):
        return (np.maximum, 'zeros') if kind.kind == 'f' else (None, '')
    if kind.kind != 'f' or any(seen[slot].dtype != kind for slot in step.inputs):
        return None, ''
    if isinstance(op, Operator):
        name, first = getattr(op.forward, 'ufunc', None), False
    else:
        name, first = getattr(op, 'ufunc', None), op.name.startswith('number_')
    if name is None:
        return None, ''
    return getattr(np, name), 'first' if first else 'last'


def elementwise(op: Any) -> bool:
    """Whether each element of the result depends on the elements of the operands at the same place only."""
    if isinstance(op, Operator):
        return op.name in _NAMES and not op.kernels
    return getattr(op, 'elementwise', False)


def elementwise_step(step: Step) -> bool:
    """The same for a step, whose parameters decide for LeakyReLU: some kinds draw, or have a vector of slopes."""
    op = step.op
    if isinstance(op, Operator) and op.name == 'LeakyReLU':
        return step.params['act_type'] not in ('rrelu', 'prelu') and not op.kernels
    return elementwise(op)

