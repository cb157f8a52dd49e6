"""The executors of one module: one per context, each for its share of the batch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from .. import ndarray as nd
from ..io.base import DataDesc


def described(shapes: Any) -> list[DataDesc]:
    """Descriptions from pairs of name and shape."""
    return [item if isinstance(item, DataDesc) else DataDesc(*item) for item in shapes or ()]


class ExecutorGroup:
    """Executors of one symbol on several contexts; ValueError when there are more contexts than samples."""

    def __init__(self, symbol: Any, contexts: Sequence[Any], data: list[DataDesc], labels: list[DataDesc],
                 requests: dict[str, str], shared: ExecutorGroup | None = None) -> None:
        self.symbol = symbol
        self.contexts = list(contexts)
        self.data, self.labels = data, labels
        self.axes = {d.name: DataDesc.get_batch_axis(d.layout) for d in (*data, *labels)}
        self.batch_size = data[0].shape[self.axes[data[0].name]]
        self.slices = _shares(self.batch_size, len(contexts))
        arguments = set(symbol.list_arguments())
        self.executors = []
        for number, (ctx, part) in enumerate(zip(self.contexts, self.slices, strict=True)):
            shapes, kinds = {}, {}
            for d in (*data, *labels):
                if d.name in arguments:
                    shape = list(d.shape)
                    axis = self.axes[d.name]
                    if axis >= 0:
                        shape[axis] = part.stop - part.start
                    shapes[d.name], kinds[d.name] = tuple(shape), d.dtype
            self.executors.append(symbol.simple_bind(
                ctx, requests, kinds, shared_exec=shared.executors[number] if shared is not None else None, **shapes))

    def _scatter(self, descriptions: list[DataDesc], arrays: Sequence[Any]) -> None:
        for executor, part in zip(self.executors, self.slices, strict=True):
            for d, array in zip(descriptions, arrays, strict=False):
                target = executor.arg_dict.get(d.name)
                if target is None:
                    continue
                if len(self.executors) > 1 and self.axes[d.name] >= 0:
                    array = nd.slice_axis(array, axis=self.axes[d.name], begin=part.start, end=part.stop)
                if array.shape != target.shape:
                    raise ValueError(f'{d.name} of the batch has shape {array.shape}, the module is bound for '
                                     f'{target.shape}')
                array.astype(target.dtype, copy=False).copyto(target)

    def forward(self, batch: Any, is_train: bool) -> None:
        """Give every executor its share and run them."""
        self._scatter(self.data, batch.data)
        if batch.label:
            self._scatter(self.labels, batch.label)
        for executor in self.executors:
            executor.forward(is_train)

    def backward(self, out_grads: Any = None) -> None:
        """Run all executors backward."""
        for executor, part in zip(self.executors, self.slices, strict=True):
            given = None
            if out_grads is not None:
                given = [g[part].as_in_context(executor._ctx) if len(self.executors) > 1 else g for g in out_grads]
            executor.backward(given)

    def outputs(self, merge: bool = True) -> list[Any]:
        """The outputs, joined over the contexts or as lists."""
        columns = [list(column) for column in zip(*[e.outputs for e in self.executors], strict=True)]
        return [_joined(column) for column in columns] if merge else columns

    def input_grads(self, merge: bool = True) -> list[Any]:
        """The gradients of the data."""
        columns = [[e.grad_dict[d.name] for e in self.executors] for d in self.data]
        return [_joined(column) for column in columns] if merge else columns

    def arrays(self, names: Sequence[str], what: str) -> list[list[Any]]:
        """For each name its array in every executor; ``what`` is arg, grad or aux."""
        dicts = [getattr(e, f'{what}_dict') for e in self.executors]
        return [[d[name] for d in dicts] for name in names]


def _shares(size: int, count: int) -> list[slice]:
    if size < count:
        raise ValueError(f'Too many slices. Some splits are empty: {size} samples for {count} contexts')
    bounds = [round(size * i / count) for i in range(count + 1)]
    return [slice(a, b) for a, b in pairwise(bounds)]


def _joined(arrays: list[Any]) -> Any:
    if len(arrays) == 1:
        return arrays[0]
    first = arrays[0].context
    return nd.concatenate([a.as_in_context(first) for a in arrays])
