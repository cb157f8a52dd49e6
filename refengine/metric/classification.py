"""Metrics of chosen classes: accuracy, F1, correlation coefficients of confusion matrices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from .base import EvalMetric, alias, pairs, register


@alias('acc')
@register
class Accuracy(EvalMetric):
    """The share of samples whose class (the largest score along ``axis``, or given as such) is the label."""

    def __init__(self, axis: int = 1, name: str = 'accuracy', output_names: Any = None,
                 label_names: Any = None) -> None:
        super().__init__(name, axis=axis, output_names=output_names, label_names=label_names, has_global_stats=True)
        self.axis = axis

    def update(self, labels: Any, preds: Any) -> None:
        """Count the right classes."""
        for label, pred in pairs(labels, preds):
            if pred.shape != label.shape:
                pred = pred.argmax(axis=self.axis)
            given, chosen = label.astype('int32').reshape(-1), pred.astype('int32').reshape(-1)
            if given.shape != chosen.shape:
                raise ValueError(f'Shape of labels {given.size} does not match shape of predictions {chosen.size}')
            self._add(float((given == chosen).sum()), given.size)


@alias('top_k_accuracy', 'top_k_acc')
@register
class TopKAccuracy(EvalMetric):
    """The share of samples whose label is among the ``top_k`` largest scores."""

    def __init__(self, top_k: int = 1, name: str = 'top_k_accuracy', output_names: Any = None,
                 label_names: Any = None) -> None:
        super().__init__(name, top_k=top_k, output_names=output_names, label_names=label_names, has_global_stats=True)
        self.top_k = top_k
        assert top_k > 1, 'Please use Accuracy if top_k is no more than 1'
        self.name += f'_{top_k}'

    def update(self, labels: Any, preds: Any) -> None:
        """Count the labels among the largest scores."""
        for label, pred in pairs(labels, preds):
            assert pred.ndim <= 2, f'Predictions should be no more than 2 dims, got {pred.ndim}'
            given = label.astype('int32').reshape(-1)
            if pred.shape[0] != given.size:
                raise ValueError(f'Shape of labels {given.size} does not match shape of predictions {pred.shape[0]}')
            if pred.ndim == 1:
                hits = (pred.astype('int32') == given).sum()
            else:
                count = min(self.top_k, pred.shape[1])
                best = numpy.argpartition(pred.astype('float32'), -count, axis=1)[:, -count:]
                hits = (best == given[:, None]).sum()
            self._add(float(hits), given.size)


class _Counts:
    """True and false positives and negatives of a binary classification."""

    def __init__(self) -> None:
        self.table = numpy.zeros((2, 2), dtype='int64')    # label, prediction

    def update(self, label: numpy.ndarray, pred: numpy.ndarray) -> None:
        chosen = pred.argmax(axis=1) if pred.ndim > 1 else (pred > 0.5).astype('int32')
        given = label.astype('int32').reshape(-1)
        if chosen.size != given.size:
            raise ValueError(f'Shape of labels {given.size} does not match shape of predictions {chosen.size}')
        if given.size and (given.max() > 1 or given.min() < 0 or (pred.ndim > 1 and pred.shape[1] > 2)):
            raise ValueError('binary classification: _BinaryClassificationMetrics currently only supports binary '
                             'classification.')
        numpy.add.at(self.table, (given, chosen.reshape(-1)), 1)

    @property
    def total(self) -> int:
        return int(self.table.sum())

    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 where it is not defined."""
        hits = float(self.table[1, 1])
        found, real = float(self.table[:, 1].sum()), float(self.table[1].sum())
        precision, recall = (hits / found if found else 0.0), (hits / real if real else 0.0)
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

    def matthews(self) -> float:
        """Matthews' correlation coefficient; empty rows and columns count as 1 in the divisor."""
        if not self.total:
            return 0.0
        (tn, fp), (fn, tp) = self.table.astype('float64')
        terms = [tp + fp, tp + fn, tn + fp, tn + fn]
        return float((tp * tn - fp * fn) / math.sqrt(math.prod(t for t in terms if t)))


