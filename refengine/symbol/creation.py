"""Symbols that need no input, and functions of two operands that may be numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import _Null, dtype_text, numeric_types
from ..op import registry
from .compose import call
from .symbol import Symbol


def zeros(shape: Any, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Zeros; a dimension 0 is unknown until inference finds it."""
    return call(registry['_zeros'], '_zeros', [], _filled(shape, dtype, kwargs), kwargs.get('name'))


def ones(shape: Any, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Ones."""
    return call(registry['_ones'], '_ones', [], _filled(shape, dtype, kwargs), kwargs.get('name'))


def full(shape: Any, val: Any, dtype: Any = None, **kwargs: Any) -> Symbol:
    """One number everywhere."""
    return call(registry['_full'], '_full', [], {**_filled(shape, dtype, kwargs), 'value': float(val)},
                kwargs.get('name'))


def _kind(dtype: Any) -> str:
    return dtype_text('float32' if dtype is None else dtype)


def _filled(shape: Any, dtype: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in kwargs.items() if key not in ('name', 'ctx')}
    return {'shape': shape, 'dtype': _kind(dtype), **rest}


def arange(start: Any, stop: Any = None, step: float = 1.0, repeat: int = 1, infer_range: bool = False,
           name: str | None = None, dtype: Any = None) -> Symbol:
    """Evenly spaced numbers in [start, stop)."""
    given = {'start': start, 'stop': stop, 'step': step, 'repeat': repeat, 'dtype': _kind(dtype)}
    if infer_range:
        raise NotImplementedError('arange with infer_range=True: give stop')
    return call(registry['_arange'], '_arange', [], given, name)


def eye(N: int, M: int = 0, k: int = 0, dtype: Any = None, **kwargs: Any) -> Symbol:
    """A matrix with ones on one diagonal."""
    return call(registry['_eye'], '_eye', [], {'N': N, 'M': M, 'k': k, 'dtype': _kind(dtype)},
                kwargs.get('name'))


def linspace(start: Any, stop: Any, num: int, endpoint: bool = True, name: str | None = None,
             dtype: Any = None) -> Symbol:
    """``num`` evenly spaced numbers from start to stop, which is one of them with endpoint."""
    given = {'start': start, 'stop': stop, 'num': num, 'endpoint': endpoint,
             'dtype': _kind(dtype)}
    return call(registry['_linspace'], '_linspace', [], given, name)


def histogram(a: Symbol, bins: Any = 10, range: Any = None, **kwargs: Any) -> Symbol:
    """How many elements lie in each of some bins, and their edges.

    ``bins`` is a number, for which ``range`` has to be given, or a symbol of the edges; ValueError for anything else.
    """
    name = kwargs.get('name')
    if isinstance(bins, Symbol):
        return call(registry['_histogram'], '_histogram', [a, bins], {}, name)
    if isinstance(bins, int | np.integer):
        if range is None:
            raise ValueError('null range is not supported in symbol mode')
        return call(registry['_histogram'], '_histogram', [a], {'bin_cnt': int(bins), 'range': tuple(range)}, name)
    raise ValueError('bins argument should be either an integer or an NDArray')


def split_v2(ary: Symbol, indices_or_sections: Any, axis: int = 0, squeeze_axis: bool = False) -> Symbol:
    """Equal parts (a number) or parts from given places on (a tuple) along an axis."""
    indices: tuple[int, ...] = ()
    sections = 0
    if isinstance(indices_or_sections, int):
        sections = indices_or_sections
    elif isinstance(indices_or_sections, tuple | list):
        indices = (0, *indices_or_sections)
    else:
        raise ValueError('indices_or_sections must either int or tuple of ints')
    return call(registry['_split_v2'], '_split_v2', [ary], {'indices': indices, 'axis': axis, 'sections': sections,
                                                            'squeeze_axis': squeeze_axis})


def _pair(name: str, pair: str, scalar: str, reflected: str,
          numbers: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def hint(op: str) -> str:
        return op.replace('_scalar', 'scalar') if op.startswith('_') else op

    def of_two(left: Any, right: Any) -> Any:
        if isinstance(left, Symbol):
            if isinstance(right, Symbol):
                return call(registry[pair], pair, [left, right], {})
            if isinstance(right, numeric_types):
                return call(registry[scalar], hint(scalar), [left], {'scalar': right})
        elif isinstance(left, numeric_types):
            if isinstance(right, Symbol):
                return call(registry[reflected], hint(reflected), [right], {'scalar': left})
            if isinstance(right, numeric_types):
                return numbers(left, right)
        raise TypeError(f'types ({type(left)}, {type(right)}) not supported')

    if name == 'power':
        def function(base: Any, exp: Any) -> Any:
            return of_two(base, exp)
    else:
        function = of_two
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f'{name.capitalize()} of two symbols, a symbol and a number, or two numbers.'
    return function


maximum = _pair('maximum', '_maximum', '_maximum_scalar', '_maximum_scalar', max)
minimum = _pair('minimum', '_minimum', '_minimum_scalar', '_minimum_scalar', min)
hypot = _pair('hypot', '_hypot', '_hypot_scalar', '_hypot_scalar', math.hypot)
pow = power = _pair('power', '_power', '_power_scalar', '_rpower_scalar', operator.pow)


def shape_of(shape: Any) -> Any:
    """A shape parameter as a tuple."""
    if shape is _Null or shape is None:
        return ()
    return (int(shape),) if isinstance(shape, int | np.integer) else tuple(shape)
