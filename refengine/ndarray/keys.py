"""What indexing keys mean: functions that the releases show beside ``NDArray``."""

from __future__ import annotations

from typing import Any

import numpy as np

from .ndarray import NDArray

BASIC, ADVANCED = 0, 1


def get_indexing_dispatch_code(key: tuple[Any, ...]) -> int:
    """0 for a key of basic indexing (integers, slices, None), 1 for one with arrays or lists.

    >>> get_indexing_dispatch_code((0, slice(None))), get_indexing_dispatch_code((0, [1, 2]))
    (0, 1)
    """
    assert isinstance(key, tuple), f'expected a tuple of indices, got {type(key)}'
    for index in key:
        if isinstance(index, (NDArray, np.ndarray, list, tuple)):
            return ADVANCED
        if not isinstance(index, (int, np.integer, slice)) and index is not None:
            raise ValueError(f'NDArray does not support slicing with key {index} of type {type(index)}.')
    return BASIC


def indexing_key_expand_implicit_axes(key: Any, shape: tuple[int, ...]) -> tuple[tuple[Any, ...], int]:
    """A key with a full slice for each axis that it leaves out, and what its boolean scalars mean.

    The second value is 1 when there are boolean scalars and all are true, 0 when one is false, -1 without them.

    >>> indexing_key_expand_implicit_axes((..., 0), (2, 3))
    ((slice(None, None, None), 0), -1)
    """
    items = key if isinstance(key, tuple) else (key,)
    flags = [index for index in items if isinstance(index, bool)]
    kept = [index for index in items if not isinstance(index, bool)]
    dots = [place for place, index in enumerate(kept) if index is Ellipsis]
    if len(dots) > 1:
        raise IndexError('Cannot use more than one ellipsis (`...`) for indexing')
    used = sum(index is not None and index is not Ellipsis for index in kept)
    place = dots[0] if dots else len(kept)
    rest = kept[place + 1:] if dots else []
    full = [slice(None)] * max(len(shape) - used, 0)
    return (*kept[:place], *full, *rest), (int(all(flags)) if flags else -1)


def get_oshape_of_gather_nd_op(dshape: tuple[int, ...], ishape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that ``gather_nd`` gives for data and indices of these shapes; IndexError when they do not fit.

    >>> get_oshape_of_gather_nd_op((2, 3, 4), (2, 5))
    (5, 4)
    """
    assert len(dshape) > 0, 'expected data with at least one axis'
    assert len(ishape) > 0, 'expected indices with at least one axis'
    return tuple(ishape[1:]) + tuple(dshape[ishape[0]:])
