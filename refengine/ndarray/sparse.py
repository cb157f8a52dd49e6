"""Sparse arrays; the storage types row_sparse and csr are not there yet and say so."""

from __future__ import annotations

from typing import Any

from ..base import MXNetError
from .ndarray import NDArray


class BaseSparseNDArray(NDArray):
    """The common base of sparse arrays."""

    __slots__ = ()


class RowSparseNDArray(BaseSparseNDArray):
    """An array of which only some rows are stored."""

    __slots__ = ()


class CSRNDArray(BaseSparseNDArray):
    """A matrix in compressed rows."""

    __slots__ = ()


def _missing(stype: str) -> MXNetError:
    return MXNetError(f'storage type {stype} is not supported by this engine yet; only default is')


def zeros(stype: str, shape: Any, ctx: Any = None, dtype: Any = None, **kwargs: Any) -> NDArray:
    """A sparse array of zeros; MXNetError for storage types that are not supported."""
    if stype == 'default':
        from .creation import zeros as dense
        return dense(shape, ctx=ctx, dtype=dtype)
    raise _missing(stype)


empty = zeros


def cast_storage(data: NDArray, stype: str) -> NDArray:
    """The array in another storage type; MXNetError for storage types that are not supported."""
    if stype == 'default':
        return data
    raise _missing(stype)
