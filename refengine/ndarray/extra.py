"""Functions of ``mx.nd`` that are more than one operator."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from .. import dispatch
from ..op import registry
from ..ops.ranges import edges_of_bins
from .creation import array
from .ndarray import NDArray


def split_v2(ary: NDArray, indices_or_sections: Any, axis: int = 0, squeeze_axis: bool = False) -> Any:
    """The array in equal parts (a number) or parted at given places (a tuple) along an axis (rule ND-SPLIT-001)."""
    size = ary.shape[axis]
    indices: tuple[int, ...] = ()
    sections = 0
    if isinstance(indices_or_sections, int):
        sections = indices_or_sections
        if size % sections:
            raise ValueError('array split does not result in an equal division')
    elif isinstance(indices_or_sections, tuple):
        indices = (0, *indices_or_sections)
    else:
        raise ValueError('indices_or_sections must either int or tuple of ints')
    return dispatch.invoke(registry['_split_v2'], (ary,), {'indices': indices, 'axis': axis,
                                                           'squeeze_axis': squeeze_axis, 'sections': sections})


def histogram(a: NDArray, bins: Any = 10, range: Any = None) -> list[NDArray]:
    """Counts (int64) of the elements in bins, and the edges of the bins (rule ND-HIST-001)."""
    values = a.asnumpy().reshape(-1)
    if isinstance(bins, NDArray):
        edges = bins.asnumpy()
    elif isinstance(bins, (int, np.integer)):
        if range is None:
            warnings.warn('range is not specified, using numpy\'s result to ensure consistency with numpy',
                          stacklevel=2)
            range = (float(values.min()), float(values.max()))
        edges = edges_of_bins(np, int(bins), range[0], range[1])
    else:
        raise ValueError('bins argument should be either an integer or an NDArray')
    counts, _ = np.histogram(values, edges)
    return [array(counts, a.context, 'int64'), array(edges, a.context, a.dtype)]


def stride(x: NDArray) -> tuple[int, ...]:
    """The strides of an array in elements."""
    return x.stride


def debug_print(x: NDArray) -> str:
    """Print one line about an array, without waiting for its value, and return the line (rule DIAG-PRINT-001)."""
    if not isinstance(x, NDArray):
        raise TypeError(f'debug_print expects an NDArray, got {type(x)}')
    line = (f'NDArray(handle={x.handle:#x}, ctx={x.context}, shape={x.shape}, stride={x.stride}, '
            f'dtype={np.dtype(x.dtype).name})')
    sys.stdout.write(line + '\n')
    return line


def to_dlpack_for_read(data: NDArray) -> Any:
    """A DLPack capsule over the memory of an array."""
    from . import exchange
    return exchange.to_dlpack_for_read(data)


def to_dlpack_for_write(data: NDArray) -> Any:
    """A DLPack capsule over the memory of an array, for writing."""
    from . import exchange
    return exchange.to_dlpack_for_write(data)


def from_dlpack(dlpack: Any) -> NDArray:
    """The array behind a DLPack capsule; a capsule can be consumed once."""
    from . import exchange
    return exchange.from_dlpack(dlpack)
