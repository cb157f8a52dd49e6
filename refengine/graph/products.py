"""Convolution and FullyConnected together with what follows: BatchNorm, activations and sums, in the same buffer.

Products of matrices come in blocks; what follows is done while a block is in the cache. Results are those of the single
steps, bit for bit, unless BatchNorm is folded into the weight.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from .. import storage
from ..op import Operator
from ..ops import _conv
from ..ops._channels import PART, Repeated
from ..ops._nn import channels_last
from ..ops.nn_batch_norm import running_affine, running_parts
from .blockwise import BLOCK, Chain, elementwise_step
from .fusion import movable
from .program import Program, Step

_PRODUCTS = frozenset({'Convolution', 'FullyConnected'})
_VARIABLES = 5
"""How many inputs BatchNorm has."""

Bind = Callable[[Step], Callable[..., Any]]


def absorb(program: Program, seen: Mapping[int, Any], kept: Collection[int], bind: Bind, is_train: bool,
           fold: bool) -> Program:
    """The program with one step for each product and what follows it; ``fold`` multiplies weights by BatchNorm."""
    steps = program.steps
    readers: dict[int, list[int]] = {}
    for number, step in enumerate(steps):
        for slot in step.inputs:
            if slot is not None:
                readers.setdefault(slot, []).append(number)

    def follower(slot: int) -> int | None:
        """The only step that reads a slot, if it reads it once and nobody needs it later."""
        found = readers.get(slot, [])
        return found[0] if len(found) == 1 and slot not in kept else None

    replaced: dict[int, Step] = {}
    gone: set[int] = set()
    for number, step in enumerate(steps):
        if not _product(step, seen):
            continue
        members, at, norm = {number}, step.outputs[0], None
        tail: list[Step] = []
        while (following := follower(at)) is not None:
            step_after = steps[following]
            if following in gone or not movable(steps, members | {following}):
                break
            if not tail and norm is None and _normalises(step_after, at, step, seen, is_train) and not any(
                    slot in kept or slot in readers for slot in step_after.outputs[1:]):
                norm = step_after
            elif _elementwise(step_after, at, seen):
                tail.append(step_after)
            else:
                break
            members.add(following)
            at = step_after.outputs[0]
        pool = None
        following = follower(at)
        if following is not None and following not in gone and pools(steps[following], step) and movable(
                steps, members | {following}) and _parts(step, seen) and seen[steps[following].outputs[0]].own:
            pool = steps[following]
            members.add(following)
            at = pool.outputs[0]
        if len(members) == 1:
            continue
        product = Product(step, norm, tail, pool, seen, bind, fold)
        gone |= members
        replaced[max(members)] = Step(product, product.name, {}, product.inputs, [at])
    if not replaced:
        return program
    return program.with_steps([replaced.get(number, step) for number, step in enumerate(steps)
                               if number in replaced or number not in gone])


def _product(step: Step, seen: Mapping[int, Any]) -> bool:
    """Whether a step is a product whose result has one row of memory per pixel, in a type that BLAS knows."""
    op = step.op
    if not isinstance(op, Operator) or op.name not in _PRODUCTS or op.kernels or None in step.inputs:
        return False
    found = seen[step.outputs[0]]
    if found.alias is not None or found.dtype.char not in 'fd' or not found.dense or not found.own:
        return False
    last = op.name == 'FullyConnected' or (step.params['layout'] or '')[-1:] == 'C'
    if found.shape[-1 if last else 1] > BLOCK:
        return False
    if last:
        return bool(found.contiguous)
    return found.order == channels_last(len(found.shape))


def _normalises(step: Step, slot: int, product: Step, seen: Mapping[int, Any], is_train: bool) -> bool:
    """Whether a step is a BatchNorm over the channels of a product with running statistics."""
    if not isinstance(step.op, Operator) or step.op.name != 'BatchNorm' or step.op.kernels or step.inputs[0] != slot:
        return False
    found, params = seen[slot], step.params
    if is_train and not params['use_global_stats']:
        return False
    last = product.op.name == 'FullyConnected' or (product.params['layout'] or '')[-1:] == 'C'
    if params['axis'] % len(found.shape) != (len(found.shape) - 1 if last else 1):
        return False
    return all(s is not None and seen[s].dtype == found.dtype for s in step.inputs)


def _elementwise(step: Step, slot: int, seen: Mapping[int, Any]) -> bool:
    if not elementwise_step(step) or len(step.outputs) != 1 or None in step.inputs or step.inputs.count(slot) != 1:
        return False
    like, found = seen[slot], seen[step.outputs[0]]
    if not found.like(like) or found.alias is not None or not found.own:
        return False
    for other in step.inputs:
        if seen[other].shape != like.shape:
            if seen[other].size != 1 or (isinstance(step.op, Operator) and not step.op.name.startswith('broadcast_')):
                return False
        elif not seen[other].like(like):
            return False
    return True


def pools(step: Step, product: Step) -> bool:
    """Whether a step is a Pooling with windows, over what a Convolution gives."""
    if not isinstance(step.op, Operator) or step.op.name != 'Pooling' or step.op.kernels:
        return False
    params, kind = step.params, product.op.name
    return kind == 'Convolution' and not params['global_pool'] and (params['layout'] or '')[-1:] == (
        product.params['layout'] or '')[-1:]


def parts(step: Step, data: Sequence[int], result: Sequence[int]) -> int:
    """How many images of a Convolution are worked on at once when Pooling follows; 0 for all of them.

    ``data`` and ``result`` are the shapes of what goes in and what comes out.
    """
    params, groups = step.params, step.params['num_group']
    last = (params['layout'] or '')[-1:] == 'C'
    sizes, channels, outputs = (data[1:-1], data[-1], result[-1]) if last else (data[2:], data[1], result[1])
    geometry = _conv.Geometry(sizes, params['kernel'], params['stride'], params['dilate'], params['pad'])
    images = _conv.images_at_once(geometry, channels // groups, outputs)
    return images if images < data[0] else 0


def _parts(step: Step, seen: Mapping[int, Any]) -> int:
    return parts(step, seen[step.inputs[0]].shape, seen[step.outputs[0]].shape)


class Product:
    """One product of matrices with its followers.

    With a Pooling behind them, only some images of the product exist at a time.
    """

    several = False
    num_outputs = 1
    kernels: ClassVar[list[Any]] = []
    backward = grad = infer = None
    injected: ClassVar[frozenset[str]] = frozenset({'out'})

    def __init__(self, step: Step, norm: Step | None, tail: Sequence[Step], pool: Step | None,
                 seen: Mapping[int, Any], bind: Bind, fold: bool) -> None:
        self.steps = [step, *([] if norm is None else [norm]), *tail]
        result = self.steps[-1].outputs[0]
        self._seen = seen[result]
        self._pool = None
        if pool is not None:
            self.steps.append(pool)
            self._pool = bind(pool)
            self._images = _parts(step, seen)
        self._result = seen[self.steps[-1].outputs[0]]
        self.name = '+'.join(s.op.name for s in self.steps)
        self._convolves = step.op.name == 'Convolution'
        self._function = bind(step)
        self._count = len(step.inputs)
        self._norm = norm
        self._fold = fold and norm is not None
        self._folded: tuple[list[Any], Any, Any] | None = None
        self._fixed_gamma = norm is not None and bool(norm.params['fix_gamma'])
        self._channels = self._seen.shape[-1 if self._last_axis(step) else 1]
        self._groups = step.params['num_group'] if self._convolves else 1
        self._last = self._convolves and (step.params['layout'] or '')[-1:] == 'C'
        self.inputs = [*step.inputs, *([] if norm is None else norm.inputs[1:])]
        self._states = len(self.inputs)
        self.mutates = () if norm is None else (self._count, self._count + 2, self._count + 3)
        self._chain = Chain(tail, [result], seen, bind) if tail else None
        self._place = 0
        if self._chain is not None:
            self._place = self._chain.inputs.index((norm or step).outputs[0])
            self.inputs += [slot for index, slot in enumerate(self._chain.inputs) if index != self._place]

    @staticmethod
    def _last_axis(step: Step) -> bool:
        return step.op.name == 'FullyConnected' or (step.params['layout'] or '')[-1:] == 'C'

    def __repr__(self) -> str:
        return f'<Product {self.name}>'

    def forward(self, xp: Any, *arrays: Any, out: Any = None) -> Any:
        """The result after everything that follows, in ``out`` where that can take it."""
        operands, states, others = (list(arrays[:self._count]), arrays[self._count:self._states],
                                    arrays[self._states:])
        work: list[Callable[[slice, Any], None]] = []
        if self._norm is not None:
            gamma, beta, mean, variance = states
            if self._fixed_gamma:
                gamma[...] = 1
            if self._fold:
                operands = self._with_norm(xp, operands, states)
            else:
                scale = 1 / xp.sqrt(variance + variance.dtype.type(self._norm.params['eps']))
                work.append(_affine(xp, *running_parts(xp, gamma, beta, mean, scale), self._seen.size))
        if self._chain is not None:
            work.append(self._following(others))

        def post(rows: slice, matrix: Any) -> None:
            for function in work:
                function(rows, matrix)

        if out is None:
            out = self._result.empty()
        if self._pool is not None:
            return self._pooled(operands, post if work else None, out)
        if self._convolves:
            return self._function(*operands, out=out, post=post if work else None)
        result = self._function(*operands, out=out)
        matrix = result.reshape(-1, result.shape[-1])
        step = max(1, PART // matrix.shape[1])
        for start in range(0, matrix.shape[0], step):
            stop = min(start + step, matrix.shape[0])
            post(slice(start, stop), matrix[start:stop])
        return result

    def _pooled(self, operands: list[Any], post: Callable[[slice, Any], None] | None, out: Any) -> Any:
        """Some images after the others: product, followers and pooling."""
        assert self._pool is not None
        data, weight, count = operands[0], operands[1], len(operands[0])
        if not self._last and not self._fold:       # brought into the order of windows once, not for each part
            order = channels_last(weight.ndim)
            back = [order.index(axis) for axis in range(weight.ndim)]
            weight = storage.rowmajor(weight.transpose(order)).transpose(back)
        buffer = self._seen.empty(self._images)
        pixels = self._seen.size // (count * self._channels)

        def shifted(rows: slice, matrix: Any) -> None:
            assert post is not None
            post(slice(rows.start + start * pixels, rows.stop + start * pixels), matrix)

        for start in range(0, count, self._images):
            stop = min(start + self._images, count)
            product = self._function(data[start:stop], weight, *operands[2:], out=buffer[:stop - start],
                                     post=None if post is None else shifted)
            target = out[start:stop]
            pooled = self._pool(product, out=target)
            if pooled is not target:
                target[...] = pooled
        return out

    def _following(self, others: Sequence[Any]) -> Callable[[slice, Any], None]:
        """The elementwise steps on blocks of rows."""
        chain, place = self._chain, self._place
        assert chain is not None
        slots = [slot for index, slot in enumerate(chain.inputs) if index != place]
        runs = [chain.run(slot, a) for slot, a in zip(slots, others, strict=True)]
        runs = [_in_order(self._seen, a) if run is None else run for run, a in zip(runs, others, strict=True)]
        whole = [chain.is_whole(slot) for slot in slots]
        scratch: list[Any] = []

        def function(rows: slice, matrix: Any) -> None:
            flat = matrix.reshape(-1)
            start, stop = rows.start * matrix.shape[1], rows.stop * matrix.shape[1]
            if not scratch or (len(scratch[0]) < flat.size):
                scratch[:] = chain.scratch(flat.size)
            given = [run[start:stop] if large else run for run, large in zip(runs, whole, strict=True)]
            given.insert(place, flat)
            chain.block(given, [flat], scratch, 0, flat.size)

        return function

    # ---- folding -----------------------------------------------------------------------------------------------

    def _with_norm(self, xp: Any, operands: list[Any], states: Sequence[Any]) -> list[Any]:
        """Weight and bias with the normalisation in them, worked out again whenever one of the arrays has changed.

        Arrays are written in many ways and may share memory with something outside: so their contents are compared.
        """
        given = [*operands[1:], *states]
        folded = self._folded
        if folded is None or not all(map(_unchanged, folded[0], given)):
            assert self._norm is not None
            factor, shift = running_affine(xp, *states, self._norm.params['eps'])
            weight = operands[1]
            scaled = weight * factor.reshape(-1, *(1,) * (weight.ndim - 1))
            order = self._order(weight.ndim)
            back = [order.index(axis) for axis in range(weight.ndim)]
            scaled = storage.rowmajor(scaled.transpose(order)).transpose(back)
            bias = shift if len(operands) == 2 else operands[2] * factor + shift
            self._folded = folded = ([a.copy() for a in given], scaled, bias)
        return [operands[0], folded[1], folded[2]]


    def _order(self, ndim: int) -> tuple[int, ...]:
        """The axes of a weight in the order in which products are fastest: the outputs last where that can be."""
        if not self._convolves:
            return (1, 0)
        order = tuple(range(ndim)) if self._last else channels_last(ndim)
        return order if self._groups > 1 else (*order[1:], order[0])


def _affine(xp: Any, center: Any, factor: Any, shift: Any, most: int) -> Callable[[slice, Any], None]:
    centers = None if center is None else Repeated(xp, center, most)
    factors, shifts = Repeated(xp, factor, most), Repeated(xp, shift, most)

    def function(rows: slice, matrix: Any) -> None:
        if centers is not None:
            centers.apply(xp.subtract, matrix)
        factors.apply(xp.multiply, matrix)
        shifts.apply(xp.add, matrix)

    return function


def _in_order(seen: Any, array: Any) -> Any:
    """The elements of an array that is in another memory order than it was, as a run in the usual order."""
    copy = seen.empty()
    copy[...] = array
    return storage.run(copy)


def _unchanged(before: Any, now: Any) -> bool:
    """Whether two arrays hold the same bits."""
    if before.shape != now.shape or before.dtype != now.dtype:
        return False
    if not (before.flags.c_contiguous and now.flags.c_contiguous):
        return bool(np.array_equal(before, now))
    bits = np.dtype(f'u{before.dtype.itemsize}')
    return bool(np.array_equal(before.view(bits), now.view(bits)))