class _BinaryMetric(EvalMetric):
    """A metric of counts: the mean over batches (macro) or that of all counts together (micro)."""

    _score: Callable[[_Counts], float]

    def __init__(self, name: str, output_names: Any, label_names: Any, average: str) -> None:
        assert average in ('macro', 'micro'), f"average must be 'macro' or 'micro', got {average!r}"
        self.average = average
        self._local, self._global = _Counts(), _Counts()
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=True)

    def update(self, labels: Any, preds: Any) -> None:
        """Take a batch into account."""
        score = type(self)._score
        for label, pred in pairs(labels, preds):
            batch = _Counts()
            batch.update(label, pred)
            self._local.table += batch.table
            self._global.table += batch.table
            if self.average == 'macro':
                self._add(score(batch), 1)
        if self.average == 'micro':
            self.num_inst, self.global_num_inst = self._local.total, self._global.total
            self.sum_metric = score(self._local) * self.num_inst
            self.global_sum_metric = score(self._global) * self.global_num_inst

    def reset(self) -> None:
        """Forget everything."""
        super().reset()
        self._local, self._global = _Counts(), _Counts()

    def reset_local(self) -> None:
        """Forget what came since the last local reset."""
        super().reset_local()
        self._local = _Counts()


@register
class F1(_BinaryMetric):
    """F1 score of a binary classification."""

    _score = _Counts.f1

    def __init__(self, name: str = 'f1', output_names: Any = None, label_names: Any = None,
                 average: str = 'macro') -> None:
        super().__init__(name, output_names, label_names, average)


@register
class MCC(_BinaryMetric):
    """Matthews' correlation coefficient of a binary classification."""

    _score = _Counts.matthews

    def __init__(self, name: str = 'mcc', output_names: Any = None, label_names: Any = None,
                 average: str = 'macro') -> None:
        super().__init__(name, output_names, label_names, average)


@register
class PCC(EvalMetric):
    """Matthews' correlation coefficient for any number of classes, of all batches together."""

    def __init__(self, name: str = 'pcc', output_names: Any = None, label_names: Any = None,
                 has_global_stats: bool = True) -> None:
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=has_global_stats)

    def reset(self) -> None:
        """Forget everything."""
        super().reset()
        self._local = self._global = numpy.zeros((2, 2))

    def reset_local(self) -> None:
        """Forget what came since the last local reset."""
        super().reset_local()
        self._local = numpy.zeros((2, 2))

    def update(self, labels: Any, preds: Any) -> None:
        """Add a batch to the confusion matrix."""
        for label, pred in pairs(labels, preds):
            given = label.astype('int32').reshape(-1)
            chosen = (pred if pred.shape == label.shape else pred.argmax(axis=1)).astype('int32').reshape(-1)
            size = int(max(given.max(), chosen.max(), pred.shape[1] - 1 if pred.ndim > 1 else 0)) + 1
            batch = numpy.zeros((size, size))
            numpy.add.at(batch, (chosen, given), 1)
            self._local, self._global = _padded_sum(self._local, batch), _padded_sum(self._global, batch)
            self.num_inst += 1
            self.global_num_inst += 1

    @property
    def sum_metric(self) -> float:
        """The coefficient of what came since the last local reset, times the number of batches."""
        return self._coefficient(self._local) * self.num_inst if self.num_inst else 0.0

    @sum_metric.setter
    def sum_metric(self, value: float) -> None:
        """It follows from the matrix."""

    @property
    def global_sum_metric(self) -> float:
        """The coefficient of everything, times the number of batches."""
        return self._coefficient(self._global) * self.global_num_inst if self.global_num_inst else 0.0

    @global_sum_metric.setter
    def global_sum_metric(self, value: float) -> None:
        """It follows from the matrix."""

    @staticmethod
    def _coefficient(matrix: numpy.ndarray) -> float:
        total = matrix.sum()
        rows, columns = matrix.sum(axis=1), matrix.sum(axis=0)
        numerator = total * matrix.trace() - rows @ columns
        divisor = (total ** 2 - rows @ rows) * (total ** 2 - columns @ columns)
        return float(numerator / math.sqrt(divisor)) if divisor > 0 else float('nan')


def _padded_sum(a: numpy.ndarray, b: numpy.ndarray) -> numpy.ndarray:
    size = max(len(a), len(b))
    result = numpy.zeros((size, size))
    result[:len(a), :len(a)] += a
    result[:len(b), :len(b)] += b
    return result
