"""Estimator: a network, its loss, its trainer, and the loop that brings them together."""

from __future__ import annotations

import copy
import logging
import sys
import warnings
from typing import Any

from ....context import Context, cpu, gpu, num_gpus
from ....metric import Accuracy, EvalMetric
from ....metric import Loss as LossMetric
from ...data import DataLoader
from ...loss import Loss, SoftmaxCrossEntropyLoss
from ...parameter import DeferredInitializationError
from ...trainer import Trainer
from .batch_processor import BatchProcessor
from .events import check_handlers, sorted_by_moment
from .handlers import GradientUpdateHandler, MetricHandler, StoppingHandler, ValidationHandler, check_metrics
from .logging_handler import LoggingHandler

_NOT_A_LOADER = ('Estimator only support input as Gluon DataLoader. Alternatively, you can transform your DataIter or '
                 'any NDArray into Gluon DataLoader. Refer to gluon.data.DataLoader')


class Estimator:
    """Trains and evaluates a network.

    Without ``train_metrics`` the loss, and the accuracy for a SoftmaxCrossEntropyLoss, are watched; ``val_metrics``
    are copies of those of training. Without a ``trainer`` it is SGD with learning rate 0.001. What happens besides
    forward, backward and update is up to event handlers.

    >>> import refengine as mx
    >>> net = mx.gluon.nn.Dense(2, in_units=3)
    >>> net.initialize()
    >>> trainer = mx.gluon.Trainer(net.collect_params(), 'sgd')
    >>> estimator = Estimator(net, mx.gluon.loss.L2Loss(), trainer=trainer)
    >>> [metric.name for metric in estimator.train_metrics]
    ['training l2loss']
    """

    def __init__(self, net: Any, loss: Any, train_metrics: Any = None, val_metrics: Any = None, initializer: Any = None,
                 trainer: Any = None, context: Any = None, val_net: Any = None, val_loss: Any = None,
                 batch_processor: Any = None) -> None:
        self.net = net
        self.loss = self._check_loss(loss)
        self._train_metrics = check_metrics(train_metrics)
        self._val_metrics = check_metrics(val_metrics)
        self._add_default_training_metrics()
        self._add_validation_metrics()
        self.val_loss = self.loss if val_loss is None else self._check_loss(val_loss)
        self.val_net = net if val_net is None else val_net
        self.logger = logging.Logger(name='Estimator', level=logging.INFO)
        self.logger.addHandler(logging.StreamHandler(sys.stdout))
        self.context = self._check_context(context)
        self._initialize(initializer)
        self.trainer = self._check_trainer(trainer)
        self.batch_processor = self._check_batch_processor(batch_processor)
        self.max_epoch: int | None = None
        self.max_batch: int | None = None
        self.batch_axis = 0

    # ---- what was given ----------------------------------------------------------------------------------------

    def _check_loss(self, loss: Any) -> Any:
        if not isinstance(loss, Loss):
            raise ValueError(f'loss must be a Loss, refer to gluon.loss.Loss:{loss}')
        return loss

    def _check_context(self, context: Any) -> list[Context]:
        count = num_gpus()
        if context is None:
            if count > 1:
                warnings.warn('You have multiple GPUs, gpu(0) will be used by default. To utilize all your GPUs, '
                              'specify context as a list of gpus, e.g. context=[mx.gpu(0), mx.gpu(1)] ', stacklevel=3)
            return [gpu(0)] if count else [cpu()]
        contexts = list(context) if isinstance(context, list | tuple) else [context]
        if not contexts or not all(isinstance(each, Context) for each in contexts):
            raise ValueError(f'context must be a Context or a list of Context, for example mx.cpu() or [mx.gpu(0), '
                             f'mx.gpu(1)], refer to mxnet.Context:{context}')
        for each in contexts:
            available = each.device_type != 'gpu' or each.device_id < count
            assert available, (f'{each} is not available, please make sure your context is in one of: mx.cpu(), '
                               + ', '.join(f'mx.gpu({index})' for index in range(count)))
        return contexts

    def _check_batch_processor(self, processor: Any) -> Any:
        if processor is None:
            return BatchProcessor()
        for method in ('fit_batch', 'evaluate_batch'):
            if not callable(getattr(processor, method, None)):
                raise ValueError('Customized Batch Processor must contain fit_batch() and evaluate_batch() methods')
        return processor

    def _is_initialized(self) -> bool:
        for parameter in self.net.collect_params().values():
            try:
                parameter.list_ctx()
            except RuntimeError:
                return False
        return True

    def _initialize(self, initializer: Any) -> None:
        parameters = self.net.collect_params()
        if not self._is_initialized():
            waiting = [p for p in parameters.values() if p._data is None and not p._deferred_init]
            for parameter in waiting:
                # Those that have values keep them.
                parameter.initialize(ctx=self.context, default_init=initializer)
        elif initializer is not None:
            warnings.warn("Network already fully initialized, skipping initialization. You don't need to pass "
                          'initializer if you already initialized your net. You can use net.initialize(init='
                          'your_initializer, force_reinit=True) to force re-initialize.', stacklevel=3)
        try:
            placed = parameters.list_ctx()
        except DeferredInitializationError:
            return
        if placed and set(placed) != set(self.context):
            parameters.reset_ctx(self.context)

    def _check_trainer(self, trainer: Any) -> Any:
        if trainer is None:
            warnings.warn('No trainer specified, default SGD optimizer with learning rate 0.001 is used.',
                          stacklevel=3)
            return Trainer(self.net.collect_params(), 'sgd', {'learning_rate': 0.001})
        if not isinstance(trainer, Trainer):
            raise ValueError(f'Trainer must be a Gluon Trainer instance, refer to gluon.Trainer:{trainer}')
        return trainer

    def _add_default_training_metrics(self) -> None:
        if not self._train_metrics:
            if isinstance(self.loss, SoftmaxCrossEntropyLoss):
                self._train_metrics.append(Accuracy())
            self._train_metrics.append(LossMetric(type(self.loss).__name__.lower()))
        for metric in self._train_metrics:
            metric.name = 'training ' + metric.name

    def _add_validation_metrics(self) -> None:
        if not self._val_metrics:
            self._val_metrics = [copy.deepcopy(metric) for metric in self._train_metrics]
        for metric in self._val_metrics:
            metric.name = 'validation ' + metric.name.removeprefix('training ')

    @property
    def train_metrics(self) -> list[EvalMetric]:
        """The metrics of training; their names begin with 'training'."""
        return self._train_metrics

    @property
    def val_metrics(self) -> list[EvalMetric]:
        """The metrics of validation; their names begin with 'validation'."""
        return self._val_metrics

    # ---- loops -------------------------------------------------------------------------------------------------

    def evaluate(self, val_data: Any, batch_axis: int = 0, event_handlers: Any = None) -> None:
        """Run over a DataLoader without learning; ``val_metrics`` have the results."""
        if not isinstance(val_data, DataLoader):
            raise ValueError(_NOT_A_LOADER)
        handlers = [] if event_handlers is None else check_handlers(event_handlers)
        if not any(isinstance(handler, MetricHandler) for handler in handlers):
            handlers.append(MetricHandler(self.val_metrics))
        if not any(isinstance(handler, LoggingHandler) for handler in handlers):
            handlers.append(LoggingHandler(metrics=self.val_metrics))
        moments = sorted_by_moment(handlers)
        for handler in moments['epoch_begin']:
            handler.epoch_begin(self)
        for batch in val_data:
            for handler in moments['batch_begin']:
                handler.batch_begin(self, batch=batch)
            _, label, pred, loss = self.batch_processor.evaluate_batch(self, batch, batch_axis)
            for handler in moments['batch_end']:
                handler.batch_end(self, batch=batch, pred=pred, label=label, loss=loss)
        for handler in moments['epoch_end']:
            handler.epoch_end(self)

    def fit(self, train_data: Any, val_data: Any = None, epochs: int | None = None, event_handlers: Any = None,
            batches: int | None = None, batch_axis: int = 0) -> None:
        """Train over a DataLoader for a number of epochs or of batches.

        ValueError for both or neither, and for data that is no DataLoader.
        """
        if not isinstance(train_data, DataLoader):
            raise ValueError(_NOT_A_LOADER)
        if (not epochs) == (not batches):
            raise ValueError('Fit only support exactly one type of iteration, train by number of epochs or number of '
                             'batches. Please specify one and only one of: epochs or batches.')
        self.max_epoch = epochs
        self.max_batch = batches
        self.batch_axis = batch_axis
        handlers = self._with_default_handlers(val_data, event_handlers)
        moments = sorted_by_moment(handlers)
        for handler in moments['train_begin']:
            handler.train_begin(self)
        while True:
            for handler in moments['epoch_begin']:
                handler.epoch_begin(self)
            for batch in train_data:
                for handler in moments['batch_begin']:
                    handler.batch_begin(self, batch=batch)
                _, label, pred, loss = self.batch_processor.fit_batch(self, batch, batch_axis)
                ends = [handler.batch_end(self, batch=batch, pred=pred, label=label, loss=loss)
                        for handler in moments['batch_end']]
                if any(ends):
                    break
            ends = [handler.epoch_end(self) for handler in moments['epoch_end']]
            if any(ends):
                break
        for handler in moments['train_end']:
            handler.train_end(self)

    def _with_default_handlers(self, val_data: Any, event_handlers: Any) -> list[Any]:
        """The handlers that were given, and one of each kind that the loop cannot do without."""
        handlers = [] if event_handlers is None else check_handlers(event_handlers)
        missing = [StoppingHandler(self.max_epoch, self.max_batch)]

        def given(kind: type) -> bool:
            return any(isinstance(handler, kind) for handler in handlers)

        if not given(GradientUpdateHandler):
            missing.append(GradientUpdateHandler())
        if not given(MetricHandler):
            missing.append(MetricHandler(self.train_metrics))
        if val_data is not None and not given(ValidationHandler):
            missing.append(ValidationHandler(val_data, self.evaluate))
        if not given(LoggingHandler):
            missing.append(LoggingHandler(metrics=self.train_metrics))
        return handlers + missing
