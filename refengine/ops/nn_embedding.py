"""Embedding: rows of a table by index."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..op import Bool, Enum, Int, register
from ._nn import require_shape, zeros
from .shapes import completes

_TYPES = ('float16', 'float32', 'float64', 'uint8', 'int8', 'int32', 'int64', 'bfloat16')


def _infer(arrays: Any, params: dict[str, Any]) -> None:
    require_shape('Embedding', arrays[1].shape, (params['input_dim'], params['output_dim']))


@completes('Embedding')
def _complete(shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    return [shapes[0], (params['input_dim'], params['output_dim'])]


def _rows(xp: Any, data: Any, size: int) -> Any:
    """Indices as integers, those out of range moved to the nearest row (as the releases do)."""
    rows = data.astype(np.int64).reshape(-1)
    return xp.clip(rows, 0, size - 1)


def _grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    data, weight = inputs
    return F.zeros_like(data), F._embedding_backward(ograds[0], data, weight)


@register('Embedding', '_contrib_SparseEmbedding', inputs=('data', 'weight'), mixed=True, infer=_infer, grad=_grad,
          params={'input_dim': Int(doc='number of rows', low=1), 'output_dim': Int(doc='length of a row', low=1),
                  'dtype': Enum(_TYPES, 'float32', 'element type of the weight'),
                  'sparse_grad': Bool(False, 'give the gradient of the weight as row_sparse')},
          samples=((('index:4:5', (5, 3)), {'input_dim': 5, 'output_dim': 3}),))
def _embedding(xp: Any, data: Any, weight: Any, input_dim: int = 0, output_dim: int = 0, dtype: str = 'float32',
               sparse_grad: bool = False) -> Any:
    """weight[data]: the shape of data with the length of a row appended. Indices out of range take the nearest row."""
    rows = _rows(xp, data, weight.shape[0])
    return xp.take(weight, rows, axis=0).reshape(*data.shape, weight.shape[1])


@register('_embedding_backward', inputs=('ograd', 'data', 'weight'), mixed=True,
          grad=lambda F, ograds, inputs, outputs, params: (
              F.Embedding(inputs[1], ograds[0], input_dim=inputs[2].shape[0], output_dim=inputs[2].shape[1]), None,
              None))
def _embedding_backward(xp: Any, ograd: Any, data: Any, weight: Any) -> Any:
    """The gradients of the looked-up rows, added up at their rows; zero elsewhere."""
    rows = _rows(xp, data, weight.shape[0])
    gradients = ograd.reshape(-1, weight.shape[1])
    result = zeros(xp, weight.shape, weight.dtype)
    if xp is not np:
        xp.add.at(result, rows, gradients)
        return result
    # Adding up sorted runs is an order of magnitude faster than numpy's unbuffered addition.
    order = np.argsort(rows, kind='stable')
    sorted_rows = rows[order]
    starts = np.flatnonzero(np.concatenate(([True], sorted_rows[1:] != sorted_rows[:-1])))
    if len(starts) == len(rows):
        result[rows] = gradients
    elif len(rows):
        result[sorted_rows[starts]] = np.add.reduceat(gradients[order], starts, axis=0)
    return result
