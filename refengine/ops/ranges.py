"""Operators about ranges of numbers: evenly spaced ones, and how many elements lie in each part of a range."""

from __future__ import annotations

import math
from typing import Any

from ..base import MXNetError
from ..op import Bool, Dtype, Float, Floats, Int, register


def bounds_of_range(start: Any, stop: Any, step: Any, empty: bool = False) -> tuple[Any, Any]:
    """Where a range begins and ends; MXNetError for one without steps or end, or (unless allowed) without numbers.

    >>> bounds_of_range(3, None, 1)
    (0, 3)
    """
    if step == 0:
        raise MXNetError('Range does not support step=0, received 0')
    if stop is None:
        start, stop = 0, start
    if not (math.isfinite(start) and math.isfinite(stop)) or math.isnan(step):
        raise MXNetError(f'Invalid range (start, stop, step) = ({start},{stop},{step}): a range begins and ends at '
                         f'finite numbers')
    if not empty and ((step > 0 and start >= stop) or (step < 0 and start <= stop)):
        raise MXNetError(f'Invalid range (start, stop, step) = ({start},{stop},{step})')
    return start, stop


def require_rows(count: int) -> None:
    """MXNetError for an identity matrix with fewer rows than none."""
    if count < 0:
        raise MXNetError(f'Shape dim size cannot be a negative value: eye of {count} rows')


@register('_linspace', inputs=(), params={'start': Float(), 'stop': Float(None, none=True), 'step': Float(1.0),
                                          'repeat': Int(1), 'infer_range': Bool(False), 'num': Int(low=0),
                                          'endpoint': Bool(True), 'dtype': Dtype('float32')}, source=True)
def _linspace(xp: Any, start: float = 0.0, stop: Any = None, num: int = 0, endpoint: bool = True,
              dtype: Any = 'float32', ctx: Any = None, **ignored: Any) -> Any:
    """``num`` evenly spaced numbers from start to stop, which is one of them with endpoint."""
    return xp.linspace(start, stop, num, endpoint=endpoint).astype(dtype)


def edges_of_bins(xp: Any, count: int, first: float, last: float) -> Any:
    """The edges of ``count`` bins of equal width; a range of one number has that in its middle."""
    if count < 0:
        raise MXNetError(f'Operator _histogram: the number of bins must not be negative, got {count}')
    if first > last:
        raise MXNetError(f'Operator _histogram: the left end of the range should be less than or equal to the right '
                         f'end, got {(first, last)}')
    if first == last:
        first, last = first - 0.5, last + 0.5
    return xp.linspace(first, last, count + 1)


@register('_histogram', inputs=('data', 'bins'), mixed=True, num_outputs=2,
          num_inputs=lambda params: 1 if params['bin_cnt'] is not None else 2,
          params={'bin_cnt': Int(None, 'number of bins of equal width', none=True),
                  'range': Floats((), 'where the first bin begins and the last one ends')})
def _histogram(xp: Any, data: Any, bins: Any = None, bin_cnt: Any = None, range: Any = ()) -> tuple[Any, Any]:
    """How many elements lie in each bin (int64), and the edges of the bins."""
    if bin_cnt is not None:
        if len(range) != 2:
            raise MXNetError(f'Operator _histogram: expected the two ends of the range for {bin_cnt} bins, got {range}')
        bins = edges_of_bins(xp, bin_cnt, *range)
    counts, _ = xp.histogram(data.reshape(-1), bins)
    return counts.astype('int64'), bins.astype(data.dtype, copy=False)
