"""Samplers of ``gluon.contrib.data``."""

from ..data.sampler import IntervalSampler

__all__ = ['IntervalSampler']
