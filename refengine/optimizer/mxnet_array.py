"""Arrays inside pickles that MXNet wrote: the bytes of its dense array format."""

from __future__ import annotations

import pickle
import struct
from math import prod
from typing import Any

import numpy as np

from .. import ndarray as nd
from ..base import MXNetError
from ..context import cpu

MAGIC = (0xF993FAC9, 0xF993FACA)
"""First word of an array with storage type, as 1.x and 2.x write it."""

TYPES = {0: 'float32', 1: 'float64', 2: 'float16', 3: 'uint8', 4: 'int32', 5: 'int8', 6: 'int64', 7: 'bool'}


class DenseArray:
    """Stands for an array of MXNet until the whole pickle is read."""

    def __init__(self, handle: Any = None) -> None:
        self.value: Any = None
        self.release: int | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        raw = state.get('handle') if isinstance(state, dict) else None
        if raw is not None:
            values = decode(bytes(raw))
            self.release = 1 if raw[0] == MAGIC[0] & 0xFF else 2
            self.value = nd.array(values, ctx=cpu(0), dtype=values.dtype)


class SparseArray:
    """Stands for a sparse array; there is no place to put one."""

    def __init__(self, handle: Any = None) -> None:
        raise MXNetError('the state file holds a sparse array: sparse storage is not implemented yet')


KINDS: dict[str, type] = {'NDArray': DenseArray, 'ndarray': DenseArray, 'RowSparseNDArray': SparseArray,
                          'CSRNDArray': SparseArray}


def decode(raw: bytes) -> np.ndarray:
    """The values of a dense array in MXNet's format; pickle.UnpicklingError if the bytes are none.

    Layout, little-endian: magic (uint32), storage type (int32, 0), number of axes (int32), their lengths (int64),
    device type and id (int32 each), element type (int32), values.
    """
    try:
        magic, storage, ndim = struct.unpack_from('<Iii', raw)
        if magic not in MAGIC:
            raise ValueError(f'unknown array format {magic:#x}')
        if storage != 0:
            raise MXNetError('the state file holds a sparse array: sparse storage is not implemented yet')
        if not 0 <= ndim <= 32:
            raise ValueError(f'{ndim} axes')
        shape = struct.unpack_from(f'<{ndim}q', raw, 12)
        offset = 12 + 8 * ndim
        _, _, kind = struct.unpack_from('<iii', raw, offset)
        dtype = np.dtype(TYPES[kind]).newbyteorder('<')
        if min(shape, default=0) < 0 or len(raw) - offset - 12 < prod(shape) * dtype.itemsize:
            raise ValueError(f'too few bytes for shape {shape}')
        values = np.frombuffer(raw, dtype, prod(shape), offset + 12)
    except (struct.error, ValueError, KeyError) as error:
        raise pickle.UnpicklingError(f'not an array of MXNet: {error}') from None
    return values.reshape(shape).astype(dtype.newbyteorder('='))


class Resolver:
    """Puts NDArrays in the places of ``DenseArray`` objects, and notes which release they came from."""

    def __init__(self) -> None:
        self.release: int | None = None
        self._seen: dict[int, Any] = {}

    def resolve(self, value: Any) -> Any:
        """The value with every ``DenseArray`` in it, also in attributes of objects, replaced by an NDArray."""
        if isinstance(value, DenseArray):
            self.release = self.release or value.release
            return value.value
        if isinstance(value, tuple):
            return tuple(self.resolve(item) for item in value)
        if id(value) in self._seen:
            return value
        if isinstance(value, list):
            self._seen[id(value)] = value
            value[:] = [self.resolve(item) for item in value]
        elif isinstance(value, dict):
            self._seen[id(value)] = value
            for key in list(value):
                value[key] = self.resolve(value[key])
        elif hasattr(value, '__dict__') and not isinstance(value, type):
            self._seen[id(value)] = value
            self.resolve(value.__dict__)
        return value
