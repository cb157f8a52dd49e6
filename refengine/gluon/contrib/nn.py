"""Layers of ``gluon.contrib.nn``."""

from ..nn.containers import Concurrent, HybridConcurrent, Identity

__all__ = ['Concurrent', 'HybridConcurrent', 'Identity']
