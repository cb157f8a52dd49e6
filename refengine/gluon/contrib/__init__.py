"""Blocks that MXNet 1.9.1 keeps under ``gluon.contrib``."""

from . import data, nn

__all__ = ['data', 'nn']
