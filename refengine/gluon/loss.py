"""Losses: one value per sample, times the weight of the loss and of the sample; most average over all other axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base import numeric_types
from . import checks
from .hybrid_block import HybridBlock

__all__ = [
    'CTCLoss', 'CosineEmbeddingLoss', 'HingeLoss', 'HuberLoss', 'KLDivLoss', 'L1Loss', 'L2Loss', 'LogisticLoss', 'Loss',
    'PoissonNLLLoss', 'SDMLLoss', 'SigmoidBCELoss', 'SigmoidBinaryCrossEntropyLoss', 'SoftmaxCELoss',
    'SoftmaxCrossEntropyLoss', 'SquaredHingeLoss', 'TripletLoss',
]


def _weighted(F: Any, loss: Any, weight: Any = None, sample_weight: Any = None) -> Any:
    """The loss times a number and times an array that broadcasts to it."""
    if sample_weight is not None:
        loss = F.broadcast_mul(loss, sample_weight)
    if weight is not None:
        assert isinstance(weight, numeric_types), f'weight must be a number, got {weight!r}'
        loss = loss * weight
    return loss


def _like(F: Any, label: Any, pred: Any) -> Any:
    """The label in the shape of the prediction; ValueError if it has another number of elements."""
    if hasattr(label, 'shape') and hasattr(pred, 'shape'):
        if label.shape == pred.shape:
            return label
        if label.size != pred.size:
            raise ValueError(f'Cannot reshape array of size {label.size} into shape {pred.shape}')
    return F.reshape_like(label, pred)


# The names under which losses of programs import the two.
_apply_weighting, _reshape_like = _weighted, _like


class Loss(HybridBlock):
    """Base of all losses; ``batch_axis`` is the axis that is kept."""

    def __init__(self, weight: Any, batch_axis: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._weight = weight
        self._batch_axis = batch_axis

    def __repr__(self) -> str:
        return f'{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})'

    def _mean(self, F: Any, loss: Any) -> Any:
        return F.mean(loss, axis=self._batch_axis, exclude=True)

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """The loss of each sample."""
        raise NotImplementedError


class L2Loss(Loss):
    """Half the squared difference.

    >>> import refengine as mx
    >>> L2Loss()(mx.nd.array([[1, 3]]), mx.nd.array([[1, 1]])).asnumpy().tolist()
    [1.0]
    """

    def __init__(self, weight: float = 1.0, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        """Mean of (label - pred)² / 2 · weight."""
        loss = F.square(_like(F, label, pred) - pred)
        return self._mean(F, _weighted(F, loss, self._weight / 2, sample_weight))


class L1Loss(Loss):
    """The absolute difference."""

    def __init__(self, weight: Any = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        """Mean of |label - pred|."""
        loss = F.abs(_like(F, label, pred) - pred)
        return self._mean(F, _weighted(F, loss, self._weight, sample_weight))


class SigmoidBinaryCrossEntropyLoss(Loss):
    """Cross entropy of independent yes/no labels; predictions are logits unless ``from_sigmoid``."""

    def __init__(self, from_sigmoid: bool = False, weight: Any = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_sigmoid = from_sigmoid

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None,  # type: ignore[override]
                       pos_weight: Any = None) -> Any:
        """The mean cross entropy; ``pos_weight`` multiplies the part of the positive labels."""
        label = _like(F, label, pred)
        if self._from_sigmoid:
            tiny = 1e-12  # keeps log finite at 0 and 1
            positive = F.log(pred + tiny) * label
            if pos_weight is not None:
                positive = F.broadcast_mul(positive, pos_weight)
            loss = -(positive + F.log(1. - pred + tiny) * (1. - label))
        else:
            # log(1 + exp(-|x|)) cannot overflow.
            rest = F.Activation(-F.abs(pred), act_type='softrelu')
            if pos_weight is None:
                loss = F.relu(pred) - pred * label + rest
            else:
                scale = 1 + F.broadcast_mul(pos_weight - 1, label)
                loss = pred - pred * label + scale * (rest + F.relu(-pred))
        return self._mean(F, _weighted(F, loss, self._weight, sample_weight))


SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss


class SoftmaxCrossEntropyLoss(Loss):
    """Cross entropy after softmax along ``axis``; labels are class numbers or, not sparse, distributions.

    >>> import refengine as mx
    >>> loss = SoftmaxCrossEntropyLoss()(mx.nd.array([[1, 2, 3]]), mx.nd.array([2]))
    >>> round(float(loss.asscalar()), 4)
    0.4076
    """

    def __init__(self, axis: int = -1, sparse_label: bool = True, from_logits: bool = False, weight: Any = None,
                 batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._axis = axis
        self._sparse_label = sparse_label
        self._from_logits = from_logits

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        """Minus the logarithm of the probability of the label."""
        if not self._from_logits:
            pred = F.log_softmax(pred, axis=self._axis)
        if self._sparse_label:
            loss = -F.pick(pred, label, axis=self._axis, keepdims=True)
        else:
            loss = -F.sum(pred * _like(F, label, pred), axis=self._axis, keepdims=True)
        return self._mean(F, _weighted(F, loss, self._weight, sample_weight))


SoftmaxCELoss = SoftmaxCrossEntropyLoss


class KLDivLoss(Loss):
    """Kullback-Leibler divergence of prediction from label; with ``from_logits`` predictions are log probabilities."""

    def __init__(self, from_logits: bool = True, axis: int = -1, weight: Any = None, batch_axis: int = 0,
                 **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._axis = axis

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        """Sum of label · (log label - pred)."""
        if not self._from_logits:
            pred = F.log_softmax(pred, self._axis)
        loss = _weighted(F, label * (F.log(label + 1e-12) - pred), self._weight, sample_weight)
        return F.sum(loss, axis=self._batch_axis, exclude=True)


class CTCLoss(Loss):
    """Connectionist temporal classification; the last class is the blank, labels are padded with -1.

    ``layout`` is NTC or TNC, ``label_layout`` NT or TN.
    """

    def __init__(self, layout: str = 'NTC', label_layout: str = 'NT', weight: Any = None, **kwargs: Any) -> None:
        assert layout in ('NTC', 'TNC'), f"Only 'NTC' and 'TNC' layouts for pred are supported. Got: {layout}"
        assert label_layout in ('NT', 'TN'), f"Only 'NT' and 'TN' layouts for label are supported. Got: {label_layout}"
        self._layout = layout
        self._label_layout = label_layout
        super().__init__(weight, label_layout.find('N'), **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, pred_lengths: Any = None,  # type: ignore[override]
                       label_lengths: Any = None, sample_weight: Any = None) -> Any:
        """Minus the logarithm of the probability of all alignments of each label sequence."""
        if self._layout == 'NTC':
            pred = F.swapaxes(pred, 0, 1)
        if self._batch_axis == 1:
            label = F.swapaxes(label, 0, 1)
        lengths = {'data_lengths': pred_lengths, 'label_lengths': label_lengths}
        loss = F.CTCLoss(pred, label, use_data_lengths=pred_lengths is not None,
                         use_label_lengths=label_lengths is not None, blank_label='last',
                         **{name: value for name, value in lengths.items() if value is not None})
        return _weighted(F, loss, self._weight, sample_weight)


class HuberLoss(Loss):
    """Squared near zero, linear beyond ``rho``."""

    def __init__(self, rho: float = 1, weight: Any = None, batch_axis: int = 0, **kwargs: Any) -> None:
        checks.number(self, 0, rho=rho)
        if rho == 0:
            raise checks.WrongValue(f'{type(self).__name__}: rho must be a number greater than 0, got {rho!r}')
        super().__init__(weight, batch_axis, **kwargs)
        self._rho = rho

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        """Mean of d² / (2 rho), or d - rho / 2 where d = |label - pred| is larger than rho."""
        distance = F.abs(_like(F, label, pred) - pred)
        loss = F.where(distance > self._rho, distance - 0.5 * self._rho, (0.5 / self._rho) * F.square(distance))
        return self._mean(F, _weighted(F, loss, self._weight, sample_weight))


class HingeLoss(Loss):
    """max(0, margin - pred · label) for labels -1 and 1."""

    def __init__(self, margin: float = 1, weight: Any = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        """The mean of what is missing to the margin."""
        loss = F.relu(self._margin - pred * _like(F, label, pred))
        return self._mean(F, _weighted(F, loss, self._weight, sample_weight))


class SquaredHingeLoss(Loss):
    """The square of the hinge loss."""

    def __init__(self, margin: float = 1, weight: Any = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        """The mean square of what is missing to the margin."""
        loss = F.square(F.relu(self._margin - pred * _like(F, label, pred)))
        return self._mean(F, _weighted(F, loss, self._weight, sample_weight))


class LogisticLoss(Loss):
    """log(1 + exp(-pred · label)) for labels -1 and 1, or 0 and 1 with ``label_format='binary'``."""

    def __init__(self, weight: Any = None, batch_axis: int = 0, label_format: str = 'signed', **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        if label_format not in ('signed', 'binary'):
            raise ValueError(f'label_format can only be signed or binary, recieved {label_format}.')
        self._label_format = label_format

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:  # type: ignore[override]
        """The mean logistic loss."""
        label = _like(F, label, pred)
        if self._label_format == 'signed':
            label = (label + 1.0) / 2.0
        loss = F.relu(pred) - pred * label + F.Activation(-F.abs(pred), act_type='softrelu')
        return self._mean(F, _weighted(F, loss, self._weight, sample_weight))


class TripletLoss(Loss):
    """max(0, |pred - positive|² - |pred - negative|² + margin)."""

    def __init__(self, margin: float = 1, weight: Any = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, pred: Any, positive: Any, negative: Any,  # type: ignore[override]
                       sample_weight: Any = None) -> Any:
        """How far the positive is not nearer than the negative by the margin."""
        positive, negative = _like(F, positive, pred), _like(F, negative, pred)
        difference = F.sum(F.square(positive - pred) - F.square(negative - pred), axis=self._batch_axis, exclude=True)
        return _weighted(F, F.relu(difference + self._margin), self._weight, sample_weight)


class PoissonNLLLoss(Loss):
    """Negative log likelihood of counts; predictions are log rates with ``from_logits``. One mean for the whole batch.

    ``compute_full`` adds Stirling's approximation of log(target!) for targets above 1.
    """

    def __init__(self, weight: Any = None, from_logits: bool = True, batch_axis: int = 0, compute_full: bool = False,
                 **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._compute_full = compute_full

    def hybrid_forward(self, F: Any, pred: Any, target: Any, sample_weight: Any = None,  # type: ignore[override]
                       epsilon: float = 1e-8) -> Any:
        """The mean negative log likelihood."""
        target = _like(F, target, pred)
        loss = F.exp(pred) - target * pred if self._from_logits else pred - target * F.log(pred + epsilon)
        if self._compute_full:
            safe = F.maximum(target, 1.0)  # log of targets below 1 is not used, but must not give NaN
            stirling = target * F.log(safe) - target + 0.5 * F.log(2 * math.pi * safe)
            loss = loss + stirling * (target > 1)
        return F.mean(_weighted(F, loss, self._weight, sample_weight))


class CosineEmbeddingLoss(Loss):
    """1 - cos for label 1, max(0, cos - margin) for label -1."""

    def __init__(self, weight: Any = None, batch_axis: int = 0, margin: float = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, input1: Any, input2: Any, label: Any,  # type: ignore[override]
                       sample_weight: Any = None) -> Any:
        """The loss of each pair, with shape (batch, 1)."""
        input1 = _like(F, input1, input2)
        product = F.sum(input1 * input2, axis=-1).reshape((-1, 1))
        norms = F.norm(input1, axis=-1).reshape((-1, 1)) * F.norm(input2, axis=-1).reshape((-1, 1))
        cosine = product / F.maximum(norms, 1e-12)
        label = label.reshape((-1, 1))
        loss = F.where(label == 1, 1 - cosine, F.relu(cosine - self._margin))
        return _weighted(F, loss, self._weight, sample_weight)


class SDMLLoss(Loss):
    """Smoothed deep metric learning: row i of ``x1`` belongs to row i of ``x2``, all other rows are negatives.

    Squared distances become log probabilities by softmax; they are compared with the identity, smoothed by
    ``smoothing_parameter``. ``weight`` has no effect, as in MXNet.
    """

    def __init__(self, smoothing_parameter: float = 0.3, weight: float = 1.0, batch_axis: int = 0,
                 **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self.smoothing_parameter = smoothing_parameter

    def hybrid_forward(self, F: Any, x1: Any, x2: Any) -> Any:  # type: ignore[override]
        """The divergence of each row's probabilities from its smoothed label."""
        size = x1.shape[0]
        left = F.expand_dims(x1, 1)
        right = F.expand_dims(x2, 0)
        distances = F.sum(F.square(F.broadcast_sub(left, right)), axis=2)
        log_probabilities = F.log_softmax(-distances, axis=1)
        share = self.smoothing_parameter
        labels = np.full((size, size), share / (size - 1) if size > 1 else 0.0, dtype='float32')
        np.fill_diagonal(labels, 1 - share)
        target = F.array(labels, ctx=x1.context, dtype=x1.dtype)
        return F.sum(target * (F.log(target + 1e-12) - log_probabilities), axis=1)
