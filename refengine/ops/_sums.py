"""Sums over axes whose rounding does not grow with the number of terms.

numpy adds in pairs along the last axis, and one after the other along any other; ``einsum`` always does the latter.
There the sum of 5000 numbers has lost five bits. Such axes are added in blocks, and then the blocks, for the same
number of additions.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

import numpy as np

BLOCK = 128
"""Terms that are added one after the other; twice as many where there are many blocks."""

SMALL = 1024
"""Elements of an array that is not worth the question."""

NARROW = 128
"""Rows up to this length are folded: the second half of the array is added to the first, and so on."""


def _sizes(xp: Any, x: Any, axes: tuple[int, ...], least: int) -> tuple[int, int, int] | None:
    """How many entries stand before, along and behind neighbouring axes; None where blocks are of no use."""
    if xp is not np or not axes or x.dtype.kind != 'f' or not x.flags.c_contiguous:
        return None
    first, last = axes[0], axes[-1]
    if last - first + 1 != len(axes):
        return None
    along = prod(x.shape[first:last + 1])
    return (prod(x.shape[:first]), along, prod(x.shape[last + 1:])) if along >= least else None


def _kept(x: Any, axes: tuple[int, ...]) -> list[int]:
    shape = list(x.shape)
    for axis in axes:
        shape[axis] = 1
    return shape


@cache
def _products(ndim: int, axes: tuple[int, ...]) -> str:
    """What einsum is to do for the sum of products over axes."""
    letters = 'abcdefghijklmnopqrstuvwxyz'[:ndim]
    return f'{letters},{letters}->{"".join(c for axis, c in enumerate(letters) if axis not in axes)}'


def _folded(rows: Any) -> Any:
    """The sum over the middle axis."""
    half = rows.shape[1] // 2
    found = rows[:, :half] + rows[:, half:2 * half]
    if 2 * half < rows.shape[1]:
        found[:, 0] += rows[:, -1]
    while half > BLOCK // 2:
        rest, half = half, half - half // 2
        found[:, :rest - half] += found[:, half:rest]
    return np.add.reduce(found[:, :half], axis=1)


def total(xp: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """The sum over axes, which come in order, count from the front and stay with length 1."""
    sizes = None if x.size <= SMALL or (axes and axes[-1] == x.ndim - 1) else _sizes(xp, x, axes, 2 * BLOCK)
    if sizes is None:
        return xp.add.reduce(x, axis=axes, keepdims=True)
    before, along, after = sizes
    rows = x.reshape(before, along, after)
    if after <= NARROW:
        return _folded(rows).reshape(_kept(x, axes))
    block = BLOCK if along < 8 * BLOCK else 2 * BLOCK
    whole = along - along % block
    found = np.add.reduce(np.add.reduce(rows[:, :whole].reshape(before, -1, block, after), axis=2), axis=1)
    if whole != along:
        found += np.add.reduce(rows[:, whole:], axis=1)
    return found.reshape(_kept(x, axes))


def total_of_products(xp: Any, a: Any, b: Any, axes: tuple[int, ...]) -> Any:
    """The same of a · b, without an array of products where numpy can."""
    sizes = None
    if a.size > SMALL and axes:
        # Along the last axis einsum has several sums at a time.
        least = 8 * BLOCK if axes[-1] == a.ndim - 1 else 2 * BLOCK
        if a.shape[axes[-1]] >= least or len(axes) > 1:
            sizes = _sizes(xp, a, axes, least) if b.flags.c_contiguous else None
    if sizes is None:
        return xp.einsum(_products(a.ndim, axes), a, b).reshape(_kept(a, axes))
    before, along, after = sizes
    one, other = a.reshape(before, along, after), b.reshape(before, along, after)
    whole = along - along % BLOCK
    form = (before, -1, BLOCK, after) if after > 1 else (before, -1, BLOCK)
    what = 'akbc,akbc->akc' if after > 1 else 'akb,akb->ak'
    found = np.add.reduce(np.einsum(what, one[:, :whole].reshape(form), other[:, :whole].reshape(form)), axis=1)
    if whole != along:
        found += np.einsum('abc,abc->ac', one[:, whole:], other[:, whole:]).reshape(found.shape)
    return found.reshape(_kept(a, axes))
