"""Indexing against numpy, over many keys: same elements, shared memory where promised, gradients that land right."""

from __future__ import annotations

import numpy as np
import pytest

from refengine import autograd, nd

SOURCE = np.arange(24, dtype='float32').reshape(2, 3, 4)

BASIC = [np.s_[0], np.s_[-1], np.s_[0:1], np.s_[::-1], np.s_[:, 1], np.s_[..., 2], np.s_[0, 1], np.s_[0, 1, 2],
         np.s_[None],
         np.s_[:, None, 1:], np.s_[1:, ::2, -1], np.s_[0, ..., None], np.s_[:, :, 1:3]]
ADVANCED = [np.s_[[0, 1, 1]], np.s_[[1], [2]], np.s_[:, [0, 2]], np.s_[[0, 1], :, [1, 3]], np.s_[0, [1, 2]],
            np.s_[[[0, 1]]],
            np.s_[..., [0, -1]], np.s_[[0, 1], 1:3]]


def plain(key):
    result = SOURCE[key]
    return result.reshape((1,)) if result.ndim == 0 else result


@pytest.mark.parametrize('key', BASIC + ADVANCED, ids=str)
def test_read(key):
    np.testing.assert_array_equal(nd.array(SOURCE)[key].asnumpy(), plain(key))


@pytest.mark.parametrize('key', BASIC + ADVANCED, ids=str)
def test_write_number_and_array(key):
    for value in (7.0, np.full(plain(key).shape, 3.0, 'float32')):
        x, expected = nd.array(SOURCE), SOURCE.copy()
        x[key] = value
        expected[key] = value if isinstance(value, float) else value.reshape(SOURCE[key].shape)
        np.testing.assert_array_equal(x.asnumpy(), expected)


@pytest.mark.parametrize('key', BASIC + ADVANCED, ids=str)
def test_gradient(key):
    x = nd.array(SOURCE)
    x.attach_grad()
    with autograd.record():
        part = x[key]
        y = (part * part).sum()
    y.backward()
    expected = np.zeros_like(SOURCE)
    np.add.at(expected, key, 2 * SOURCE[key])
    np.testing.assert_array_equal(x.grad.asnumpy(), expected)


@pytest.mark.parametrize('key', BASIC + ADVANCED, ids=str)
def test_second_gradient(key):
    x = nd.array(SOURCE)
    x.attach_grad()
    with autograd.record():
        part = x[key]
        first = autograd.grad((part * part * part).sum(), x, create_graph=True, retain_graph=True)
    first.backward()
    counts = np.zeros_like(SOURCE)
    np.add.at(counts, key, np.ones_like(SOURCE[key]))
    np.testing.assert_array_equal(x.grad.asnumpy(), 6 * SOURCE * counts)


@pytest.mark.parametrize('key', BASIC, ids=str)
def test_contiguous_parts_share_memory(key):
    x = nd.array(SOURCE)
    part = x[key]
    contiguous = np.asarray(SOURCE[key]).flags.c_contiguous
    assert np.shares_memory(part._data, x._data) == contiguous
    if contiguous:
        part[:] = -1
        assert (x.asnumpy()[key] == -1).all()


def test_a_channels_last_array_behaves_like_any_other():
    """Arrays may have any memory order under their shape: indexing, reshape and writes must not notice."""
    strided = np.ascontiguousarray(SOURCE.transpose(1, 2, 0)).transpose(2, 0, 1)
    assert not strided.flags.c_contiguous
    for make in (lambda x: x[1], lambda x: x.reshape((6, 4)), lambda x: x[0, 1:3], lambda x: x.flatten(),
                 lambda x: x + x,
                 lambda x: x.sum(axis=0), lambda x: x[None], lambda x: x.T):
        np.testing.assert_array_equal(make(nd.NDArray(strided.copy(order='K'))).asnumpy(),
                                      make(nd.array(SOURCE)).asnumpy())
    x = nd.NDArray(strided.copy(order='K'))
    view = x.reshape((24,))
    view[0] = 99
    assert x[0, 0, 0].asscalar() == 99
