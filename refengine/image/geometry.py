"""Cutting, resizing and turning images: ``mx.image.center_crop`` and its kin.

Images are (height, width, channels); those that are turned are float32 (channels, height, width) or batches of them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import ndarray as nd
from ..ndarray import NDArray
from .decode import pixels_of

# ---- reading ---------------------------------------------------------------------------------------------------


def imdecode(buf: Any, flag: int = 1, to_rgb: int = 1, out: Any = None) -> NDArray:
    """The pixels of an image file as uint8 array: three channels, or one grey channel for ``flag=0``.

    ``to_rgb=0`` gives blue, green, red. ValueError for anything but bytes, MXNetError for what is no image.
    """
    if not isinstance(buf, bytes | bytearray | memoryview | np.ndarray):
        raise ValueError('buf must be of type bytes, bytearray or numpy.ndarray,if you would like to input type str, '
                         'please convert to bytes')
    pixels = pixels_of(bytes(buf), 3 if flag else 1)
    if not to_rgb:
        pixels = pixels[:, :, ::-1]
    found = nd.array(pixels, dtype='uint8')
    if out is None:
        return found
    out[:] = found
    return out


def imread(filename: str, flag: int = 1, to_rgb: int = 1, out: Any = None) -> NDArray:
    """The same for the file of that name; MXNetError when it cannot be read."""
    from ..base import MXNetError
    try:
        with open(filename, 'rb') as file:
            content = file.read()
    except OSError as error:
        raise MXNetError(f'cannot read the image {filename}: {error}') from None
    return imdecode(content, flag, to_rgb, out)


# ---- sizes -----------------------------------------------------------------------------------------------------

def imresize(src: NDArray, w: int, h: int, interp: int = 1) -> NDArray:
    """The image in another size."""
    return nd.image.resize(src, size=(w, h), interp=interp)


_BORDERS = ('constant', 'edge', 'symmetric', 'wrap', 'reflect')


def copyMakeBorder(src: NDArray, top: int, bot: int, left: int, right: int, type: int = 0, value: float = 0,
                   values: Sequence[float] = (), out: Any = None) -> NDArray:
    """The image with a border of ``value``, or one value for each channel (``type`` 0), or of its own pixels.

    ``type`` 1 repeats those at the edge, 2 mirrors with and 4 without the edge, 3 goes on at the other side.

    >>> import refengine as mx
    >>> copyMakeBorder(mx.nd.array([[[1], [2]]]), 0, 0, 2, 0, type=1).reshape(-1).asnumpy().tolist()
    [1.0, 1.0, 1.0, 2.0]
    """
    widths = ((top, bot), (left, right), (0, 0))
    pixels = src.asnumpy()
    if type == 0:
        framed = np.pad(pixels, widths)
        framed[...] = np.asarray(values if len(values) else value)
        framed[top:top + src.shape[0], left:left + src.shape[1]] = pixels
    else:
        framed = np.pad(pixels, widths, mode=_BORDERS[type])  # type: ignore[call-overload]
    found = nd.array(framed, ctx=src.context, dtype=src.dtype)
    if out is None:
        return found
    out[:] = found
    return out


def _get_interp_method(interp: int, sizes: Sequence[int] = ()) -> int:
    """A way to interpolate: 0 to 4 as they are, 9 by (old height, old width, new height, new width), 10 at random.

    >>> [_get_interp_method(9, (10, 10, new, new)) for new in (20, 5)]
    [2, 3]
    """
    if interp == 9:
        if not sizes:
            return 2
        assert len(sizes) == 4, f'expected four sizes, got {sizes}'
        height, width, new_height, new_width = sizes
        if new_height > height and new_width > width:
            return 2
        return 3 if new_height < height and new_width < width else 1
    if interp == 10:
        return random.randint(0, 4)
    if interp not in range(5):
        raise ValueError(f'Unknown interp method {interp}')
    return interp


def scale_down(src_size: Sequence[int], size: Sequence[int]) -> tuple[int, int]:
    """The largest (width, height) of the shape of ``size`` that fits into ``src_size``; never larger than it.

    >>> scale_down((640, 480), (720, 120))
    (640, 106)
    """
    w, h = size
    sw, sh = src_size
    if sh < h:
        w, h = float(w * sh) / h, sh  # type: ignore[assignment]
    if sw < w:
        w, h = sw, float(h * sw) / w  # type: ignore[assignment]
    return int(w), int(h)


def resize_short(src: NDArray, size: int, interp: int = 2) -> NDArray:
    """The image with its shorter edge as long as ``size``."""
    h, w = src.shape[:2]
    if h > w:
        return imresize(src, size, size * h // w, interp)
    return imresize(src, size * w // h, size, interp)


# ---- parts -----------------------------------------------------------------------------------------------------

def fixed_crop(src: NDArray, x0: int, y0: int, w: int, h: int, size: Any = None, interp: int = 2) -> NDArray:
    """The part from (x0, y0) on, resized to ``size`` (width, height) if that is given and another one."""
    part = nd.slice(src, begin=(y0, x0, 0), end=(y0 + h, x0 + w, src.shape[2]))
    if size is not None and (w, h) != tuple(size):
        return imresize(part, *size, interp=interp)
    return part


def center_crop(src: NDArray, size: Sequence[int], interp: int = 2) -> tuple[NDArray, tuple[int, int, int, int]]:
    """The middle of the image in a size, and where it lies (x0, y0, width, height); small images are enlarged."""
    h, w = src.shape[:2]
    new_w, new_h = scale_down((w, h), size)
    x0, y0 = int((w - new_w) / 2), int((h - new_h) / 2)
    return fixed_crop(src, x0, y0, new_w, new_h, size, interp), (x0, y0, new_w, new_h)


def random_crop(src: NDArray, size: Sequence[int], interp: int = 2) -> tuple[NDArray, tuple[int, int, int, int]]:
    """A part of the image in a size, drawn at random, and where it lies."""
    h, w = src.shape[:2]
    new_w, new_h = scale_down((w, h), size)
    x0, y0 = random.randint(0, w - new_w), random.randint(0, h - new_h)
    return fixed_crop(src, x0, y0, new_w, new_h, size, interp), (x0, y0, new_w, new_h)


def random_size_crop(src: NDArray, size: Sequence[int], area: Any, ratio: Sequence[float], interp: int = 2,
                     **kwargs: Any) -> tuple[NDArray, tuple[int, int, int, int]]:
    """A part with a share of the area and a ratio of width to height that are drawn, resized to ``size``.

    After ten parts that do not fit, the middle of the image.
    """
    h, w = src.shape[:2]
    low, high = (area, 1.0) if isinstance(area, int | float) else area
    for _ in range(10):
        wanted = random.uniform(low, high) * h * w
        shape = math.exp(random.uniform(math.log(ratio[0]), math.log(ratio[1])))
        new_w, new_h = round(math.sqrt(wanted * shape)), round(math.sqrt(wanted / shape))
        if 0 < new_w <= w and 0 < new_h <= h:
            x0, y0 = random.randint(0, w - new_w), random.randint(0, h - new_h)
            return fixed_crop(src, x0, y0, new_w, new_h, size, interp), (x0, y0, new_w, new_h)
    return center_crop(src, size, interp)


def color_normalize(src: NDArray, mean: Any, std: Any = None) -> NDArray:
    """The image minus the mean, divided by the standard deviation, channel by channel."""
    if mean is not None:
        src = src - mean
    return src / std if std is not None else src


# ---- turning ---------------------------------------------------------------------------------------------------

def imrotate(src: NDArray, rotation_degrees: Any, zoom_in: bool = False, zoom_out: bool = False) -> NDArray:
    """The image turned about its middle; what was outside is black.

    ``zoom_out`` shrinks it until all of it is seen, ``zoom_in`` enlarges it until nothing from outside is. A batch
    takes one angle, or an array with one for each image. ValueError for both zooms, TypeError unless float32.
    """
    if zoom_in and zoom_out:
        raise ValueError('`zoom_in` and `zoom_out` cannot be both True')
    if src.dtype is not np.float32:
        raise TypeError('Only `float32` images are supported by this function')
    single = src.ndim == 3
    if single:
        if not isinstance(rotation_degrees, int | float):
            raise TypeError('When a single image is passed the rotation angle is required to be a scalar.')
        src = src.expand_dims(0)
    elif src.ndim != 4:
        raise ValueError('Only 3D and 4D are supported by this function')
    count, _, h, w = src.shape
    if isinstance(rotation_degrees, NDArray):
        angles = rotation_degrees.asnumpy().astype(np.float64)
    else:
        angles = np.full(count, rotation_degrees, np.float64)
    if len(angles) != count:
        raise ValueError('The number of images must be equal to the number of rotation angles')
    theta = np.deg2rad(angles)[:, None, None]
    rows = (np.arange(h) - (h - 1) / 2)[None, :, None]
    columns = (np.arange(w) - (w - 1) / 2)[None, None, :]
    cosine, sine = np.cos(theta), np.sin(theta)
    x, y = columns * cosine - rows * sine, columns * sine + rows * cosine
    grid = np.stack([x / ((w - 1) / 2), y / ((h - 1) / 2)], axis=1)
    if zoom_in or zoom_out:
        grid *= _zoom(h, w, theta, zoom_out)[..., None]
    turned = nd.BilinearSampler(src, nd.array(grid, ctx=src.context, dtype='float32'))
    return turned[0] if single else turned


def _zoom(h: int, w: int, theta: np.ndarray, out: bool) -> np.ndarray:
    corner, angle = math.hypot(h, w), math.atan(h / w)
    x = np.maximum(np.abs(corner * np.cos(angle + theta)), np.abs(corner * np.cos(angle - theta)))
    y = np.maximum(np.abs(corner * np.sin(angle + theta)), np.abs(corner * np.sin(angle - theta)))
    found: np.ndarray = np.maximum(x / w, y / h) if out else np.minimum(w / x, h / y)
    return found


def random_rotate(src: NDArray, angle_limits: Sequence[float], zoom_in: bool = False,
                  zoom_out: bool = False) -> NDArray:
    """The image turned by an angle drawn between two limits; for a batch one angle for each image."""
    if src.ndim == 3:
        return imrotate(src, random.uniform(*angle_limits), zoom_in, zoom_out)
    angles = nd.random.uniform(*angle_limits, shape=src.shape[0], ctx=src.context)
    return imrotate(src, angles, zoom_in, zoom_out)
