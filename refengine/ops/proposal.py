"""Region proposals of a detector: boxes from anchors and predicted offsets, the best of them without duplicates."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import MXNetError, shape_text
from ..op import Bool, Float, Floats, Int, register
from ._nn import require_float, require_shape
from .binary import zero_gradient


def _anchors(stride: int, ratios: tuple[float, ...], scales: tuple[float, ...]) -> np.ndarray:
    """Boxes around the middle of the first cell: one per ratio and scale, in whole pixels."""
    middle, single = (stride - 1) / 2, np.float32
    found = []
    for ratio in ratios:
        area = np.floor(single(stride * stride) / single(ratio))
        for scale in scales:
            width = np.floor(np.sqrt(area) + single(0.5)) * single(scale)
            height = np.floor(width / single(scale) * single(ratio) + single(0.5)) * single(scale)
            half = np.array([width - 1, height - 1]) / 2
            found.append([*(middle - half), *(middle + half)])
    return np.array(found, np.float32)


def _moved(xp: Any, boxes: Any, delta: Any, direct: bool) -> Any:
    """Anchors (n, 4) with offsets: of their edges (direct), or of centre and size."""
    if direct:
        return boxes + delta
    size = boxes[:, 2:] - boxes[:, :2] + 1
    middle = delta[:, :2] * size + boxes[:, :2] + (size - 1) / 2
    half = (xp.exp(delta[:, 2:]) * size - 1) / 2
    return xp.concatenate((middle - half, middle + half), axis=1)


def _kept(xp: Any, boxes: Any, threshold: float, limit: int) -> list[int]:
    """The first boxes that no better one overlaps more than the threshold; edges belong to a box."""
    area = (boxes[:, 2] - boxes[:, 0] + 1) * (boxes[:, 3] - boxes[:, 1] + 1)
    gone = xp.zeros(len(boxes), bool)
    kept: list[int] = []
    for place in range(len(boxes)):
        if gone[place]:
            continue
        kept.append(place)
        if len(kept) == limit:
            break
        low = xp.maximum(boxes[place, :2], boxes[place + 1:, :2])
        high = xp.minimum(boxes[place, 2:], boxes[place + 1:, 2:])
        size = xp.maximum(high - low + 1, 0)
        common = size[:, 0] * size[:, 1]
        gone[place + 1:] |= common / (area[place] + area[place + 1:] - common) > threshold
    return kept


def _propose(xp: Any, scores: Any, deltas: Any, info: Any, p: dict[str, Any]) -> tuple[Any, Any]:
    """Boxes (rpn_post_nms_top_n, 4) and scores of one image."""
    stride = p['feature_stride']
    count, height, width = scores.shape
    base = xp.asarray(_anchors(stride, p['ratios'], p['scales']))
    y, x = xp.meshgrid(xp.arange(height), xp.arange(width), indexing='ij')
    shift = xp.stack((x, y, x, y), axis=-1)[:, :, None, :] * stride
    boxes = (base + shift).reshape(-1, 4).astype(scores.dtype)
    delta = deltas.reshape(count, 4, height, width).transpose(2, 3, 0, 1).reshape(-1, 4)
    rows, columns, scale = (float(v) for v in info[:3])
    boxes = _moved(xp, boxes, delta, p['iou_loss'])
    limit = xp.asarray([columns - 1, rows - 1] * 2, boxes.dtype)
    boxes = xp.maximum(xp.minimum(boxes, limit), 0)
    score = scores.transpose(1, 2, 0).copy()
    score[int(rows / stride):] = -1                    # cells beyond the image
    score[:, int(columns / stride):] = -1
    score = score.reshape(-1)
    least = boxes.dtype.type(p['rpn_min_size'] * scale)
    small = ((boxes[:, 2:] - boxes[:, :2] + 1) < least).any(axis=1)
    boxes[small, :2] -= least / 2
    boxes[small, 2:] += least / 2
    score[small] = -1
    before = min(p['rpn_pre_nms_top_n'], len(score)) if p['rpn_pre_nms_top_n'] > 0 else len(score)
    order = xp.argsort(-score, kind='stable')[:before]
    boxes, score = boxes[order], score[order]
    total = p['rpn_post_nms_top_n']
    kept = _kept(xp, boxes, p['threshold'], min(total, before))
    chosen = [kept[index % len(kept)] for index in range(total)]      # filled up by repetition
    return boxes[chosen], score[chosen]


def _infer(op: str, many: bool) -> Any:
    def infer(arrays: Any, p: dict[str, Any]) -> None:
        scores, deltas, info = arrays
        require_float(op, scores)
        anchors = len(p['ratios']) * len(p['scales'])
        if scores.ndim != 4:
            raise MXNetError(f'Operator {op}: cls_prob should be a 4D tensor, got shape {shape_text(scores.shape)}')
        batch, channels, height, width = scores.shape
        if channels != 2 * anchors:
            raise MXNetError(f'Operator {op}: expected two scores for each of {anchors} anchors, got {channels} '
                             f'channels')
        require_shape(op, deltas.shape, (batch, 4 * anchors, height, width))
        require_shape(op, info.shape, (batch, 3))
        if not many and batch != 1:
            raise MXNetError(f'Operator {op}: Sorry, multiple images each device is not implemented: got {batch}')
        stride = p['feature_stride']
        for rows, columns, _ in info.tolist():
            if int(rows / stride) > height or int(columns / stride) > width:
                raise MXNetError(f'Operator {op}: an image of {rows:g} by {columns:g} does not fit into {height} by '
                                 f'{width} cells of {stride} pixels')

    return infer


_PARAMS = {'rpn_pre_nms_top_n': Int(6000, 'how many best boxes are looked at'),
           'rpn_post_nms_top_n': Int(300, 'number of boxes of the result'),
           'threshold': Float(0.7, 'a box that overlaps a better one more than this goes'),
           'rpn_min_size': Int(16, 'least width and height, in pixels of the unscaled image'),
           'scales': Floats((4.0, 8.0, 16.0, 32.0), 'sizes of the anchors, in cells'),
           'ratios': Floats((0.5, 1.0, 2.0), 'height by width of the anchors'),
           'feature_stride': Int(16, 'pixels per cell'), 'output_score': Bool(False, 'give the scores as well'),
           'iou_loss': Bool(False, 'offsets are of the edges')}


def _register(op: str, many: bool, doc: str) -> None:
    def forward(xp: Any, cls_prob: Any, bbox_pred: Any, im_info: Any, **p: Any) -> tuple[Any, Any]:
        total = p['rpn_post_nms_top_n']
        out = xp.zeros((len(cls_prob) * total, 5), cls_prob.dtype)
        scores = xp.zeros((len(cls_prob) * total, 1), cls_prob.dtype)
        anchors = cls_prob.shape[1] // 2
        for image in range(len(cls_prob)):
            boxes, score = _propose(xp, cls_prob[image, anchors:], bbox_pred[image], im_info[image], p)
            rows = slice(image * total, (image + 1) * total)
            out[rows, 0], out[rows, 1:], scores[rows, 0] = image, boxes, score
        return out, scores

    register(op, inputs=('cls_prob', 'bbox_pred', 'im_info'), params=_PARAMS, infer=_infer(op, many), num_outputs=2,
             visible=lambda params: 2 if params['output_score'] else 1, grad=zero_gradient, doc=doc)(forward)


_DOC = """Regions (image, left, top, right, bottom) that may hold an object, best first{}.

    ``cls_prob`` (batch, 2 · anchors, y, x) has the scores of background and object, ``bbox_pred`` the offsets of the
    boxes, ``im_info`` height, width and scale of each image. No gradient flows through it."""

_register('_contrib_Proposal', False, _DOC.format(', of one image'))
_register('_contrib_MultiProposal', True, _DOC.format(' within each image'))
