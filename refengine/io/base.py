"""Batches, their descriptions, and what every iterator of them offers."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import numpy as np


class DataDesc(namedtuple('DataDesc', ['name', 'shape'])):
    """Name and shape of one array of a batch; ``dtype`` and ``layout`` beside them.

    >>> tuple(DataDesc('x', (2, 3)))
    ('x', (2, 3))
    """

    dtype: Any
    layout: str

    def __new__(cls, name: str, shape: Any, dtype: Any = np.float32, layout: str = 'NCHW') -> DataDesc:
        made = super().__new__(cls, name, tuple(shape))
        made.dtype = dtype
        made.layout = layout
        return made

    def __repr__(self) -> str:
        return f'DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]'

    @staticmethod
    def get_batch_axis(layout: str | None) -> int:
        """The axis of the samples: where the layout says N, the first without a layout."""
        return 0 if layout is None else layout.find('N')

    @staticmethod
    def get_list(shapes: Any, types: Any) -> list[DataDesc]:
        """Descriptions from pairs of name and shape, and pairs of name and type."""
        if types is None:
            return [DataDesc(name, shape) for name, shape in shapes]
        kinds = dict(types)
        return [DataDesc(name, shape, kinds[name]) for name, shape in shapes]


class DataBatch:
    """Lists of arrays for one step; ``pad`` of the last samples only fill the batch."""

    def __init__(self, data: Any, label: Any = None, pad: int | None = None, index: Any = None, bucket_key: Any = None,
                 provide_data: Any = None, provide_label: Any = None) -> None:
        for what, value in (('Data', data), ('Label', label)):
            if value is not None:
                assert isinstance(value, list | tuple), f'{what} must be list of NDArrays'
        self.data = data
        self.label = label
        self.pad = pad
        self.index = index
        self.bucket_key = bucket_key
        self.provide_data = provide_data
        self.provide_label = provide_label

    def __str__(self) -> str:
        shapes = [array.shape for array in self.data]
        labels = [array.shape for array in self.label] if self.label else None
        return f'{type(self).__name__}: data shapes: {shapes} label shapes: {labels}'


class DataIter:
    """Base of iterators: ``iter_next`` moves on, ``getdata`` and its kin give the arrays of the present batch."""

    def __init__(self, batch_size: int = 0) -> None:
        self.batch_size = batch_size

    def __iter__(self) -> Iterator[DataBatch]:
        return self

    def reset(self) -> None:
        """Begin again."""

    def next(self) -> DataBatch:
        """The next batch; StopIteration after the last."""
        if self.iter_next():
            return DataBatch(data=self.getdata(), label=self.getlabel(), pad=self.getpad(), index=self.getindex())
        raise StopIteration

    def __next__(self) -> DataBatch:
        return self.next()

    def iter_next(self) -> bool:
        """Move to the next batch; False when there is none."""
        raise NotImplementedError

    def getdata(self) -> Any:
        """The data of the present batch."""
        raise NotImplementedError

    def getlabel(self) -> Any:
        """The labels of the present batch."""
        raise NotImplementedError

    def getindex(self) -> Any:
        """The numbers of the samples, or None."""
        return None

    def getpad(self) -> int:
        """How many samples only fill the batch."""
        raise NotImplementedError
