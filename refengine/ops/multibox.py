"""Single-shot detection: anchors of many sizes and shapes, targets of training, and detections from predictions.

Boxes are left, top, right, bottom in fractions of the image.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import MXNetError, shape_text
from ..op import Bool, Float, Floats, Int, register
from ._nn import require_float
from .binary import zero_gradient
from .boxes import centers, overlaps

_VARIANCES = Floats((0.1, 0.1, 0.2, 0.2), 'scales of the offsets of x, y, width and height')


# ---- anchors -------------------------------------------------------------------------------------------------------

def _prior_infer(arrays: Any, params: dict[str, Any]) -> None:
    data = arrays[0]
    require_float('_contrib_MultiBoxPrior', data)
    if data.ndim < 4:
        raise MXNetError(f'Operator _contrib_MultiBoxPrior: Input data should be 4D: batch-channel-y-x, got shape '
                         f'{shape_text(data.shape)}')
    steps, offsets = params['steps'], params['offsets']
    if len(steps) != 2 or steps[0] * steps[1] < 0:
        raise MXNetError(f'Operator _contrib_MultiBoxPrior: steps must be (step_y, step_x), both or neither of them '
                         f'negative, got {steps}')
    if len(offsets) != 2:
        raise MXNetError(f'Operator _contrib_MultiBoxPrior: offsets must be (offset_y, offset_x), got {offsets}')
    if not params['sizes'] or not params['ratios']:
        raise MXNetError('Operator _contrib_MultiBoxPrior: at least one of sizes and one of ratios is needed')


@register('_contrib_MultiBoxPrior', infer=_prior_infer, grad=zero_gradient,
          params={'sizes': Floats((1.0,), 'sizes, as fraction of the height'),
                  'ratios': Floats((1.0,), 'width by height; all with the first size, the first with all sizes'),
                  'clip': Bool(False, 'cut the boxes at the edges of the image'),
                  'steps': Floats((-1.0, -1.0), 'distance of centres down and across; -1: the cells of the array'),
                  'offsets': Floats((0.5, 0.5), 'place of the centre within a cell, down and across')})
def _multi_box_prior(xp: Any, data: Any, sizes: tuple[float, ...] = (1.0,), ratios: tuple[float, ...] = (1.0,),
                     clip: bool = False, steps: tuple[float, ...] = (-1.0, -1.0),
                     offsets: tuple[float, ...] = (0.5, 0.5)) -> Any:
    """Anchors around every cell of the last two axes, as (1, cells · boxes, 4)."""
    height, width = data.shape[2:4]
    step_y, step_x = steps if steps[0] > 0 else (1.0 / height, 1.0 / width)
    y, x = (xp.arange(height) + offsets[0]) * step_y, (xp.arange(width) + offsets[1]) * step_x
    flat = height / width
    pairs = [(size, ratios[0]) for size in sizes] + [(sizes[0], ratio) for ratio in ratios[1:]]
    size, ratio = np.array(pairs).T
    with np.errstate(invalid='ignore', divide='ignore'):    # there is no box of a ratio below zero: it is not a number
        root = np.sqrt(ratio)
        half = xp.asarray(np.stack((size * flat * root / 2, size / root / 2), axis=1))
    middle = xp.stack(xp.meshgrid(x, y), axis=-1)[:, :, None, :]
    boxes = xp.concatenate((middle - half, middle + half), axis=-1).reshape(1, -1, 4)
    return (boxes.clip(0, 1) if clip else boxes).astype(data.dtype)


# ---- targets -------------------------------------------------------------------------------------------------------

def _target_infer(arrays: Any, params: dict[str, Any]) -> None:
    anchor, label, prediction = arrays
    require_float('_contrib_MultiBoxTarget', anchor)
    if anchor.ndim != 3 or anchor.shape[0] != 1 or anchor.shape[2] != 4:
        raise MXNetError(f'Operator _contrib_MultiBoxTarget: anchors are shared by the batch and have shape '
                         f'(1, anchors, 4), got {shape_text(anchor.shape)}')
    if label.ndim != 3 or label.shape[2] < 5:
        raise MXNetError(f'Operator _contrib_MultiBoxTarget: Label width should be greater than or equal to 5 in '
                         f'(batch, objects, width), got {shape_text(label.shape)}')
    if prediction.ndim != 3 or prediction.shape[2] != anchor.shape[1]:
        raise MXNetError(f'Operator _contrib_MultiBoxTarget: Prediction should be [batch, num_classes, num_anchors] '
                         f'with {anchor.shape[1]} anchors, got {shape_text(prediction.shape)}')
    if len(params['variances']) != 4:
        raise MXNetError(f'Operator _contrib_MultiBoxTarget: Variance size must be 4, got {params["variances"]}')


def _match(xp: Any, table: Any, threshold: float) -> tuple[Any, Any, Any]:
    """For each anchor the object it is matched with, the overlap, and whether it is a positive sample."""
    count, objects = table.shape
    chosen = table.argmax(axis=1)
    overlap = table[xp.arange(count), chosen]
    positive = overlap > threshold if threshold > 0 else xp.zeros(count, bool)
    rest = table.copy()
    for _ in range(objects):        # each object has its best anchor, the best pair first
        anchor, index = divmod(int(rest.argmax()), objects)
        if rest[anchor, index] <= 1e-6:
            break
        chosen[anchor], overlap[anchor], positive[anchor] = index, table[anchor, index], True
        rest[anchor, :] = -1
        rest[:, index] = -1
    return chosen, overlap, positive


def _mined(xp: Any, scores: Any, overlap: Any, positive: Any, ratio: float, threshold: float) -> Any:
    """Which anchors are negative samples: those that look least like background, as many as the ratio allows."""
    wanted = min(int(positive.sum() * ratio), len(positive) - int(positive.sum()))
    candidates = xp.nonzero(~positive & (overlap < threshold))[0]
    shifted = scores[:, candidates] - scores[:, candidates].max(axis=0)
    background = xp.exp(shifted[0]) / xp.exp(shifted).sum(axis=0)
    negative = xp.zeros(len(positive), bool)
    negative[candidates[xp.argsort(background, kind='stable')[:wanted]]] = True
    return negative


@register('_contrib_MultiBoxTarget', inputs=('anchor', 'label', 'cls_pred'), num_outputs=3, infer=_target_infer,
          grad=zero_gradient,
          params={'overlap_threshold': Float(0.5, 'least overlap of a positive sample'),
                  'ignore_label': Float(-1.0, 'class of anchors that do not count'),
                  'negative_mining_ratio': Float(-1.0, 'most negative samples per positive one; -1: all are negative'),
                  'negative_mining_thresh': Float(0.5, 'an anchor that overlaps more is no negative sample'),
                  'minimum_negative_samples': Int(0, 'has no effect, as in MXNet 1.9.1'), 'variances': _VARIANCES})
def _multi_box_target(xp: Any, anchor: Any, label: Any, cls_pred: Any, overlap_threshold: float = 0.5,
                      ignore_label: float = -1.0, negative_mining_ratio: float = -1.0,
                      negative_mining_thresh: float = 0.5, minimum_negative_samples: int = 0,
                      variances: tuple[float, ...] = (0.1, 0.1, 0.2, 0.2)) -> tuple[Any, Any, Any]:
    """What a detector should predict: offsets of boxes, the mask of those that count, and classes (0: background).

    ``label`` (batch, objects, 5 or more) has class and box of each object; a class of -1 ends the list.
    """
    boxes, kind = anchor[0], anchor.dtype
    batch, count = label.shape[0], len(boxes)
    offsets, mask = xp.zeros((batch, count, 4), kind), xp.zeros((batch, count, 4), kind)
    classes = xp.full((batch, count), ignore_label, kind)
    a = centers(xp, boxes, 'corner')
    scale = xp.asarray(variances, kind)
    for index, rows in enumerate(label):
        ends = xp.nonzero(rows[:, 0] == -1)[0]
        rows = rows[:int(ends[0])] if len(ends) else rows
        if not len(rows):
            continue
        chosen, overlap, positive = _match(xp, overlaps(xp, boxes, rows[:, 1:5]), overlap_threshold)
        if negative_mining_ratio > 0:
            negative = _mined(xp, cls_pred[index], overlap, positive, negative_mining_ratio, negative_mining_thresh)
        else:
            negative = ~positive
        target = centers(xp, rows[chosen, 1:5], 'corner')
        delta = xp.concatenate(((target[:, :2] - a[:, :2]) / a[:, 2:], xp.log(target[:, 2:] / a[:, 2:])), axis=1)
        offsets[index, positive] = (delta / scale)[positive]
        mask[index, positive] = 1
        classes[index, negative] = 0
        classes[index, positive] = rows[chosen, 0][positive] + 1
    return offsets.reshape(batch, -1), mask.reshape(batch, -1), classes


# ---- detections ----------------------------------------------------------------------------------------------------

def _detection_infer(arrays: Any, params: dict[str, Any]) -> None:
    scores, offsets, anchor = arrays
    require_float('_contrib_MultiBoxDetection', scores)
    if scores.ndim != 3:
        raise MXNetError(f'Operator _contrib_MultiBoxDetection: Provided: cls_prob of shape '
                         f'{shape_text(scores.shape)}, expected (batch, classes, anchors)')
    count = scores.shape[2]
    if offsets.ndim != 2 or offsets.shape[1] != 4 * count:
        raise MXNetError(f'Operator _contrib_MultiBoxDetection: # anchors mismatch with # loc: expected shape '
                         f'({scores.shape[0]}, {4 * count}), got {shape_text(offsets.shape)}')
    if anchor.shape != (1, count, 4):
        raise MXNetError(f'Operator _contrib_MultiBoxDetection: # anchors mismatch: expected shape (1, {count}, 4), '
                         f'got {shape_text(anchor.shape)}')
    if len(params['variances']) != 4:
        raise MXNetError(f'Operator _contrib_MultiBoxDetection: Variance size must be 4, got {params["variances"]}')


def _suppressed(xp: Any, rows: Any, threshold: float, across: bool) -> None:
    """Give class -1 to rows (class, score, box; best first) that overlap a better one of their class too much."""
    table = overlaps(xp, rows[:, 2:], rows[:, 2:]) >= threshold
    for place in range(len(rows)):
        if rows[place, 0] >= 0:
            later = table[place]
            if not across:
                later = later & (rows[:, 0] == rows[place, 0])
            rows[place + 1:, 0][later[place + 1:]] = -1


@register('_contrib_MultiBoxDetection', inputs=('cls_prob', 'loc_pred', 'anchor'), infer=_detection_infer,
          grad=zero_gradient,
          params={'clip': Bool(True, 'cut the boxes at the edges of the image'),
                  'threshold': Float(0.01, 'least probability of a detection'),
                  'background_id': Int(0, 'the class of the background'),
                  'nms_threshold': Float(0.5, 'a detection that overlaps a better one this much goes'),
                  'force_suppress': Bool(False, 'detections of different classes suppress each other as well'),
                  'variances': _VARIANCES, 'nms_topk': Int(-1, 'how many best detections are kept; -1: all')})
def _multi_box_detection(xp: Any, cls_prob: Any, loc_pred: Any, anchor: Any, clip: bool = True, threshold: float = 0.01,
                         background_id: int = 0, nms_threshold: float = 0.5, force_suppress: bool = False,
                         variances: tuple[float, ...] = (0.1, 0.1, 0.2, 0.2), nms_topk: int = -1) -> Any:
    """Detections (batch, anchors, 6): class, probability and box, best first; class -1 where there is none.

    The background is class 0 of ``cls_prob``, whatever background_id says, as in MXNet 1.9.1.
    """
    batch, _, count = cls_prob.shape
    kind = cls_prob.dtype
    out = xp.full((batch, count, 6), -1, kind)
    a = centers(xp, anchor[0], 'corner')
    scaled = loc_pred.reshape(batch, count, 4) * xp.asarray(variances, kind)
    middle = scaled[..., :2] * a[:, 2:] + a[:, :2]
    half = xp.exp(scaled[..., 2:]) * a[:, 2:] / 2
    boxes = xp.concatenate((middle - half, middle + half), axis=-1)
    if clip:
        boxes = boxes.clip(0, 1)
    for index in range(batch):
        classes = cls_prob[index, 1:].argmax(axis=0)
        score = cls_prob[index, 1:].max(axis=0)
        found = xp.nonzero(score >= threshold)[0]
        rows = xp.concatenate((classes[found, None].astype(kind), score[found, None], boxes[index, found]), axis=1)
        if len(rows) and 0 < nms_threshold <= 1:
            keep = min(nms_topk, len(rows)) if nms_topk > 0 else len(rows)
            rows[:keep] = rows[xp.argsort(-rows[:, 1], kind='stable')[:keep]]
            rows[keep:, 0] = -1
            _suppressed(xp, rows[:keep], nms_threshold, force_suppress)
        out[index, :len(rows)] = rows
    return out
