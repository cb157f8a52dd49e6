"""Batches from a pool that the program itself made, as loaders that are derived outside the engine use it."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from typing import Any


def _worker_fn(samples: Any, batchify_fn: Callable[[list[Any]], Any], dataset: Any = None) -> bytes:
    """One batch as a worker sends it; without a dataset, from that of the process."""
    if dataset is None:
        from . import workers
        dataset = workers._dataset
    buffer = io.BytesIO()
    ForkingPickler(buffer, pickle.HIGHEST_PROTOCOL).dump(batchify_fn([dataset[index] for index in samples]))
    return buffer.getvalue()


class _MultiWorkerIter:
    """Iterates in the order of the sampler; ``worker_pool.apply_async`` makes the batches ahead.

    A derived class may send its own arguments to ``worker_fn`` by a ``_push_next`` of its own, which puts the result to
    come into ``_data_buffer`` under the number ``_sent_idx``.

    >>> from multiprocessing.pool import ThreadPool
    >>> from refengine import nd
    >>> with ThreadPool(1) as pool:
    ...     [b.asnumpy().tolist() for b in _MultiWorkerIter(pool, nd.array, [[0, 2], [1]], dataset=[5., 6., 7.])]
    [[5.0, 7.0], [6.0]]
    """

    def __init__(self, worker_pool: Any, batchify_fn: Callable[[list[Any]], Any], batch_sampler: Any,
                 pin_memory: bool = False, pin_device_id: int = 0, worker_fn: Callable[..., bytes] = _worker_fn,
                 prefetch: int = 0, dataset: Any = None, data_loader: Any = None, timeout: int = 120) -> None:
        self._worker_pool, self._worker_fn = worker_pool, worker_fn
        self._batchify_fn = batchify_fn
        self._batch_sampler = batch_sampler
        self._iter = iter(batch_sampler)
        self._data_buffer: dict[int, Any] = {}
        self._rcvd_idx = self._sent_idx = 0
        self._pin_memory, self._pin_device_id = pin_memory, pin_device_id
        self._dataset = dataset
        self._data_loader = data_loader     # keeps the pool of the loader alive
        self._timeout = timeout
        for _ in range(prefetch):
            self._push_next()

    def __len__(self) -> int:
        return len(self._batch_sampler)

    def _push_next(self) -> None:
        """Ask for one more batch, if there is one."""
        indices = next(self._iter, None)
        if indices is not None:
            self._data_buffer[self._sent_idx] = self._worker_pool.apply_async(
                self._worker_fn, (indices, self._batchify_fn, self._dataset))
            self._sent_idx += 1

    def __next__(self) -> Any:
        self._push_next()
        if self._rcvd_idx == self._sent_idx:
            assert not self._data_buffer, 'batches are left over at the end'
            raise StopIteration
        sent = self._data_buffer.pop(self._rcvd_idx).get(self._timeout)
        self._rcvd_idx += 1
        # Workers are processes of the same program, and what they send is unpacked by the engine's own pool likewise.
        batch = pickle.loads(sent) if isinstance(sent, bytes) else sent
        from ...context import cpu_pinned
        from .dataloader import SHARED, _as_in_context
        return _as_in_context(batch, cpu_pinned(self._pin_device_id) if self._pin_memory else SHARED)

    def next(self) -> Any:
        """The next batch."""
        return next(self)

    def __iter__(self) -> _MultiWorkerIter:
        return self
