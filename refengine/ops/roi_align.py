"""Pooling of regions by interpolation or by position: ROIAlign, PSROIPooling and the rotated RROIAlign.

All are linear in the images. An upright region is a product with one matrix from each side: row i of the left one
says how much each line of the image counts in bin i.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..base import MXNetError
from ..op import Bool, Float, Int, Shape, register
from .roi_pooling import BINS, check_regions, image_of, round_away, single

_SCALE = Float(doc='pixels of the array per unit of the coordinates', low=0.0, high=1.0)


# ---- regions as pairs of matrices ----------------------------------------------------------------------------------

def _lines(positions: np.ndarray, size: int) -> np.ndarray:
    """Interpolation weights (positions, size) of points along an axis; none for a point outside."""
    weights = np.zeros((len(positions), size))
    inside = (positions >= -1) & (positions <= size)
    at = np.clip(positions, 0, size - 1)
    low = np.minimum(np.floor(at).astype(int), size - 1)
    high = np.minimum(low + 1, size - 1)
    part = at - low
    rows = np.nonzero(inside)[0]
    np.add.at(weights, (rows, low[rows]), 1 - part[rows])
    np.add.at(weights, (rows, high[rows]), part[rows])
    return weights


def _aligned_axis(low: float, high: float, bins: int, size: int, ratio: int, aligned: bool) -> np.ndarray:
    """The matrix of one axis: the mean of the points of each bin."""
    kind = np.float32
    start = kind(low) - kind(0.5 if aligned else 0)
    length = kind(high) - kind(low)
    if not aligned:
        length = max(length, kind(1))
    step = length / kind(bins)
    points = ratio if ratio > 0 else math.ceil(step)
    if points < 1:
        return np.zeros((bins, size))
    offsets = (np.arange(points, dtype=kind) + kind(0.5)) * step / kind(points)
    positions = start + np.arange(bins, dtype=kind)[:, None] * step + offsets
    return _lines(positions.reshape(-1).astype(float), size).reshape(bins, points, size).mean(axis=1)


def _pooled_axis(low: Any, high: Any, bins: int, size: int) -> np.ndarray:
    """The matrix of one axis of PSROIPooling: the mean of the lines that a bin touches, in the type of the limits."""
    kind = low.dtype.type
    step = max(high - low, kind(0.1)) / kind(bins)
    weights = np.zeros((bins, size))
    for index in range(bins):
        first = min(max(int(np.floor(kind(index) * step + low)), 0), size)
        last = min(max(int(np.ceil(kind(index + 1) * step + low)), 0), size)
        if last > first:
            weights[index, first:last] = 1.0 / (last - first)
    return weights


def _support(matrix: np.ndarray) -> slice:
    used = np.nonzero(matrix.any(axis=0))[0]
    return slice(int(used[0]), int(used[-1]) + 1) if len(used) else slice(0, 0)


Pair = tuple[np.ndarray, np.ndarray]


def _regions(op: str, rois: Any, shape: tuple[int, ...], matrices: Callable[[Any], Pair]) -> Iterator[
        tuple[int, int, Any, Any, slice, slice]]:
    """For each region in an image: number, image, both matrices cut to what they use, and the lines they use."""
    host = np.asarray(rois.get() if hasattr(rois, 'get') else rois)
    for n, roi in enumerate(host):
        image = image_of(roi, shape[0], op)
        if image is None:
            continue
        down, across = matrices(roi)
        y, x = _support(down), _support(across)
        yield n, image, down[:, y], across[:, x], y, x


def _pool(xp: Any, op: str, data: Any, rois: Any, matrices: Callable[[Any], Pair], bins: tuple[int, int],
          by_place: int) -> Any:
    """Products with the matrices of each region; with ``by_place`` (groups) each bin has channels of its own."""
    channels = data.shape[1] // (by_place or 1)
    out = xp.zeros((len(rois), channels, *bins), data.dtype)
    for n, image, down, across, y, x in _regions(op, rois, data.shape, matrices):
        left, right = xp.asarray(down, data.dtype), xp.asarray(across, data.dtype)
        part = data[image, :, y, x]
        if by_place:
            out[n] = xp.einsum('iy,jx,cijyx->cij', left, right, part.reshape(channels, *bins, *part.shape[1:]))
        else:
            out[n] = xp.matmul(xp.matmul(left, part), right.T)
    return out


def _unpool(xp: Any, op: str, ograd: Any, rois: Any, shape: tuple[int, ...], matrices: Callable[[Any], Pair],
            by_place: int) -> Any:
    """The transpose of ``_pool``."""
    out = xp.zeros(shape, ograd.dtype)
    for n, image, down, across, y, x in _regions(op, rois, shape, matrices):
        left, right = xp.asarray(down, ograd.dtype), xp.asarray(across, ograd.dtype)
        if by_place:
            part = xp.einsum('iy,jx,cij->cijyx', left, right, ograd[n])
            out[image, :, y, x] += part.reshape((shape[1],) + part.shape[3:])
        else:
            out[image, :, y, x] += xp.matmul(xp.matmul(left.T, ograd[n]), right)
    return out


def _linear(name: str, pooled: Callable[..., Any], spread: Callable[..., Any], params: dict[str, Any],
            **record: Any) -> None:
    """Register a pooling that is linear in the images, and its transpose, each the gradient of the other."""
    backward = f'_{name.lower()}_backward'

    def grad(F: Any, ograds: Any, inputs: Any, outputs: Any, given: dict[str, Any]) -> tuple[Any, Any]:
        return (getattr(F, backward)(ograds[0], inputs[1], data_shape=tuple(inputs[0].shape), **given),
                F.zeros_like(inputs[1]))

    def back(F: Any, ograds: Any, inputs: Any, outputs: Any, given: dict[str, Any]) -> tuple[Any, Any]:
        rest = {key: value for key, value in given.items() if key != 'data_shape'}
        return getattr(F, name)(ograds[0], inputs[1], **rest), None

    register(name, inputs=('data', 'rois'), params=params, grad=grad, **record)(pooled)
    register(backward, inputs=('ograd', 'rois'), params={**params, 'data_shape': Shape(doc='shape of the images')},
             grad=back)(spread)


# ---- ROIAlign ------------------------------------------------------------------------------------------------------

def _align_infer(arrays: Any, params: dict[str, Any]) -> None:
    check_regions('_contrib_ROIAlign', arrays, params)
    bins = params['pooled_size'][0] * params['pooled_size'][1]
    if params['position_sensitive'] and arrays[0].shape[1] % bins:
        raise MXNetError(f'Operator _contrib_ROIAlign: Input channels should be divided by '
                         f'pooled_size[0]*pooled_size[1] when position_sensitive is true, got {arrays[0].shape[1]} '
                         f'channels for {bins} bins')


def _align_matrices(p: dict[str, Any], height: int, width: int) -> Callable[[Any], Pair]:
    rows, columns = p['pooled_size']

    def matrices(roi: Any) -> Pair:
        left, top, right, bottom = (roi[1:5] * single(p['spatial_scale'], roi.dtype)).tolist()
        ratio, aligned = p['sample_ratio'], p['aligned']
        return (_aligned_axis(top, bottom, rows, height, ratio, aligned),
                _aligned_axis(left, right, columns, width, ratio, aligned))

    return matrices


def _roi_align(xp: Any, data: Any, rois: Any, **p: Any) -> Any:
    """The mean of interpolated points in each bin of each region (image, left, top, right, bottom).

    A region with a negative image gives zeros. Without sample_ratio there are as many points as a bin has pixels.
    """
    rows, columns = p['pooled_size']
    return _pool(xp, '_contrib_ROIAlign', data, rois, _align_matrices(p, *data.shape[2:]), (rows, columns),
                 rows * columns if p['position_sensitive'] else 0)


def _roi_align_backward(xp: Any, ograd: Any, rois: Any, data_shape: tuple[int, ...] = (), **p: Any) -> Any:
    """The gradient of ROIAlign by its images."""
    rows, columns = p['pooled_size']
    return _unpool(xp, '_contrib_ROIAlign', ograd, rois, data_shape, _align_matrices(p, *data_shape[2:]),
                   rows * columns if p['position_sensitive'] else 0)


_ROIS = 'fixed:[[0, 0.5, 0, 3.2, 2.7], [1, 1, 1, 4, 3], [1, -0.5, 0.4, 1, 6]]'

_linear('_contrib_ROIAlign', _roi_align, _roi_align_backward, {
    'pooled_size': BINS, 'spatial_scale': Float(
        doc='pixels of the array per unit of the coordinates'),
    'sample_ratio': Int(-1, 'points per bin and axis; -1: one per pixel'),
    'position_sensitive': Bool(False, 'each bin has channels of its own'),
    'aligned': Bool(False, 'coordinates are of corners of pixels, not of their centres')},
    infer=_align_infer, samples=(
        (((2, 2, 4, 5), _ROIS), {'pooled_size': (2, 3), 'spatial_scale': 0.9}),
        (((2, 8, 4, 5), _ROIS), {'pooled_size': (2, 2), 'spatial_scale': 1.0, 'sample_ratio': 2, 'aligned': True,
                                 'position_sensitive': True})))


# ---- PSROIPooling --------------------------------------------------------------------------------------------------

def _position_infer(arrays: Any, params: dict[str, Any]) -> None:
    check_regions('_contrib_PSROIPooling', arrays, params)
    for name in ('output_dim', 'group_size'):
        if params[name] < 0:
            raise MXNetError(f'Operator _contrib_PSROIPooling: the parameter {name} must not be negative, got '
                             f'{params[name]}')
    group = params['group_size'] or params['pooled_size']
    if arrays[0].shape[1] != params['output_dim'] * group * group:
        raise MXNetError(f'Operator _contrib_PSROIPooling: expected output_dim · group_size² = '
                         f'{params["output_dim"] * group * group} channels, got {arrays[0].shape[1]}')


def _position_matrices(p: dict[str, Any], height: int, width: int) -> Callable[[Any], Pair]:
    def matrices(roi: Any) -> Pair:
        scale = single(p['spatial_scale'], roi.dtype)
        left, top = (roi.dtype.type(round_away(float(v))) * scale for v in roi[1:3])
        right, bottom = (roi.dtype.type(round_away(float(v)) + 1) * scale for v in roi[3:5])
        return (_pooled_axis(top, bottom, p['pooled_size'], height),
                _pooled_axis(left, right, p['pooled_size'], width))

    return matrices


def _group_channels(p: dict[str, Any], xp: Any) -> Any:
    """For each output channel and bin the channel that it pools."""
    bins, group = p['pooled_size'], p['group_size'] or p['pooled_size']
    place = np.minimum(np.arange(bins) * group // bins, group - 1)
    channel = np.arange(p['output_dim'])[:, None, None] * group + place[None, :, None]
    return xp.asarray((channel * group + place[None, None, :]).reshape(-1))


def _position_pooling(xp: Any, data: Any, rois: Any, **p: Any) -> Any:
    """The mean of each bin of each region, each bin from a channel of its own (R-FCN)."""
    bins = p['pooled_size']
    if not bins:
        return xp.zeros((len(rois), p['output_dim'], 0, 0), data.dtype)
    return _pool(xp, '_contrib_PSROIPooling', data[:, _group_channels(p, xp)], rois,
                 _position_matrices(p, *data.shape[2:]), (bins, bins), bins * bins)


def _position_pooling_backward(xp: Any, ograd: Any, rois: Any, data_shape: tuple[int, ...] = (), **p: Any) -> Any:
    """The gradient of PSROIPooling by its images."""
    bins, channels = p['pooled_size'], _group_channels(p, xp)
    if not bins:
        return xp.zeros(data_shape, ograd.dtype)
    shape = (data_shape[0], len(channels), *data_shape[2:])
    spread = _unpool(xp, '_contrib_PSROIPooling', ograd, rois, shape, _position_matrices(p, *data_shape[2:]),
                     bins * bins)
    out = xp.zeros(data_shape, ograd.dtype)
    for place, channel in enumerate(channels.tolist()):       # several bins may pool one channel
        out[:, channel] += spread[:, place]
    return out


_linear('_contrib_PSROIPooling', _position_pooling, _position_pooling_backward, {
    'spatial_scale': _SCALE, 'output_dim': Int(doc='number of output channels'),
    'pooled_size': Int(doc='number of bins down and across'),
    'group_size': Int(0, 'number of channel groups down and across; 0: pooled_size')},
    infer=_position_infer, samples=(
        (((2, 8, 4, 5), _ROIS), {'spatial_scale': 1.0, 'output_dim': 2, 'pooled_size': 2}),
        (((2, 4, 4, 5), _ROIS), {'spatial_scale': 0.9, 'output_dim': 1, 'pooled_size': 3, 'group_size': 2})))


# ---- RROIAlign -----------------------------------------------------------------------------------------------------

def _rotated_points(roi: np.ndarray, p: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Vertical and horizontal coordinates (rows, columns, points) of the points of each bin."""
    rows, columns = p['pooled_size']
    x, y, width, height, angle = (roi[1:6].astype(np.float32)).tolist()
    scale, turn = p['spatial_scale'], angle * math.pi / 180
    x, y = x * scale, y * scale
    width, height = max(width * scale, 1.0), max(height * scale, 1.0)
    down, across = height / rows, width / columns
    ratio = p['sampling_ratio']
    many_y, many_x = (ratio, ratio) if ratio > 0 else (math.ceil(np.float32(down)), math.ceil(np.float32(across)))
    dy = -height / 2 + np.arange(rows)[:, None] * down + (np.arange(many_y) + 0.5) * down / many_y
    dx = -width / 2 + np.arange(columns)[:, None] * across + (np.arange(many_x) + 0.5) * across / many_x
    shape = (rows, columns, many_y * many_x)
    dy = np.broadcast_to(dy[:, None, :, None], (rows, columns, many_y, many_x)).reshape(shape)
    dx = np.broadcast_to(dx[None, :, None, :], (rows, columns, many_y, many_x)).reshape(shape)
    return (dy * math.cos(turn) - dx * math.sin(turn) + y), (dx * math.cos(turn) + dy * math.sin(turn) + x)


