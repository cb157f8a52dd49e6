"""Optimizers that MXNet keeps apart."""

from .adagrad import GroupAdaGrad

__all__ = ['GroupAdaGrad']
