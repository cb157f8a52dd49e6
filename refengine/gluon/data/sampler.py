"""Samplers: the order in which a dataset is visited, and how it is cut into batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


class Sampler:
    """Base of samplers: an iterable of indices with a length."""

    def __len__(self) -> int:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError


class SequentialSampler(Sampler):
    """start, start + 1, … (rule DATA-SAMPLER-001).

    >>> list(SequentialSampler(3, 5))
    [5, 6, 7]
    """

    def __init__(self, length: int, start: int = 0) -> None:
        self._length = length
        self._start = start

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._start, self._start + self._length))

    def __len__(self) -> int:
        return self._length


class RandomSampler(Sampler):
    """A new permutation of 0 … length - 1 each time, from numpy's global generator (rule DATA-LOADER-005)."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __iter__(self) -> Iterator[int]:
        indices = np.arange(self._length)
        np.random.shuffle(indices)
        return iter(indices.tolist())

    def __len__(self) -> int:
        return self._length


class FilterSampler(Sampler):
    """The indices of samples for which a function is true.

    >>> list(FilterSampler(lambda x: x > 5, [4, 9, 2, 7]))
    [1, 3]
    """

    def __init__(self, fn: Callable[[Any], Any], dataset: Any) -> None:
        self._fn = fn
        self._dataset = dataset
        self._indices = [index for index in range(len(dataset)) if fn(dataset[index])]

    def __iter__(self) -> Iterator[int]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)


class BatchSampler(Sampler):
    """Lists of ``batch_size`` indices; ``last_batch`` says what becomes of an incomplete one.

    'keep' gives it, 'discard' drops it, 'rollover' puts it in front of the next pass (rules DATA-LOADER-002,
    DATA-SAMPLER-002). ValueError for another word, when it is used (rule DATA-LOADER-003).

    >>> list(BatchSampler(SequentialSampler(5), 2))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Sampler, batch_size: int, last_batch: str = 'keep') -> None:
        self._sampler = sampler
        self._batch_size = batch_size
        self._last_batch = last_batch
        self._prev: list[Any] = []

    def _unknown(self) -> ValueError:
        return ValueError(f"last_batch must be one of 'keep', 'discard', or 'rollover', but got {self._last_batch}")

    def __iter__(self) -> Iterator[list[Any]]:
        batch, self._prev = self._prev, []
        for index in self._sampler:
            batch.append(index)
            if len(batch) == self._batch_size:
                yield batch
                batch = []
        if batch:
            if self._last_batch == 'keep':
                yield batch
            elif self._last_batch == 'rollover':
                self._prev = batch
            elif self._last_batch != 'discard':
                raise self._unknown()

    def __len__(self) -> int:
        size = len(self._sampler)
        if self._last_batch == 'keep':
            return (size + self._batch_size - 1) // self._batch_size
        if self._last_batch == 'discard':
            return size // self._batch_size
        if self._last_batch == 'rollover':
            return (len(self._prev) + size) // self._batch_size
        raise self._unknown()


class IntervalSampler(Sampler):
    """0, interval, 2 · interval, … and, with ``rollover``, then 1, 1 + interval, … (rule DATA-SAMPLER-003).

    >>> list(IntervalSampler(6, 3))
    [0, 3, 1, 4, 2, 5]
    """

    def __init__(self, length: int, interval: int, rollover: bool = True) -> None:
        assert interval <= length, f'interval {interval} must not be larger than length {length}'
        self._length = length
        self._interval = interval
        self._rollover = rollover

    def __iter__(self) -> Iterator[int]:
        for start in range(self._interval if self._rollover else 1):
            yield from range(start, self._length, self._interval)

    def __len__(self) -> int:
        return self._length


