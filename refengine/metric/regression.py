"""Metrics of numbers: mean errors and Pearson's correlation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from .base import EvalMetric, alias, check_label_shapes, pairs, register


class _Regression(EvalMetric):
    """The mean over batches of an error between label and prediction."""

    _error: Callable[[numpy.ndarray], Any]

    def __init__(self, name: str, output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=True)

    def update(self, labels: Any, preds: Any) -> None:
        """Add the error of a batch; one-dimensional arrays count as columns."""
        for label, pred in pairs(labels, preds):
            label, pred = (x.reshape(-1, 1) if x.ndim == 1 else x for x in (label, pred))
            self._add(float(type(self)._error(label - pred)), 1)


@register
class MAE(_Regression):
    """Mean absolute error."""

    _error = staticmethod(lambda difference: numpy.abs(difference).mean())

    def __init__(self, name: str = 'mae', output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names)


@register
class MSE(_Regression):
    """Mean squared error."""

    _error = staticmethod(lambda difference: numpy.square(difference).mean())

    def __init__(self, name: str = 'mse', output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names)


@register
class RMSE(_Regression):
    """Root of the mean squared error, averaged over batches."""

    _error = staticmethod(lambda difference: numpy.sqrt(numpy.square(difference).mean()))

    def __init__(self, name: str = 'rmse', output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names)


@alias('pearsonr')
@register
class PearsonCorrelation(EvalMetric):
    """Pearson's correlation between label and prediction: mean over batches (macro) or over all elements (micro)."""

    def __init__(self, name: str = 'pearsonr', output_names: Any = None, label_names: Any = None,
                 average: str = 'macro') -> None:
        assert average in ('macro', 'micro'), f"average must be 'macro' or 'micro', got {average!r}"
        self.average = average
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=True)

    def reset(self) -> None:
        """Forget everything."""
        super().reset()
        self._moments = numpy.zeros(6)
        self._global_moments = numpy.zeros(6)

    def reset_local(self) -> None:
        """Forget what came since the last local reset."""
        super().reset_local()
        self._moments = numpy.zeros(6)

    def update(self, labels: Any, preds: Any) -> None:
        """Take a batch into account."""
        for label, pred in pairs(labels, preds):
            check_label_shapes(label, pred, False, True)
            x, y = label.reshape(-1).astype('float64'), pred.reshape(-1).astype('float64')
            if self.average == 'macro':
                self._add(float(numpy.corrcoef(x, y)[0, 1]), 1)
                continue
            moments = numpy.array([x.size, x.sum(), y.sum(), x @ x, y @ y, x @ y])
            self._moments = self._moments + moments
            self._global_moments = self._global_moments + moments
            self.num_inst += 1
            self.global_num_inst += 1

    def reset_micro(self) -> None:
        """Forget the sums over elements since the last local reset."""
        self._moments = numpy.zeros(6)

    @staticmethod
    def _correlation(moments: numpy.ndarray) -> float:
        n, x, y, xx, yy, xy = moments
        return float((n * xy - x * y) / math.sqrt((n * xx - x * x) * (n * yy - y * y)))

    def get(self) -> tuple[Any, Any]:
        """Name and correlation."""
        if self.average == 'micro' and self.num_inst:
            return self.name, self._correlation(self._moments)
        return super().get()

    def get_global(self) -> tuple[Any, Any]:
        """Name and correlation over everything."""
        if self.average == 'micro' and self.global_num_inst:
            return self.name, self._correlation(self._global_moments)
        return super().get_global()
