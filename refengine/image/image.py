"""``mx.image.image``: the functions of the package, under the name that MXNet's module has."""

from .geometry import (
    _get_interp_method,
    center_crop,
    color_normalize,
    copyMakeBorder,
    fixed_crop,
    imdecode,
    imread,
    imresize,
    imrotate,
    random_crop,
    random_rotate,
    random_size_crop,
    resize_short,
    scale_down,
)

__all__ = ['_get_interp_method', 'center_crop', 'color_normalize', 'copyMakeBorder', 'fixed_crop', 'imdecode', 'imread',
           'imresize', 'imrotate', 'random_crop', 'random_rotate', 'random_size_crop', 'resize_short', 'scale_down']