def _rotated_corners(roi: np.ndarray, p: dict[str, Any], height: int, width: int) -> Iterator[
        tuple[np.ndarray, np.ndarray]]:
    """Flat places and weights (rows, columns, points) of the four neighbours of all points."""
    y, x = _rotated_points(roi, p)
    inside = (y >= -1) & (y <= height) & (x >= -1) & (x <= width)
    y, x = np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)
    top, left = np.floor(y).astype(int), np.floor(x).astype(int)
    bottom, right = np.minimum(top + 1, height - 1), np.minimum(left + 1, width - 1)
    dy, dx = y - top, x - left
    share = inside / y.shape[-1]
    for row, column, weight in ((top, left, (1 - dy) * (1 - dx)), (top, right, (1 - dy) * dx),
                                (bottom, left, dy * (1 - dx)), (bottom, right, dy * dx)):
        yield row * width + column, weight * share


def _rotated(xp: Any, data: Any, rois: Any, **p: Any) -> Any:
    """ROIAlign of rotated regions (image, x, y, width, height, degrees)."""
    batch, channels, height, width = data.shape
    out = xp.zeros((len(rois), channels, *p['pooled_size']), data.dtype)
    flat = data.reshape(batch, channels, -1)
    for n, roi in enumerate(np.asarray(rois.get() if hasattr(rois, 'get') else rois)):
        image = image_of(roi, batch, '_contrib_RROIAlign')
        if image is not None:
            for place, weight in _rotated_corners(roi, p, height, width):
                out[n] += (flat[image][:, xp.asarray(place)] * xp.asarray(weight, data.dtype)).sum(axis=-1)
    return out


