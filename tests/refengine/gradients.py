"""Gradients by finite differences, in float64, for any operator that has samples."""

from __future__ import annotations

import numpy as np

from refengine import autograd, dispatch, nd
from refengine.samples import Sample

STEP = 1e-6
TOLERANCE = 2e-6      # of a central difference with STEP in double precision, for values of order one


def _arrays(sample: Sample, values: list[np.ndarray]) -> list:
    return [nd.array(v, dtype='float64') for v in values]


def _weights(outputs: list, sample: Sample) -> list[np.ndarray]:
    random = np.random.default_rng(sample.index + 17)
    return [random.uniform(0.5, 1.5, o.shape) for o in outputs]


def call(sample: Sample, arrays: list) -> list:
    """The visible outputs of floating point type."""
    arrays = [(a + a.T) * 0.5 if symmetric else a for a, symmetric in zip(arrays, sample.symmetric)]
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


