"""NDArrayIter: batches of arrays that are in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ndarray as nd
from .base import DataBatch, DataDesc, DataIter


def _named(data: Any, default: str, empty: bool) -> list[tuple[str, Any]]:
    """Pairs of name and array from an array, a list or a dict."""
    if data is None:
        assert empty, 'data cannot be None'
        return []
    if isinstance(data, np.ndarray | nd.NDArray):
        data = [data]
    if isinstance(data, list):
        assert data or empty, 'data cannot be an empty list'
        data = {default if len(data) == 1 else f'_{i}_{default}': item for i, item in enumerate(data)}
    if not isinstance(data, dict):
        raise TypeError('Input must be NDArray, numpy.ndarray, a list of them or dict with them as values')
    found = []
    for name, value in data.items():
        if not isinstance(value, nd.NDArray):
            try:
                value = nd.array(value)
            except (TypeError, ValueError):
                raise TypeError(f"Invalid type '{type(value)}' for {name}, should be NDArray or "
                                f'numpy.ndarray') from None
        found.append((name, value))
    return found


class NDArrayIter(DataIter):
    """Batches of arrays. ``last_batch_handle`` is pad (filled from the beginning), discard or roll_over.

    >>> it = NDArrayIter(np.arange(5), batch_size=2)
    >>> [(batch.data[0].asnumpy().tolist(), batch.pad) for batch in it]
    [([0.0, 1.0], 0), ([2.0, 3.0], 0), ([4.0, 0.0], 1)]
    """

    def __init__(self, data: Any, label: Any = None, batch_size: int = 1, shuffle: bool = False,
                 last_batch_handle: str = 'pad', data_name: str = 'data', label_name: str = 'softmax_label',
                 layout: str = 'NCHW') -> None:
        super().__init__(batch_size)
        if last_batch_handle not in ('pad', 'discard', 'roll_over'):
            raise ValueError(f"last_batch_handle must be 'pad', 'discard' or 'roll_over', got {last_batch_handle!r}")
        self.data = _named(data, data_name, False)
        self.label = _named(label, label_name, True)
        self.num_data = self.data[0][1].shape[0]
        for name, array in (*self.data, *self.label):
            assert array.shape[0] == self.num_data, \
                f'{name} has {array.shape[0]} samples, expected {self.num_data} as {self.data[0][0]} has'
        assert self.num_data >= batch_size, 'batch_size needs to be smaller than data size.'
        self.idx = np.arange(self.num_data)
        self.shuffle = shuffle
        self.last_batch_handle = last_batch_handle
        self.cursor = -batch_size
        self.layout = layout
        self.num_source = len(self.data)
        self._rest: Any = None          # the numbers of samples that roll over into the next epoch
        self.reset()

    def _described(self, arrays: list[tuple[str, Any]]) -> list[DataDesc]:
        return [DataDesc(name, (self.batch_size, *array.shape[1:]), array.dtype, self.layout) for name, array in arrays]

    @property
    def provide_data(self) -> list[DataDesc]:
        """The description of the data."""
        return self._described(self.data)

    @property
    def provide_label(self) -> list[DataDesc]:
        """The description of the labels."""
        return self._described(self.label)

    def hard_reset(self) -> None:
        """Begin again and forget what would roll over."""
        if self.shuffle:
            np.random.shuffle(self.idx)
        self.cursor = -self.batch_size
        self._rest = None

    def reset(self) -> None:
        """Begin again; with roll_over the samples that are left come first."""
        if self.last_batch_handle == 'roll_over' and self.num_data - self.batch_size < self.cursor < self.num_data:
            self._rest = self.idx[self.cursor:].copy()
        if self.shuffle:
            np.random.shuffle(self.idx)
        left = self.last_batch_handle == 'roll_over' and self._rest is not None
        self.cursor = self.cursor - self.num_data - self.batch_size if left else -self.batch_size

    def iter_next(self) -> bool:
        """Move on."""
        self.cursor += self.batch_size
        if self.last_batch_handle == 'pad':
            return self.cursor < self.num_data
        return self.cursor + self.batch_size <= self.num_data

    def _numbers(self) -> np.ndarray:
        if self.cursor < 0 and self._rest is not None:
            return np.concatenate([self._rest, self.idx[:self.cursor + self.batch_size]])
        numbers = self.idx[self.cursor:self.cursor + self.batch_size]
        if len(numbers) < self.batch_size:
            numbers = np.concatenate([numbers, self.idx[:self.batch_size - len(numbers)]])
        return numbers

    def _taken(self, arrays: list[tuple[str, Any]]) -> list[Any]:
        numbers = self._numbers()
        if len(numbers) and numbers[-1] - numbers[0] == len(numbers) - 1 and (np.diff(numbers) == 1).all():
            return [array[int(numbers[0]):int(numbers[-1]) + 1].copy() for _, array in arrays]
        return [nd.array(array.asnumpy()[numbers], dtype=array.dtype, ctx=array.context) for _, array in arrays]

    def getdata(self) -> list[Any]:
        """The data of the batch."""
        return self._taken(self.data)

    def getlabel(self) -> list[Any]:
        """The labels of the batch."""
        return self._taken(self.label)

    def getpad(self) -> int:
        """How many samples at the end were there before."""
        if self.last_batch_handle == 'pad' and self.cursor + self.batch_size > self.num_data:
            return self.cursor + self.batch_size - self.num_data
        if self.last_batch_handle == 'roll_over' and -self.batch_size < self.cursor < 0:
            return -self.cursor
        return 0

    def next(self) -> DataBatch:
        """The next batch; StopIteration after the last."""
        if not self.iter_next():
            raise StopIteration
        batch = DataBatch(self.getdata(), self.getlabel(), self.getpad(), None)
        if self.cursor < 0:
            self._rest = None
        return batch
