"""DeformablePSROIPooling: position-sensitive pooling of regions whose bins are moved by learned offsets.

Three steps that are linear each: offsets to coordinates, elements at whole coordinates, weighted means.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import MXNetError, shape_text
from ..op import Bool, Float, Int, Shape, register
from ._nn import require_shape
from ._raw import raw
from .roi_pooling import check_regions, single

_OP = '_contrib_DeformablePSROIPooling'

_PARAMS = {'spatial_scale': Float(doc='pixels of the array per unit of the coordinates', low=0.0, high=1.0),
           'output_dim': Int(doc='number of output channels'),
           'group_size': Int(doc='number of channel groups down and across'),
           'pooled_size': Int(doc='number of bins down and across'),
           'part_size': Int(0, 'number of parts with an offset each, down and across; 0: pooled_size'),
           'sample_per_part': Int(1, 'points per bin, down and across'),
           'trans_std': Float(0.0, 'factor of the offsets', low=0.0, high=1.0),
           'no_trans': Bool(False, 'there are no offsets')}


def _half_away(x: Any, xp: Any) -> Any:
    return xp.copysign(xp.floor(xp.abs(x) + 0.5), x)


def _edges(xp: Any, rois: Any, p: dict[str, Any]) -> tuple[Any, Any]:
    """First corner and size (regions, 2) of all regions, vertical first."""
    scale, half = single(p['spatial_scale'], rois.dtype), rois.dtype.type(0.5)
    corner = _half_away(rois[:, 1:], xp)
    start = corner[:, 1::-1] * scale - half
    stop = (corner[:, 3:1:-1] + 1) * scale - half
    return start, xp.maximum(stop - start, rois.dtype.type(0.1))


def _parts(p: dict[str, Any]) -> np.ndarray:
    """The part that each bin belongs to."""
    return np.arange(p['pooled_size']) * (p['part_size'] or p['pooled_size']) // p['pooled_size']


# ---- coordinates ---------------------------------------------------------------------------------------------------

@register('_psroi_coordinates', inputs=('rois', 'trans'), num_outputs=2, mixed=True,
          params={**_PARAMS, 'moves': Bool(False, 'only what the offsets add')},
          grad=lambda F, ograds, inputs, outputs, params: (
              None, F._psroi_moves(*ograds, inputs[0], data_shape=tuple(inputs[1].shape), **{
                  key: params[key] for key in _PARAMS})))
def _coordinates(xp: Any, rois: Any, trans: Any, moves: bool = False, **p: Any) -> tuple[Any, Any]:
    """Coordinates y and x (regions, classes, bins, bins, points) of the points of all bins."""
    start, size = _edges(xp, rois, p)
    bins, samples, part = p['pooled_size'], p['sample_per_part'], xp.asarray(_parts(p))
    pairs = trans.reshape(len(trans), -1, 2, *trans.shape[2:])[:, :, :, part[:, None], part[None, :]]
    step = size / bins
    grid = xp.arange(bins).astype(rois.dtype)
    inner = xp.arange(samples).astype(rois.dtype) / samples
    found = []
    for axis in (0, 1):
        move = pairs[:, :, 1 - axis] * (single(p['trans_std'], rois.dtype) * size[:, axis, None, None, None])
        out = xp.broadcast_to(move[..., None], (*move.shape, samples * samples))
        if not moves:
            place = grid.reshape((-1, 1) if axis == 0 else (1, -1))
            within = xp.repeat(inner, samples) if axis == 0 else xp.tile(inner, samples)
            base = start[:, axis, None, None, None] + (place[..., None] + within) * step[:, axis, None, None, None]
            out = out + base[:, None]
        found.append(xp.ascontiguousarray(out))
    return found[0], found[1]


@register('_psroi_moves', inputs=('of_y', 'of_x', 'rois'), params={**_PARAMS, 'data_shape': Shape()}, mixed=True,
          grad=lambda F, ograds, inputs, outputs, params: (
              *F._psroi_coordinates(inputs[2], ograds[0], moves=True, **{key: params[key] for key in _PARAMS}), None))
def _moves(xp: Any, of_y: Any, of_x: Any, rois: Any, data_shape: tuple[int, ...] = (), **p: Any) -> Any:
    """The gradient of the offsets from that of the coordinates."""
    _, size = _edges(xp, rois, p)
    out = xp.zeros((data_shape[0], data_shape[1] // 2, 2, *data_shape[2:]), of_y.dtype)
    part = _parts(p).tolist()
    for axis, gradient in ((0, of_y), (1, of_x)):
        factor = single(p['trans_std'], rois.dtype) * size[:, axis, None, None, None]
        whole = gradient.sum(axis=-1) * factor
        for i, row in enumerate(part):
            for j, column in enumerate(part):
                out[:, :, 1 - axis, row, column] += whole[:, :, i, j]
    return out.reshape(data_shape)


# ---- elements ------------------------------------------------------------------------------------------------------

def _flat(xp: Any, shape: tuple[int, ...], rois: Any, y: Any, x: Any, p: dict[str, Any]) -> Any:
    """Flat places (regions, classes, channels of a class, bins, bins, points) in the images."""
    bins, group, classes = p['pooled_size'], p['group_size'], y.shape[1]
    place = np.clip(np.arange(bins) * group // bins, 0, group - 1)
    top = np.arange(p['output_dim']).reshape(classes, -1)[..., None, None]
    channel = xp.asarray((top * group + place[:, None]) * group + place[None, :])
    image = rois[:, 0].astype(np.int64)[:, None, None, None, None]
    plane = image * shape[1] + channel[None]
    row, column = y.astype(np.int64)[:, :, None], x.astype(np.int64)[:, :, None]
    return (plane[..., None] * shape[2] + row) * shape[3] + column


@register('_psroi_elements', inputs=('data', 'rois', 'y', 'x'), params=_PARAMS, mixed=True,
          grad=lambda F, ograds, inputs, outputs, params: (
              F._psroi_elements_backward(ograds[0], *inputs[1:], data_shape=tuple(inputs[0].shape), **params), None,
              None, None))
def _elements(xp: Any, data: Any, rois: Any, y: Any, x: Any, **p: Any) -> Any:
    """The elements at whole coordinates, of the channels that belong to each bin."""
    return data.reshape(-1)[_flat(xp, data.shape, rois, y, x, p)]


@register('_psroi_elements_backward', inputs=('ograd', 'rois', 'y', 'x'), params={**_PARAMS, 'data_shape': Shape()},
          mixed=True, grad=lambda F, ograds, inputs, outputs, params: (
              F._psroi_elements(ograds[0], *inputs[1:], **{key: params[key] for key in _PARAMS}), None, None, None))
def _elements_backward(xp: Any, ograd: Any, rois: Any, y: Any, x: Any, data_shape: tuple[int, ...] = (),
                       **p: Any) -> Any:
    """Values added at their places in images of zeros."""
    flat = _flat(xp, data_shape, rois, y, x, p)
    total = xp.bincount(flat.reshape(-1), weights=ograd.reshape(-1), minlength=int(np.prod(data_shape)))
    return total.reshape(data_shape).astype(ograd.dtype)


# ---- the operator --------------------------------------------------------------------------------------------------

def _setting(F: Any, rois: Any, trans: Any, sizes: tuple[int, ...], p: dict[str, Any]) -> tuple[Any, ...]:
    """Coordinates within the image, their neighbours, and the share of each point in the mean of its bin."""
    y, x = F._psroi_coordinates(rois, trans, **p)
    height, width = sizes
    inside = F.ones_like(y) * (y >= -0.5) * (y <= height - 0.5) * (x >= -0.5) * (x <= width - 0.5)
    share = F.broadcast_div(inside, F._maximum_scalar(F.sum(inside, axis=-1, keepdims=True), scalar=1.0))
    within = ((y >= 0) * (y <= height - 1), (x >= 0) * (x <= width - 1))
    y, x = F.clip(y, a_min=0, a_max=height - 1), F.clip(x, a_min=0, a_max=width - 1)
    return y, x, (F.floor(y), F.ceil(y)), (F.floor(x), F.ceil(x)), share, within


def _corners(ys: Any, xs: Any, y: Any, x: Any) -> Any:
    """For the four neighbours: their coordinates, their vertical and horizontal weight, and the signs of the slopes."""
    dy, dx = y - ys[0], x - xs[0]
    for i in (0, 1):
        for j in (0, 1):
            yield ys[i], xs[j], (dy if i else 1 - dy), (dx if j else 1 - dx), (1 if i else -1), (1 if j else -1)


def _pool(F: Any, data: Any, rois: Any, trans: Any, p: dict[str, Any]) -> Any:
    y, x, ys, xs, share, _ = _setting(F, rois, trans, tuple(data.shape[2:]), p)
    total = None
    for row, column, wy, wx, _, _ in _corners(ys, xs, y, x):
        weight = F.expand_dims(wy * wx * share, axis=2)
        part = F.sum(F.broadcast_mul(F._psroi_elements(data, rois, row, column, **p), weight), axis=-1)
        total = part if total is None else total + part
    return F.reshape(total, shape=(rois.shape[0], p['output_dim'], p['pooled_size'], p['pooled_size']))


def _still(F: Any, rois: Any, p: dict[str, Any]) -> Any:
    """Offsets of zero, for calls without offsets."""
    part = p['part_size'] or p['pooled_size']
    zero = F.slice_axis(F.zeros_like(rois), axis=1, begin=0, end=1)
    return F.broadcast_axis(F.reshape(zero, shape=(-1, 1, 1, 1)), axis=(1, 2, 3), size=(2, part, part))


def _grad(F: Any, ograds: Any, inputs: Any, outputs: Any, p: dict[str, Any]) -> tuple[Any, ...]:
    data, rois = inputs[:2]
    trans = _still(F, rois, p) if p['no_trans'] else inputs[2]
    y, x, ys, xs, share, within = _setting(F, rois, trans, tuple(data.shape[2:]), p)
    classes, bins = y.shape[1], p['pooled_size']
    og = F.reshape(ograds[0], shape=(rois.shape[0], classes, -1, bins, bins, 1))
    of_data = of_y = of_x = None
    for row, column, wy, wx, sign_y, sign_x in _corners(ys, xs, y, x):
        weighted = F.broadcast_mul(og, F.expand_dims(wy * wx * share, axis=2))
        part = F._psroi_elements_backward(weighted, rois, row, column, data_shape=tuple(data.shape), **p)
        of_data = part if of_data is None else of_data + part
        if not p['no_trans']:
            values = F._psroi_elements(data, rois, row, column, **p)
            along = F.sum(F.broadcast_mul(values, og), axis=2) * share
            by_y, by_x = along * wx * sign_y, along * wy * sign_x
            of_y, of_x = (by_y, by_x) if of_y is None else (of_y + by_y, of_x + by_x)
    if p['no_trans']:
        return of_data, F.zeros_like(rois)
    moved = F._psroi_moves(of_y * within[0], of_x * within[1], rois, data_shape=tuple(trans.shape), **p)
    return of_data, F.zeros_like(rois), moved


def _infer(arrays: Any, p: dict[str, Any]) -> None:
    check_regions(_OP, arrays, p)
    for name, low in (('output_dim', 1), ('group_size', 1), ('pooled_size', 1), ('part_size', 0),
                      ('sample_per_part', 1)):
        if p[name] < low:
            raise MXNetError(f'Operator {_OP}: the parameter {name} must be at least {low}, got {p[name]}')
    data, rois = arrays[:2]
    if data.shape[1] < p['output_dim'] * p['group_size'] ** 2:
        raise MXNetError(f'Operator {_OP}: expected output_dim · group_size² = '
                         f'{p["output_dim"] * p["group_size"] ** 2} channels, got {data.shape[1]}')
    if len(rois) and not 0 <= float(rois[:, 0].min()) <= float(rois[:, 0].max()) < len(data):
        raise MXNetError(f'Operator {_OP}: the image of a region is not one of {len(data)}')
    if not p['no_trans']:
        trans, part = arrays[2], p['part_size'] or p['pooled_size']
        if trans.ndim != 4 or trans.shape[1] % 2 or p['output_dim'] % max(trans.shape[1] // 2, 1):
            raise MXNetError(f'Operator {_OP}: offsets should be (regions, 2 · classes, parts, parts) with a number of '
                             f'classes that divides output_dim, got shape {shape_text(trans.shape)}')
        require_shape(_OP, trans.shape, (len(rois), trans.shape[1], part, part))


@register(_OP, inputs=('data', 'rois', 'trans'), num_inputs=lambda params: 2 if params['no_trans'] else 3,
          params=_PARAMS, infer=_infer, grad=_grad, samples=(
              (((2, 8, 5, 5), 'fixed:[[0, 0, 0, 3, 3], [1, 1, 1, 4, 3]]', (2, 4, 2, 2)),
               {'spatial_scale': 1.0, 'output_dim': 2, 'group_size': 2, 'pooled_size': 2, 'part_size': 2,
                'sample_per_part': 2, 'trans_std': 0.1}),
              (((1, 4, 5, 5), 'fixed:[[0, 1, 0, 3, 4]]'),
               {'spatial_scale': 0.9, 'output_dim': 1, 'group_size': 2, 'pooled_size': 3, 'sample_per_part': 2,
                'no_trans': True})))
def _deformable_pooling(xp: Any, data: Any, rois: Any, trans: Any = None, **p: Any) -> Any:
    """The mean of interpolated points in each bin of each region (image, left, top, right, bottom).

    Each bin has a channel of its own and is moved by ``trans`` (regions, 2 · classes, parts, parts): across, then
    down, as a fraction of the region.
    """
    F = raw(xp)
    return _pool(F, data, rois, _still(F, rois, p) if trans is None else trans, p).astype(data.dtype)
