"""Handlers that make the loop go: stopping, metrics, validation, updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....metric import EvalMetric, Loss
from .events import BatchEnd, EpochBegin, EpochEnd, TrainBegin


def check_metrics(metrics: Any) -> list[EvalMetric]:
    """A list of metrics from one, several or None; ValueError for anything else."""
    found = list(metrics) if isinstance(metrics, list | tuple) else [] if metrics is None else [metrics]
    if not all(isinstance(metric, EvalMetric) for metric in found):
        raise ValueError(f'metrics must be a Metric or a list of Metric, refer to mxnet.metric.EvalMetric: {metrics}')
    return found


class StoppingHandler(TrainBegin, BatchEnd, EpochEnd):
    """Ends the training after a number of epochs or of batches; ``fit`` adds one by itself."""

    def __init__(self, max_epoch: int | None = None, max_batch: int | None = None) -> None:
        self.max_epoch = max_epoch
        self.max_batch = max_batch
        self.current_batch = 0
        self.current_epoch = 0
        self.stop_training = False

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Start counting, up to what ``fit`` was told."""
        self.max_epoch = estimator.max_epoch
        self.max_batch = estimator.max_batch
        self.current_batch = 0
        self.current_epoch = 0
        self.stop_training = False

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Whether that was the last batch."""
        self.current_batch += 1
        if self.current_batch == self.max_batch:
            self.stop_training = True
        return self.stop_training

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Whether that was the last epoch."""
        self.current_epoch += 1
        if self.current_epoch == self.max_epoch:
            self.stop_training = True
        return self.stop_training


class MetricHandler(EpochBegin, BatchEnd):
    """Resets metrics before each epoch and updates them after each batch; metrics of kind Loss get the losses."""

    def __init__(self, metrics: Any, priority: float = -1000) -> None:
        self.metrics = check_metrics(metrics)
        self.priority = priority

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Reset."""
        for metric in self.metrics:
            metric.reset()

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Update."""
        for metric in self.metrics:
            if isinstance(metric, Loss):
                metric.update(0, kwargs['loss'])
            else:
                metric.update(kwargs['label'], kwargs['pred'])


class ValidationHandler(TrainBegin, BatchEnd, EpochEnd):
    """Evaluates on other data after every ``epoch_period`` epochs and every ``batch_period`` batches."""

    def __init__(self, val_data: Any, eval_fn: Callable[..., Any], epoch_period: int | None = 1,
                 batch_period: int | None = None, priority: float = -1000, event_handlers: Any = None) -> None:
        self.val_data = val_data
        self.eval_fn = eval_fn
        self.epoch_period = epoch_period
        self.batch_period = batch_period
        self.current_batch = 0
        self.current_epoch = 0
        self.priority = priority
        self.event_handlers = event_handlers

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Start counting."""
        self.current_batch = 0
        self.current_epoch = 0

    def _evaluate(self, estimator: Any) -> None:
        self.eval_fn(val_data=self.val_data, batch_axis=estimator.batch_axis, event_handlers=self.event_handlers)

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Evaluate if it is time."""
        self.current_batch += 1
        if self.batch_period and self.current_batch % self.batch_period == 0:
            self._evaluate(estimator)

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Evaluate if it is time."""
        self.current_epoch += 1
        if self.epoch_period and self.current_epoch % self.epoch_period == 0:
            self._evaluate(estimator)


class GradientUpdateHandler(BatchEnd):
    """Has the trainer update the parameters after each batch."""

    def __init__(self, priority: float = -2000) -> None:
        self.priority = priority

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """One step, with the number of samples of the batch."""
        losses = kwargs['loss']
        losses = losses if isinstance(losses, list) else [losses]
        estimator.trainer.step(sum(loss.shape[0] for loss in losses))
