"""Arrays with one number per channel: views in which such a number meets long runs of memory."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ._moments import is_far
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
        self.order: tuple[int, ...] | None = None
        last = None
        if axis == like.ndim - 1 or not like.flags.c_contiguous:
            last = tuple(i for i in range(like.ndim) if i != axis) + (axis,)
        if last is not None and (axis == like.ndim - 1 or like.transpose(last).flags.c_contiguous):
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

    def centred(self, x: Any, eps: float) -> tuple[Any, Any, Any, Any, Any]:
        """x - mean for a view, the mean of that (None for nothing), mean, variance and 1 / sqrt(variance + eps)."""
        kind = x.dtype.type
        mean = self.sum(x) / kind(self.count)
        centre = self.minus(x, mean)
        variance = self.dot(centre, centre) / kind(self.count)
        scale = 1 / self.xp.sqrt(variance + kind(eps))
        rest = self.rest(centre, mean, scale)
        if rest is not None:
            variance = self.xp.maximum(variance - rest * rest, kind(0))
            scale = 1 / self.xp.sqrt(variance + kind(eps))
        return centre, rest, mean, variance, scale

    def rest(self, centre: Any, mean: Any, scale: Any) -> Any:
        """What was left of a mean when it was subtracted, because it was rounded; None where it is near zero."""
        if not is_far(self.xp, mean, scale):
            return None
        return self.sum(centre) / centre.dtype.type(self.count)

    def minus(self, x: Any, mean: Any) -> Any:
        """x - mean for a view, with one number per channel."""
        out = self.empty(np.promote_types(x.dtype, mean.dtype))
        if self._in_runs(out) and x.flags.c_contiguous:
            Repeated(np, mean).apply(np.subtract, x, out)
        else:
            self.xp.subtract(x, self.vector(mean), out=out)
        return out

    def affine(self, x: Any, factor: Any, shift: Any, out: Any = None) -> Any:
        """x · factor + shift for a view, with one factor and shift per channel; ``out`` may be the view itself."""
        if out is None:
            out = self.empty(factor.dtype)
        if self._in_runs(out):
            return self._runs(x, np.multiply, factor, np.add, shift, out)
        self.xp.multiply(x, self.vector(factor), out=out)
        out += self.vector(shift)
        return out

    def normal(self, x: Any, mean: Any, scale: Any) -> Any:
        """(x - mean) · scale for a view, with one mean and scale per channel."""
        out = self.empty(scale.dtype)
        if self._in_runs(out):
            return self._runs(x, np.subtract, mean, np.multiply, scale, out)
        self.xp.subtract(x, self.vector(mean), out=out)
        out *= self.vector(scale)
        return out

    def _runs(self, x: Any, first: np.ufunc, by: Any, second: np.ufunc, then: Any, out: Any) -> Any:
        """second(first(x, by), then), both with one number per channel, run by run."""
        one, other = Repeated(np, by), Repeated(np, then)
        source, target, step = x.reshape(-1), out.reshape(-1), one.run.size
        for start in range(0, target.size, step):
            part = target[start:start + step]
            one.apply(first, source[start:start + step], part)
            other.apply(second, part)
        return out

    def combine(self, a: Any, of_a: Any, shift: Any, b: Any, of_b: Any, out: Any = None) -> Any:
        """b · of_b + (a · of_a - shift) for views, with one number each per channel; a is used up."""
        if out is None:
            out = self.empty(of_b.dtype)
        if self._in_runs(out):
            first, second, third = (Repeated(np, x) for x in (of_a, shift, of_b))
            mine, other, target, step = a.reshape(-1), b.reshape(-1), out.reshape(-1), first.run.size
            for start in range(0, target.size, step):
                part, result = mine[start:start + step], target[start:start + step]
                first.apply(np.multiply, part)
                second.apply(np.subtract, part)
                third.apply(np.multiply, other[start:start + step], result)
                np.add(result, part, out=result)
            return out
        a *= self.vector(of_a)
        a -= self.vector(shift)
        self.xp.multiply(b, self.vector(of_b), out=out)
        out += a
        return out

    def _in_runs(self, out: Any) -> bool:
        """Whether work goes by runs of memory, each of which stays in the cache for the whole of it."""
        return bool(self.order) and self.xp is np and out.size > PART

    def target(self, out: Any, dtype: Any) -> Any:
        """The view of an array that a result can be written through; None where it cannot take the result."""
        if out is None or out.shape != self.shape or out.dtype != dtype:
            return None
        dense = out.transpose(self.order) if self.order else out
        return dense.reshape(self.form) if dense.flags.c_contiguous else None


PART = 1 << 15
"""Elements per call of numpy in ``Repeated``: a few such runs fit into the cache of a core."""


class Repeated:
    """A vector over the channels of channels-last rows, repeated to the length of a run.

    Two runs of one length take numpy half the time that rows and a vector take, which it has to broadcast. ``most`` is
    the number of elements of the largest array that will come.
    """

    def __init__(self, xp: Any, vector: Any, most: int = PART) -> None:
        pixels = max(1, min(PART, most) // vector.size)
        run = empty(xp, (pixels, vector.size), vector.dtype)
        run[...] = vector.reshape(-1)
        self.run = run.reshape(-1)

    def apply(self, ufunc: Any, rows: Any, out: Any = None) -> None:
        """``out = ufunc(rows, vector)``, in place by default, for row-major arrays whose last axis is the channel."""
        source, run = rows.reshape(-1), self.run
        target = source if out is None else out.reshape(-1)
        size = source.size
        if size <= run.size:
            ufunc(source, run[:size], target)
            return
        for start in range(0, size, run.size):
            stop = min(start + run.size, size)
            ufunc(source[start:stop], run[:stop - start], target[start:stop])


def widened(x: Any) -> Any:
    """Half precision as float32, so that sums don't lose digits; other types as they are."""
    return x.astype(np.float32) if x.dtype == np.float16 else x
