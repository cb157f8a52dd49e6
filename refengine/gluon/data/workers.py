"""Threads and processes that make the batches of a DataLoader."""

from __future__ import annotations

import collections
import copy
import multiprocessing
import weakref
from collections.abc import Callable, Iterator
from multiprocessing.pool import ThreadPool
from typing import Any

import numpy as np

from ... import dispatch
from ... import ndarray as nd
from ... import random as engine_random
from ...context import cpu

_dataset: Any = None
"""The dataset of a worker process: sent once, when the process starts."""


def _start(dataset: Any, counter: Any, entropy: tuple[int, ...]) -> None:
    """Prepare a worker process; each has random numbers of its own that follow from the state of the parent."""
    global _dataset
    _dataset = dataset
    with counter.get_lock():
        number = counter.value
        counter.value += 1
    seeds = np.random.SeedSequence([*entropy, number]).generate_state(2)
    np.random.seed(seeds[0])
    engine_random.seed(int(seeds[1]))


class _Mortal:
    """Lets a process end when it is told to, whatever the program does with the signal that asks for it.

    A pool waits without a limit for processes that it asked to end, and they inherit how the program treats signals.
    """

    def terminate(self) -> None:
        self.kill()  # type: ignore[attr-defined]


def _context() -> Any:
    """How processes are started: forked, so that they have the dataset at once, where the system can do that."""
    if 'fork' not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context()
    context: Any = copy.copy(multiprocessing.get_context('fork'))
    context.Process = type('Process', (_Mortal, context.Process), {})
    return context


class Workers:
    """A pool of threads or processes that ends when nobody refers to it any more."""

    def __init__(self, dataset: Any, count: int, threads: bool) -> None:
        self.dataset = dataset if threads else None
        if threads:
            pool: Any = ThreadPool(count)
        else:
            context = _context()
            # The state is looked at, not drawn from: a loader must not change what the program draws next.
            entropy = tuple(int(word) for word in np.random.get_state()[1][:4])  # type: ignore[index]
            pool = context.Pool(count, _start, (dataset, context.Value('i', 0), entropy))
        self.ask = pool.apply_async
        weakref.finalize(self, pool.terminate)


def _make(indices: Any, batchify: Callable[[list[Any]], Any], dataset: Any) -> Any:
    """One batch; a process sends its arrays as numpy arrays."""
    if dataset is not None:
        return batchify([dataset[index] for index in indices])
    return _packed(batchify([_dataset[index] for index in indices]))


class _Array:
    """A numpy array that was an NDArray on the other side."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values


def _packed(batch: Any) -> Any:
    if isinstance(batch, nd.NDArray):
        return _Array(batch.asnumpy())
    if isinstance(batch, list | tuple):
        return type(batch)([_packed(part) for part in batch])
    return batch


def _unpacked(batch: Any) -> Any:
    if isinstance(batch, _Array):
        return dispatch.wrap(batch.values, cpu(), nd.NDArray)
    if isinstance(batch, list | tuple):
        return type(batch)([_unpacked(part) for part in batch])
    return batch


class Ordered:
    """Iterates over batches in the order of the sampler while workers make the next ones."""

    def __init__(self, workers: Workers, sampler: Any, batchify: Callable[[list[Any]], Any], prefetch: int,
                 timeout: float, finish: Callable[[Any], Any]) -> None:
        self._workers, self._batchify = workers, batchify
        self._indices = iter(sampler)
        self._timeout, self._finish = timeout, finish
        self._waiting: collections.deque[Any] = collections.deque()
        for _ in range(max(prefetch, 1)):
            self._ask()

    def _ask(self) -> None:
        indices = next(self._indices, None)
        if indices is not None:
            self._waiting.append(self._workers.ask(_make, (indices, self._batchify, self._workers.dataset)))

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if not self._waiting:
            raise StopIteration
        batch = self._waiting.popleft().get(self._timeout)
        self._ask()
        return self._finish(_unpacked(batch))
