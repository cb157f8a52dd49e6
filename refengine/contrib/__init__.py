"""Contributed parts: ``mx.contrib``. ``mx.contrib.amp`` is ``mx.amp``, the same module (rule AMP-LS-001)."""

from __future__ import annotations

import sys

from .. import amp
from ..ndarray import contrib as nd
from ..ndarray import contrib as ndarray

for _name in ('', '.amp', '.loss_scaler', '.casting', '.lists'):
    _module = sys.modules.get(amp.__name__ + _name)
    if _module is not None:
        sys.modules[f'{__name__}.amp{_name}'] = _module

__all__ = ['amp', 'nd', 'ndarray']
