"""What an estimator tells about its training."""

from __future__ import annotations

import time
from typing import Any

from .events import BatchBegin, BatchEnd, EpochBegin, EpochEnd, TrainBegin, TrainEnd
from .handlers import check_metrics


class LoggingHandler(TrainBegin, TrainEnd, EpochBegin, EpochEnd, BatchBegin, BatchEnd):
    """Writes progress to the logger of the estimator, per epoch or every ``log_interval`` batches."""

    def __init__(self, log_interval: int | str = 'epoch', metrics: Any = None, priority: float = float('inf')) -> None:
        if not isinstance(log_interval, int) and log_interval != 'epoch':
            raise ValueError("log_interval must be either an integer or string 'epoch'")
        self.log_interval = log_interval
        self.metrics = check_metrics(metrics)
        # After all others, so that it shows what they have computed.
        self.priority = priority
        self.batch_index = 0
        self.current_epoch = 0
        self.processed_samples = 0
        self.log_interval_time: float = 0

    def _values(self) -> str:
        pairs = (metric.get() for metric in self.metrics)
        return ', '.join(f'{name}: {value:.4f}' for name, value in pairs)

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """The optimizer and how long the training will be."""
        self.train_start = time.time()
        trainer = estimator.trainer
        estimator.logger.info(f'Training begin: using optimizer {type(trainer._optimizer).__name__} with current '
                              f'learning rate {trainer.learning_rate:.4f} ')
        if estimator.max_epoch:
            estimator.logger.info(f'Train for {estimator.max_epoch} epochs.')
        else:
            estimator.logger.info(f'Train for {estimator.max_batch} batches.')
        self.current_epoch = 0
        self.batch_index = 0
        self.processed_samples = 0
        self.log_interval_time = 0

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Time and final values."""
        seconds = int(time.time() - self.train_start)
        text = f'Train finished using total {seconds}s with {self.current_epoch} epochs. {self._values()}'
        estimator.logger.info(text.rstrip())

    def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Start the clock."""
        if isinstance(self.log_interval, int):
            self.batch_start = time.time()

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Time and values of the last interval."""
        if isinstance(self.log_interval, int):
            self.processed_samples += kwargs['batch'][0].shape[0]
            self.log_interval_time += time.time() - self.batch_start
            if self.batch_index % self.log_interval == 0:
                text = (f'[Epoch {self.current_epoch}][Batch {self.batch_index}][Samples {self.processed_samples}] '
                        f'time/interval: {self.log_interval_time:.3f}s {self._values()}')
                self.log_interval_time = 0
                estimator.logger.info(text.rstrip())
        self.batch_index += 1

    def _trains(self) -> bool:
        """Whether the metrics, which are all that tells, are those of training."""
        return any('training' in metric.name for metric in self.metrics)

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """The learning rate, or that a validation begins."""
        if isinstance(self.log_interval, int) or self.log_interval == 'epoch':
            self.epoch_start = time.time()
            if self._trains():
                estimator.logger.info(f'[Epoch {self.current_epoch}] Begin, current learning rate: '
                                      f'{estimator.trainer.learning_rate:.4f}')
            else:
                estimator.logger.info('Validation Begin')

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Time and values of the epoch."""
        seconds = time.time() - self.epoch_start
        text = f'[Epoch {self.current_epoch}] Finished in {seconds:.3f}s, {self._values()}'
        estimator.logger.info(text.rstrip(', '))
        self.current_epoch += 1
        self.batch_index = 0
