"""Iterators over arrays."""

from __future__ import annotations

import numpy as np
import pytest

import refengine as mx


def labels(iterator: mx.io.DataIter) -> list[tuple[list[float], int]]:
    """Labels and padding of each batch of an epoch."""
    return [(b.label[0].asnumpy().tolist(), b.pad) for b in iterator]


def iterator(handle: str, **options: object) -> mx.io.NDArrayIter:
    """Five samples in batches of two."""
    return mx.io.NDArrayIter(np.arange(10).reshape(5, 2), np.arange(5), 2, last_batch_handle=handle, **options)


@pytest.mark.parametrize(('handle', 'first', 'second'), [
    ('pad', [([0, 1], 0), ([2, 3], 0), ([4, 0], 1)], [([0, 1], 0), ([2, 3], 0), ([4, 0], 1)]),
    ('discard', [([0, 1], 0), ([2, 3], 0)], [([0, 1], 0), ([2, 3], 0)]),
    ('roll_over', [([0, 1], 0), ([2, 3], 0)], [([4, 0], 1), ([1, 2], 0), ([3, 4], 0)]),
])
def test_the_last_batch(handle: str, first: object, second: object) -> None:
    it = iterator(handle)
    assert labels(it) == first
    it.reset()
    assert labels(it) == second


def test_descriptions() -> None:
    it = iterator('pad')
    assert it.provide_data == [('data', (2, 2))]
    assert it.provide_label == [('softmax_label', (2,))]
    assert it.provide_data[0].dtype is np.float32
    assert repr(mx.io.DataDesc('x', (2, 3))) == "DataDesc[x,(2, 3),<class 'numpy.float32'>,NCHW]"
    assert mx.io.DataDesc.get_batch_axis('TNC') == 1
    batch = next(it)
    assert str(batch) == 'DataBatch: data shapes: [(2, 2)] label shapes: [(2,)]'
    with pytest.raises(AttributeError, match="'list' object has no attribute 'shape'"):
        batch.data.shape  # noqa: B018


def test_shuffling_keeps_pairs() -> None:
    np.random.seed(0)
    it = iterator('discard', shuffle=True)
    for batch in it:
        assert batch.data[0].asnumpy()[:, 0].tolist() == (batch.label[0].asnumpy() * 2).tolist()


def test_errors() -> None:
    with pytest.raises(AssertionError, match='samples'):
        mx.io.NDArrayIter(np.ones((3, 1)), np.ones(2))
    with pytest.raises(AssertionError, match='batch_size'):
        mx.io.NDArrayIter(np.ones((3, 1)), batch_size=4)
    with pytest.raises(TypeError):
        mx.io.NDArrayIter('text')


def test_wrappers() -> None:
    resized = mx.io.ResizeIter(iterator('pad'), 5)
    assert len(list(resized)) == 5
    ahead = mx.io.PrefetchingIter(iterator('pad'))
    for _ in range(2):
        assert labels(ahead) == [([0, 1], 0), ([2, 3], 0), ([4, 0], 1)]
        ahead.reset()


def test_errors_in_the_thread_reach_the_reader() -> None:
    class Broken(mx.io.NDArrayIter):
        def getdata(self) -> list[object]:
            raise OSError('no disk')

    with pytest.raises(OSError, match='no disk'):
        next(mx.io.PrefetchingIter(Broken(np.ones((4, 1)), batch_size=2)))
