"""Data iterators of the kind that Modules read: ``mx.io``."""

from .arrays import NDArrayIter
from .base import DataBatch, DataDesc, DataIter
from .wrappers import PrefetchingIter, ResizeIter

__all__ = ['DataBatch', 'DataDesc', 'DataIter', 'NDArrayIter', 'PrefetchingIter', 'ResizeIter']
