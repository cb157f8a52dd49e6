"""Boxes of detected objects: overlap, suppression of duplicates, matching, and their encoding as offsets from anchors.

A box is four numbers: ``corner`` (left, top, right, bottom) or ``center`` (x, y, width, height).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import MXNetError, shape_text
from ..op import Bool, Enum, Float, Int, register
from ._nn import require_float, require_shape
from .binary import zero_gradient

FORMATS = ('corner', 'center')
_FORMAT = Enum(FORMATS, 'corner', 'corner: left, top, right, bottom; center: x, y, width, height')


def corners(xp: Any, boxes: Any, form: str) -> Any:
    """Boxes of either form as left, top, right, bottom."""
    if form == 'corner':
        return boxes
    half = boxes[..., 2:] / 2
    return xp.concatenate((boxes[..., :2] - half, boxes[..., :2] + half), axis=-1)


def centers(xp: Any, boxes: Any, form: str) -> Any:
    """Boxes of either form as x, y, width, height."""
    if form == 'center':
        return boxes
    size = boxes[..., 2:] - boxes[..., :2]
    return xp.concatenate((boxes[..., :2] + size / 2, size), axis=-1)


def areas(xp: Any, boxes: Any) -> Any:
    """Areas of corner boxes; one of negative width or height has none."""
    size = boxes[..., 2:] - boxes[..., :2]
    return xp.where((size < 0).any(axis=-1), 0, size[..., 0] * size[..., 1]).astype(boxes.dtype)


def overlaps(xp: Any, a: Any, b: Any) -> Any:
    """Intersection over union of every box of ``a`` (n, 4) with every box of ``b`` (m, 4), as (n, m)."""
    low = xp.maximum(a[:, None, :2], b[None, :, :2])
    high = xp.minimum(a[:, None, 2:], b[None, :, 2:])
    size = xp.maximum(high - low, 0)
    common = size[..., 0] * size[..., 1]
    union = areas(xp, a)[:, None] + areas(xp, b)[None, :] - common
    return xp.where(union > 0, common / xp.where(union > 0, union, 1), 0).astype(a.dtype)


def _check_boxes(op: str, array: Any) -> None:
    if array.ndim < 2 or array.shape[-1] != 4:
        raise MXNetError(f'Operator {op}: boxes have at least 2 axes and 4 coordinates in the last one, got shape '
                         f'{shape_text(array.shape)}')


@register('_contrib_box_iou', inputs=('lhs', 'rhs'), params={'format': _FORMAT}, grad=zero_gradient)
def _box_iou(xp: Any, lhs: Any, rhs: Any, format: str = 'corner') -> Any:
    """Intersection over union of each box of one array with each of another; no gradient flows through it."""
    for array in (lhs, rhs):
        _check_boxes('_contrib_box_iou', array)
        require_float('_contrib_box_iou', array)
    a, b = (corners(xp, x, format).reshape(-1, 4) for x in (lhs, rhs))
    return overlaps(xp, a, b).reshape((lhs.shape[:-1] + rhs.shape[:-1]) or (1,))


# ---- suppression of duplicates -------------------------------------------------------------------------------------

def _check_nms(arrays: Any, params: dict[str, Any]) -> None:
    shape = arrays[0].shape
    if len(shape) < 2:
        raise MXNetError(f'Operator _contrib_box_nms: data must be at least 2-D, got shape {shape_text(shape)}')
    if arrays[0].dtype.kind == 'b':
        raise MXNetError('Operator _contrib_box_nms does not support boolean type')
    start, score, kind = params['coord_start'], params['score_index'], params['id_index']
    if shape[-1] < 5 + (kind >= 0):
        raise MXNetError(f'Operator _contrib_box_nms: a box needs at least {5 + (kind >= 0)} numbers, got shape '
                         f'{shape_text(shape)}')
    for name, index, width in (('coord_start', start, 4), ('score_index', score, 1), ('id_index', max(kind, 0), 1)):
        if not 0 <= index <= shape[-1] - width:
            raise MXNetError(f'Operator _contrib_box_nms: {name}={index} is out of range for boxes of {shape[-1]} '
                             f'numbers')
    if kind == score:
        raise MXNetError(f'Operator _contrib_box_nms: id_index={kind} conflicts with score_index={score}')
    for name, index in (('score_index', score), ('id_index', kind)):
        if start <= index < start + 4:
            raise MXNetError(f'Operator _contrib_box_nms: {name}={index} lies within the coordinates')


def suppress(xp: Any, boxes: Any, threshold: float, kinds: Any = None) -> list[int]:
    """Which corner boxes, best first, remain when each removes the later ones (of its kind) that overlap it more."""
    count = len(boxes)
    table = overlaps(xp, boxes, boxes) > threshold
    if kinds is not None:
        table &= kinds[:, None] == kinds[None, :]
    gone = xp.zeros(count, bool)
    kept = []
    for place in range(count):
        if not gone[place]:
            kept.append(place)
            gone |= table[place]
    return kept


@register('_contrib_box_nms', '_contrib_box_non_maximum_suppression', infer=_check_nms, num_outputs=2, visible=1,
          params={'overlap_thresh': Float(0.5, 'a box that overlaps a better one more than this goes'),
                  'valid_thresh': Float(0.0, 'least score'),
                  'topk': Int(-1, 'how many best boxes count; -1: all, 0: nothing is done'),
                  'coord_start': Int(2, 'where the coordinates begin'), 'score_index': Int(1, 'where the score is'),
                  'id_index': Int(-1, 'where the class is; -1: there is none'),
                  'background_id': Int(-1, 'the class that goes'),
                  'force_suppress': Bool(False, 'boxes of different classes suppress each other as well'),
                  'in_format': _FORMAT, 'out_format': _FORMAT},
          grad=lambda F, ograds, inputs, outputs, params: (
              F._place_rows(ograds[0], outputs[1], rows=inputs[0].shape[-2]),),
          samples=((((2, 4, 6),), {'valid_thresh': -1.0}), (((5, 7),), {'id_index': 6, 'overlap_thresh': 0.01})))
def _box_nms(xp: Any, data: Any, overlap_thresh: float = 0.5, valid_thresh: float = 0.0, topk: int = -1,
             coord_start: int = 2, score_index: int = 1, id_index: int = -1, background_id: int = -1,
             force_suppress: bool = False, in_format: str = 'corner', out_format: str = 'corner') -> tuple[Any, Any]:
    """Boxes by descending score without those that overlap a better one; the rows that are left over are -1.

    ``data`` is (..., boxes, numbers). The second, hidden, output tells where each row comes from; the gradient of a
    row goes back there.
    """
    shape = data.shape
    if topk == 0:           # no box counts: there is nothing to suppress
        return data.copy(), xp.broadcast_to(xp.arange(shape[-2])[:, None], (*shape[:-1], 1)).astype(data.dtype)
    batch = data.reshape((-1,) + shape[-2:])
    out = xp.full(batch.shape, -1, data.dtype)
    origin = xp.full(batch.shape[:2], -1, data.dtype)
    for index, rows in enumerate(batch):
        valid = rows[:, score_index] > valid_thresh
        if id_index >= 0 and background_id >= 0:
            valid &= rows[:, id_index] != background_id
        order = xp.argsort(-rows[:, score_index], kind='stable')
        order = order[valid[order]]
        if topk > 0:
            order = order[:topk]
        rows = rows[order]
        boxes = corners(xp, rows[:, coord_start:coord_start + 4], in_format)
        kept = suppress(xp, boxes, overlap_thresh, rows[:, id_index] if id_index >= 0 and not force_suppress else None)
        chosen = rows[kept]
        if in_format != out_format:
            change = centers if out_format == 'center' else corners
            chosen[:, coord_start:coord_start + 4] = change(xp, chosen[:, coord_start:coord_start + 4], in_format)
        out[index, :len(kept)] = chosen
        origin[index, :len(kept)] = order[kept]
    return out.reshape(shape), origin.reshape(shape[:-1] + (1,))


@register('_place_rows', inputs=('data', 'index'), params={'rows': Int(doc='number of rows of the result')}, mixed=True,
          grad=lambda F, ograds, inputs, outputs, params: (F._pick_rows(ograds[0], inputs[1]), None))
def _place_rows(xp: Any, data: Any, index: Any, rows: int = 1) -> Any:
    """Rows (..., n, k) at the places of ``index`` (..., n, 1); nothing for a negative place."""
    flat, places = data.reshape((-1,) + data.shape[-2:]), index.reshape(-1, data.shape[-2]).astype(np.int64)
    out = xp.zeros((flat.shape[0], rows, flat.shape[2]), data.dtype)
    batch, row = xp.nonzero(places >= 0)
    out[batch, places[batch, row]] = flat[batch, row]
    return out.reshape(data.shape[:-2] + out.shape[1:])


@register('_pick_rows', inputs=('data', 'index'), mixed=True,
          grad=lambda F, ograds, inputs, outputs, params: (
              F._place_rows(ograds[0], inputs[1], rows=inputs[0].shape[-2]), None))
def _pick_rows(xp: Any, data: Any, index: Any) -> Any:
    """Rows from the places of ``index`` (..., n, 1); zeros for a negative place."""
    places = index.astype(np.int64)
    return xp.where(places >= 0, xp.take_along_axis(data, xp.maximum(places, 0), axis=-2), 0).astype(data.dtype)


# ---- matching ------------------------------------------------------------------------------------------------------

@register('_contrib_bipartite_matching', num_outputs=2, grad=zero_gradient,
          params={'is_ascend': Bool(False, 'smaller scores are better'),
                  'threshold': Float(doc='only scores better than this match'),
                  'topk': Int(-1, 'stop after one match more than this; -1: no limit')})
def _bipartite_matching(xp: Any, data: Any, is_ascend: bool = False, threshold: float = 0.0,
                        topk: int = -1) -> tuple[Any, Any]:
    """Pairs of rows and columns of a score matrix, the best first: the column of each row, the row of each column."""
    if data.ndim < 2:
        raise MXNetError(f'Operator _contrib_bipartite_matching: data must be at least 2-D, got shape '
                         f'{shape_text(data.shape)}')
    *lead, rows, columns = data.shape
    batch = data.reshape(-1, rows * columns)
    of_row, of_column = (xp.full((len(batch), n), -1, data.dtype) for n in (rows, columns))
    for index, scores in enumerate(batch):
        order = xp.argsort(scores if is_ascend else -scores, kind='stable')
        matched = 0
        for place in order.tolist():
            score = scores[place]
            if (score >= threshold if is_ascend else score <= threshold) or (topk > 0 and matched > topk):
                break
            row, column = divmod(place, columns)
            if of_row[index, row] < 0 and of_column[index, column] < 0:
                of_row[index, row], of_column[index, column] = column, row
                matched += 1
    return of_row.reshape((*lead, rows)), of_column.reshape((*lead, columns))


# ---- encoding ------------------------------------------------------------------------------------------------------

def _check_encode(arrays: Any, params: Any) -> None:
    samples, matches, anchors, refs, means, stds = (array.shape for array in arrays)
    for name, shape, ndim in (('samples', samples, 2), ('matches', matches, 2), ('anchors', anchors, 3),
                              ('refs', refs, 3)):
        if len(shape) != ndim:
            raise MXNetError(f'Operator box_encode: {name} must have {ndim} dimensions, got shape {shape_text(shape)}')
    for name, shape in (('anchors', anchors), ('refs', refs)):
        if shape[-1] != 4:
            raise MXNetError(f'Operator box_encode: the last dimension of {name} must be 4, got {shape_text(shape)}')
    for name, shape in (('means', means), ('stds', stds)):
        if shape != (4,):
            raise MXNetError(f'Shape inconsistent, Provided = {shape_text(shape)}, inferred shape=(4,) for {name}')
    batch = samples[0]
    if matches != samples or refs[0] != batch or anchors[:2] != samples:
        raise MXNetError(f'Operator box_encode: samples {shape_text(samples)}, matches {shape_text(matches)}, anchors '
                         f'{shape_text(anchors)} and refs {shape_text(refs)} are of different numbers of images or '
                         f'boxes')


@register('_contrib_box_encode', inputs=('samples', 'matches', 'anchors', 'refs', 'means', 'stds'), num_outputs=2,
          infer=_check_encode, grad=zero_gradient)
def _box_encode(xp: Any, samples: Any, matches: Any, anchors: Any, refs: Any, means: Any, stds: Any) -> tuple[Any, Any]:
    """Targets of box regression: the normalised offsets of the matched boxes from their anchors, and where they count.

    Boxes are corners. Only anchors with a sample above 0.5 count; the others have offsets and masks of zero.
    """
    a = centers(xp, anchors, 'corner')
    chosen = xp.take_along_axis(refs, matches.astype(np.int64)[..., None], axis=1)
    b = centers(xp, chosen, 'corner')
    offsets = xp.concatenate(((b[..., :2] - a[..., :2]) / a[..., 2:],
                              xp.log(b[..., 2:] / a[..., 2:])), axis=-1)
    positive = (samples > 0.5)[..., None]
    targets = xp.where(positive, (offsets - means) / stds, 0).astype(anchors.dtype)
    return targets, xp.broadcast_to(positive, targets.shape).astype(anchors.dtype)


@register('_contrib_box_decode', inputs=('data', 'anchors'), grad=zero_gradient,
          params={f'std{i}': Float(1.0, 'scale of the offset') for i in range(4)} | {
              'clip': Float(-1.0, 'largest offset of width and height; none if not positive'),
              'format': Enum(FORMATS, 'center', 'form of the anchors')})
def _box_decode(xp: Any, data: Any, anchors: Any, std0: float = 1.0, std1: float = 1.0, std2: float = 1.0,
                std3: float = 1.0, clip: float = -1.0, format: str = 'center') -> Any:
    """Corner boxes from predicted offsets (batch, n, 4) and anchors (1, n, 4)."""
    for array in (data, anchors):
        _check_boxes('_contrib_box_decode', array)
    if anchors.shape != (1,) + data.shape[1:]:
        require_shape('_contrib_box_decode', anchors.shape, (1,) + data.shape[1:])
    a = centers(xp, anchors, format)
    scaled = data * xp.asarray((std0, std1, std2, std3), data.dtype)
    growth = scaled[..., 2:]
    if clip > 0:
        growth = xp.minimum(growth, data.dtype.type(clip))
    middle = scaled[..., :2] * a[..., 2:] + a[..., :2]
    half = xp.exp(growth) * a[..., 2:] / 2
    return xp.concatenate((middle - half, middle + half), axis=-1).astype(data.dtype)

