"""``nd.imdecode``: an image file as array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import MXNetError
from .creation import array
from .ndarray import NDArray


def imdecode(str_img: bytes, clip_rect: Any = (0, 0, 0, 0), out: Any = None, index: int = 0, channels: int = 3,
             mean: NDArray | None = None) -> NDArray:
    """The pixels of an image file, as float32 array (1, channels, height, width).

    ``clip_rect`` (left, top, right, bottom) is the part to take, all of it when zero; ``mean`` (channels, height,
    width) is subtracted; ``out`` (batch, channels, height, width) receives the pixels at ``index``. Raises MXNetError
    for data that is no image, ImportError without the package pillow.
    """
    from ..image.decode import pixels_of
    pixels = pixels_of(str_img, channels).astype(np.float32)
    left, top, right, bottom = clip_rect
    if right - left > 0 and bottom - top > 0:
        pixels = pixels[top:bottom, left:right]
    pixels = np.ascontiguousarray(pixels.transpose(2, 0, 1))
    if mean is not None:
        if tuple(mean.shape) != pixels.shape:
            raise MXNetError(f'the shape of mean must be that of the image, {pixels.shape}, got {tuple(mean.shape)}')
        pixels = pixels - mean.asnumpy()
    if out is None:
        return array(pixels[None])
    if tuple(out.shape[1:]) != pixels.shape or not 0 <= index < out.shape[0]:
        raise MXNetError(f'out must be (batch, {", ".join(map(str, pixels.shape))}) with a batch of more than {index}, '
                         f'got {tuple(out.shape)}')
    out[index] = pixels
    return out
