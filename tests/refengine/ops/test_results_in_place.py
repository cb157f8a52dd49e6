"""An input may be the output: the result is what a new array would hold."""

from __future__ import annotations

import numpy as np
import pytest

import refengine as mx
from refengine import dispatch, nd, samples
from refengine.samples import Sample

SAMPLES = [sample for sample in samples.every() if sample.arrays and not sample.operator.name.startswith('_')]


def result(sample: Sample, arrays: list, out: nd.NDArray | None) -> list[np.ndarray]:
    mx.random.seed(5)
    found = dispatch.invoke(sample.operator, arrays, sample.params, out)
    return [one.asnumpy() for one in (found if isinstance(found, list) else [found])]


@pytest.mark.parametrize('sample', SAMPLES, ids=lambda s: s.name)
def test_an_input_as_the_output(sample):
    plain = [nd.array(value, dtype='float64') for value in sample.arrays]
    expected = result(sample, plain, None)
    for place, value in enumerate(sample.arrays):
        if len(expected) != 1 or value.shape != expected[0].shape or expected[0].dtype != np.float64:
            continue
        arrays = [nd.array(value, dtype='float64') for value in sample.arrays]
        result(sample, arrays, arrays[place])
        np.testing.assert_array_equal(arrays[place].asnumpy(), expected[0])
