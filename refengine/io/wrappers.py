"""Iterators around iterators: of another length, and ahead of their reader."""

from __future__ import annotations

import queue
import threading
from typing import Any

from .base import DataBatch, DataDesc, DataIter


class _HoldsBatch(DataIter):
    """An iterator that keeps the batch which it gave last."""

    current_batch: DataBatch | None = None

    def getdata(self) -> Any:
        """The data of the batch."""
        assert self.current_batch is not None
        return self.current_batch.data

    def getlabel(self) -> Any:
        """The labels of the batch."""
        assert self.current_batch is not None
        return self.current_batch.label

    def getpad(self) -> int:
        """How many samples only fill the batch."""
        assert self.current_batch is not None
        return self.current_batch.pad or 0


class ResizeIter(_HoldsBatch):
    """A given number of batches per epoch, from an iterator that is begun again as often as needed."""

    def __init__(self, data_iter: DataIter, size: int, reset_internal: bool = True) -> None:
        super().__init__(data_iter.batch_size)
        self.data_iter = data_iter
        self.size = size
        self.reset_internal = reset_internal
        self.cur = 0
        self.current_batch = None
        for name in ('provide_data', 'provide_label', 'default_bucket_key'):
            if hasattr(data_iter, name):
                setattr(self, name, getattr(data_iter, name))

    def reset(self) -> None:
        """Begin again."""
        self.cur = 0
        if self.reset_internal:
            self.data_iter.reset()

    def iter_next(self) -> bool:
        """Move on."""
        if self.cur == self.size:
            return False
        try:
            self.current_batch = self.data_iter.next()
        except StopIteration:
            self.data_iter.reset()
            self.current_batch = self.data_iter.next()
        self.cur += 1
        return True

    def getindex(self) -> Any:
        """The numbers of the samples."""
        assert self.current_batch is not None
        return self.current_batch.index


class PrefetchingIter(_HoldsBatch):
    """Reads one batch ahead of its reader, in a thread; several iterators are joined batch by batch."""

    def __init__(self, iters: Any, rename_data: Any = None, rename_label: Any = None) -> None:
        self.iters = iters if isinstance(iters, list) else [iters]
        assert self.iters, 'at least one iterator is needed'
        self.rename_data, self.rename_label = rename_data, rename_label
        super().__init__(self.provide_data[0][1][0])
        self.current_batch = None
        self._start()

    def _described(self, what: str, names: Any) -> list[DataDesc]:
        found = []
        for i, inner in enumerate(self.iters):
            for d in getattr(inner, what):
                name = d.name if names is None else names[i][d.name]
                found.append(DataDesc(name, d.shape, d.dtype))
        return found

    @property
    def provide_data(self) -> list[DataDesc]:
        """The description of the data of all iterators."""
        return self._described('provide_data', self.rename_data)

    @property
    def provide_label(self) -> list[DataDesc]:
        """The description of the labels of all iterators."""
        return self._described('provide_label', self.rename_label)

    def _start(self) -> None:
        self._ready: queue.Queue[Any] = queue.Queue(maxsize=1)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, args=(self._ready, self._stop), daemon=True)
        self._thread.start()

    def _read(self, ready: queue.Queue[Any], stop: threading.Event) -> None:
        while not stop.is_set():
            try:
                item: Any = [inner.next() for inner in self.iters]
            except StopIteration:
                item = None
            except Exception as error:  # noqa: BLE001 - it belongs to the reader
                item = error
            while not stop.is_set():
                try:
                    ready.put(item, timeout=0.05)
                    break
                except queue.Full:
                    continue
            if not isinstance(item, list):
                return

    def reset(self) -> None:
        """Begin again."""
        self._stop.set()
        self._thread.join()
        for inner in self.iters:
            inner.reset()
        self._start()

    def __del__(self) -> None:
        stop = getattr(self, '_stop', None)
        if stop is not None:
            stop.set()

    def iter_next(self) -> bool:
        """Move on; raises what reading raised."""
        if self._ready is None:
            return False
        item = self._ready.get()
        if isinstance(item, Exception):
            raise item
        if item is None:
            self._ready.put(None)
            return False
        first = item[0]
        self.current_batch = DataBatch([a for b in item for a in b.data], [a for b in item for a in (b.label or [])],
                                       first.pad, first.index, provide_data=self.provide_data,
                                       provide_label=self.provide_label)
        return True

    def next(self) -> DataBatch:
        """The next batch."""
        if self.iter_next():
            assert self.current_batch is not None
            return self.current_batch
        raise StopIteration
