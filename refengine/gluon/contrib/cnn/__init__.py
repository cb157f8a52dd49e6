"""Convolutions of ``gluon.contrib.cnn``."""

from .conv_layers import DeformableConvolution, ModulatedDeformableConvolution

__all__ = ['DeformableConvolution', 'ModulatedDeformableConvolution']
