"""Means, standard deviations and normalised arrays over axes of raw arrays, and the backward pass through them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import storage


def moments(xp: Any, x: Any, axes: tuple[int, ...], eps: float) -> tuple[Any, Any, Any]:
    """Mean, variance and 1 / sqrt(variance + eps) over axes, which stay with length 1; half precision is widened."""
    count = 1
    for axis in axes:
        count *= x.shape[axis]
    if x.dtype == np.float16:
        x = x.astype(np.float32)
    kind = x.dtype.type
    mean = xp.add.reduce(x, axis=axes, keepdims=True)
    mean /= kind(count)
    centred = _subtract(xp, x, mean)
    variance = _sum_of_products(xp, centred, centred, axes)
    variance /= kind(count)
    return mean, variance, 1 / xp.sqrt(variance + kind(eps))


def _like(xp: Any, x: Any, dtype: Any) -> Any:
    """An array of the same shape and memory order without defined content."""
    return storage.empty_in_order(x.shape, dtype, x) if xp is np else xp.empty_like(x, dtype=dtype)


def _subtract(xp: Any, x: Any, mean: Any) -> Any:
    return xp.subtract(x, mean, out=_like(xp, x, x.dtype))


def _sum_of_products(xp: Any, a: Any, b: Any, axes: tuple[int, ...]) -> Any:
    """Sum of a · b over axes, which stay with length 1, without a product array where numpy can."""
    letters = 'abcdefgh'[:a.ndim]
    kept = ''.join(c for axis, c in enumerate(letters) if axis not in axes)
    shape = tuple(1 if axis in axes else n for axis, n in enumerate(a.shape))
    return xp.einsum(f'{letters},{letters}->{kept}', a, b).reshape(shape)


def normalise(xp: Any, x: Any, mean: Any, scale: Any) -> Any:
    """(x - mean) · scale in the type of mean."""
    out = xp.subtract(x, mean, out=_like(xp, x, mean.dtype))
    out *= scale
    return out


def normalise_affine(xp: Any, x: Any, mean: Any, scale: Any, gamma: Any, beta: Any) -> Any:
    """(x - mean) · scale · gamma + beta as one multiplication and one addition per element."""
    factor = scale * gamma
    out = xp.multiply(x, factor, out=_like(xp, x, factor.dtype))
    out += beta - mean * factor
    return out


def project(xp: Any, g: Any, normal: Any, scale: Any, axes: tuple[int, ...]) -> Any:
    """scale · (g - mean(g) - normal · mean(g · normal)): the gradient of the input of a normalisation."""
    count = 1
    for axis in axes:
        count *= g.shape[axis]
    kind = normal.dtype.type
    along = _sum_of_products(xp, g, normal, axes)
    along /= kind(count)
    mean = xp.add.reduce(g, axis=axes, keepdims=True)
    mean /= kind(count)
    out = xp.multiply(normal, -along, out=_like(xp, normal, normal.dtype))
    out += g
    out -= mean
    out *= scale
    return out
