"""DataLoader: batches from a dataset, made in this process, in threads or in worker processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from multiprocessing.reduction import ForkingPickler  # noqa: F401 - derived loaders find it here
from typing import Any

import numpy as np

from ... import dispatch
from ... import ndarray as nd
from ...context import Context, cpu, cpu_pinned
from ...fields import DTYPES
from . import workers
from .multi_worker_iter import _MultiWorkerIter  # noqa: F401 - derived loaders find it here
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler


def default_batchify_fn(data: list[Any]) -> Any:
    """Stack samples: arrays and numbers keep their dtype, tuples become a list of stacked parts (rule DATA-LOADER-006).

    >>> [part.shape for part in default_batchify_fn([(1, 2.0), (3, 4.0)])]
    [(2,), (2,)]
    """
    first = data[0]
    if isinstance(first, nd.NDArray):
        return nd.stack(*data, axis=0)
    if isinstance(first, tuple):
        return [default_batchify_fn(list(part)) for part in zip(*data, strict=True)]
    stacked = np.stack(data) if isinstance(first, np.ndarray) else np.asarray(data)
    if stacked.dtype.kind not in 'fiub':
        raise KeyError(f'samples of type {type(first)} cannot be made into an array; give a batchify_fn')
    return nd.array(stacked, dtype=stacked.dtype)


def default_mp_batchify_fn(data: list[Any]) -> Any:
    """The same, in the memory that processes share.

    >>> default_mp_batchify_fn([1, 2]).context
    cpu_shared(0)
    """
    return _moved(default_batchify_fn(data), SHARED)


class DataLoader:
    """Iterates over a dataset in batches.

    Either ``batch_size`` with ``shuffle``, ``sampler`` and ``last_batch``, or a ``batch_sampler``; ValueError for other
    combinations (rule DATA-LOADER-004). ``batchify_fn`` gets the list of samples of a batch.

    With ``num_workers`` batches are made ahead, ``prefetch`` of them, by processes or threads (``thread_pool``).
    They come in the order of the sampler and live in shared memory. An error in a worker is raised here; a batch that
    takes longer than ``timeout`` seconds raises multiprocessing's TimeoutError (rules DATA-LOADER-011 to -017).

    >>> loader = DataLoader(list(range(5)), batch_size=2)
    >>> [batch.asnumpy().tolist() for batch in loader]
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, dataset: Any, batch_size: int | None = None, shuffle: bool = False,
                 sampler: Sampler | None = None, last_batch: str | None = None, batch_sampler: Any = None,
                 batchify_fn: Callable[[list[Any]], Any] | None = None, num_workers: int = 0, pin_memory: bool = False,
                 pin_device_id: int = 0, prefetch: int | None = None, thread_pool: bool = False, timeout: int = 120,
                 auto_reload: bool = False) -> None:
        assert timeout > 0, f'timeout must be positive, given {timeout}'
        self._dataset = dataset
        self._pin_memory = pin_memory
        self._pin_device_id = pin_device_id
        self._thread_pool = thread_pool
        self._timeout = timeout
        self._auto_reload = auto_reload
        if batch_sampler is None:
            if batch_size is None:
                raise ValueError('batch_size must be specified unless batch_sampler is specified')
            if sampler is None:
                sampler = RandomSampler(len(dataset)) if shuffle else SequentialSampler(len(dataset))
            elif shuffle:
                raise ValueError('shuffle must not be specified if sampler is specified')
            batch_sampler = BatchSampler(sampler, batch_size, last_batch if last_batch else 'keep')
        elif batch_size is not None or shuffle or sampler is not None or last_batch is not None:
            raise ValueError('batch_size, shuffle, sampler and last_batch must not be specified if batch_sampler is '
                             'specified.')
        self._batch_sampler = batch_sampler
        self._num_workers = max(num_workers, 0)
        self._prefetch = max(0, 2 * self._num_workers if prefetch is None else int(prefetch))
        self._batchify_fn = default_batchify_fn if batchify_fn is None else batchify_fn
        self._workers = workers.Workers(dataset, self._num_workers, thread_pool) if self._num_workers else None
        self._ahead: Iterator[Any] | None = None
        if self._workers is not None and auto_reload:
            self.refresh()

    def __iter__(self) -> Iterator[Any]:
        if self._workers is None:
            return self._in_this_process()
        batches, self._ahead = self._ahead or self._from_workers(), None
        return self._reloading(batches) if self._auto_reload else batches

    def _in_this_process(self) -> Iterator[Any]:
        dataset, batchify = self._dataset, self._batchify_fn
        gather = _gatherer(dataset) if batchify is default_batchify_fn else None
        for indices in self._batch_sampler:
            batch = gather(indices) if gather is not None else batchify([dataset[index] for index in indices])
            yield _moved(batch, cpu_pinned(self._pin_device_id)) if self._pin_memory else batch

    def _from_workers(self) -> Iterator[Any]:
        own = self._batchify_fn is not default_batchify_fn
        place = cpu_pinned(self._pin_device_id) if self._pin_memory else None if own else SHARED
        assert self._workers is not None
        return workers.Ordered(self._workers, self._batch_sampler, self._batchify_fn, self._prefetch, self._timeout,
                               lambda batch: _moved(batch, place))

    def _reloading(self, batches: Iterator[Any]) -> Iterator[Any]:
        yield from batches
        self.refresh()

    def refresh(self) -> None:
        """Begin to make the batches of the next pass now."""
        if self._workers is not None:
            self._ahead = self._from_workers()

    def clean(self) -> None:
        """Forget the batches that were made ahead."""
        self._ahead = None

    def __len__(self) -> int:
        return len(self._batch_sampler)


def _gatherer(dataset: Any) -> Callable[[list[int]], Any] | None:
    """A function that takes whole batches out of arrays, where that gives what stacking samples gives."""
    from .dataset import ArrayDataset
    if isinstance(dataset, np.ndarray | nd.NDArray):
        parts = [dataset]
    elif type(dataset) is ArrayDataset:
        parts = dataset._data
    else:
        return None
    raw = []
    for part in parts:
        data = part._data if isinstance(part, nd.NDArray) else part
        if not isinstance(data, np.ndarray) or data.dtype.name not in DTYPES or not data.dtype.isnative \
                or (isinstance(part, nd.NDArray) and str(part.context) != 'cpu(0)'):
            return None
        raw.append(data)

    def gather(indices: list[int]) -> Any:
        taken = []
        for data in raw:
            taken.append(dispatch.wrap(np.take(data, indices, axis=0), cpu(), nd.NDArray))
        return taken if len(taken) > 1 else taken[0]

    return gather


SHARED = Context('cpu_shared', 0)
"""Where the batches of workers live (rule DATA-LOADER-016)."""


def _moved(batch: Any, place: Context | None) -> Any:
    """A batch with its arrays on a context; None leaves them where they are."""
    if place is None:
        return batch
    if isinstance(batch, nd.NDArray):
        return batch.as_in_context(place)
    if isinstance(batch, list | tuple):
        return [_moved(part, place) for part in batch]
    return batch


_as_in_context = _moved
