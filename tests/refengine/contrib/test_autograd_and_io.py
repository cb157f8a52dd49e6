"""The first interface of autograd, and loaders as iterators; expected values are those of MXNet 1.9.1."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from refengine import autograd, gluon, nd
from refengine.contrib import autograd as old
from refengine.contrib import io


@pytest.mark.parametrize("module", [old, io])
def test_the_examples(module):
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed


def test_sections_record_and_train():
    def both():
        return autograd.is_recording(), autograd.is_training()

    with old.train_section():
        with old.test_section():
            assert both() == (False, False)
        assert both() == (True, True)
    assert old.set_is_training(True) is False
    assert both() == (True, True)
    assert old.set_is_training(False) is True
    assert both() == (False, False)


def test_gradients():
    x = nd.array([1.0, 2.0])
    gradients, loss = old.grad_and_loss(lambda a, b: a * b)(x, x + 1)
    assert [g.asnumpy().tolist() for g in gradients] == [[2, 3], [1, 2]]
    assert loss.asnumpy().tolist() == [2, 6]
    assert old.grad(lambda a: [a, a * 2])(x)[0].asnumpy().tolist() == [3, 3]
    with pytest.raises(AssertionError, match="type of autograd input should NDArray"):
        old.grad(lambda a: a)(3)
    added = nd.zeros(2)
    old.mark_variables([x], [added], "add")
    for _ in range(2):
        with old.train_section():
            y = x * 3
        old.backward([y], [nd.array([1, 2])])
    assert added.asnumpy().tolist() == [6, 12]
    with pytest.raises(AssertionError, match="outputs must be a list or tuple of NDArrays"):
        old.backward(y)


def test_a_loader_as_an_iterator():
    pairs = gluon.data.ArrayDataset(np.arange(10, dtype="f").reshape(5, 2), np.arange(5, dtype="f"))
    batches = io.DataLoaderIter(gluon.data.DataLoader(pairs, 2), dtype="float16")
    assert (batches.provide_data[0].shape, batches.provide_label[0].name, batches.batch_size) == ((2, 2),
                                                                                                 "softmax_label", 2)
    found = list(batches)
    assert [(batch.label[0].asnumpy()[0], batch.pad) for batch in found] == [(0, 0), (2, 0), (4, 1)]
    assert found[2].data[0].asnumpy()[0].tolist() == [8, 9]
    assert found[2].data[0].dtype == np.float16
    batches.reset()
    assert next(batches).data[0].asnumpy().tolist() == [[0, 1], [2, 3]]
