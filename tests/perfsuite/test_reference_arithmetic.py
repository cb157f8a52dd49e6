"""The independent arithmetic that benchmark results are checked by is itself checked: by finite differences."""

import numpy as np
import pytest

from perfsuite.records import _reference

SHAPES = {
    "dense": ((3, 4), [(5, 4), (5,)]),
    "relu": ((3, 4), []),
    "convolution": ((2, 3, 5, 6), [(4, 3, 2, 3), (4,)]),
    "max_pool": ((2, 3, 4, 6), []),
}


def numeric_gradient(function, array):
    """Central differences of a scalar function in every element of an array."""
    gradient = np.zeros_like(array)
    for index in np.ndindex(array.shape):
        kept = array[index]
        array[index] = kept + 1e-6
        above = function()
        array[index] = kept - 1e-6
        below = function()
        array[index] = kept
        gradient[index] = (above - below) / 2e-6
    return gradient


@pytest.mark.parametrize("layer", SHAPES)
def test_backward_agrees_with_finite_differences(layer):
    random = np.random.RandomState(0)
    shape, weight_shapes = SHAPES[layer]
    x = random.standard_normal(shape)
    weights = [random.standard_normal(s) for s in weight_shapes]
    forward = _reference.LAYERS[layer]
    out, back = forward(x, *weights)
    head = random.standard_normal(out.shape)
    got_x, got_weights = back(head)

    def total():
        return float((forward(x, *weights)[0] * head).sum())

    np.testing.assert_allclose(got_x, numeric_gradient(total, x), atol=1e-6)
    for got, weight in zip(got_weights, weights, strict=True):
        np.testing.assert_allclose(got, numeric_gradient(total, weight), atol=1e-6)


def test_cross_entropy_of_equal_scores_is_the_logarithm_of_their_number():
    loss, gradient = _reference.cross_entropy(np.zeros((2, 4)), np.array([1, 3]))
    np.testing.assert_allclose(loss, np.log(4))
    np.testing.assert_allclose(gradient, [[0.25, -0.75, 0.25, 0.25], [0.25, 0.25, 0.25, -0.75]])


def test_training_lowers_the_loss():
    random = np.random.RandomState(0)
    parameters = [[random.standard_normal((8, 6)), np.zeros(8)], [], [random.standard_normal((3, 8)), np.zeros(3)]]
    losses = _reference.train(["dense", "relu", "dense"], parameters, random.standard_normal((9, 6)),
                              random.randint(0, 3, 9), 30, 0.1)
    assert losses[-1] < losses[0] / 2
