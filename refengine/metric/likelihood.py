"""Metrics of the probability of the label: perplexity, cross entropy."""

from __future__ import annotations

import math
from typing import Any

import numpy

from .base import EvalMetric, alias, pairs, register


@register
class Perplexity(EvalMetric):
    """exp of the mean of -log of the probability of the label; labels equal to ``ignore_label`` don't count."""

    def __init__(self, ignore_label: int | None, axis: int = -1, name: str = 'perplexity', output_names: Any = None,
                 label_names: Any = None) -> None:
        super().__init__(name, ignore_label=ignore_label, output_names=output_names, label_names=label_names,
                         has_global_stats=True)
        self.ignore_label = ignore_label
        self.axis = axis

    def update(self, labels: Any, preds: Any) -> None:
        """Add the negative log likelihood of a batch."""
        if isinstance(labels, list):
            assert len(labels) == len(preds), f'{len(labels)} labels for {len(preds)} predictions'
        total, count = 0.0, 0
        for label, pred in pairs(labels, preds):
            assert label.size == pred.size / pred.shape[-1], f'shape mismatch: {label.shape} vs. {pred.shape}'
            classes = label.reshape(-1).astype('int32')
            moved = numpy.moveaxis(pred, self.axis, -1).reshape(classes.size, -1)
            chosen = moved[numpy.arange(classes.size), numpy.clip(classes, 0, moved.shape[1] - 1)]
            if self.ignore_label is not None:
                ignored = classes == self.ignore_label
                count -= int(ignored.sum())
                chosen = numpy.where(ignored, 1.0, chosen)
            total -= float(numpy.log(numpy.maximum(1e-10, chosen)).sum())
            count += classes.size
        self._add(total, count)

    def _value(self, total: Any, count: Any) -> Any:
        return math.exp(total / count)


@alias('ce')
@register
class CrossEntropy(EvalMetric):
    """The mean of -log of the probability of the label."""

    def __init__(self, eps: float = 1e-12, name: str = 'cross-entropy', output_names: Any = None,
                 label_names: Any = None) -> None:
        super().__init__(name, eps=eps, output_names=output_names, label_names=label_names, has_global_stats=True)
        self.eps = eps

    def update(self, labels: Any, preds: Any) -> None:
        """Add the cross entropy of a batch."""
        for label, pred in pairs(labels, preds):
            classes = label.reshape(-1).astype('int64')
            assert classes.size == pred.shape[0], f'{classes.size} labels for {pred.shape[0]} predictions'
            probabilities = pred[numpy.arange(classes.size), classes]
            self._add(float((-numpy.log(probabilities + self.eps)).sum()), classes.size)


@alias('nll_loss')
@register
class NegativeLogLikelihood(CrossEntropy):
    """Negative log likelihood of the label, averaged over samples."""

    def __init__(self, eps: float = 1e-12, name: str = 'nll-loss', output_names: Any = None,
                 label_names: Any = None) -> None:
        super().__init__(eps, name, output_names, label_names)
