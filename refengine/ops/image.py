"""Images (height, width, channels): conversion to tensors, geometry, and changes of light and colour."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import MXNetError, shape_text
from ..op import Bool, Float, Floats, Int, Shape, register
from . import _resample


def _image(op: str, data: Any, batch: bool = True, colours: bool = False) -> None:
    if data.ndim != 3 and not (batch and data.ndim == 4):
        forms = '(height, width, channels)' + (' or (N, height, width, channels)' if batch else '')
        raise MXNetError(f'Operator {op}: Input image must have shape {forms}, but got {shape_text(data.shape)}')
    if colours and data.shape[-1] not in (1, 3):
        raise MXNetError(f'Operator {op}: The last dimension of input image must be the channel dimension with either '
                         f'1 or 3 elements, but got input with shape {shape_text(data.shape)}')


# ---- tensors -------------------------------------------------------------------------------------------------------

def _channels_last(F: Any, x: Any) -> Any:
    return F.transpose(x, axes=(1, 2, 0) if len(x.shape) == 3 else (0, 2, 3, 1))


@register('_image_to_tensor', infer=lambda arrays, params: _image('to_tensor', arrays[0]),
          grad=lambda F, ograds, inputs, outputs, params: (F.cast(
              _channels_last(F, ograds[0]) / 255, dtype=_name(inputs[0])),))
def _to_tensor(xp: Any, data: Any) -> Any:
    """An image with values from 0 to 255 as tensor (channels, height, width) of float32 from 0 to 1."""
    order = (2, 0, 1) if data.ndim == 3 else (0, 3, 1, 2)
    return xp.ascontiguousarray(data.transpose(order)).astype(np.float32) / np.float32(255)


def _name(array: Any) -> str:
    return str(getattr(array.dtype, 'name', None) or array.dtype.__name__)


def _normalize_infer(arrays: Any, params: dict[str, Any]) -> None:
    data = arrays[0]
    if data.ndim not in (3, 4):
        raise MXNetError(f'Operator normalize: Input tensor must have shape (channels, height, width), or '
                         f'(N, channels, height, width), but got {shape_text(data.shape)}')
    channels = data.shape[-3]
    if channels not in (1, 3):
        raise MXNetError(f'Operator normalize: The first dimension of input tensor must be the channel dimension with '
                         f'either 1 or 3 elements, but got input with shape {shape_text(data.shape)}')
    for name in ('mean', 'std'):
        if len(params[name]) not in (1, channels):
            raise MXNetError(f'Operator normalize: Invalid {name} for input with shape {shape_text(data.shape)}. '
                             f'{name} must have either 1 or {channels} elements, but got {params[name]}')


def _per_channel(xp: Any, values: tuple[float, ...], data: Any) -> Any:
    return xp.asarray(values, data.dtype if data.dtype.kind == 'f' else np.float32).reshape(-1, 1, 1)


@register('_image_normalize', infer=_normalize_infer, params={
    'mean': Floats((0.0, 0.0, 0.0, 0.0), 'is subtracted from each channel'),
    'std': Floats((1.0, 1.0, 1.0, 1.0), 'divides each channel')}, samples=((((3, 2, 2),), {'mean': (0.0, 1.0, 2.0),
                                                                                           'std': (3.0, 2.0, 1.0)}),),
          grad=lambda F, ograds, inputs, outputs, params: (F._image_normalize(
              ograds[0], mean=(0.0,), std=params['std']),))
def _normalize(xp: Any, data: Any, mean: tuple[float, ...] = (), std: tuple[float, ...] = ()) -> Any:
    """A tensor (channels, height, width) minus mean, divided by std, per channel or one for all.

    Integers are computed with in single precision, and what is left loses its fraction.
    """
    exact = data if data.dtype.kind == 'f' else data.astype(np.float32)
    result = (exact - _per_channel(xp, mean, data)) / _per_channel(xp, std, data)
    return result.astype(data.dtype, copy=False)


# ---- geometry ------------------------------------------------------------------------------------------------------

def _crop_infer(arrays: Any, p: dict[str, Any]) -> None:
    data = arrays[0]
    _image('Image Crop', data)
    height, width = data.shape[-3:-1]
    if p['height'] <= 0 or p['width'] <= 0:
        raise MXNetError(f'Operator Image Crop: Input height and width must be greater than 0, got {p["height"]} and '
                         f'{p["width"]}')
    if p['x'] < 0:
        raise MXNetError(f'Operator Image Crop: x must not be negative, got {p["x"]}')
    if p['x'] + p['width'] > width:
        raise MXNetError(f'Operator Image Crop: x + width should not be greater than input width: {p["x"]} + '
                         f'{p["width"]} and {width}')
    if p['y'] < 0:
        raise MXNetError(f'Operator Image Crop: y must not be negative, got {p["y"]}')
    if p['y'] + p['height'] > height:
        raise MXNetError(f'Operator Image Crop: y + height should not be greater than input height: {p["y"]} + '
                         f'{p["height"]} and {height}')


_WINDOW = {'x': Int(doc='left edge'), 'y': Int(doc='upper edge'), 'width': Int(), 'height': Int()}


@register('_image_crop', infer=_crop_infer, params=_WINDOW, samples=(
    (((3, 4, 2),), {'x': 1, 'y': 0, 'width': 2, 'height': 2}),),
          grad=lambda F, ograds, inputs, outputs, params: (
              F._uncrop_image(ograds[0], like=tuple(inputs[0].shape), x=params['x'], y=params['y']),))
def _crop(xp: Any, data: Any, x: int = 0, y: int = 0, width: int = 0, height: int = 0) -> Any:
    """A part of an image."""
    return data[..., y:y + height, x:x + width, :].copy()


@register('_uncrop_image', params={'like': Shape(), 'x': Int(), 'y': Int()},
          grad=lambda F, ograds, inputs, outputs, params: (F._image_crop(
              ograds[0], x=params['x'], y=params['y'], width=inputs[0].shape[-2], height=inputs[0].shape[-3]),))
def _uncrop(xp: Any, data: Any, like: tuple[int, ...] = (), x: int = 0, y: int = 0) -> Any:
    """An image of zeros with a part in it."""
    out = xp.zeros(like, data.dtype)
    out[..., y:y + data.shape[-3], x:x + data.shape[-2], :] = data
    return out


def _target(shape: tuple[int, ...], p: dict[str, Any]) -> tuple[int, int]:
    """Width and height after resizing."""
    size = p['size']
    if len(size) == 2:
        return size[0], size[1]
    height, width = shape[-3:-1]
    if not p['keep_ratio']:
        return size[0], size[0]
    if height > width:
        return size[0], int(height * size[0] / width)
    return int(width * size[0] / height), size[0]


def _resize_infer(arrays: Any, p: dict[str, Any]) -> None:
    data = arrays[0]
    if len(p['size']) not in (1, 2):
        raise MXNetError(f'Operator resize: Input size dimension must be 1 or 2, but got {len(p["size"])}')
    if min(p['size']) < 1:
        raise MXNetError(f'Operator resize: Input width and height should be greater than 0, but got {p["size"]}')
    _image('resize', data)
    if p['interp'] not in range(5):
        raise MXNetError(f'Operator resize: Unknown interpolation method {p["interp"]}; 0 nearest, 1 linear, 2 cubic, '
                         f'3 area, 4 Lanczos')
    if data.dtype == np.float16:
        raise MXNetError('Operator resize: float16 is not supported')


@register('_image_resize', infer=_resize_infer, params={
    'size': Shape((), 'width and height, or one number for both'),
    'keep_ratio': Bool(False, 'one number is the length of the shorter edge'),
    'interp': Int(1, '0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos')})
def _resize(xp: Any, data: Any, size: tuple[int, ...] = (), keep_ratio: bool = False, interp: int = 1) -> Any:
    """An image (height, width, channels), or a batch of them, in another size."""
    width, height = _target(data.shape, {'size': size, 'keep_ratio': keep_ratio})
    host = np.asarray(data.get() if hasattr(data, 'get') else data)
    batch = host.reshape((-1,) + host.shape[-3:])
    out = np.stack([_resample.resize(image, width, height, interp) for image in batch])
    return xp.asarray(out.reshape((*data.shape[:-3], height, width, data.shape[-1])))


def _flip(name: str, axis: int, doc: str) -> None:
    def flipped(xp: Any, data: Any) -> Any:
        return xp.ascontiguousarray(xp.flip(data, axis))

    def by_chance(xp: Any, data: Any, rng: Any = None) -> Any:
        turned = rng.random() < 0.5
        kind = data.dtype if data.dtype.kind == 'f' else np.float32
        return flipped(xp, data) if turned else data.copy(), xp.full((1, 1, 1), turned, kind)

    def grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any]:
        og, turned = ograds[0], outputs[1]
        return (F.broadcast_mul(F.flip(og, axis=axis), turned) + F.broadcast_mul(og, 1 - turned),)

    register(f'_image_flip_{name}', doc=doc, samples=((((2, 3, 1),), {}),), infer=lambda arrays, params: _image(
        f'flip_{name}', arrays[0], batch=False),
             grad=lambda F, ograds, inputs, outputs, params: (F.flip(ograds[0], axis=axis),))(flipped)
    register(f'_image_random_flip_{name}', doc=doc[:-1] + ', or left as it is, by chance.', num_outputs=2, visible=1,
             grad=grad,
             infer=lambda arrays, params: _image(f'random_flip_{name}', arrays[0], batch=False))(by_chance)


_flip('left_right', 1, 'An image mirrored from left to right.')
_flip('top_bottom', 0, 'An image turned upside down.')


# ---- light and colour ----------------------------------------------------------------------------------------------

_GREY = (0.299, 0.587, 0.114)
_LIGHT = np.array([[55.46 * -0.5675, 4.794 * 0.7192, 1.148 * 0.4009],
                   [55.46 * -0.5808, 4.794 * -0.0045, 1.148 * -0.8140],
                   [55.46 * -0.5836, 4.794 * -0.6948, 1.148 * 0.4203]], np.float32)
"""Principal components of the colours of ImageNet, times their deviations, one column each (AlexNet)."""


def brightness(xp: Any, x: Any, factor: float) -> Any:
    """All values times a factor."""
    return x * np.float32(factor)


def contrast(xp: Any, x: Any, factor: float) -> Any:
    """The distance of all values from the mean grey times a factor."""
    grey = xp.asarray(_GREY, np.float32) if x.shape[2] == 3 else xp.ones(1, np.float32)
    mean = (x * grey).sum(axis=2, dtype=np.float64).mean()
    return x * np.float32(factor) + np.float32((1 - factor) * float(mean))


def saturation(xp: Any, x: Any, factor: float) -> Any:
    """The distance of each pixel from its grey times a factor."""
    if x.shape[2] == 1:
        return x.copy()
    grey = (x * xp.asarray(_GREY, np.float32)).sum(axis=2, keepdims=True)
    return x * np.float32(factor) + grey * np.float32(1 - factor)


def hue(xp: Any, x: Any, factor: float) -> Any:
    """All hues turned by the factor times a full circle."""
    if x.shape[2] == 1:
        return x.copy()
    h, light, s = _to_hls(xp, x)
    return _from_hls(xp, h + np.float32(factor * 360), light, s)


def _to_hls(xp: Any, x: Any) -> tuple[Any, Any, Any]:
    red, green, blue = (x[..., i] / np.float32(255) for i in range(3))
    high, low = xp.maximum(xp.maximum(red, green), blue), xp.minimum(xp.minimum(red, green), blue)
    span, light = high - low, (high + low) * np.float32(0.5)
    coloured = span > np.finfo(np.float32).eps
    safe = xp.where(coloured, span, 1)
    divisor = xp.where(light < 0.5, high + low, 2 - high - low)
    s = xp.where(coloured, span / xp.where(divisor == 0, 1, divisor), 0)
    h = xp.where(high == red, (green - blue) / safe, xp.where(high == green, (blue - red) / safe + 2,
                                                              (red - green) / safe + 4)) * 60
    h = xp.where(coloured, xp.where(h < 0, h + 360, h), 0)
    return h, light, s


def _from_hls(xp: Any, h: Any, light: Any, s: Any) -> Any:
    top = xp.where(light <= 0.5, light * (1 + s), light + s - light * s)
    bottom = 2 * light - top
    sector = xp.mod(h / 60, 6)
    whole = xp.floor(sector)
    part = sector - whole
    table = xp.stack((top, bottom, bottom + (top - bottom) * (1 - part), bottom + (top - bottom) * part), axis=-1)
    order = xp.asarray([[0, 3, 1], [2, 0, 1], [1, 0, 3], [1, 2, 0], [3, 1, 0], [0, 1, 2]])
    chosen = order[whole.astype(np.int64) % 6]
    out = xp.take_along_axis(table, chosen, axis=-1)
    grey = xp.broadcast_to(light[..., None], out.shape)
    return xp.where((s == 0)[..., None], grey, out) * np.float32(255)


def lighting(xp: Any, x: Any, alpha: Any) -> Any:
    """The principal components of natural colours added with the given weights."""
    if x.shape[2] == 1:
        return x.copy()
    return x + (xp.asarray(_LIGHT) @ xp.asarray(alpha, np.float32))


def _applied(xp: Any, data: Any, change: Callable[..., Any], *values: Any) -> Any:
    """A change of all values; whole numbers lose their fraction and stay within their range."""
    wide = data if data.dtype == np.float64 else data.astype(np.float32)
    changed = change(xp, wide, *values)
    if data.dtype.kind != 'f':
        limits = np.iinfo(data.dtype)
        changed = xp.clip(changed, limits.min, limits.max)
    return changed.astype(data.dtype)


def _passed(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any]:
    """The gradient of changes by chance is that of the identity, as in MXNet 1.9.1."""
    return (ograds[0],)


_RANGE = {'min_factor': Float(doc='least factor', low=0.0), 'max_factor': Float(doc='largest factor', low=0.0)}
_CHANGES: dict[str, tuple[Callable[..., Any], str]] = {
    'brightness': (brightness, 'An image with its values multiplied by a factor drawn between two numbers.'),
    'contrast': (contrast, 'An image whose contrast is multiplied by a factor drawn between two numbers.'),
    'saturation': (saturation, 'An image whose saturation is multiplied by a factor drawn between two numbers.'),
    'hue': (hue, 'An image whose hues are turned by a part of the circle drawn between two numbers.'),
}


def _colours(op: str) -> Callable[..., None]:
    return lambda arrays, params: _image(op, arrays[0], batch=False, colours=True)


def _change(name: str, body: Callable[..., Any], doc: str) -> None:
    def by_chance(xp: Any, data: Any, min_factor: float = 1.0, max_factor: float = 1.0, rng: Any = None) -> Any:
        return _applied(xp, data, body, min_factor + (max_factor - min_factor) * rng.random())

    register(f'_image_random_{name}', params=_RANGE, infer=_colours(f'random_{name}'), grad=_passed,
             doc=doc)(by_chance)


for _name_of, (_body, _doc) in _CHANGES.items():
    _change(_name_of, _body, _doc)


@register('_image_random_color_jitter', infer=_colours('random_color_jitter'), grad=_passed, params={
    'brightness': Float(doc='how far brightness may be from 1'), 'contrast': Float(doc='the same for contrast'),
    'saturation': Float(doc='the same for saturation'), 'hue': Float(doc='how far hues may be turned')})
def _color_jitter(xp: Any, data: Any, brightness: float = 0.0, contrast: float = 0.0, saturation: float = 0.0,
                  hue: float = 0.0, rng: Any = None) -> Any:
    """An image with brightness, contrast, saturation and hue changed by chance, in an order drawn by chance."""
    out = data.copy()
    amounts = {'brightness': brightness, 'contrast': contrast, 'saturation': saturation, 'hue': hue}
    for index in rng.permutation(4):
        name = list(amounts)[index]
        amount = amounts[name]
        if amount > 0:
            middle = 0.0 if name == 'hue' else 1.0
            out = _applied(xp, out, _CHANGES[name][0], middle + amount * (2 * rng.random() - 1))
    return out


@register('_image_adjust_lighting', infer=_colours('adjust_lighting'), grad=_passed, samples=(
    (((2, 3, 3),), {'alpha': (0.1, -0.2, 0.3)}),),
          params={'alpha': Floats(doc='weights of the three components')})
def _adjust_lighting(xp: Any, data: Any, alpha: tuple[float, ...] = ()) -> Any:
    """An image with the principal components of natural colours added (AlexNet)."""
    if len(alpha) != 3:
        raise MXNetError(f'Operator adjust_lighting: three weights are needed, got {alpha}')
    return _applied(xp, data, lighting, alpha)


@register('_image_random_lighting', infer=_colours('random_lighting'), grad=_passed,
          params={'alpha_std': Float(0.05, 'deviation of the weights')})
def _random_lighting(xp: Any, data: Any, alpha_std: float = 0.05, rng: Any = None) -> Any:
    """An image with the principal components of natural colours added, with normally distributed weights."""
    return _applied(xp, data, lighting, rng.normal(0.0, alpha_std, 3) if alpha_std > 0 else np.zeros(3))
