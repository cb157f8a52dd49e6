"""Fourier transforms and count sketches, which the releases have for GPUs only."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import MXNetError, shape_text
from ..op import Int, register
from ._nn import require_float, require_shape

_SIZE = {'compute_size': Int(128, 'has no effect')}


def _infer(op: str, even: bool) -> Any:
    def infer(arrays: Any, params: dict[str, Any]) -> None:
        data = arrays[0]
        require_float(op, data)
        if data.ndim not in (2, 4):
            raise MXNetError(f'Operator {op}: data should have 2 or 4 axes, got shape {shape_text(data.shape)}')
        if even and data.shape[-1] % 2:
            raise MXNetError(f'Operator {op}: the last axis holds pairs of numbers, got shape '
                             f'{shape_text(data.shape)}')

    return infer


@register('_contrib_fft', params=_SIZE, infer=_infer('_contrib_fft', False), samples=((((2, 5),), {}),),
          grad=lambda F, ograds, inputs, outputs, params: (F._contrib_ifft(ograds[0]),))
def _fft(xp: Any, data: Any, compute_size: int = 128) -> Any:
    """The Fourier transform of the last axis: real and imaginary parts in turn, twice as many numbers."""
    result = xp.fft.fft(data.astype(np.promote_types(data.dtype, np.float32)), axis=-1)
    pairs = xp.stack((result.real, result.imag), axis=-1)
    return pairs.reshape((*data.shape[:-1], -1)).astype(data.dtype)


@register('_contrib_ifft', params=_SIZE, infer=_infer('_contrib_ifft', True), samples=((((2, 6),), {}),),
          grad=lambda F, ograds, inputs, outputs, params: (F._contrib_fft(ograds[0]),))
def _ifft(xp: Any, data: Any, compute_size: int = 128) -> Any:
    """The real part of the inverse Fourier transform of pairs of real and imaginary parts, without the factor 1/n."""
    wide = data.astype(np.promote_types(data.dtype, np.float32))
    values = wide[..., 0::2] + 1j * wide[..., 1::2]
    return (xp.fft.ifft(values, axis=-1).real * values.shape[-1]).astype(data.dtype)


def _sketch_infer(arrays: Any, params: dict[str, Any]) -> None:
    op = '_contrib_count_sketch'
    data, places, signs = arrays
    require_float(op, data)
    if data.ndim not in (2, 4):
        raise MXNetError(f'Operator {op}: data should have 2 or 4 axes, got shape {shape_text(data.shape)}')
    for array in (places, signs):
        require_shape(op, array.shape, (1, data.shape[-1]))
    if places.min() < 0 or places.max() >= params['out_dim']:
        raise MXNetError(f'Operator {op}: places should be from 0 to below out_dim={params["out_dim"]}')


_SKETCH = {'out_dim': Int(doc='length of the result'), 'processing_batch_size': Int(32, 'has no effect')}


@register('_contrib_count_sketch', inputs=('data', 'h', 's'), params=_SKETCH, infer=_sketch_infer, mixed=True,
          samples=((((2, 5), 'fixed:[[0, 2, 1, 2, 0]]', 'fixed:[[1, -1, 1, 1, -1]]'), {'out_dim': 4}),),
          grad=lambda F, ograds, inputs, outputs, params: (
              F._sketch_backward(ograds[0], inputs[1], inputs[2]), F.zeros_like(inputs[1]), F.zeros_like(inputs[2])))
def _count_sketch(xp: Any, data: Any, h: Any, s: Any, out_dim: int = 1, processing_batch_size: int = 32) -> Any:
    """The last axis shortened to out_dim: element i is multiplied with ``s[i]`` and added at place ``h[i]``."""
    matrix = xp.zeros((data.shape[-1], out_dim), data.dtype)
    matrix[xp.arange(data.shape[-1]), h.reshape(-1).astype(np.int64)] = s.reshape(-1)
    return xp.matmul(data, matrix)


@register('_sketch_backward', inputs=('ograd', 'h', 's'), mixed=True,
          grad=lambda F, ograds, inputs, outputs, params: (
              F._contrib_count_sketch(ograds[0], inputs[1], inputs[2], out_dim=inputs[0].shape[-1]), None, None))
def _sketch_backward(xp: Any, ograd: Any, h: Any, s: Any) -> Any:
    """The gradient of the data of a count sketch."""
    return ograd[..., h.reshape(-1).astype(np.int64)] * s.reshape(-1).astype(ograd.dtype)
