"""Windows of images as columns (im2col, col2im), and pooling to a given output size."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from ..base import MXNetError, shape_text
from ..op import Shape, register
from ._conv import Geometry
from ._nn import require_float, require_windows

_PARAMS = {'kernel': Shape(doc='size of the windows'), 'stride': Shape((), 'distance of windows'),
           'dilate': Shape((), 'distance of elements of a window'), 'pad': Shape((), 'zeros on both sides')}


def _geometry(sizes: Any, params: dict[str, Any]) -> Geometry:
    return Geometry(sizes, params['kernel'], params['stride'], params['dilate'], params['pad'])


def _places(geometry: Geometry) -> Iterator[tuple[int, tuple[slice, ...]]]:
    return enumerate(geometry.offsets())


# ---- im2col and col2im: each is the gradient of the other ------------------------------------------------------------

def _im2col_infer(arrays: Any, params: dict[str, Any]) -> None:
    data, kernel = arrays[0], params['kernel']
    require_windows('im2col', params)
    if data.ndim != len(kernel) + 2:
        raise MXNetError(f'Error in operator im2col: expected data with {len(kernel) + 2} axes for kernel '
                         f'{shape_text(kernel)}, got shape {shape_text(data.shape)}')
    _check_fit('im2col', _geometry(data.shape[2:], params))


def _check_fit(op: str, geometry: Geometry) -> None:
    if any(n < 1 for n in geometry.out):
        raise MXNetError(f'Error in operator {op}: kernel size exceed input: windows reach over {geometry.reach}, '
                         f'sizes with '
                         f'padding are {geometry.padded()}')


def _im2col_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any]:
    return (F.col2im(ograds[0], output_size=tuple(inputs[0].shape[2:]), **params),)


@register('im2col', params=_PARAMS, infer=_im2col_infer, grad=_im2col_grad,
          samples=((((2, 3, 5),), {'kernel': (3,), 'stride': (2,), 'pad': (1,)}),
                   (((1, 2, 4, 3),), {'kernel': (2, 2), 'dilate': (2, 1), 'pad': (1, 0)})))
def _im2col(xp: Any, data: Any, kernel: tuple[int, ...] = (), stride: tuple[int, ...] = (), dilate: tuple[int,
                                                                                                          ...] = (),
            pad: tuple[int, ...] = ()) -> Any:
    """All windows of images (batch, channels, spatial…) as columns: (batch, channels · kernel, windows)."""
    geometry = Geometry(data.shape[2:], kernel, stride, dilate, pad)
    padded = xp.pad(data, [(0, 0), (0, 0), *((p, p) for p in geometry.pad)])
    result = xp.empty((*data.shape[:2], prod(geometry.kernel), *geometry.out), data.dtype)
    for place, where in _places(geometry):
        result[:, :, place] = padded[(slice(None), slice(None), *where)]
    return result.reshape(data.shape[0], -1, prod(geometry.out))


def _col2im_infer(arrays: Any, params: dict[str, Any]) -> None:
    data, kernel, sizes = arrays[0], params['kernel'], params['output_size']
    require_windows('col2im', params)
    if len(sizes) != len(kernel):
        raise MXNetError(f'Error in operator col2im: Output size must have the same number of dimensions with '
                         f'kernel_size, but kernel_size is set to {shape_text(kernel)} while output size is '
                         f'{shape_text(sizes)}')
    if any(n < 1 for n in sizes):
        raise MXNetError(f'Error in operator col2im: incorrect output size: {shape_text(sizes)}')
    size, windows = prod(kernel), _geometry(sizes, params)
    _check_fit('col2im', windows)
    if data.ndim != 3:
        raise MXNetError(f'Error in operator col2im: expected columns with 3 axes, got shape {shape_text(data.shape)}')
    if data.shape[2] != prod(windows.out):
        raise MXNetError(f'Error in operator col2im: output size does not match convolution parameters: '
                         f'{data.shape[2]} '
                         f'columns, {prod(windows.out)} windows')
    if data.shape[1] % size:
        raise MXNetError(f'Error in operator col2im: the second dim of input shape should be multiples of kernel size: '
                         f'{data.shape[1]} rows, kernel {shape_text(kernel)}')


def _col2im_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any]:
    return (F.im2col(ograds[0], **{key: params[key] for key in _PARAMS}),)


@register('col2im', params={'output_size': Shape(doc='spatial sizes of the images'), **_PARAMS}, infer=_col2im_infer,
          grad=_col2im_grad, samples=((((2, 6, 5),), {'output_size': (6,), 'kernel': (2,)}),
                                      (((1, 8, 6),), {'output_size': (4, 3), 'kernel': (2, 2)})))
def _col2im(xp: Any, data: Any, output_size: tuple[int, ...] = (), kernel: tuple[int, ...] = (),
            stride: tuple[int, ...] = (), dilate: tuple[int, ...] = (), pad: tuple[int, ...] = ()) -> Any:
    """Images from columns: each element is the sum of all window elements that lie on it."""
    geometry = Geometry(output_size, kernel, stride, dilate, pad)
    places = prod(geometry.kernel)
    columns = data.reshape(data.shape[0], data.shape[1] // places, places, *geometry.out)
    result = xp.zeros((*columns.shape[:2], *geometry.padded()), data.dtype)
    for place, where in _places(geometry):
        result[(slice(None), slice(None), *where)] += columns[:, :, place]
    return xp.ascontiguousarray(result[(slice(None), slice(None), *geometry.inside())])


# ---- adaptive average pooling --------------------------------------------------------------------------------------

def _output_size(params: dict[str, Any]) -> tuple[int, int]:
    size = params['output_size'] or (1,)
    return (size[0], size[-1])


def _averages(xp: Any, size: int, parts: int, dtype: Any) -> Any:
    """A matrix that takes the mean of each of ``parts`` overlapping parts of an axis."""
    matrix = np.zeros((parts, size))
    for part in range(parts):
        begin, end = part * size // parts, -((-(part + 1) * size) // parts)
        matrix[part, begin:end] = 1 / (end - begin)
    return xp.asarray(matrix.astype(dtype))


def _adaptive_infer(arrays: Any, params: dict[str, Any]) -> None:
    require_float('AdaptiveAvgPooling2D', arrays[0])
    if arrays[0].ndim != 4:
        raise MXNetError(f'Error in operator AdaptiveAvgPooling2D: Input data should be 4D in batch-channel-y-x, '
                         f'got shape '
                         f'{shape_text(arrays[0].shape)}')
    if len(params['output_size']) > 2 or any(n < 1 for n in params['output_size']):
        raise MXNetError(f'Error in operator AdaptiveAvgPooling2D: output_size must be one or two positive numbers, '
                         f'got '
                         f'{shape_text(params["output_size"])}')


def _adaptive_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any]:
    return (F._adaptive_avg_backward(ograds[0], sizes=tuple(inputs[0].shape[2:])),)


@register('_contrib_AdaptiveAvgPooling2D', params={'output_size': Shape((),
                                                                        'height and width, or one number for both')},
          infer=_adaptive_infer, grad=_adaptive_grad,
          samples=((((1, 2, 5, 4),), {'output_size': (3, 2)}), (((1, 2, 3, 2),), {}), (((1, 1, 3, 2),),
                                                                                       {'output_size': (4,)})))
def _adaptive_avg_pooling(xp: Any, data: Any, output_size: tuple[int, ...] = ()) -> Any:
    """The mean of parts of images (batch, channels, y, x), as many as the output has elements."""
    height, width = _output_size({'output_size': output_size})
    down = _averages(xp, data.shape[2], height, data.dtype)
    across = _averages(xp, data.shape[3], width, data.dtype)
    return xp.matmul(xp.matmul(down, data), across.T)


@register('_adaptive_avg_backward', params={'sizes': Shape(doc='height and width of the input')},
          grad=lambda F, ograds, inputs, outputs, params: (
              F._contrib_AdaptiveAvgPooling2D(ograds[0], output_size=tuple(inputs[0].shape[2:])),))
def _adaptive_avg_backward(xp: Any, ograd: Any, sizes: tuple[int, ...] = ()) -> Any:
    """The gradient of the input of an adaptive average pooling."""
    down = _averages(xp, sizes[0], ograd.shape[2], ograd.dtype)
    across = _averages(xp, sizes[1], ograd.shape[3], ograd.dtype)
    return xp.matmul(xp.matmul(down.T, ograd), across)
