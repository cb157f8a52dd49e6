"""BilinearResize2D: images of another size, as a product with one matrix from each side."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..base import MXNetError, shape_text
from ..op import Bool, Enum, Float, Int, Shape, register
from ._nn import require_float

_OP = '_contrib_BilinearResize2D'


@lru_cache(maxsize=64)
def _weights(size: int, target: int, align: bool) -> np.ndarray:
    """The matrix (target, size) that interpolates along one axis."""
    matrix = np.zeros((target, size))
    if align:
        step = (size - 1) / (target - 1) if target > 1 else 0.0
        at = np.arange(target) * step
    else:
        # A single element is the first one, not the middle of the axis: the releases take no step along it.
        step = size / target if target > 1 else 0.0
        at = np.maximum((np.arange(target) + 0.5) * step - 0.5, 0)
    low = np.minimum(at.astype(int), size - 1)
    part = at - low
    rows = np.arange(target)
    np.add.at(matrix, (rows, low), 1 - part)
    np.add.at(matrix, (rows, np.minimum(low + 1, size - 1)), part)
    return matrix


def _target(size: int, number: int, scale: Any, mode: str) -> int:
    """The length of one axis after resizing."""
    if mode == 'odd_scale':
        return int(size * scale) if size % 2 == 0 else int((size - 1) * scale) + 1
    if mode == 'size':
        return number if scale is None else int(size * scale)
    odd = size % 2
    return size + {'to_even_down': -odd, 'to_even_up': odd, 'to_odd_down': odd - 1, 'to_odd_up': 1 - odd}[mode]


def _targets(shape: tuple[int, ...], like: Any, p: dict[str, Any]) -> tuple[int, int]:
    if p['mode'] == 'like':
        return like[2], like[3]
    return (_target(shape[2], p['height'], p['scale_height'], p['mode']),
            _target(shape[3], p['width'], p['scale_width'], p['mode']))


def _infer(arrays: Any, params: dict[str, Any]) -> None:
    for array in arrays:
        if array.ndim != 4:
            raise MXNetError(f'Operator {_OP}: images (batch, channel, y, x) are needed, got shape '
                             f'{shape_text(array.shape)}')
    require_float(_OP, arrays[0])
    scales = params['scale_height'], params['scale_width']
    if (scales[0] is None) != (scales[1] is None) or (params['mode'] == 'odd_scale' and scales[0] is None):
        raise MXNetError(f'Operator {_OP}: scale_height and scale_width must both be given, got {scales}')


def _grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    sizes = tuple(inputs[0].shape[2:])
    of_data = F._resize_backward(ograds[0], sizes=sizes, align_corners=params['align_corners'])
    return (of_data, *(F.zeros_like(x) for x in inputs[1:]))


@register(_OP, inputs=('data', 'like'), num_inputs=lambda params: 2 if params['mode'] == 'like' else 1, infer=_infer,
          mixed=True, grad=_grad,
          params={'height': Int(1, 'height of the result', low=1), 'width': Int(1, 'width of the result', low=1),
                  'scale_height': Float(None, 'factor of the height, in place of it', none=True),
                  'scale_width': Float(None, 'factor of the width, in place of it', none=True),
                  'mode': Enum(('size', 'odd_scale', 'like', 'to_even_down', 'to_even_up', 'to_odd_down', 'to_odd_up'),
                               'size', 'where height and width come from'),
                  'align_corners': Bool(True, 'the outermost elements stay where they are')},
          samples=((((2, 2, 3, 4),), {'height': 5, 'width': 2}),
                   (((1, 2, 3, 4), 'mask:1x1x2x5'), {'mode': 'like', 'align_corners': False})))
def _resize(xp: Any, data: Any, like: Any = None, align_corners: bool = True, **p: Any) -> Any:
    """Images (batch, channel, y, x) of another size by bilinear interpolation.

    The size is height and width, or the factors; or that of ``like``; or the next even or odd one. odd_scale keeps
    the first of an odd number of lines apart: (n - 1) · factor + 1.
    """
    down, across = (xp.asarray(_weights(size, target, align_corners).astype(data.dtype)) for size, target in zip(
        data.shape[2:], _targets(data.shape, like.shape if like is not None else None, p)))
    return xp.matmul(xp.matmul(down, data), across.T)


@register('_resize_backward', params={'sizes': Shape(doc='height and width of the input'),
                                      'align_corners': Bool(True)},
          grad=lambda F, ograds, inputs, outputs, params: (
              F._contrib_BilinearResize2D(ograds[0], height=inputs[0].shape[2], width=inputs[0].shape[3], mode='size',
                                          scale_height=None, scale_width=None, align_corners=params['align_corners']),))
def _resize_backward(xp: Any, ograd: Any, sizes: tuple[int, ...] = (), align_corners: bool = True) -> Any:
    """The gradient of the input of BilinearResize2D."""
    down, across = (xp.asarray(_weights(size, target, align_corners).astype(ograd.dtype))
                    for size, target in zip(sizes, ograd.shape[2:]))
    return xp.matmul(xp.matmul(down.T, ograd), across)
