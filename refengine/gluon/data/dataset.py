"""Datasets: things with a length and numbered samples."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ... import ndarray as nd
from ...recordio import MXIndexedRecordIO
from .sampler import Sampler


class Dataset:
    """Base of datasets: ``__getitem__`` and ``__len__``, and derived datasets (rules DATA-SET-001 to -003).

    >>> ds = SimpleDataset([1, 2, 3]).transform(lambda x: x * 10)
    >>> ds[1], len(ds)
    (20, 3)
    """

    def __getitem__(self, idx: int) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def filter(self, fn: Callable[[Any], Any]) -> Dataset:
        """The samples for which ``fn`` is true."""
        from .sampler import FilterSampler
        return _SampledDataset(self, FilterSampler(fn, self))

    def shard(self, num_shards: int, index: int) -> Dataset:
        """Part ``index`` of ``num_shards`` parts of consecutive samples; the first ones get one sample more."""
        assert index < num_shards, f'Shard index of out bound: {index} out of {num_shards}'
        assert num_shards > 0, 'Number of shards must be greater than 0'
        assert index >= 0, 'Index must be non-negative'
        step, rest = divmod(len(self), num_shards)
        start = step * index + min(index, rest)
        from .sampler import SequentialSampler
        return _SampledDataset(self, SequentialSampler(step + (index < rest), start))

    def take(self, count: int | None) -> Dataset:
        """The first ``count`` samples; all of them for None or a larger number."""
        size = len(self) if count is None or count > len(self) else count
        from .sampler import SequentialSampler
        return _SampledDataset(self, SequentialSampler(size))

    def sample(self, sampler: Sampler) -> Dataset:
        """The samples that a sampler visits, in its order; TypeError for anything else."""
        if not isinstance(sampler, Sampler):
            raise TypeError(f'Invalid sampler type: {type(sampler)}. Expected gluon.data.Sampler instead.')
        return _SampledDataset(self, sampler)

    def transform(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """Samples after ``fn``, which gets the parts of a tuple as arguments; applied on access, or at once."""
        result = _LazyTransformDataset(self, fn)
        return result if lazy else SimpleDataset([result[index] for index in range(len(result))])

    def transform_first(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """Like ``transform`` for the first part of each sample only."""
        return self.transform(_TransformFirst(fn), lazy)


class SimpleDataset(Dataset):
    """A list or anything else with indices and a length, as dataset."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: int) -> Any:
        return self._data[idx]


class ArrayDataset(Dataset):
    """Several arrays of one length side by side: tuples of their elements; plain elements for one array.

    AssertionError for no array or different lengths (rule DATA-SET-004). One-dimensional NDArrays become numpy
    arrays, so that labels are numpy scalars (rule DATA-SET-005).

    >>> ArrayDataset([1, 2], [3, 4])[1]
    (2, 4)
    """

    def __init__(self, *args: Any) -> None:
        assert len(args) > 0, 'Needs at least 1 arrays'
        self._length = len(args[0])
        self._data = []
        for index, data in enumerate(args):
            assert len(data) == self._length, \
                (f'All arrays must have the same length; array[0] has length {self._length} while array[{index}] has '
                 f'{len(data)}.')
            self._data.append(data.asnumpy() if isinstance(data, nd.NDArray) and data.ndim == 1 else data)

    def __getitem__(self, idx: int) -> Any:
        if len(self._data) == 1:
            return self._data[0][idx]
        return tuple(data[idx] for data in self._data)

    def __len__(self) -> int:
        return self._length


class _LazyTransformDataset(Dataset):
    def __init__(self, data: Dataset, fn: Callable[..., Any]) -> None:
        self._data = data
        self._fn = fn

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: int) -> Any:
        item = self._data[idx]
        return self._fn(*item) if isinstance(item, tuple) else self._fn(item)


class _TransformFirst:
    """A function on the first argument only; a class so that it can be sent to worker processes."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self._fn = fn

    def __call__(self, x: Any, *args: Any) -> Any:
        return (self._fn(x), *args) if args else self._fn(x)


class _SampledDataset(Dataset):
    def __init__(self, dataset: Dataset, sampler: Sampler) -> None:
        self._dataset = dataset
        self._indices = list(sampler)

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, idx: int) -> Any:
        return self._dataset[self._indices[idx]]


class RecordFileDataset(Dataset):
    """The records of an indexed record file: ``NAME.rec`` beside ``NAME.idx``; samples are bytes."""

    def __init__(self, filename: str) -> None:
        self.idx_file = os.path.splitext(filename)[0] + '.idx'
        self.filename = filename
        self._record = MXIndexedRecordIO(self.idx_file, self.filename, 'r')

    def __getitem__(self, idx: int) -> Any:
        return self._record.read_idx(self._record.keys[idx])

    def __len__(self) -> int:
        return len(self._record.keys)


class _DownloadedDataset(Dataset):
    """Base of datasets of arrays in files: ``_get_data`` sets ``_data`` and ``_label``.

    >>> class Digits(_DownloadedDataset):
    ...     def _get_data(self):
    ...         self._data, self._label = [10, 20], [1, 2]
    >>> Digits('.', lambda data, label: data + label)[1]
    22
    """

    def __init__(self, root: str, transform: Callable[[Any, Any], Any] | None) -> None:
        self._transform = transform
        self._data: Any = None
        self._label: Any = None
        self._root = os.path.expanduser(root)
        os.makedirs(self._root, exist_ok=True)
        self._get_data()

    def __getitem__(self, idx: int) -> Any:
        if self._transform is not None:
            return self._transform(self._data[idx], self._label[idx])
        return self._data[idx], self._label[idx]

    def __len__(self) -> int:
        return len(self._label)

    def _get_data(self) -> None:
        raise NotImplementedError
