"""Contributed parts: ``mx.contrib``. ``mx.contrib.amp`` is ``mx.amp``, the same module (rule AMP-LS-001)."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from .. import amp
from ..ndarray import contrib as nd
from ..ndarray import contrib as ndarray

for _name in ('', '.amp', '.loss_scaler', '.casting', '.lists'):
    _module = sys.modules.get(amp.__name__ + _name)
    if _module is not None:
        sys.modules[f'{__name__}.amp{_name}'] = _module

__all__ = ['amp', 'autograd', 'io', 'nd', 'ndarray', 'sym', 'symbol', 'text']


def __getattr__(name: str) -> Any:
    if name in ('sym', 'symbol'):
        return importlib.import_module('refengine.symbol.contrib')
    if name in ('autograd', 'io', 'text'):
        return importlib.import_module(f'{__name__}.{name}')
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
