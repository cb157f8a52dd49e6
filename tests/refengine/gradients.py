"""Derivatives of any order by finite differences, in float64, for any operator that has samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import refengine as mx
from refengine import autograd, dispatch, nd, tape_walk
from refengine.samples import Sample

STEP = 1e-6
TOLERANCE = 2e-6      # of a central difference with STEP in double precision, for values of order one

WIDE_STEP = 2e-4
HIGHER_TOLERANCE = 1e-7     # of a difference of fourth order with WIDE_STEP: 1e-11 at best, third derivatives grow

SEED = 23


@dataclass(frozen=True)
class Program(Sample):
    """A sample that is more than one call with numbers alone: ``run`` gives the outputs for its arrays."""

    run: Callable[[list[Any]], Any] | None = None

    @property
    def name(self) -> str:
        """What a test calls the program."""
        return f'{self.operator.name}: {self.params["what"]}'


def _arrays(sample: Sample, values: list[np.ndarray]) -> list:
    return [nd.array(v, dtype='float64') for v in values]


def _weights(outputs: list, sample: Sample) -> list[np.ndarray]:
    random = np.random.default_rng(sample.index + 17)
    return [random.uniform(0.5, 1.5, o.shape) for o in outputs]


def call(sample: Sample, arrays: list) -> list:
    """The visible outputs of floating point type; random numbers are the same in every call."""
    arrays = [(a + a.T) * 0.5 if symmetric else a for a, symmetric in zip(arrays, sample.symmetric)]
    mx.random.seed(SEED)
    if isinstance(sample, Program):
        assert sample.run is not None
        result = sample.run(arrays)
    else:
        result = dispatch.invoke(sample.operator, arrays, sample.params)
    outputs = result if isinstance(result, list) else [result]
    return [o for o in outputs if o.dtype in (np.float64, np.float32)]


def loss(sample: Sample, arrays: list):
    """A weighted sum of all outputs and their squares: every output has a gradient of its own that depends on it."""
    outputs = call(sample, arrays)
    total = None
    for output, weight in zip(outputs, _weights(outputs, sample)):
        wide = output.astype('float64')
        part = ((wide + 0.5 * wide * wide) * nd.array(weight, dtype='float64')).sum()
        total = part if total is None else total + part
    return total


def analytic(sample: Sample, values: list[np.ndarray]) -> list[np.ndarray]:
    """Gradients of the loss from the operator's own gradient."""
    arrays = _arrays(sample, values)
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        total = loss(sample, arrays)
    total.backward()
    return [a.grad.asnumpy() for a in arrays]


def _differences(function, values: list[np.ndarray], which: int) -> np.ndarray:
    result = np.zeros(values[which].shape)
    for place in np.ndindex(*values[which].shape):
        moved = [v.copy() for v in values]
        moved[which][place] += STEP
        high = function(moved)
        moved[which][place] -= 2 * STEP
        result[place] = (high - function(moved)) / (2 * STEP)
    return result


def check_first(sample: Sample) -> None:
    """The operator's gradient equals the finite differences of its outputs."""
    values = [a.astype('float64') for a in sample.arrays]
    found = analytic(sample, values)

    def value(moved: list[np.ndarray]) -> float:
        with autograd.train_mode():       # backward differentiates what the training mode computes
            return float(loss(sample, _arrays(sample, moved)).asscalar())

    for which, wanted in enumerate(sample.differentiated):
        if wanted:
            expected = _differences(value, values, which)
            np.testing.assert_allclose(found[which], expected, rtol=TOLERANCE * 10, atol=TOLERANCE * 5,
                                       err_msg=f'{sample.name}: gradient of input {which}')


def check_second(sample: Sample) -> None:
    """The gradient of a weighted sum of gradients equals the finite differences of the gradients."""
    values = [a.astype('float64') for a in sample.arrays]
    chosen = [i for i, wanted in enumerate(sample.differentiated) if wanted]
    random = np.random.default_rng(sample.index + 5)
    weights = {i: random.uniform(0.5, 1.5, values[i].shape) for i in chosen}

    arrays = _arrays(sample, values)
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        total = loss(sample, arrays)
        first = autograd.grad(total, [arrays[i] for i in chosen], create_graph=True, retain_graph=True)
        combined = None
        for i, gradient in zip(chosen, first):
            part = (gradient * nd.array(weights[i], dtype='float64')).sum()
            combined = part if combined is None else combined + part
    if combined._node is None:      # the gradient does not depend on the inputs: all second derivatives are zero
        found = {i: np.zeros(values[i].shape) for i in chosen}
    else:
        combined.backward()
        found = {i: arrays[i].grad.asnumpy() for i in chosen}

    def value(moved: list[np.ndarray]) -> float:
        gradients = analytic(sample, moved)
        return float(sum((gradients[i] * weights[i]).sum() for i in chosen))

    for i in chosen:
        expected = _differences(value, values, i)
        np.testing.assert_allclose(found[i], expected, rtol=TOLERANCE * 50, atol=TOLERANCE * 10,
                                   err_msg=f'{sample.name}: second gradient of input {i}')


