"""The pixels of image files, by pillow."""

from __future__ import annotations

import io

import numpy as np

from ..base import MXNetError


def pixels_of(data: bytes, channels: int = 3) -> np.ndarray:
    """An image file as uint8 array (height, width, channels), one channel for grey or three for colours.

    Raises MXNetError for data that is no image and ImportError without pillow.
    """
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise ImportError("decoding images needs the package pillow: pip install 'gluon-conformance[image]'") from None
    if channels not in (1, 3):
        raise MXNetError(f'an image is decoded to 1 or 3 channels, not {channels}')
    try:
        with Image.open(io.BytesIO(data)) as image:
            pixels = np.asarray(image.convert('RGB' if channels == 3 else 'L'))
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise MXNetError(f'failed to decode image: {error}') from None
    return pixels.reshape(*pixels.shape[:2], channels)
