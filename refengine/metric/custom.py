"""Metrics of what a network or a function gives: the mean of outputs, and functions of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from .. import ndarray as nd
from .base import EvalMetric, check_label_shapes, host, register


@register
class Loss(EvalMetric):
    """The mean of the outputs, whatever the labels: for networks that compute their loss."""

    def __init__(self, name: str = 'loss', output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=True)

    def update(self, _: Any, preds: Any) -> None:
        """Add all elements of the outputs."""
        for pred in [preds] if isinstance(preds, nd.NDArray | numpy.ndarray) else preds:
            values = host(pred)
            self._add(float(values.sum(dtype='float64')), values.size)


@register
class Torch(Loss):
    """Loss under the name of an old plug-in."""

    def __init__(self, name: str = 'torch', output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names)


@register
class Caffe(Loss):
    """Loss under the name of an old plug-in."""

    def __init__(self, name: str = 'caffe', output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names)


class CustomMetric(EvalMetric):
    """A function of (label, prediction) as numpy arrays: it returns a value, or a pair of sum and count.

    >>> import numpy
    >>> metric = CustomMetric(lambda label, pred: numpy.abs(label - pred).max(), name='worst')
    >>> metric.update([numpy.array([1.0, 2.0])], [numpy.array([1.5, 2.0])])
    >>> metric.get()[0], float(metric.get()[1])
    ('worst', 0.5)
    """

    def __init__(self, feval: Callable[..., Any], name: str | None = None, allow_extra_outputs: bool = False,
                 output_names: Any = None, label_names: Any = None) -> None:
        if name is None:
            name = feval.__name__
            if '<' in name:
                name = f'custom({name})'
        super().__init__(name, feval=feval, allow_extra_outputs=allow_extra_outputs, output_names=output_names,
                         label_names=label_names, has_global_stats=True)
        self._feval = feval
        self._allow_extra_outputs = allow_extra_outputs

    def update(self, labels: Any, preds: Any) -> None:
        """Call the function for each pair of label and prediction."""
        labels = [labels] if isinstance(labels, nd.NDArray | numpy.ndarray) else labels
        preds = [preds] if isinstance(preds, nd.NDArray | numpy.ndarray) else preds
        if not self._allow_extra_outputs:
            check_label_shapes(labels, preds)
        for label, pred in zip(labels, preds):
            result = self._feval(host(label), host(pred))
            total, count = result if isinstance(result, tuple) else (result, 1)
            self._add(total, count)

    def get_config(self) -> dict[str, Any]:
        """NotImplementedError: a function has no configuration."""
        raise NotImplementedError('CustomMetric cannot be serialized')


def np(numpy_feval: Callable[..., Any], name: str | None = None, allow_extra_outputs: bool = False) -> CustomMetric:
    """A metric from a function of numpy arrays."""
    def feval(label: Any, pred: Any) -> Any:
        return numpy_feval(label, pred)

    feval.__name__ = numpy_feval.__name__
    return CustomMetric(feval, name, allow_extra_outputs)
