"""Mixed precision: ``mx.amp``, also reached as ``mx.contrib.amp``.

``init`` and ``init_trainer``, ``scale_loss`` and ``unscale`` are the interface of the releases; ``LossScaler`` is that
of the documents.
"""

from __future__ import annotations

from . import loss_scaler
from .amp import init, init_trainer, scale_loss, unscale
from .loss_scaler import LossScaler

__all__ = ['LossScaler', 'init', 'init_trainer', 'loss_scaler', 'scale_loss', 'unscale']
