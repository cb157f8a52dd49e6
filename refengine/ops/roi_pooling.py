"""ROIPooling: the largest elements of regions of an image, in a fixed number of bins."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import MXNetError, shape_text
from ..op import Float, Shape, register
from ._nn import require_float

BINS = Shape(doc='number of bins down and across', ndim=2, nonzero=True)


def check_regions(op: str, arrays: Any, params: dict[str, Any], width: int = 5) -> None:
    """Images (batch, channel, y, x), regions (n, width): batch index, then coordinates, and the number of bins."""
    data, rois = arrays[:2]
    bins = params['pooled_size']
    if any(n < 0 for n in (bins if isinstance(bins, tuple) else (bins,))):
        raise MXNetError(f'Operator {op}: the parameter pooled_size must not be negative, got {bins}')
    require_float(op, data)
    if data.ndim != 4:
        raise MXNetError(f'Operator {op}: data should be a 4D tensor, got shape {shape_text(data.shape)}')
    if rois.ndim != 2 or rois.shape[1] != width:
        raise MXNetError(f'Operator {op}: bbox should be a 2D tensor of shape [batch, {width}], got shape '
                         f'{shape_text(rois.shape)}')


def round_away(value: float) -> int:
    """The nearest integer, halves away from zero."""
    return int(np.copysign(np.floor(abs(value) + 0.5), value))


def single(scale: float, dtype: Any) -> Any:
    """A factor of coordinates of the given type: it has single precision, whatever they have."""
    return dtype.type(np.float32(scale))


def image_of(roi: Any, batch: int, op: str) -> int | None:
    """The image that a region lies in; None for a negative index; MXNetError for one that is too large."""
    index = int(roi[0])
    if index >= batch:
        raise MXNetError(f'Operator {op}: a region lies in image {index}, but there are {batch} images')
    return index if index >= 0 else None


def _bins(start: int, stop: int, count: int, size: int) -> list[tuple[int, int]]:
    """Where each of ``count`` bins between two pixels begins and ends, within the image."""
    step = np.float32(max(stop - start + 1, 1)) / np.float32(count)
    found = []
    for index in range(count):
        low = int(np.floor(np.float32(index) * step)) + start
        high = int(np.ceil(np.float32(index + 1) * step)) + start
        found.append((min(max(low, 0), size), min(max(high, 0), size)))
    return found


@register('ROIPooling', inputs=('data', 'rois'), num_outputs=2, visible=1,
          infer=lambda arrays, params: check_regions('ROIPooling', arrays, params),
          params={'pooled_size': BINS,
                  'spatial_scale': Float(doc='pixels of the array per unit of the coordinates', low=0.0, high=1.0)},
          grad=lambda F, ograds, inputs, outputs, params: (
              F._region_places_backward(ograds[0], outputs[1], inputs[1], data_shape=inputs[0].shape),
              F.zeros_like(inputs[1])),
          samples=((((2, 2, 4, 5), 'fixed:[[0, 0, 0, 3, 2], [1, 1, 1, 4, 3], [1, 0, 0, 1, 1]]'),
                    {'pooled_size': (2, 2), 'spatial_scale': 1.0}),))
def _roi_pooling(xp: Any, data: Any, rois: Any, pooled_size: tuple[int, ...] = (),
                 spatial_scale: float = 1.0) -> tuple[Any, Any]:
    """The largest element in each bin of each region (image, left, top, right, bottom); 0 in empty bins.

    The second, hidden, output is the place of that element within its channel, -1 for an empty bin.
    """
    batch, channels, height, width = data.shape
    rows, columns = pooled_size
    shape = (len(rois), channels, rows, columns)
    out, places = xp.zeros(shape, data.dtype), xp.full(shape, -1, data.dtype)
    for n, roi in enumerate(rois):
        image = image_of(roi, batch, 'ROIPooling')
        if image is None:
            continue
        left, top, right, bottom = (round_away(float(v * single(spatial_scale, roi.dtype))) for v in roi[1:5])
        across = _bins(left, right, columns, width)
        for i, (y0, y1) in enumerate(_bins(top, bottom, rows, height)):
            for j, (x0, x1) in enumerate(across):
                if y1 > y0 and x1 > x0:
                    window = data[image, :, y0:y1, x0:x1].reshape(channels, -1)
                    first = window.argmax(axis=1)
                    out[n, :, i, j] = window[xp.arange(channels), first]
                    places[n, :, i, j] = (y0 + first // (x1 - x0)) * width + x0 + first % (x1 - x0)
    return out, places


def _spread(xp: Any, places: Any, rois: Any, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Which results have a place, and where it is in the flat array of images."""
    _, channels, height, width = shape
    index = places.astype(np.int64)
    image = rois[:, 0].astype(np.int64)[:, None, None, None]
    channel = xp.arange(channels)[None, :, None, None]
    return index >= 0, (image * channels + channel) * (height * width) + index


@register('_region_places_backward', inputs=('ograd', 'places', 'rois'), mixed=True,
          params={'data_shape': Shape(doc='shape of the images')},
          grad=lambda F, ograds, inputs, outputs, params: (
              F._region_places(ograds[0], inputs[1], inputs[2]), None, None))
def _region_places_backward(xp: Any, ograd: Any, places: Any, rois: Any, data_shape: tuple[int, ...] = ()) -> Any:
    """Each output gradient added at its place in the images."""
    there, flat = _spread(xp, places, rois, data_shape)
    total = xp.bincount(flat[there], weights=ograd[there], minlength=int(np.prod(data_shape)))
    return total.reshape(data_shape).astype(ograd.dtype)


@register('_region_places', inputs=('data', 'places', 'rois'), mixed=True,
          grad=lambda F, ograds, inputs, outputs, params: (
              F._region_places_backward(ograds[0], inputs[1], inputs[2], data_shape=inputs[0].shape), None, None))
def _region_places(xp: Any, data: Any, places: Any, rois: Any) -> Any:
    """The elements of images at places."""
    there, flat = _spread(xp, places, rois, data.shape)
    return xp.where(there, data.reshape(-1)[xp.where(there, flat, 0)], 0).astype(data.dtype)


