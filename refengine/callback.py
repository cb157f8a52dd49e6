"""Functions that training loops call after batches and epochs."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from typing import Any


def do_checkpoint(prefix: str, period: int = 1) -> Callable[..., None]:
    """After every ``period`` epochs, write symbol and parameters."""
    period = int(max(1, period))

    def _callback(iter_no: int, sym: Any, arg: Any, aux: Any) -> None:
        from .model import save_checkpoint
        if (iter_no + 1) % period == 0:
            save_checkpoint(prefix, iter_no + 1, sym, arg, aux)

    return _callback


def module_checkpoint(mod: Any, prefix: str, period: int = 1,
                      save_optimizer_states: bool = False) -> Callable[..., None]:
    """After every ``period`` epochs, have a module write its checkpoint."""
    period = int(max(1, period))

    def _callback(iter_no: int, sym: Any = None, arg: Any = None, aux: Any = None) -> None:
        if (iter_no + 1) % period == 0:
            mod.save_checkpoint(prefix, iter_no + 1, save_optimizer_states)

    return _callback


def log_train_metric(period: int, auto_reset: bool = False) -> Callable[..., None]:
    """Log the training metric every ``period`` batches."""
    def _callback(param: Any) -> None:
        if param.nbatch % period == 0 and param.eval_metric is not None:
            for name, value in param.eval_metric.get_name_value():
                logging.info('Iter[%d] Batch[%d] Train-%s=%f', param.epoch, param.nbatch, name, value)
            if auto_reset:
                param.eval_metric.reset()

    return _callback


class Speedometer:
    """Log samples per second, and the metric, every ``frequent`` batches."""

    def __init__(self, batch_size: int, frequent: int = 50, auto_reset: bool = True) -> None:
        self.batch_size = batch_size
        self.frequent = frequent
        self.auto_reset = auto_reset
        self.init = False
        self.tic = 0.0
        self.last_count = 0

    def __call__(self, param: Any) -> None:
        count = param.nbatch
        if self.last_count > count:
            self.init = False
        self.last_count = count
        if not self.init:
            self.init = True
            self.tic = time.time()
            return
        if count % self.frequent:
            return
        elapsed = time.time() - self.tic
        speed = self.frequent * self.batch_size / elapsed if elapsed else float('inf')
        if param.eval_metric is None:
            logging.info('Iter[%d] Batch [%d]\tSpeed: %.2f samples/sec', param.epoch, count, speed)
        else:
            pairs = param.eval_metric.get_name_value()
            if self.auto_reset:
                param.eval_metric.reset()
                head = f'Epoch[{param.epoch}] Batch [{count - self.frequent}-{count}]'
            else:
                head = f'Epoch[{param.epoch}] Batch [0-{count}]'
            logging.info('%s\tSpeed: %.2f samples/sec%s', head, speed, ''.join(f'\t{n}={v:f}' for n, v in pairs))
        self.tic = time.time()


class ProgressBar:
    """Log how many of ``total`` batches are done, as a bar of ``length`` characters."""

    def __init__(self, total: int, length: int = 80) -> None:
        self.bar_len = length
        self.total = total

    def __call__(self, param: Any) -> None:
        filled = round(self.bar_len * param.nbatch / float(self.total))
        percents = math.ceil(100.0 * param.nbatch / float(self.total))
        logging.info('[%s] %s%s\r', '=' * filled + '-' * (self.bar_len - filled), percents, '%')


class LogValidationMetricsCallback:
    """Log the validation metric at the end of an epoch."""

    def __call__(self, param: Any) -> None:
        if not param.eval_metric:
            return
        for name, value in param.eval_metric.get_name_value():
            logging.info('Epoch[%d] Validation-%s=%f', param.epoch, name, value)