def _rotated_backward(xp: Any, ograd: Any, rois: Any, data_shape: tuple[int, ...] = (), **p: Any) -> Any:
    """The gradient of RROIAlign by its images."""
    batch, channels, height, width = data_shape
    out = xp.zeros((batch, channels, height * width), ograd.dtype)
    for n, roi in enumerate(np.asarray(rois.get() if hasattr(rois, 'get') else rois)):
        image = image_of(roi, batch, '_contrib_RROIAlign')
        if image is not None:
            for place, weight in _rotated_corners(roi, p, height, width):
                flat = xp.asarray(place.reshape(-1))
                values = ograd[n][..., None] * xp.asarray(weight, ograd.dtype)
                for channel in range(channels):
                    out[image, channel] += xp.bincount(flat, weights=values[channel].reshape(-1),
                                                       minlength=height * width).astype(ograd.dtype)
    return out.reshape(data_shape)


_linear('_contrib_RROIAlign', _rotated, _rotated_backward, {
    'pooled_size': BINS, 'spatial_scale': _SCALE,
    'sampling_ratio': Int(-1, 'points per bin and axis; -1: one per pixel')},
    infer=lambda arrays, params: check_regions('_contrib_RROIAlign', arrays, params, 6), samples=(
        (((2, 2, 4, 5), 'fixed:[[0, 2, 2, 3, 2, 30], [1, 2.5, 1, 2, 4, -70]]'),
         {'pooled_size': (2, 3), 'spatial_scale': 1.0}),))
