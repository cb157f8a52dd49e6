"""Means, standard deviations and normalised arrays over axes of raw arrays, and the backward pass through them.

A mean far from zero is rounded: at 10000 the next number of single precision is 0.001 away. So what is centred with
such a mean is centred once more with what is left of it, and nothing is computed as a difference of large products.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import storage
from ._sums import total, total_of_products

FAR = 16.0
"""So many deviations from zero the rounding of a mean begins to show in the digits of what is normalised with it."""


def is_far(xp: Any, mean: Any, scale: Any) -> Any:
    """Whether a mean may be far from zero, for a ``scale`` of 1 / deviation.

    Where the answer itself would take long, on a device that would have to be waited for, it is yes.
    """
    if xp is not np:
        return True
    ratio = mean * scale
    if ratio.size <= 64:        # one call for all of them
        return np.vdot(ratio, ratio) > FAR * FAR
    return np.abs(ratio).max() > FAR


def centred(xp: Any, x: Any, axes: tuple[int, ...], eps: float) -> tuple[Any, Any, Any, Any, Any]:
    """x - mean, the mean of that (None for nothing), mean, variance and 1 / sqrt(variance + eps).

    The statistics keep the axes with length 1; half precision is widened. The first result belongs to the caller.
    """
    if x.dtype == np.float16:
        x = x.astype(np.float32)
    kind = x.dtype.type
    mean = total(xp, x, axes)
    count = kind(x.size // max(mean.size, 1))
    mean /= count
    out = minus(xp, x, mean)
    variance = total_of_products(xp, out, out, axes)
    variance /= count
    scale = 1 / xp.sqrt(variance + kind(eps))
    if not is_far(xp, mean, scale):
        return out, None, mean, variance, scale
    rest = total(xp, out, axes)
    rest /= count
    variance = xp.maximum(variance - rest * rest, kind(0))
    return out, rest, mean, variance, 1 / xp.sqrt(variance + kind(eps))


def _like(xp: Any, x: Any, dtype: Any) -> Any:
    """An array of the same shape and memory order without defined content."""
    return storage.empty_in_order(x.shape, dtype, x) if xp is np else xp.empty_like(x, dtype=dtype)


def minus(xp: Any, x: Any, mean: Any) -> Any:
    """x - mean in memory that large arrays have had before."""
    return xp.subtract(x, mean, out=_like(xp, x, x.dtype))


def normalise(xp: Any, x: Any, mean: Any, scale: Any, axes: tuple[int, ...]) -> Any:
    """(x - mean) · scale in the type of mean, which is that of x over axes."""
    out = xp.subtract(x, mean, out=_like(xp, x, mean.dtype))
    if is_far(xp, mean, scale):
        rest = total(xp, out, axes)
        rest /= mean.dtype.type(x.size // max(mean.size, 1))
        out -= rest
    out *= scale
    return out


def affine(xp: Any, centre: Any, rest: Any, scale: Any, gamma: Any, beta: Any, grouped: bool) -> Any:
    """(centre - rest) · scale · gamma + beta; uses up ``centre``. ``rest`` may be None.

    One multiplication and one addition per element where gamma has one number per group.
    """
    if grouped:
        factor = scale * gamma
        shift = beta if rest is None else beta - rest * factor
        out = xp.multiply(centre, factor, out=centre if factor.dtype == centre.dtype else None)
        out += shift
        return out
    if rest is not None:
        centre -= rest
    centre *= scale
    if gamma.dtype != centre.dtype:
        return centre * gamma + beta
    centre *= gamma
    centre += beta
    return centre


def project(xp: Any, g: Any, normal: Any, scale: Any, axes: tuple[int, ...]) -> Any:
    """scale · (g - mean(g) - normal · mean(g · normal)): the gradient of the input of a normalisation."""
    along = total_of_products(xp, g, normal, axes)
    count = normal.dtype.type(g.size // max(along.size, 1))
    along /= count
    mean = total(xp, g, axes)
    mean /= count
    out = xp.multiply(normal, -along, out=_like(xp, normal, normal.dtype))
    out += g
    out -= mean
    out *= scale
    return out
