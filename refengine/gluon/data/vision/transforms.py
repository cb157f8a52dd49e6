"""What is done to images before they are learnt from: blocks that take one image, or a batch of them.

Images are (height, width, channels), uint8 or float32, until ``ToTensor`` makes them float32 (channels, height, width).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....image import geometry
from ...block import Block
from ...hybrid_block import HybridBlock
from ...nn import HybridSequential, Sequential

__all__ = ['Cast', 'CenterCrop', 'Compose', 'CropResize', 'Normalize', 'RandomApply', 'RandomBrightness',
           'RandomColorJitter', 'RandomContrast', 'RandomFlipLeftRight', 'RandomFlipTopBottom', 'RandomHue',
           'RandomLighting', 'RandomResizedCrop', 'RandomRotation', 'RandomSaturation', 'Resize', 'Rotate', 'ToTensor']


def _pair(size: Any) -> tuple[int, int]:
    return (size, size) if isinstance(size, int | float) else tuple(size)  # type: ignore[return-value]


# ---- several, one after the other --------------------------------------------------------------------------------

class Compose(Sequential):
    """Transforms one after the other; neighbours that can be compiled are compiled together.

    >>> import refengine as mx
    >>> transform = Compose([ToTensor(), Normalize(0.5, 0.5)])
    >>> transform(mx.nd.full((2, 2, 3), 255, dtype='uint8'))[0].asnumpy().tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """

    def __init__(self, transforms: Sequence[Block]) -> None:
        super().__init__()
        waiting: list[HybridBlock] = []
        for transform in [*transforms, None]:
            if isinstance(transform, HybridBlock):
                waiting.append(transform)
                continue
            if len(waiting) == 1:
                self.add(waiting[0])
                waiting[0].hybridize()
            elif waiting:
                group = HybridSequential()
                for block in waiting:
                    group.add(block)
                group.hybridize()
                self.add(group)
            waiting = []
            if transform is not None:
                self.add(transform)


class RandomApply(Sequential):
    """Transforms that are applied with probability ``p``, or not at all."""

    def __init__(self, transforms: Any, p: float = 0.5) -> None:
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, x: Any, *args: Any) -> Any:
        """The image after the transforms, or as it is."""
        if self.p < random.random():
            return x
        for transform in self.transforms if isinstance(self.transforms, list | tuple) else [self.transforms]:
            x = transform(x)
        return x


# ---- values ----------------------------------------------------------------------------------------------------

class Cast(HybridBlock):
    """The image as another element type."""

    def __init__(self, dtype: Any = 'float32') -> None:
        super().__init__()
        self._dtype = dtype

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:  # type: ignore[override]
        """Cast."""
        return F.cast(x, self._dtype)


class ToTensor(HybridBlock):
    """(height, width, channels) in 0 … 255 becomes float32 (channels, height, width) in 0 … 1; batches too."""

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:  # type: ignore[override]
        """Turn and scale."""
        return F.image.to_tensor(x)


class Normalize(HybridBlock):
    """(image - mean) / std for each channel of what ``ToTensor`` gave."""

    def __init__(self, mean: Any = 0.0, std: Any = 1.0) -> None:
        super().__init__()
        self._mean = mean
        self._std = std

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:  # type: ignore[override]
        """Normalise."""
        return F.image.normalize(x, mean=self._mean, std=self._std)


# ---- size and place ----------------------------------------------------------------------------------------------

class Resize(HybridBlock):
    """The image in another size: a number, or (width, height).

    With ``keep_ratio`` and a number that is the length of the shorter edge.
    """

    def __init__(self, size: Any, keep_ratio: bool = False, interpolation: int = 1) -> None:
        super().__init__()
        self._size = size
        self._keep = keep_ratio
        self._interpolation = interpolation

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:  # type: ignore[override]
        """Resize."""
        return F.image.resize(x, self._size, self._keep, self._interpolation)


class CropResize(HybridBlock):
    """A part of the image, resized if ``size`` is given."""

    def __init__(self, x: int, y: int, width: int, height: int, size: Any = None, interpolation: Any = None) -> None:
        super().__init__()
        self._part = (x, y, width, height)
        self._size = size
        self._interpolation = interpolation

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:  # type: ignore[override]
        """Cut and resize."""
        part = F.image.crop(x, *self._part)
        if self._size:
            part = F.image.resize(part, self._size, False, self._interpolation)
        return part


class CenterCrop(Block):
    """The middle of the image; one that is smaller is enlarged."""

    def __init__(self, size: Any, interpolation: int = 1) -> None:
        super().__init__()
        self._args = (_pair(size), interpolation)

    def forward(self, x: Any) -> Any:
        """Cut."""
        return geometry.center_crop(x, *self._args)[0]


class RandomResizedCrop(Block):
    """A part with a share of the area between ``scale`` and a shape between ``ratio``, resized to ``size``."""

    def __init__(self, size: Any, scale: Any = (0.08, 1.0), ratio: Any = (3.0 / 4.0, 4.0 / 3.0),
                 interpolation: int = 1) -> None:
        super().__init__()
        self._args = (_pair(size), scale, ratio, interpolation)

    def forward(self, x: Any) -> Any:
        """Draw, cut and resize."""
        return geometry.random_size_crop(x, *self._args)[0]


class Rotate(Block):
    """Images (channels, height, width) turned about their middle; TypeError unless float32."""

    def __init__(self, rotation_degrees: float, zoom_in: bool = False, zoom_out: bool = False) -> None:
        super().__init__()
        self._args = (rotation_degrees, zoom_in, zoom_out)

    def forward(self, x: Any) -> Any:
        """Turn."""
        _require_float32(x)
        return geometry.imrotate(x, *self._args)


class RandomRotation(Block):
    """Images turned by an angle between two limits, with a probability."""

    def __init__(self, angle_limits: Any, zoom_in: bool = False, zoom_out: bool = False,
                 rotate_with_proba: float = 1.0) -> None:
        super().__init__()
        low, high = angle_limits
        if low >= high:
            raise ValueError('`angle_limits` must be an ordered tuple')
        if not 0 <= rotate_with_proba <= 1:
            raise ValueError('Probability of rotating the image should be between 0 and 1')
        self._args = (angle_limits, zoom_in, zoom_out)
        self._probability = rotate_with_proba

    def forward(self, x: Any) -> Any:
        """Draw and turn."""
        if random.random() > self._probability:
            return x
        _require_float32(x)
        return geometry.random_rotate(x, *self._args)


def _require_float32(x: Any) -> None:
    if x.dtype is not np.float32:
        raise TypeError('This transformation only supports float32. Consider calling it after ToTensor')


# ---- at random ---------------------------------------------------------------------------------------------------

class RandomFlipLeftRight(HybridBlock):
    """Mirrored left to right in half of all cases."""

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:  # type: ignore[override]
        """Draw and mirror."""
        return F.image.random_flip_left_right(x)


class RandomFlipTopBottom(HybridBlock):
    """Turned upside down, mirrored, in half of all cases."""

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:  # type: ignore[override]
        """Draw and mirror."""
        return F.image.random_flip_top_bottom(x)


class _Range(HybridBlock):
    """A property that is multiplied by a number near 1."""

    _operator = ''

    def _limits(self, strength: float) -> None:
        self._args = (max(0, 1 - strength), 1 + strength)

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:  # type: ignore[override]
        """Draw and multiply."""
        return getattr(F.image, self._operator)(x, *self._args)


class RandomBrightness(_Range):
    """The brightness times a number in 1 ± brightness."""

    _operator = 'random_brightness'

    def __init__(self, brightness: float) -> None:
        super().__init__()
        self._limits(brightness)


class RandomContrast(_Range):
    """The contrast times a number in 1 ± contrast."""

    _operator = 'random_contrast'

    def __init__(self, contrast: float) -> None:
        super().__init__()
        self._limits(contrast)


class RandomSaturation(_Range):
    """The saturation times a number in 1 ± saturation."""

    _operator = 'random_saturation'

    def __init__(self, saturation: float) -> None:
        super().__init__()
        self._limits(saturation)


class RandomHue(_Range):
    """The hue times a number in 1 ± hue."""

    _operator = 'random_hue'

    def __init__(self, hue: float) -> None:
        super().__init__()
        self._limits(hue)


class RandomColorJitter(HybridBlock):
    """Brightness, contrast, saturation and hue, each times a number near 1, in an order that is drawn."""

    def __init__(self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0) -> None:
        super().__init__()
        self._args = (brightness, contrast, saturation, hue)

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:  # type: ignore[override]
        """Draw and change."""
        return F.image.random_color_jitter(x, *self._args)


class RandomLighting(HybridBlock):
    """Light of another colour, along the main directions of the colours of photographs."""

    def __init__(self, alpha: float) -> None:
        super().__init__()
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:  # type: ignore[override]
        """Draw and add."""
        return F.image.random_lighting(x, self._alpha)
