"""Datasets, samplers and the DataLoader in one process."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time

import numpy as np
import pytest

import refengine as mx
from refengine import gluon, nd
from refengine.gluon import data


def batches(loader):
    return [b.asnumpy().tolist() for b in loader]


class TestSamplers:
    def test_orders(self):
        assert list(data.SequentialSampler(3, 5)) == [5, 6, 7]
        assert sorted(data.RandomSampler(20)) == list(range(20))
        assert list(data.FilterSampler(lambda x: x > 5, [4, 9, 2, 7])) == [1, 3]
        assert len(data.FilterSampler(bool, [0, 1, 2])) == 2
        assert list(gluon.contrib.data.IntervalSampler(13, 3))[:6] == [0, 3, 6, 9, 12, 1]
        stopped = gluon.contrib.data.IntervalSampler(13, 3, rollover=False)
        assert list(stopped) == [0, 3, 6, 9, 12]
        assert len(stopped) == 13
        with pytest.raises(NotImplementedError):
            len(data.Sampler())

    @pytest.mark.parametrize(('last', 'epochs', 'length'), [
        ('keep', [[[0, 1, 2], [3, 4]]] * 2, 2), ('discard', [[[0, 1, 2]]] * 2, 1),
        ('rollover', [[[0, 1, 2]], [[3, 4, 0], [1, 2, 3]], [[4, 0, 1], [2, 3, 4]], [[0, 1, 2]]], 1)])
    def test_last_batch(self, last, epochs, length):
        sampler = data.BatchSampler(data.SequentialSampler(5), 3, last)
        assert len(sampler) == length
        assert [list(sampler) for _ in epochs] == epochs

    def test_rollover_changes_the_length(self):
        sampler = data.BatchSampler(data.SequentialSampler(5), 3, 'rollover')
        list(sampler)
        assert len(sampler) == 2

    def test_unknown_last_batch(self):
        sampler = data.BatchSampler(data.SequentialSampler(5), 3, 'bogus')
        for use in (len, list):
            with pytest.raises(ValueError, match='last_batch must be one of'):
                use(sampler)


class TestDatasets:
    def test_transform(self):
        pairs = data.ArrayDataset([1, 2], [3, 4])
        assert pairs.transform(lambda a, b: a + b)[1] == 6
        assert pairs.transform_first(lambda a: a * 10)[1] == (20, 4)
        assert data.SimpleDataset([1, 2]).transform_first(lambda a: a * 10)[1] == 20
        calls = []
        lazy = data.SimpleDataset([1, 2]).transform(calls.append)
        assert not calls
        lazy[0]
        data.SimpleDataset([1, 2]).transform(calls.append, lazy=False)
        assert calls == [1, 1, 2]

    def test_derived(self):
        ten = data.SimpleDataset(list(range(10)))
        assert [[s[i] for i in range(len(s))] for s in (ten.shard(3, i) for i in range(3))] == [
            [0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]
        assert [len(ten.take(n)) for n in (3, None, 99)] == [3, 10, 10]
        assert len(ten.filter(lambda x: x % 2)) == 5
        assert [ten.sample(data.SequentialSampler(2, 4))[i] for i in (0, 1)] == [4, 5]
        with pytest.raises(AssertionError, match='Shard index of out bound'):
            ten.shard(2, 2)
        with pytest.raises(TypeError, match='Invalid sampler type'):
            ten.sample([0])

    def test_arrays(self):
        assert data.ArrayDataset([5, 6])[1] == 6
        labels = data.ArrayDataset(nd.array([1, 2]), nd.ones((2, 3)))
        assert type(labels[0][0]) is np.float32
        assert isinstance(labels[0][1], nd.NDArray)
        with pytest.raises(AssertionError, match='All arrays must have the same length'):
            data.ArrayDataset([1, 2], [3])
        with pytest.raises(AssertionError, match='Needs at least 1 arrays'):
            data.ArrayDataset()


class TestLoader:
    @pytest.mark.parametrize(('last', 'expected'), [
        ('keep', [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]), ('discard', [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ('rollover', [[0, 1, 2, 3], [4, 5, 6, 7]])])
    def test_batches(self, last, expected):
        loader = data.DataLoader(np.arange(10), 4, last_batch=last)
        assert len(loader) == len(expected)
        assert batches(loader) == expected
        if last == 'rollover':
            assert batches(loader) == [[8, 9, 0, 1], [2, 3, 4, 5], [6, 7, 8, 9]]

    @pytest.mark.parametrize(('dtype', 'sample'), [
        (np.int64, 1), (np.float64, 1.5), (np.bool_, True), (np.float32, np.float32(1)), (np.uint8, np.ones(2,
                                                                                                            'uint8'))])
    def test_dtypes(self, dtype, sample):
        batch = next(iter(data.DataLoader(data.SimpleDataset([sample, sample]), 2)))
        assert batch.dtype == dtype

    @pytest.mark.parametrize('dataset', [
        data.ArrayDataset(np.arange(12.0).reshape(6, 2), np.arange(6)),
        data.ArrayDataset(nd.array(np.arange(12).reshape(6, 2), dtype='float64'), np.arange(6)),
        data.SimpleDataset([(np.array([2.0 * i, 2 * i + 1]), i) for i in range(6)])])
    def test_tuples_become_lists(self, dataset):
        for number, batch in enumerate(data.DataLoader(dataset, 2)):
            assert type(batch) is list
            assert (batch[0].dtype, batch[1].dtype) == (np.float64, np.int64)
            assert batch[1].asnumpy().tolist() == [2 * number, 2 * number + 1]
            assert batch[0].asnumpy().tolist() == [[4 * number, 4 * number + 1], [4 * number + 2, 4 * number + 3]]

    def test_batches_are_independent_of_the_dataset(self):
        source = nd.array(np.arange(4))
        batch = next(iter(data.DataLoader(source, 2)))
        batch[:] = 9
        assert source.asnumpy().tolist() == [0, 1, 2, 3]

    def test_arrays_are_datasets(self):
        assert [b.shape for b in data.DataLoader(nd.ones((3, 2)), 2)] == [(2, 2), (1, 2)]

    def test_shuffle(self):
        loader = data.DataLoader(np.arange(20), 20, shuffle=True)
        runs = []
        for _ in range(2):
            np.random.seed(5)
            runs.append(batches(loader)[0])
        assert runs[0] == runs[1]
        assert sorted(runs[0]) == list(range(20))
        assert batches(loader)[0] != runs[0]

    def test_lists_and_other_samples(self):
        assert batches(data.DataLoader(data.SimpleDataset([[1, 2], [3, 4]]), 2)) == [[[1, 2], [3, 4]]]
        for sample in ({'a': 1}, 'text'):
            with pytest.raises(KeyError):
                list(data.DataLoader(data.SimpleDataset([sample, sample]), 2))
        own = data.DataLoader(data.SimpleDataset(['a', 'b']), 2, batchify_fn=lambda samples: samples)
        assert list(own) == [['a', 'b']]
        with pytest.raises(mx.MXNetError):
            list(data.DataLoader(data.SimpleDataset([nd.ones(2), nd.ones(3)]), 2))

    def test_errors_come_through(self):
        def fail(x):
            if x == 4:
                raise ValueError('bad item 4')
            return x

        with pytest.raises(ValueError, match='bad item 4'):
            list(data.DataLoader(data.SimpleDataset(list(range(6))).transform(fail), 2))

    @pytest.mark.parametrize(('options', 'fragment'), [
        ({}, 'batch_size must be specified'),
        ({'batch_size': 2, 'shuffle': True, 'sampler': data.SequentialSampler(4)}, 'shuffle must not be specified'),
        ({'batch_size': 2, 'batch_sampler': [[0]]}, 'must not be specified if batch_sampler is specified'),
        ({'shuffle': True, 'batch_sampler': [[0]]}, 'must not be specified'),
        ({'last_batch': 'keep', 'batch_sampler': [[0]]}, 'must not be specified')])
    def test_combinations(self, options, fragment):
        with pytest.raises(ValueError, match=fragment):
            data.DataLoader(np.arange(4), **options)

    def test_other_arguments(self):
        with pytest.raises(AssertionError, match='timeout must be positive'):
            data.DataLoader(np.arange(4), 2, timeout=0)
        assert batches(data.DataLoader(np.arange(4), 2, num_workers=-3)) == [[0, 1], [2, 3]]
        assert batches(data.DataLoader(np.arange(4), batch_sampler=[[3, 0], [1]])) == [[3, 0], [1]]
        pinned = next(iter(data.DataLoader(np.arange(4), 2, pin_memory=True)))
        assert str(pinned.context) == 'cpu_pinned(0)'


class Slow:
    """A dataset whose later samples take their time."""

    def __init__(self, seconds, bad=None):
        self.seconds, self.bad = seconds, bad

    def __len__(self):
        return 10

    def __getitem__(self, index):
        if index == self.bad:
            raise ValueError(f'bad item {index}')
        time.sleep(self.seconds if index % 2 else 0)
        return index


class Drawn:
    def __len__(self):
        return 4

    def __getitem__(self, index):
        time.sleep(0.05)
        return os.getpid(), np.random.randint(1 << 30), int(mx.nd.random.randint(0, 1 << 30).asscalar())


@pytest.mark.parametrize('threads', [False, True], ids=['processes', 'threads'])
class TestWorkers:
    def test_order(self, threads):
        loader = data.DataLoader(Slow(0.01), 3, num_workers=2, thread_pool=threads)
        for _ in range(2):
            assert batches(loader) == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]

    @pytest.mark.parametrize(('options', 'context'), [({}, 'cpu_shared(0)'), ({'pin_memory': True}, 'cpu_pinned(0)')])
    def test_contexts(self, threads, options, context):
        arrays = data.ArrayDataset(np.ones((4, 2), 'float32'), np.arange(4))
        loader = data.DataLoader(arrays, 2, num_workers=1, thread_pool=threads, **options)
        for batch in loader:
            assert [str(part.context) for part in batch] == [context] * 2
            assert (batch[0].dtype, batch[1].dtype) == (np.float32, np.int64)

    def test_errors(self, threads):
        loader = data.DataLoader(Slow(0, bad=4), 2, num_workers=1, thread_pool=threads)
        made = iter(loader)
        assert [next(made).asnumpy().tolist() for _ in range(2)] == [[0, 1], [2, 3]]
        with pytest.raises(ValueError, match='bad item 4'):
            next(made)
        assert batches(data.DataLoader(Slow(0), 5, num_workers=1, thread_pool=threads)) == [[0, 1, 2, 3, 4],
                                                                                           [5, 6, 7, 8, 9]]

    def test_timeout(self, threads):
        loader = data.DataLoader(Slow(1.0), 2, num_workers=1, thread_pool=threads, timeout=0.1)
        with pytest.raises(multiprocessing.TimeoutError):
            next(iter(loader))

    @pytest.mark.parametrize(('given', 'expected'), [(None, 4), (-1, 0), (3, 3)])
    def test_prefetch(self, threads, given, expected):
        loader = data.DataLoader(Slow(0), 2, num_workers=2, thread_pool=threads, prefetch=given)
        assert loader._prefetch == expected
        assert len(batches(loader)) == 5

    def test_own_batchify(self, threads):
        loader = data.DataLoader(Slow(0), 5, num_workers=1, thread_pool=threads, batchify_fn=sum)
        assert list(loader) == [10, 35]

    def test_auto_reload(self, threads):
        np.random.seed(0)
        loader = data.DataLoader(Slow(0), 5, num_workers=1, thread_pool=threads, auto_reload=True)
        for _ in range(3):
            assert len(batches(loader)) == 2
        assert loader._ahead is not None
        loader.clean()
        assert len(batches(loader)) == 2


def test_processes_draw_numbers_of_their_own():
    """And the same ones when the program starts from the same state, without changing what it draws itself."""
    np.random.seed(3)
    expected = np.random.randint(1 << 30)
    np.random.seed(3)
    loader = data.DataLoader(Drawn(), 1, num_workers=2)
    drawn = {}
    for process, *numbers in (batch.asnumpy().tolist() if hasattr(batch, 'asnumpy') else [b.asscalar() for b in batch]
                              for batch in loader):
        drawn.setdefault(process, []).append(tuple(numbers))
    assert np.random.randint(1 << 30) == expected
    assert len({numbers for those in drawn.values() for numbers in those}) == 4


def test_processes_end_with_their_loader_whatever_the_program_does_with_signals():
    code = """if True:
        import gc, multiprocessing, signal, time
        import refengine as mx
        class Endless:
            def __len__(self):
                return 4
            def __getitem__(self, index):
                time.sleep(1000)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        loader = mx.gluon.data.DataLoader(Endless(), 2, num_workers=2, timeout=0.1)
        try:
            next(iter(loader))
        except multiprocessing.TimeoutError:
            print('late')
        del loader
        gc.collect()
        print(multiprocessing.active_children())
    """
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=60,
                          env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)})
    assert done.stdout.splitlines() == ['late', '[]'], done.stderr


@pytest.mark.parametrize('workers', [0, 1])
@pytest.mark.parametrize('dtype', ['int8', '>f4', 'int16'])
def test_samples_of_every_type(dtype, workers):
    loader = gluon.data.DataLoader(np.arange(4).astype(dtype), 2, num_workers=workers)
    if dtype == 'int16':  # MXNet has no such type
        with pytest.raises(KeyError):
            next(iter(loader))
        return
    batch = next(iter(loader))
    assert (batch.dtype, batch.asnumpy().tolist()) == (np.dtype(dtype).newbyteorder('=').type, [0, 1])