# ---- derivatives of higher order ---------------------------------------------------------------------------------

def directions(sample: Sample, order: int) -> list[np.ndarray]:
    """One direction for all inputs together, another for each order; inputs that are not differentiated stay."""
    random = np.random.default_rng(31 * sample.index + order)
    return [random.uniform(0.5, 1.5, a.shape) * random.choice([-1, 1], a.shape, p=[0.3, 0.7]) if wanted
            else np.zeros(a.shape) for a, wanted in zip(sample.arrays, sample.differentiated)]


def _reached(total: Any, arrays: list[Any], chosen: list[int]) -> list[int]:
    """The inputs that a recorded number depends on."""
    if total is None or total._node is None:
        return []
    leaves = tape_walk.reachable([total._node])[1]
    return [i for i in chosen if arrays[i]._node in leaves]


def derivative(sample: Sample, values: list[np.ndarray], order: int) -> list[np.ndarray]:
    """The gradient by all inputs of the derivative of the loss along ``order - 1`` directions, one after the other.

    For order 1 that is the gradient, for order 2 the product of the Hessian with a direction, and so on.
    """
    arrays = _arrays(sample, values)
    chosen = [i for i, wanted in enumerate(sample.differentiated) if wanted]
    for i in chosen:
        arrays[i].attach_grad()
    with autograd.record():
        total = loss(sample, arrays)
        for number in range(1, order):
            reached = _reached(total, arrays, chosen)
            if not reached:
                break
            gradients = autograd.grad(total, [arrays[i] for i in reached], create_graph=True, retain_graph=True)
            along = directions(sample, number)
            total = sum((g * nd.array(along[i], dtype='float64')).sum() for i, g in zip(reached, gradients))
    if _reached(total, arrays, chosen):     # where it is independent of all inputs, its gradient is zero
        total.backward()
    return [arrays[i].grad.asnumpy() for i in chosen]


def check_higher(sample: Sample, order: int) -> None:
    """The derivative of this order is the rate at which that of the order below changes along a direction.

    Derivatives of a smooth function do not depend on the sequence of the directions, so that one direction is enough to
    check every entry: two-point differences in that direction, with the error of second order removed.
    """
    values = [a.astype('float64') for a in sample.arrays]
    along = directions(sample, order - 1)

    def moved(distance: float) -> list[np.ndarray]:
        return derivative(sample, [v + distance * d for v, d in zip(values, along)], order - 1)

    near, far = ([(high - low) / (2 * step) for high, low in zip(moved(step), moved(-step))]
                 for step in (WIDE_STEP, 2 * WIDE_STEP))
    for place, (found, first, second) in enumerate(zip(derivative(sample, values, order), near, far)):
        expected = (4 * first - second) / 3
        size = max(1.0, float(np.abs(expected).max(initial=0)))
        np.testing.assert_allclose(found, expected, rtol=0, atol=HIGHER_TOLERANCE * size,
                                   err_msg=f'{sample.name}: derivative of order {order}, differentiated input {place}')


def differentiated_operators(every: Iterator[Sample], order: int) -> set[str]:
    """The names of the operators whose gradients are asked for by derivatives of this order."""
    from refengine.op import operators
    seen: set[str] = set()
    plain = {op: op._grad for op in operators() if op._grad is not None}

    def watched(op: Any, grad: Any) -> Any:
        def asked(*args: Any) -> Any:
            seen.add(op.name)
            return grad(*args)
        return asked

    for op, grad in plain.items():
        op._grad, partials = watched(op, grad), op.partials
        if partials is not None:        # the tape takes them in place of the gradient
            op.partials = tuple(watched(op, part) for part in partials)
    try:
        for sample in every:
            derivative(sample, [a.astype('float64') for a in sample.arrays], order)
    finally:
        for op, grad in plain.items():
            op.grad = grad
    return seen
