"""Resizing images (height, width, channels) as OpenCV does: nearest, linear, cubic, area and Lanczos.

Bytes are resampled with weights of eleven bits, so that results are the same to the last bit or differ by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

NEAREST, LINEAR, CUBIC, AREA, LANCZOS = range(5)
_BITS = 11

Taps = tuple[np.ndarray, np.ndarray]
"""For each target element the places (target, taps) that it is made of, and their weights."""


def _centred(size: int, target: int) -> tuple[np.ndarray, np.ndarray]:
    """Whole and fractional part of the place of each target element."""
    at = ((np.arange(target) + 0.5) * (size / target) - 0.5).astype(np.float32)
    low = np.floor(at)
    return low.astype(int), at - low.astype(np.float32)


def _linear(size: int, target: int) -> Taps:
    low, part = _centred(size, target)
    return np.clip(np.stack((low, low + 1), axis=1), 0, size - 1), np.stack((1 - part, part), axis=1)


def _linear_across(size: int, target: int) -> Taps:
    """The same, where the first and the last element count once: OpenCV treats lines so, but not columns of lines."""
    places, weights = _linear(size, target)
    weights[places[:, 0] == places[:, 1]] = (1, 0)
    return places, weights


def _area_up(size: int, target: int) -> Taps:
    """What area interpolation does when it enlarges."""
    low = np.floor(np.arange(target) * (size / target)).astype(int)
    part = ((np.arange(target) + 1) - (low + 1) * (target / size)).astype(np.float32)
    part = np.where(part <= 0, np.float32(0), part - np.floor(part))
    part = np.where(low >= size - 1, np.float32(0), part)
    low = np.clip(low, 0, size - 1)
    return np.stack((low, np.minimum(low + 1, size - 1)), axis=1), np.stack((1 - part, part), axis=1)


def _area_down(size: int, target: int) -> Taps:
    """The mean over the cell of each target element."""
    scale = size / target
    begin, end = np.arange(target) * scale, (np.arange(target) + 1) * scale
    taps = int(np.ceil(scale)) + 1
    places = np.floor(begin).astype(int)[:, None] + np.arange(taps)
    weights = np.minimum(places + 1, end[:, None]) - np.maximum(places, begin[:, None])
    weights = np.where(weights > 1e-3, weights, 0)
    weights /= weights.sum(axis=1, keepdims=True)
    return np.minimum(places, size - 1), weights.astype(np.float32)


def _cubic(size: int, target: int) -> Taps:
    low, x = _centred(size, target)
    a, one = np.float32(-0.75), np.float32(1)
    first = ((a * (x + one) - 5 * a) * (x + one) + 8 * a) * (x + one) - 4 * a
    second = ((a + 2) * x - (a + 3)) * x * x + one
    third = ((a + 2) * (one - x) - (a + 3)) * (one - x) * (one - x) + one
    weights = np.stack((first, second, third, one - first - second - third), axis=1)
    return np.clip(low[:, None] + np.arange(-1, 3), 0, size - 1), weights


def _lanczos(size: int, target: int) -> Taps:
    low, x = _centred(size, target)
    at = x[:, None].astype(float) + 3 - np.arange(8)
    weights = np.sinc(at) * np.sinc(at / 4)
    weights /= weights.sum(axis=1, keepdims=True)
    return np.clip(low[:, None] + np.arange(-3, 5), 0, size - 1), weights.astype(np.float32)


def _mix(rows: np.ndarray, taps: Taps, axis: int) -> np.ndarray:
    """Weighted sums along the first or second axis."""
    places, weights = taps
    shape = [1] * rows.ndim
    shape[axis] = -1
    return sum(np.take(rows, places[:, t], axis=axis) * weights[:, t].reshape(shape) for t in range(places.shape[1]))


def _whole(taps: Taps) -> Taps:
    return taps[0], np.rint(taps[1] * (1 << _BITS)).astype(np.int64)


def resize(image: np.ndarray, width: int, height: int, interpolation: int) -> np.ndarray:
    """The image (height, width, channels) in another size, of the same element type."""
    rows, columns = image.shape[:2]
    if (rows, columns) == (height, width):
        return image.copy()
    if interpolation == NEAREST:
        y = np.minimum(np.floor(np.arange(height) * (rows / height)).astype(int), rows - 1)
        x = np.minimum(np.floor(np.arange(width) * (columns / width)).astype(int), columns - 1)
        return image[y[:, None], x[None, :]]
    halved = rows == 2 * height and columns == 2 * width
    shrinks = rows >= height and columns >= width
    if (interpolation == AREA and shrinks) or (interpolation == LINEAR and halved):
        return _by_area(image, width, height)
    make = {LINEAR: _linear, AREA: _area_up, CUBIC: _cubic, LANCZOS: _lanczos}[interpolation]
    across, down = (_linear_across if make is _linear else make)(columns, width), make(rows, height)
    if image.dtype != np.uint8:
        kind = image.dtype if image.dtype.kind == 'f' else np.float32
        mixed = _mix(_mix(image.astype(kind, copy=False), across, 1), down, 0)
        return mixed if kind == image.dtype else rounded(mixed, image.dtype)
    wide = _mix(image.astype(np.int64), _whole(across), 1)
    if interpolation in (LINEAR, AREA):
        places, weights = _whole(down)
        parts = (((wide[places[:, t]] >> 4) * weights[:, t, None, None]) >> 16 for t in (0, 1))
        return ((sum(parts) + 2) >> 2).clip(0, 255).astype(np.uint8)
    total = _mix(wide, _whole(down), 0)
    return ((total + (1 << (2 * _BITS - 1))) >> (2 * _BITS)).clip(0, 255).astype(np.uint8)


def _by_area(image: np.ndarray, width: int, height: int) -> np.ndarray:
    rows, columns = image.shape[:2]
    if rows % height == 0 and columns % width == 0:
        whole = image.reshape(height, rows // height, width, columns // width, -1)
        if image.dtype == np.uint8:
            total = whole.sum(axis=(1, 3), dtype=np.int64)
            count = (rows // height) * (columns // width)
            if count == 4 and rows == 2 * height:
                return ((total + 2) >> 2).astype(np.uint8)
            return np.rint(total.astype(np.float32) * np.float32(1 / count)).astype(np.uint8)
        return rounded(whole.mean(axis=(1, 3)), image.dtype)
    kind = image.dtype if image.dtype.kind == 'f' else np.float32
    mixed = _mix(_mix(image.astype(kind), _area_down(columns, width), 1), _area_down(rows, height), 0)
    return rounded(mixed, image.dtype)


def rounded(values: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Values in another element type: whole ones are rounded (halves to even) and kept within their range."""
    if dtype.kind == 'f':
        return values.astype(dtype)
    limits = np.iinfo(dtype)
    return np.clip(np.rint(values), limits.min, limits.max).astype(dtype)
