"""EvalMetric, the base of all metrics, and making metrics from names."""

from __future__ import annotations

from typing import Any

import numpy

from .. import ndarray as nd
from .. import registry


def host(value: Any) -> numpy.ndarray:
    """An array as numpy array."""
    return value.asnumpy() if hasattr(value, 'asnumpy') else numpy.asarray(value)


def check_label_shapes(labels: Any, preds: Any, wrap: bool = False, shape: bool = False) -> tuple[Any, Any]:
    """ValueError unless labels and predictions have the same length (or, with ``shape``, the same shape).

    With ``wrap`` single arrays come back as lists of one.
    """
    sizes = (labels.shape, preds.shape) if shape else (len(labels), len(preds))
    if sizes[0] != sizes[1]:
        raise ValueError(f'Shape of labels {sizes[0]} does not match shape of predictions {sizes[1]}')
    if wrap:
        labels = [labels] if isinstance(labels, nd.NDArray) else labels
        preds = [preds] if isinstance(preds, nd.NDArray) else preds
    return labels, preds


def pairs(labels: Any, preds: Any) -> list[tuple[numpy.ndarray, numpy.ndarray]]:
    """Labels and predictions as pairs of numpy arrays; single arrays stand for lists of one."""
    if isinstance(labels, nd.NDArray | numpy.ndarray):
        labels = [labels]
    if isinstance(preds, nd.NDArray | numpy.ndarray):
        preds = [preds]
    check_label_shapes(labels, preds)
    return [(host(label), host(pred)) for label, pred in zip(labels, preds, strict=True)]


class EvalMetric:
    """Base of all metrics; subclasses say in ``update`` what a batch adds.

    >>> import refengine as mx
    >>> acc = mx.metric.Accuracy()
    >>> acc.update([mx.nd.array([0, 1])], [mx.nd.array([[0.9, 0.1], [0.8, 0.2]])])
    >>> acc.get()
    ('accuracy', 0.5)
    """

    def __init__(self, name: str, output_names: Any = None, label_names: Any = None, **kwargs: Any) -> None:
        self.name = str(name)
        self.output_names = output_names
        self.label_names = label_names
        self._has_global_stats = kwargs.pop('has_global_stats', False)
        self._kwargs = kwargs
        self.reset()

    def __str__(self) -> str:
        return f'EvalMetric: {dict(self.get_name_value())}'

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this metric again."""
        return {**self._kwargs, 'metric': type(self).__name__, 'name': self.name, 'output_names': self.output_names,
                'label_names': self.label_names}

    def update_dict(self, label: dict[str, Any], pred: dict[str, Any]) -> None:
        """Update from arrays by name, of which ``output_names`` and ``label_names`` choose some."""
        preds = list(pred.values()) if self.output_names is None else [pred[n] for n in self.output_names]
        labels = list(label.values()) if self.label_names is None else [label[n] for n in self.label_names]
        self.update(labels, preds)

    def update(self, labels: Any, preds: Any) -> None:
        """Take a batch into account."""
        raise NotImplementedError

    def _add(self, total: Any, count: Any) -> None:
        self.sum_metric += total
        self.num_inst += count
        self.global_sum_metric += total
        self.global_num_inst += count

    def reset(self) -> None:
        """Forget everything."""
        self.num_inst: Any = 0
        self.sum_metric: Any = 0.0
        self.global_num_inst: Any = 0
        self.global_sum_metric: Any = 0.0

    def reset_local(self) -> None:
        """Forget what came since the last local reset; the global value stays."""
        self.num_inst = 0
        self.sum_metric = 0.0

    def _value(self, total: Any, count: Any) -> Any:
        return total / count

    def get(self) -> tuple[Any, Any]:
        """Name and value; NaN before the first batch."""
        if self.num_inst == 0:
            return self.name, float('nan')
        return self.name, self._value(self.sum_metric, self.num_inst)

    def get_global(self) -> tuple[Any, Any]:
        """Name and value over everything since the last ``reset``."""
        if not self._has_global_stats:
            return self.get()
        if self.global_num_inst == 0:
            return self.name, float('nan')
        return self.name, self._value(self.global_sum_metric, self.global_num_inst)

    def get_name_value(self) -> list[tuple[str, Any]]:
        """Names and values as a list of pairs."""
        return as_pairs(self.get())

    def get_global_name_value(self) -> list[tuple[str, Any]]:
        """Names and global values as a list of pairs."""
        return as_pairs(self.get_global() if self._has_global_stats else self.get())


def as_pairs(result: tuple[Any, Any]) -> list[tuple[str, Any]]:
    names, values = (part if isinstance(part, list) else [part] for part in result)
    return list(zip(names, values, strict=True))


register = registry.get_register_func(EvalMetric, 'metric')
alias = registry.get_alias_func(EvalMetric, 'metric')
_create = registry.get_create_func(EvalMetric, 'metric')


def create(metric: Any, *args: Any, **kwargs: Any) -> EvalMetric:
    """A metric from a name, a function, an instance, or a list of these (then a CompositeEvalMetric).

    >>> create('acc').name, type(create(['acc', 'mse'])).__name__
    ('accuracy', 'CompositeEvalMetric')
    """
    if callable(metric):
        from .custom import CustomMetric
        return CustomMetric(metric, *args, **kwargs)
    if isinstance(metric, list):
        from .composite import CompositeEvalMetric
        composite = CompositeEvalMetric()
        for child in metric:
            composite.add(create(child, *args, **kwargs))
        return composite
    return _create(metric, *args, **kwargs)
