"""Layers of ``gluon.contrib.nn``."""

from ..devices import run_on_devices
from .basic_layers import (
    Concurrent,
    HybridConcurrent,
    Identity,
    PixelShuffle1D,
    PixelShuffle2D,
    PixelShuffle3D,
    SparseEmbedding,
    SyncBatchNorm,
)

__all__ = ['Concurrent', 'HybridConcurrent', 'Identity', 'PixelShuffle1D', 'PixelShuffle2D', 'PixelShuffle3D',
           'SparseEmbedding', 'SyncBatchNorm', 'run_on_devices']
