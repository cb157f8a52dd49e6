"""Ending a training that no longer makes progress."""

from __future__ import annotations

from typing import Any

import numpy as np

from .events import EpochEnd, TrainBegin, TrainEnd
from .monitor import check_monitor, comparison, current_value, worst


class EarlyStoppingHandler(TrainBegin, EpochEnd, TrainEnd):
    """Ends the training when ``monitor`` has not improved by ``min_delta`` for ``patience`` epochs.

    ``mode`` is 'min', 'max' or 'auto'; with ``baseline`` the first value to beat is given. ValueError for a monitor
    that is no simple metric.
    """

    def __init__(self, monitor: Any, min_delta: float = 0, patience: int = 0, mode: str = 'auto',
                 baseline: float | None = None) -> None:
        check_monitor(monitor, 'EarlyStoppingHandler')
        self.monitor = monitor
        self.baseline = baseline
        self.patience = patience
        self.wait = 0
        self.stopped_epoch = 0
        self.current_epoch = 0
        self.stop_training = False
        self.monitor_op = comparison(mode, monitor, 'EarlyStoppingHandler')
        self.min_delta = min_delta if self.monitor_op is np.greater else -min_delta
        self.best: float = 0

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Start anew."""
        self.wait = 0
        self.stopped_epoch = 0
        self.current_epoch = 0
        self.stop_training = False
        self.best = worst(self.monitor_op) if self.baseline is None else self.baseline

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Whether to end the training."""
        value = current_value(self.monitor)
        if value is None:
            # Nothing to compare with.
            pass
        elif self.monitor_op(value - self.min_delta, self.best):
            self.best = value
            self.wait = 0
        else:
            self.wait += 1
            if self.wait >= self.patience:
                self.stopped_epoch = self.current_epoch
                self.stop_training = True
        self.current_epoch += 1
        return self.stop_training

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Say why the training ended."""
        if self.stop_training:
            estimator.logger.info(f'[Epoch {self.stopped_epoch}] EarlyStoppingHandler: early stopping due to '
                                  f'{self.monitor.get()[0]} not improving')
