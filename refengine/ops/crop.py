"""Crop: a part of images, of a given size or of the size of other images."""

from __future__ import annotations

from typing import Any

from ..base import MXNetError, shape_text
from ..op import Bool, Shape, register


def _window(shape: tuple[int, ...], like: Any, p: dict[str, Any]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where the part begins and how large it is."""
    size = p['h_w'] if like is None else tuple(like[2:])
    begin = tuple((n - m) // 2 for n, m in zip(shape[2:], size)) if p['center_crop'] else p['offset']
    return (begin[0], begin[1]), (size[0], size[1])


def _infer(arrays: Any, params: dict[str, Any]) -> None:
    for array in arrays:
        if array.ndim != 4:
            raise MXNetError(f'Operator Crop: Input data should be 4D in batch-num_filter-y-x, got shape '
                             f'{shape_text(array.shape)}')
    if len(arrays) > 2:
        raise MXNetError(f'Operator Crop: expected one or two arrays, got {len(arrays)}')
    shape = arrays[0].shape
    begin, size = _window(shape, arrays[1].shape if len(arrays) == 2 else None, params)
    for name, b, n, whole in zip(('height', 'width'), begin, size, shape[2:]):
        if not 1 <= n <= whole:
            raise MXNetError(f"Operator Crop: the crop {name} should be between 1 and the input data's {name}, "
                             f'{whole}; got {n}')
        if not 0 <= b <= whole - n:
            raise MXNetError(f'Operator Crop: offset {b} should be less than the residual space of {name}, '
                             f'{whole - n}')


def _grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    begin, _ = _window(inputs[0].shape, inputs[1].shape if len(inputs) == 2 else None, params)
    return (F._uncrop(ograds[0], begin=begin, sizes=tuple(inputs[0].shape[2:])),
            *(F.zeros_like(x) for x in inputs[1:]))


@register('Crop', variadic=True, infer=_infer, grad=_grad,
          params={'offset': Shape((0, 0), 'first row and column', ndim=2),
                  'h_w': Shape((0, 0), 'height and width', ndim=2), 'center_crop': Bool(False, 'take the middle')},
          samples=((((2, 2, 4, 5),), {'h_w': (2, 3), 'offset': (1, 2)}),))
def _crop(xp: Any, *data: Any, **p: Any) -> Any:
    """A part of images (batch, channel, y, x): of size h_w, or of the size of a second array."""
    (y, x), (height, width) = _window(data[0].shape, data[1].shape if len(data) == 2 else None, p)
    return data[0][:, :, y:y + height, x:x + width].copy()


@register('_uncrop', params={'begin': Shape(), 'sizes': Shape(doc='height and width of the result')},
          grad=lambda F, ograds, inputs, outputs, params: (F.Crop(
              ograds[0], h_w=tuple(inputs[0].shape[2:]), offset=params['begin'], center_crop=False),))
def _uncrop(xp: Any, data: Any, begin: tuple[int, ...] = (), sizes: tuple[int, ...] = ()) -> Any:
    """Images of zeros with a part in them."""
    out = xp.zeros(data.shape[:2] + tuple(sizes), data.dtype)
    out[:, :, begin[0]:begin[0] + data.shape[2], begin[1]:begin[1] + data.shape[3]] = data
    return out
