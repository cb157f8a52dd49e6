"""The pixels of image files, by pillow."""

from __future__ import annotations

import io

import numpy as np

from ..base import MXNetError


def pixels_of(data: bytes, channels: int | None = 3) -> np.ndarray:
    """An image file as uint8 array (height, width, channels), one channel for grey or three for colours.

    None gives as many as the file has. Raises MXNetError for data that is no image and ImportError without pillow.
    """
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise ImportError("decoding images needs the package pillow: pip install 'gluon-conformance[image]'") from None
    if channels not in (1, 3, None):
        raise MXNetError(f'an image is decoded to 1 or 3 channels, not {channels}')
    try:
        with Image.open(io.BytesIO(data)) as image:
            if channels is None:
                channels = 1 if image.mode in ('1', 'L', 'I', 'F') else 3
            pixels = np.asarray(image.convert('RGB' if channels == 3 else 'L'))
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise MXNetError(f'failed to decode image: {error}') from None
    return pixels.reshape(*pixels.shape[:2], channels)


def encoded(pixels: np.ndarray, kind: str = '.jpg', quality: int = 95) -> bytes:
    """Pixels (height, width[, channels]) as an image file, .jpg or .png; ValueError for another kind."""
    from PIL import Image
    kind = kind.lower()
    if kind not in ('.jpg', '.jpeg', '.png'):
        raise ValueError(f'an image is written as .jpg or .png, not {kind}')
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    target = io.BytesIO()
    image = Image.fromarray(np.ascontiguousarray(pixels, np.uint8))
    if kind == '.png':
        image.save(target, 'PNG', compress_level=min(max(quality, 0), 9))
    else:
        image.save(target, 'JPEG', quality=quality)
    return target.getvalue()
