"""Quantisation: floating point numbers as bytes and back, with the range that the bytes stand for.

A range is a pair of one-element arrays. ``int8`` stands for -m to m and ``uint8`` for 0 to m, where m is the larger of
the absolute values of the two; ``int32``, the sums of products, for -m to m as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import MXNetError, shape_text
from ..op import Enum, Float, Int, register

LEVELS = {'int8': 127.0, 'uint8': 255.0, 'int32': float(2**31 - 1)}
"""Steps of the range of sums of products and of bytes that are computed with."""
STEPS = {'int8': 127.5, 'uint8': 255.5}
"""Steps of the range of bytes when they are made from numbers or turned into numbers."""


def reach(*limits: Any) -> np.float32:
    """The largest absolute value of a range."""
    return np.float32(max(abs(float(np.asarray(x.get() if hasattr(x, 'get') else x).reshape(-1)[0])) for x in limits))


def scale_of(dtype: Any, limit: Any) -> np.float32:
    """Steps per unit for an element type whose range reaches to ``limit``."""
    return np.float32(LEVELS[np.dtype(dtype).name] / float(limit)) if float(limit) else np.float32(0)


def to_bytes(xp: Any, values: Any, limit: Any, dtype: str, steps: dict[str, float] = LEVELS) -> Any:
    """Values in steps of limit / levels, kept within the range of the element type."""
    if not limit:
        return beyond(xp, values, dtype)
    return kept(xp, xp.rint(values * (np.float32(steps[dtype]) / np.float32(limit))), dtype)


def beyond(xp: Any, values: Any, dtype: str) -> Any:
    """Bytes of a range without width: the largest and the smallest, and 0 for the one number in it."""
    return kept(xp, xp.sign(values) * np.float32(256), dtype)


def kept(xp: Any, steps: Any, dtype: str) -> Any:
    """Whole steps within the range of an element type, in that type."""
    bounds = np.iinfo(dtype)
    return xp.clip(steps, bounds.min, bounds.max).astype(dtype)


def one(xp: Any, value: Any) -> Any:
    """A one-element array of float32."""
    return xp.asarray([value], np.float32)


def pair(xp: Any, limit: Any, signed: bool) -> tuple[Any, Any]:
    """The range that bytes stand for."""
    return one(xp, -limit if signed else 0), one(xp, limit)


def require_type(op: str, data: Any, *names: str) -> None:
    """MXNetError unless the array is of one of the named types."""
    if data.dtype.name not in names:
        raise MXNetError(f'Operator {op}: expected data of type {" or ".join(names)}, got {data.dtype.name}')


def require_limits(op: str, *limits: Any) -> None:
    """MXNetError unless all are arrays of one floating point number."""
    for limit in limits:
        if limit.size != 1:
            raise MXNetError(f'Operator {op}: a limit of a range is an array of one element, got shape '
                             f'{shape_text(limit.shape)}')
        if limit.dtype.kind != 'f':
            raise MXNetError(f'Operator {op}: Type inconsistent, Provided = {limit.dtype.name}, inferred type = '
                             f'float32')


# ---- from floating point numbers and back ----------------------------------------------------------------------------

def _quantize_infer(arrays: Any, params: dict[str, Any]) -> None:
    require_type('_contrib_quantize', arrays[0], 'float32', 'float64')
    require_limits('_contrib_quantize', *arrays[1:])


@register('_contrib_quantize', inputs=('data', 'min_range', 'max_range'), num_outputs=3, mixed=True,
          infer=_quantize_infer, params={'out_type': Enum(('int8', 'uint8'), 'uint8', 'type of the result')})
def _quantize(xp: Any, data: Any, min_range: Any, max_range: Any, out_type: str = 'uint8') -> tuple[Any, Any, Any]:
    """Numbers as bytes, and their range. uint8 holds no negative number: they become 0."""
    limit = reach(min_range, max_range)
    steps = data * scale_of(out_type, limit)
    result = kept(xp, xp.copysign(xp.floor(xp.abs(steps) + np.float32(0.5)), steps), out_type) if limit else beyond(
        xp, data, out_type)
    if out_type == 'int8':
        return (result, *pair(xp, limit, True))
    return result, min_range.reshape(1).astype(np.float32), max_range.reshape(1).astype(np.float32)


_CALIBRATED = {'min_calib_range': Float(None, 'smallest value, if known', none=True),
               'max_calib_range': Float(None, 'largest value, if known', none=True)}


def _known(p: dict[str, Any]) -> bool:
    return p['min_calib_range'] is not None and p['max_calib_range'] is not None


def _byte_type(out_type: str, known: bool, low: Any) -> str:
    if out_type != 'auto':
        return out_type
    return 'uint8' if known and low >= 0 else 'int8'


@register('_contrib_quantize_v2', num_outputs=3, infer=lambda arrays, params: require_type(
    '_contrib_quantize_v2', arrays[0], 'float32', 'float64', 'uint8', 'int8'),
          params={'out_type': Enum(('auto', 'int8', 'uint8'), 'int8', 'auto: uint8 for known ranges from 0 on'),
                  **_CALIBRATED})
def _quantize_v2(xp: Any, data: Any, out_type: str = 'int8', **p: Any) -> tuple[Any, Any, Any]:
    """Numbers as bytes, and their range: the given one, or that of the data; bytes pass with that of their type."""
    known = _known(p)
    if data.dtype.kind != 'f':
        signed = data.dtype == np.int8
        low, high = (p['min_calib_range'], p['max_calib_range']) if known else (
            -STEPS['int8'] if signed else 0.0, STEPS['int8' if signed else 'uint8'])
        kind = _byte_type(out_type, known, p['min_calib_range'])
        return data.astype(kind), one(xp, low), one(xp, high)
    low, high = (p['min_calib_range'], p['max_calib_range']) if known else (float(data.min()), float(data.max()))
    out_type = _byte_type(out_type, known, low)
    limit = reach(np.float32(low), np.float32(high))
    result = to_bytes(xp, data, limit, out_type, STEPS)
    if out_type == 'int8':
        return (result, *pair(xp, limit, True))
    return result, one(xp, low), one(xp, high)


def _dequantize_infer(arrays: Any, params: dict[str, Any]) -> None:
    require_type('_contrib_dequantize', arrays[0], 'int8', 'uint8')
    require_limits('_contrib_dequantize', *arrays[1:])


@register('_contrib_dequantize', inputs=('data', 'min_range', 'max_range'), mixed=True, infer=_dequantize_infer,
          params={'out_type': Enum(('float32',), 'float32')})
def _dequantize(xp: Any, data: Any, min_range: Any, max_range: Any, out_type: str = 'float32') -> Any:
    """Bytes as numbers: times the reach of their range, divided by their levels."""
    return data * np.float32(reach(min_range, max_range) / np.float32(STEPS[data.dtype.name]))


def _requantize_infer(arrays: Any, params: dict[str, Any]) -> None:
    require_type('_contrib_requantize', arrays[0], 'int32')
    require_limits('_contrib_requantize', *arrays[1:])


@register('_contrib_requantize', inputs=('data', 'min_range', 'max_range'), num_outputs=3, mixed=True,
          infer=_requantize_infer, params={
              'out_type': Enum(('auto', 'int8', 'uint8'), 'int8', 'auto: uint8 for known ranges from 0 on'),
              **_CALIBRATED})
def _requantize(xp: Any, data: Any, min_range: Any, max_range: Any, out_type: str = 'int8', **p: Any) -> tuple[
        Any, Any, Any]:
    """Sums of products (int32) as bytes, and their range: the given one, or that of the data."""
    step = float(reach(min_range, max_range)) / LEVELS['int32']
    known = _known(p)
    limit = reach(np.float32(p['min_calib_range']), np.float32(p['max_calib_range'])) if known else np.float32(
        step * max(abs(float(data.min())), abs(float(data.max()))))
    if out_type == 'auto':
        out_type = 'uint8' if known and p['min_calib_range'] >= 0 else 'int8'
    values = data * step
    return (to_bytes(xp, values, limit, out_type), *pair(xp, limit, out_type == 'int8'))


@register('_contrib_quantize_asym', num_outputs=3, infer=lambda arrays, params: require_type(
    '_contrib_quantize_asym', arrays[0], 'float32', 'float64'), params=_CALIBRATED)
def _quantize_asym(xp: Any, data: Any, **p: Any) -> tuple[Any, Any, Any]:
    """Numbers as uint8 over their whole range, with scale and shift: byte = number · scale + shift."""
    low, high = (p['min_calib_range'], p['max_calib_range']) if _known(p) else (float(data.min()), float(data.max()))
    scale = np.float32(255.0 / (high - low)) if high > low else np.float32(1)
    shift = np.float32(255.0 - high * float(scale))
    steps = xp.clip(xp.rint(data * scale + shift), 0, 255)
    return steps.astype('uint8'), one(xp, scale), one(xp, shift)


# ---- calibration -----------------------------------------------------------------------------------------------------

def _smoothed(counts: np.ndarray) -> np.ndarray | None:
    """A distribution without zeros: each gets a little from the others; None if there is nothing to take."""
    share = 0.0001
    zero = counts == 0
    rest = int((~zero).sum())
    if not rest:
        return None
    taken = share * int(zero.sum()) / rest
    if taken >= 1.0:
        return None
    return counts + share * zero - taken * ~zero


def _spread(counts: np.ndarray, present: np.ndarray, bins: int) -> np.ndarray:
    """The counts merged into a number of bins, and each bin spread evenly over the places that hold something.

    The first place does not count, as in MXNet 1.9.1.
    """
    merged = len(counts) // bins
    counts = np.concatenate(([0], counts[1:]))
    filled = counts >= 1
    out = np.zeros(len(counts))
    for index in range(bins):
        begin = index * merged
        end = len(counts) if index == bins - 1 else begin + merged
        places = int(filled[begin:end].sum())
        if places:
            out[begin:end] = counts[begin:end].sum() / places
    out[~present] = 0
    return out


def _entropy(p: np.ndarray, q: np.ndarray) -> float:
    p, q = p / p.sum(), q / q.sum()
    inside = p > 0
    if (q[inside] <= 0).any() or (p < 0).any():
        return float('inf')
    return float((p[inside] * np.log(p[inside] / q[inside])).sum())


def _calibrate_infer(arrays: Any, params: dict[str, Any]) -> None:
    counts, edges = arrays
    if counts.ndim != 1 or edges.shape != (len(counts) + 1,):
        raise MXNetError(f'Operator _contrib_calibrate_entropy: expected counts of n bins and n + 1 edges, got shapes '
                         f'{shape_text(counts.shape)} and {shape_text(edges.shape)}')
    if params['num_quantized_bins'] > len(counts):
        raise MXNetError(f'Operator _contrib_calibrate_entropy: num_quantized_bins={params["num_quantized_bins"]} is '
                         f'more than the {len(counts)} bins of the histogram')


@register('_contrib_calibrate_entropy', inputs=('hist', 'hist_edges'), num_outputs=2, infer=_calibrate_infer,
          params={'num_quantized_bins': Int(255, 'levels of the quantised values')})
def _calibrate(xp: Any, hist: Any, hist_edges: Any, num_quantized_bins: int = 255) -> tuple[Any, Any]:
    """The threshold at which a histogram, cut there and quantised, says most about the whole, and the divergence."""
    counts, edges = (np.asarray(x.get() if hasattr(x, 'get') else x, np.float64) for x in (hist, hist_edges))
    middle, half = len(counts) // 2, num_quantized_bins // 2
    best, threshold = float('inf'), float(edges[-1])
    for width in range(half, middle + 1):
        begin, end = middle - width, min(middle + width + 1, len(counts))
        inside = counts[begin:end]
        p = inside.copy()
        p[0] += counts[:begin].sum()
        p[-1] += counts[end:].sum()
        q = _spread(inside, p != 0, num_quantized_bins)
        smooth_p, smooth_q = _smoothed(p), _smoothed(q)
        divergence = float('inf') if smooth_p is None or smooth_q is None else _entropy(smooth_p, smooth_q)
        if divergence < best:
            best, threshold = divergence, float(edges[end])
    return one(xp, threshold), one(xp, best)
