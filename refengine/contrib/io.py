"""A gluon DataLoader as an iterator for modules."""

from __future__ import annotations

from typing import Any

from .. import ndarray as nd
from ..io import DataDesc, DataIter

__all__ = ['DataLoaderIter']


class DataLoaderIter(DataIter):
    """Gives the batches of a loader whose samples are pairs; a smaller last batch is filled up with zeros.

    >>> import numpy as np
    >>> from refengine.gluon import data
    >>> pairs = data.ArrayDataset(np.ones((3, 2), 'float32'), np.zeros(3, 'float32'))
    >>> [batch.pad for batch in DataLoaderIter(data.DataLoader(pairs, batch_size=2))]
    [0, 1]
    """

    def __init__(self, loader: Any, data_name: str = 'data', label_name: str = 'softmax_label',
                 dtype: Any = 'float32') -> None:
        super().__init__()
        self._loader = loader
        self._iter = iter(loader)
        data, label = next(self._iter)
        self.batch_size = data.shape[0]
        self.dtype = dtype
        self.provide_data = [DataDesc(data_name, data.shape, dtype)]
        self.provide_label = [DataDesc(label_name, label.shape, dtype)]
        self._current: Any = None
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self._iter = iter(self._loader)

    def iter_next(self) -> bool:
        """Go to the next batch; False at the end."""
        self._current = next(self._iter, None)
        return self._current is not None

    def _part(self, number: int) -> list[Any]:
        part = self._current[number].astype(self.dtype)
        missing = self.getpad()
        if missing:
            part = nd.concat(part, nd.zeros((missing, *part.shape[1:]), dtype=self.dtype), dim=0)
        return [part]

    def getdata(self) -> list[Any]:
        """The data of the batch."""
        return self._part(0)

    def getlabel(self) -> list[Any]:
        """The labels of the batch."""
        return self._part(1)

    def getpad(self) -> int:
        """How many samples of the batch only fill it up."""
        return int(self.batch_size - self._current[0].shape[0])

    def getindex(self) -> Any:
        """Loaders do not tell the numbers of their samples."""
        return None
