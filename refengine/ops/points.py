"""Bilinear interpolation at points of images, from operators that can be differentiated any number of times.

The elements at whole coordinates come from ``_points``, which is linear in the images and whose gradient is
``_points_backward``; the weights are plain arithmetic of the coordinates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..op import Int, register


def _places(xp: Any, y: Any, x: Any, height: int, width: int) -> tuple[Any, Any]:
    """Flat places of points, and which of them lie inside."""
    inside = (y >= 0) & (y <= height - 1) & (x >= 0) & (x <= width - 1)
    flat = xp.where(inside, y, 0).astype(np.int64) * width + xp.where(inside, x, 0).astype(np.int64)
    return flat, inside


@register('_points', inputs=('data', 'y', 'x'), samples=((((2, 3, 3, 4), 'index:2x5:4', 'index:2x5:4'), {}),),
          grad=lambda F, ograds, inputs, outputs, params: (
              F._points_backward(ograds[0], inputs[1], inputs[2], height=inputs[0].shape[2], width=inputs[0].shape[3]),
              None, None))
def _points(xp: Any, data: Any, y: Any, x: Any) -> Any:
    """Elements (batch, channel, point) of images at whole coordinates (batch, point); 0 outside."""
    batch, channels, height, width = data.shape
    flat, inside = _places(xp, y, x, height, width)
    values = xp.take_along_axis(data.reshape(batch, channels, -1), flat[:, None, :], axis=2)
    return values * inside[:, None, :].astype(data.dtype)


@register('_points_backward', inputs=('data', 'y', 'x'), params={'height': Int(), 'width': Int()},
          grad=lambda F, ograds, inputs, outputs, params: (F._points(ograds[0], inputs[1], inputs[2]), None, None))
def _points_backward(xp: Any, data: Any, y: Any, x: Any, height: int = 1, width: int = 1) -> Any:
    """Images of zeros to which values (batch, channel, point) are added at whole coordinates (batch, point)."""
    batch, channels, _ = data.shape
    flat, inside = _places(xp, y, x, height, width)
    plane = xp.arange(batch * channels).reshape(batch, channels, 1) * (height * width)
    values = data * inside[:, None, :].astype(data.dtype)
    total = xp.bincount((plane + flat[:, None, :]).reshape(-1), weights=values.reshape(-1),
                        minlength=batch * channels * height * width)
    return total.reshape(batch, channels, height, width).astype(data.dtype)


_CORNERS = ((0, 0), (0, 1), (1, 0), (1, 1))


def interpolate(xp: Any, data: Any, y: Any, x: Any) -> Any:
    """Values (batch, channel, point) of raw images at coordinates (batch, point), between the elements; 0 outside."""
    top, left = xp.floor(y), xp.floor(x)
    dy, dx = y - top, x - left
    total = None
    for i, j in _CORNERS:
        weight = (dy if i else 1 - dy) * (dx if j else 1 - dx)
        part = _points(xp, data, top + i, left + j) * weight[:, None, :]
        total = part if total is None else total + part
    return total


def interpolate_grad(F: Any, og: Any, data: Any, y: Any, x: Any) -> tuple[Any, Any, Any]:
    """Gradients of ``interpolate`` by images and coordinates; in half precision, sums of single precision."""
    if data.dtype == np.float16:
        wide = interpolate_grad(F, *(F.cast(a, dtype='float32') for a in (og, data, y, x)))
        return tuple(F.cast(a, dtype='float16') for a in wide)  # type: ignore[return-value]
    top, left = F.floor(y), F.floor(x)
    dy, dx = y - top, x - left
    of_data = of_y = of_x = None
    for i, j in _CORNERS:
        wy, wx = dy if i else 1 - dy, dx if j else 1 - dx
        row, column = top + i, left + j
        weighted = F.broadcast_mul(og, F.expand_dims(wy * wx, axis=1))
        part = F._points_backward(weighted, row, column, height=data.shape[2], width=data.shape[3])
        along = F.sum(og * F._points(data, row, column), axis=1)
        by_y, by_x = along * wx, along * wy
        if of_data is None:
            of_data, of_y, of_x = part, -by_y, -by_x
        else:
            of_data = of_data + part
            of_y = of_y + by_y if i else of_y - by_y
            of_x = of_x + by_x if j else of_x - by_x
    return of_data, of_y, of_x
