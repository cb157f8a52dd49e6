"""Arrays with one number per channel: views in which such a number meets long runs of memory."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ._nn import empty

RUN = 1024
"""Channels-last rows are joined until they have about this many elements: short inner loops cost more than the work."""


class Channels:
    """Views of arrays of one shape and memory order, and sums over everything but the channel.

    Where the channel is innermost in memory, an array is seen as a matrix whose rows hold several pixels and numbers
    per channel are repeated to match; where it is not, as (before, channel, after).
    """

    def __init__(self, xp: Any, like: Any, axis: int) -> None:
        self.xp, self.shape, self.axis = xp, like.shape, axis
        self.size = like.shape[axis]
        self.count = like.size // max(self.size, 1)
        last = tuple(i for i in range(like.ndim) if i != axis) + (axis,)
        self.order: tuple[int, ...] | None = None
        if axis == like.ndim - 1 or (not like.flags.c_contiguous and like.transpose(last).flags.c_contiguous):
            self.order = last
            pixels = 1
            for n in reversed([like.shape[i] for i in last[:-1]]):
                if pixels * self.size >= RUN:
                    break
                pixels *= n
            self.pixels = pixels
            self.form: tuple[int, ...] = (self.count // max(pixels, 1), pixels * self.size)
        else:
            self.form = (prod(like.shape[:axis]), self.size, prod(like.shape[axis + 1:]))

    def view(self, x: Any) -> Any:
        """An array of the shape in the form that this object works on; a copy if its memory order is another."""
        return (x.transpose(self.order) if self.order else x).reshape(self.form)

    def back(self, x: Any) -> Any:
        """The logical shape again."""
        if not self.order:
            return x.reshape(self.shape)
        arranged = x.reshape([self.shape[i] for i in self.order])
        return arranged.transpose([self.order.index(i) for i in range(len(self.order))])

    def empty(self, dtype: Any) -> Any:
        """An array of the form without defined content."""
        return empty(self.xp, self.form, dtype)

    def vector(self, x: Any) -> Any:
        """One number per channel, so that it broadcasts to the form."""
        if self.order:
            return self.xp.tile(x.reshape(-1), self.pixels)
        return x.reshape(1, self.size, 1)

    def sum(self, x: Any) -> Any:
        """Sums over everything but the channel, as a vector."""
        if self.order:
            return self.xp.add.reduce(x, axis=0).reshape(self.pixels, self.size).sum(axis=0)
        return self.xp.add.reduce(x, axis=(0, 2))

    def dot(self, a: Any, b: Any) -> Any:
        """Sums of products over everything but the channel, as a vector."""
        if self.order:
            return self.xp.einsum('ij,ij->j', a, b).reshape(self.pixels, self.size).sum(axis=0)
        return self.xp.einsum('icj,icj->c', a, b)

    def moments(self, x: Any, eps: float) -> tuple[Any, Any, Any]:
        """Mean, variance and 1 / sqrt(variance + eps) of each channel, for a view."""
        kind = x.dtype.type
        mean = self.sum(x) / kind(self.count)
        centred = self.xp.subtract(x, self.vector(mean), out=self.empty(x.dtype))
        variance = self.dot(centred, centred) / kind(self.count)
        return mean, variance, 1 / self.xp.sqrt(variance + kind(eps))

    def affine(self, x: Any, factor: Any, shift: Any, out: Any = None) -> Any:
        """x · factor + shift for a view, with one factor and shift per channel; ``out`` may be the view itself."""
        out = self.xp.multiply(x, self.vector(factor), out=self.empty(factor.dtype) if out is None else out)
        out += self.vector(shift)
        return out

    def target(self, out: Any, dtype: Any) -> Any:
        """The view of an array that a result can be written through; None where it cannot take the result."""
        if out is None or out.shape != self.shape or out.dtype != dtype:
            return None
        dense = out.transpose(self.order) if self.order else out
        return dense.reshape(self.form) if dense.flags.c_contiguous else None


class Repeated:
    """A vector over the channels of channels-last rows, repeated so that it meets long runs of memory."""

    def __init__(self, xp: Any, vector: Any) -> None:
        self.vector = vector
        self.pixels = max(1, RUN // vector.size)
        self.tiled = xp.tile(vector, self.pixels)

    def apply(self, ufunc: Any, rows: Any) -> None:
        """``rows = ufunc(rows, vector)`` in place, for a row-major matrix with one row per pixel."""
        whole = rows.shape[0] // self.pixels * self.pixels
        if whole:
            runs = rows[:whole].reshape(-1, self.tiled.size)
            ufunc(runs, self.tiled, out=runs)
        if whole < rows.shape[0]:
            ufunc(rows[whole:], self.vector, out=rows[whole:])


def widened(x: Any) -> Any:
    """Half precision as float32, so that sums don't lose digits; other types as they are."""
    return x.astype(np.float32) if x.dtype == np.float16 else x
