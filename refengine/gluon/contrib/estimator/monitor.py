"""Whether the value of a metric has become better."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ....metric import CompositeEvalMetric, EvalMetric


def check_monitor(monitor: Any, owner: str) -> None:
    """ValueError unless the monitor is a metric with one value."""
    if not isinstance(monitor, EvalMetric):
        raise ValueError('Please provide one of the metric objects from estimator.train_metrics and '
                         'estimator.val_metrics as monitor.')
    if isinstance(monitor, CompositeEvalMetric):
        raise ValueError(f'CompositeEvalMetric is not supported for {owner}, please specify a simple metric instead.')


def comparison(mode: str, monitor: Any, owner: str) -> Any:
    """``np.less`` for 'min', ``np.greater`` for 'max'; 'auto' guesses from the name and says so."""
    if mode not in ('auto', 'min', 'max'):
        warnings.warn(f'{owner} mode {mode} is unknown, fallback to auto mode. {owner} will use max mode for f1 and '
                      f'accuracy metric comparison and use min mode otherwise', RuntimeWarning, stacklevel=3)
        mode = 'auto'
    if mode != 'auto':
        return np.less if mode == 'min' else np.greater
    name = monitor.get()[0].lower()
    greater = 'acc' in name or 'f1' in name
    chosen, other, flag, opposite = ('greater', 'less', 'max', 'min') if greater else ('less', 'greater', 'min', 'max')
    warnings.warn(f"`{chosen}` operator will be used to determine if {monitor.get()[0]} has improved. Please specify "
                  f"`mode='{opposite}'` to use the `{other}` operator. Specify `mode='{flag}'` to disable this "
                  f'warning.', stacklevel=3)
    return getattr(np, chosen)


def worst(operator: Any) -> float:
    """A value that every other one is better than."""
    return float('inf') if operator is np.less else -float('inf')


def current_value(monitor: Any) -> Any:
    """The value of the metric; None, with a warning, if it was not updated."""
    name, value = monitor.get()
    if np.isnan(value):
        warnings.warn(f'{name} is not updated, make sure you pass one of the metric objects from '
                      f'estimator.train_metrics and estimator.val_metrics as monitor.', RuntimeWarning, stacklevel=3)
        return None
    return value
