"""Blocks that MXNet 1.9.1 keeps under ``gluon.contrib``."""

import importlib
from typing import Any

from . import data, nn

__all__ = ['cnn', 'data', 'estimator', 'nn', 'rnn']


def __getattr__(name: str) -> Any:
    if name in ('cnn', 'estimator', 'rnn'):
        return importlib.import_module(f'{__name__}.{name}')
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
