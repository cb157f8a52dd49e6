"""Samplers of ``gluon.contrib.data``."""

from .sampler import IntervalSampler

__all__ = ['IntervalSampler']
