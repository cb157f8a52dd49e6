"""Images: decoding, cutting, resizing, turning."""

import importlib
from typing import Any

_GEOMETRY = ('imdecode', 'imread', 'imresize', 'scale_down', 'resize_short', 'fixed_crop', 'center_crop', 'random_crop',
             'random_size_crop', 'color_normalize', 'imrotate', 'random_rotate', 'copyMakeBorder')


def __getattr__(name: str) -> Any:
    if name in _GEOMETRY:
        return getattr(importlib.import_module(f'{__name__}.geometry'), name)
    if name == 'image':
        return importlib.import_module(f'{__name__}.image')
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> list[str]:
    return sorted({*globals(), *_GEOMETRY})
