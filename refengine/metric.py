"""Evaluation metrics: running averages over batches, locally (until ``reset_local``) and globally (until ``reset``)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from . import ndarray as nd
from . import registry


def _host(value: Any) -> numpy.ndarray:
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


def _pairs(labels: Any, preds: Any) -> list[tuple[numpy.ndarray, numpy.ndarray]]:
    """Labels and predictions as pairs of numpy arrays; single arrays stand for lists of one."""
    if isinstance(labels, nd.NDArray | numpy.ndarray):
        labels = [labels]
    if isinstance(preds, nd.NDArray | numpy.ndarray):
        preds = [preds]
    check_label_shapes(labels, preds)
    return [(_host(label), _host(pred)) for label, pred in zip(labels, preds, strict=True)]


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
        return _as_pairs(self.get())

    def get_global_name_value(self) -> list[tuple[str, Any]]:
        """Names and global values as a list of pairs."""
        return _as_pairs(self.get_global() if self._has_global_stats else self.get())


def _as_pairs(result: tuple[Any, Any]) -> list[tuple[str, Any]]:
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
        return CustomMetric(metric, *args, **kwargs)
    if isinstance(metric, list):
        composite = CompositeEvalMetric()
        for child in metric:
            composite.add(create(child, *args, **kwargs))
        return composite
    return _create(metric, *args, **kwargs)


@alias('composite')
@register
class CompositeEvalMetric(EvalMetric):
    """Several metrics that are updated together."""

    def __init__(self, metrics: Iterable[Any] | None = None, name: str = 'composite', output_names: Any = None,
                 label_names: Any = None) -> None:
        self.metrics: list[EvalMetric] = [create(metric) for metric in metrics or ()]
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=True)

    def add(self, metric: Any) -> None:
        """Append a metric."""
        self.metrics.append(create(metric))

    def get_metric(self, index: int) -> Any:
        """The metric at an index; a ValueError is given back, not raised, where there is none (as in MXNet)."""
        try:
            return self.metrics[index]
        except IndexError:
            return ValueError(f'Metric index {index} is out of range 0 and {len(self.metrics)}')

    def update_dict(self, labels: dict[str, Any], preds: dict[str, Any]) -> None:  # type: ignore[override]
        """Update every metric from arrays by name."""
        if self.label_names is not None:
            labels = {name: value for name, value in labels.items() if name in self.label_names}
        if self.output_names is not None:
            preds = {name: value for name, value in preds.items() if name in self.output_names}
        for metric in self.metrics:
            metric.update_dict(labels, preds)

    def update(self, labels: Any, preds: Any) -> None:
        """Update every metric."""
        for metric in self.metrics:
            metric.update(labels, preds)

    def reset(self) -> None:
        """Reset every metric."""
        for metric in self.metrics:
            metric.reset()

    def reset_local(self) -> None:
        """Reset every metric locally."""
        for metric in self.metrics:
            metric.reset_local()

    def _collect(self, results: Iterable[tuple[Any, Any]]) -> tuple[list[str], list[Any]]:
        pairs = [pair for result in results for pair in _as_pairs(result)]
        return [name for name, _ in pairs], [value for _, value in pairs]

    def get(self) -> tuple[Any, Any]:
        """Names and values as two lists."""
        return self._collect(metric.get() for metric in self.metrics)

    def get_global(self) -> tuple[Any, Any]:
        """Names and global values as two lists."""
        return self._collect(metric.get_global() for metric in self.metrics)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this metric again."""
        return {**super().get_config(), 'metrics': [metric.get_config() for metric in self.metrics]}


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
        for label, pred in _pairs(labels, preds):
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
        for label, pred in _pairs(labels, preds):
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
        for label, pred in _pairs(labels, preds):
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
        for label, pred in _pairs(labels, preds):
            given = label.astype('int32').reshape(-1)
            chosen = (pred if pred.shape == label.shape else pred.argmax(axis=1)).astype('int32').reshape(-1)
            size = int(max(given.max(), chosen.max(), pred.shape[1] - 1 if pred.ndim > 1 else 0)) + 1
            batch = numpy.zeros((size, size))
            numpy.add.at(batch, (chosen, given), 1)
            self._local, self._global = _padded_sum(self._local, batch), _padded_sum(self._global, batch)
            self.num_inst += 1
            self.global_num_inst += 1
        self.sum_metric = self._coefficient(self._local) * self.num_inst
        self.global_sum_metric = self._coefficient(self._global) * self.global_num_inst

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
        for label, pred in _pairs(labels, preds):
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


class _Regression(EvalMetric):
    """The mean over batches of an error between label and prediction."""

    _error: Callable[[numpy.ndarray], Any]

    def __init__(self, name: str, output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=True)

    def update(self, labels: Any, preds: Any) -> None:
        """Add the error of a batch; one-dimensional arrays count as columns."""
        for label, pred in _pairs(labels, preds):
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
        for label, pred in _pairs(labels, preds):
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
        for label, pred in _pairs(labels, preds):
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


@register
class Loss(EvalMetric):
    """The mean of the outputs, whatever the labels: for networks that compute their loss."""

    def __init__(self, name: str = 'loss', output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=True)

    def update(self, _: Any, preds: Any) -> None:
        """Add all elements of the outputs."""
        for pred in [preds] if isinstance(preds, nd.NDArray | numpy.ndarray) else preds:
            values = _host(pred)
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
            result = self._feval(_host(label), _host(pred))
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
