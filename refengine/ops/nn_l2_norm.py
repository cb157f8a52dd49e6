"""L2Normalization and LRN: division by a norm of the input."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import MXNetError
from ..op import Enum, Float, Int, register
from ._nn import require_float
from ._sums import total_of_products


def _axes(mode: str, ndim: int) -> tuple[int, ...]:
    return {'instance': tuple(range(1, ndim)), 'channel': (1,), 'spatial': tuple(range(2, ndim))}[mode]


def _l2_infer(arrays: Any, params: dict[str, Any]) -> None:
    need = {'instance': 1, 'channel': 2, 'spatial': 3}[params['mode']]
    if arrays[0].ndim < need:
        raise MXNetError(f'Error in operator L2Normalization: mode {params["mode"]} needs data with at least {need} '
                         f'axes, got shape {arrays[0].shape}')


def _l2_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any]:
    data, y = inputs[0], outputs[0]
    axes = _axes(params['mode'], data.ndim)

    def summed(x: Any) -> Any:
        return F.sum(x, axis=axes, keepdims=True) if axes else x

    norm = F.sqrt(summed(F.square(data)) + params['eps'])
    along = summed(ograds[0] * y)
    return (F.broadcast_div(ograds[0] - F.broadcast_mul(y, along), norm),)


@register('L2Normalization', inputs=('data',), infer=_l2_infer, grad=_l2_grad,
          params={'eps': Float(1e-10, 'is added to the sum of squares'),
                  'mode': Enum(('instance', 'spatial', 'channel'), 'instance', 'what is normalised together')},
          samples=((((2, 3, 2),), {}), (((2, 3, 2),), {'mode': 'channel'}), (((2, 3, 2),), {'mode': 'spatial'})))
def _l2_normalization(xp: Any, data: Any, eps: float = 1e-10, mode: str = 'instance') -> Any:
    """x / sqrt(sum(x²) + eps) over a sample (instance), the channels (channel) or the other axes (spatial)."""
    axes = _axes(mode, data.ndim)
    wide = data if data.dtype == np.float32 else data.astype(np.promote_types(data.dtype, np.float32), copy=False)
    squares = total_of_products(xp, wide, wide, axes) if axes else wide * wide
    norm = xp.sqrt(squares + squares.dtype.type(eps))
    return (data / norm).astype(data.dtype, copy=False)


@register('_channel_window_sum', params={'nsize': Int(doc='length of the window')},
          grad=lambda F, ograds, inputs, outputs, params: (F._channel_window_sum(ograds[0], nsize=params['nsize']),))
def _channel_window_sum(xp: Any, data: Any, nsize: int = 1) -> Any:
    """The sum over a window of neighbouring channels around each channel."""
    half, channels = nsize // 2, data.shape[1]
    out = data.copy()
    for offset in range(1, min(half, channels - 1) + 1):
        out[:, offset:] += data[:, :-offset]
        out[:, :-offset] += data[:, offset:]
    return out


def _lrn_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any]:
    data, og = inputs[0], ograds[0]
    alpha, beta, size = params['alpha'] / params['nsize'], params['beta'], params['nsize']
    norm = F._channel_window_sum(F.square(data), nsize=size) * alpha + params['knorm']
    power = norm ** -beta
    spread = F._channel_window_sum(og * data * power / norm, nsize=size)
    return (og * power - data * spread * (2 * alpha * beta),)


def _lrn_infer(arrays: Any, params: dict[str, Any]) -> None:
    require_float('LRN', arrays[0])
    if arrays[0].ndim < 2:
        raise MXNetError(f'Error in operator LRN: expected data with an axis of channels, got shape {arrays[0].shape}')
    if params['nsize'] % 2 == 0:
        raise MXNetError(f'Error in operator LRN: only odd values of nsize have a middle, got {params["nsize"]}')


@register('LRN', inputs=('data',), infer=_lrn_infer, grad=_lrn_grad,
          params={'alpha': Float(1e-4), 'beta': Float(0.75), 'knorm': Float(2.0),
                  'nsize': Int(low=1, doc='how many neighbouring channels count')},
          samples=((((2, 4, 2, 2),), {'nsize': 3, 'alpha': 0.5}),))
def _lrn(xp: Any, data: Any, alpha: float = 1e-4, beta: float = 0.75, knorm: float = 2.0, nsize: int = 1) -> Any:
    """x / (knorm + alpha / nsize · sum of x² over nsize neighbouring channels) ** beta."""
    norm = _channel_window_sum(xp, xp.square(data), nsize) * data.dtype.type(alpha / nsize) + data.dtype.type(knorm)
    return (data * norm ** -beta).astype(data.dtype, copy=False)
