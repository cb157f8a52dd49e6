"""Saving a model while it is trained, and going on from what was saved."""

from __future__ import annotations

import os
import re
from typing import Any

from ....metric import EvalMetric
from .events import BatchEnd, EpochEnd, TrainBegin
from .monitor import comparison, current_value, worst


class CheckpointHandler(TrainBegin, BatchEnd, EpochEnd):
    """Saves parameters and trainer states after every ``epoch_period`` epochs and every ``batch_period`` batches.

    Files are ``PREFIX-epochEbatchB.params`` and ``.states`` in ``model_dir``; the last ``max_checkpoints`` stay. B is
    the number of batches before the last one, but that of all batches at the end of an epoch (so the release names
    them), unless the training was resumed. With ``save_best`` the best by ``monitor`` is also kept as
    ``PREFIX-best``. The graph goes to ``PREFIX-symbol.json`` if the network is hybridized.
    ``resume_from_checkpoint`` goes on from the latest files.
    """

    def __init__(self, model_dir: str, model_prefix: str = 'model', monitor: Any = None, verbose: int = 0,
                 save_best: bool = False, mode: str = 'auto', epoch_period: int | None = 1,
                 batch_period: int | None = None, max_checkpoints: int = 5,
                 resume_from_checkpoint: bool = False) -> None:
        os.makedirs(model_dir, exist_ok=True)
        self.model_dir = model_dir
        self.model_prefix = model_prefix
        self.monitor = monitor
        self.verbose = verbose
        self.save_best = save_best
        if save_best and not isinstance(monitor, EvalMetric):
            raise ValueError('To save best model only, please provide one of the metric objects from '
                             'estimator.train_metrics and estimator.val_metrics as monitor.')
        self.epoch_period = epoch_period
        self.batch_period = batch_period
        self.max_checkpoints = max_checkpoints
        self.resume_from_checkpoint = resume_from_checkpoint
        self.saved_checkpoints: list[str] = []
        self.current_epoch = 0
        self.current_batch = 0
        self.trained_epoch = -1
        self.trained_batch = -1
        if save_best:
            self.monitor_op = comparison(mode, monitor, 'CheckpointHandler')
            self.best = worst(self.monitor_op)

    # ---- events ------------------------------------------------------------------------------------------------

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Start counting, from what the latest checkpoint says if the training goes on from there."""
        self.current_epoch = 0
        self.current_batch = 0
        self.trained_epoch = -1
        self.trained_batch = -1
        if self.save_best:
            self.best = worst(self.monitor_op)
        if self.resume_from_checkpoint:
            by_batches = bool(estimator.max_batch)
            same = (bool(self.batch_period), bool(self.epoch_period)) == (by_batches, not by_batches)
            assert same, ('To use resume from checkpoint, you must only specify the same type of period you used for '
                          'training. For example, if you are training based on number of epochs, you must save only '
                          'based on epochs, and set batch_period to None.')
            self._resume(estimator)

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Save if it is time."""
        if self.current_batch == 0:
            self._save_symbol(estimator)
        self.current_batch += 1
        if self.batch_period and self.current_batch % self.batch_period == 0:
            self._save_checkpoint(estimator, after_epoch=False)

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Save if it is time."""
        if self.epoch_period and (self.current_epoch + 1) % self.epoch_period == 0:
            self._save_checkpoint(estimator, after_epoch=True)
        self.current_epoch += 1

    # ---- saving ------------------------------------------------------------------------------------------------

    def _say(self, estimator: Any, text: str) -> None:
        if self.verbose > 0:
            estimator.logger.info(f'[Epoch {self.current_epoch}] CheckpointHandler: {text}')

    def _save_symbol(self, estimator: Any) -> None:
        path = os.path.join(self.model_dir, f'{self.model_prefix}-symbol.json')
        try:
            symbol, _ = estimator.net.export(None)
        except (AttributeError, RuntimeError):      # no hybrid block, or not traced
            estimator.logger.info(f'Model architecture(symbol file) is not saved, please use HybridBlock to construct '
                                  f'your model, and call net.hybridize() before passing to Estimator in order to save '
                                  f'model architecture as {path}.')
        else:
            symbol.save(path)

    def _save_checkpoint(self, estimator: Any, after_epoch: bool) -> None:
        epoch = self.trained_epoch + 1 + self.current_epoch
        trained = self.trained_batch + 1 + self.current_batch
        batch = trained if after_epoch and not self.resume_from_checkpoint else trained - 1
        prefix = f'{self.model_prefix}-epoch{epoch}batch{batch}'
        self._write(estimator, prefix)
        self._say(estimator, f'trained total {trained} batches, saving model at {self.model_dir} with prefix: '
                             f'{prefix}')
        if prefix in self.saved_checkpoints:
            # The last batch of an epoch may be due twice.
            self.saved_checkpoints.remove(prefix)
        self.saved_checkpoints.append(prefix)
        while len(self.saved_checkpoints) > self.max_checkpoints:
            oldest = self.saved_checkpoints.pop(0)
            for ending in ('.params', '.states'):
                path = os.path.join(self.model_dir, oldest + ending)
                if os.path.exists(path):
                    os.remove(path)
        if self.save_best:
            self._save_best(estimator)

    def _save_best(self, estimator: Any) -> None:
        value = current_value(self.monitor)
        name = self.monitor.get()[0]
        if value is None:
            return
        if self.monitor_op(value, self.best):
            prefix = f'{self.model_prefix}-best'
            self._write(estimator, prefix)
            self._say(estimator, f'{name} improved from {self.best:.5f} to {value:.5f}, updating best model at '
                                 f'{self.model_dir} with prefix: {prefix}')
            self.best = value
        else:
            self._say(estimator, f'{name} did not improve from {self.best:.5f}, skipping updating best model')

    def _write(self, estimator: Any, prefix: str) -> None:
        path = os.path.join(self.model_dir, prefix)
        estimator.net.save_parameters(path + '.params')
        estimator.trainer.save_states(path + '.states')

    # ---- going on ----------------------------------------------------------------------------------------------

    def _latest(self) -> tuple[int, int] | None:
        """Epoch and batch of the latest checkpoint; fills the list of those that are there."""
        pattern = re.compile(re.escape(self.model_prefix) + r'-epoch(\d+)batch(\d+)\.params')
        found = sorted((int(match[1]), int(match[2]))
                       for match in map(pattern.fullmatch, os.listdir(self.model_dir)) if match)
        self.saved_checkpoints = [f'{self.model_prefix}-epoch{epoch}batch{batch}' for epoch, batch in found]
        return found[-1] if found else None

    def _resume(self, estimator: Any) -> None:
        unit, limit = ('batch', estimator.max_batch) if estimator.max_batch else ('epoch', estimator.max_epoch)
        plural = 'batches' if unit == 'batch' else 'epochs'
        latest = self._latest()
        if latest is None:
            estimator.logger.info(f'CheckpointHandler: No checkpoint found, training from scratch for {limit} '
                                  f'{plural}')
            return
        epoch, batch = latest
        done = (batch if unit == 'batch' else epoch) + 1
        if done >= limit:
            raise ValueError(f'Found checkpoint with maximum number of {unit} {done} reached, please specify '
                             f'resume_from_checkpoint=False (default value) if you want to train from scratch.')
        path = os.path.join(self.model_dir, f'{self.model_prefix}-epoch{epoch}batch{batch}')
        for ending in ('.params', '.states'):
            assert os.path.exists(path + ending), f'Failed to load checkpoint, {path + ending} does not exist'
        estimator.net.load_parameters(path + '.params', ctx=estimator.context)
        estimator.trainer.load_states(path + '.states')
        self.trained_epoch, self.trained_batch = epoch, batch
        if unit == 'batch':
            estimator.max_batch -= done
        else:
            estimator.max_epoch -= done
        estimator.logger.warning(f'CheckpointHandler: Checkpoint resumed from epoch {epoch} batch {batch}, continue '
                                 f'to train for {limit - done} {plural} ')
