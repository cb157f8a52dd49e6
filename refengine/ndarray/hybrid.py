"""The named functions that take two arrays, an array and a number, or two numbers (rule ND-ARITH-015)."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from .. import dispatch
from ..base import numeric_types
from ..op import registry
from .ndarray import NDArray


def _make(name: str, pair: str, scalar: str, reflected: str, numbers: Callable[[Any, Any], Any],
          doc: str) -> Callable[[Any, Any], Any]:
    def function(lhs: Any, rhs: Any) -> Any:
        if isinstance(lhs, NDArray):
            if isinstance(rhs, NDArray):
                return dispatch.invoke(registry[pair], (lhs, rhs), {})
            if isinstance(rhs, numeric_types):
                return dispatch.invoke(registry[scalar], (lhs,), {'scalar': rhs})
        elif isinstance(lhs, numeric_types):
            if isinstance(rhs, NDArray):
                return dispatch.invoke(registry[reflected], (rhs,), {'scalar': lhs})
            if isinstance(rhs, numeric_types):
                return numbers(lhs, rhs)
        raise TypeError(f'type {type(lhs)} and type {type(rhs)} not supported')

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc + '\n\nTwo arrays broadcast; two numbers give a number.'
    return function


def _flag(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: 1 if compare(a, b) else 0


add = _make('add', 'broadcast_add', '_plus_scalar', '_plus_scalar', operator.add, 'The sum.')
subtract = _make('subtract', 'broadcast_sub', '_minus_scalar', '_rminus_scalar', operator.sub, 'The difference.')
multiply = _make('multiply', 'broadcast_mul', '_mul_scalar', '_mul_scalar', operator.mul, 'The product.')
divide = _make('divide', 'broadcast_div', '_div_scalar', '_rdiv_scalar', operator.truediv, 'The quotient.')
true_divide = divide
modulo = _make('modulo', 'broadcast_mod', '_mod_scalar', '_rmod_scalar', operator.mod, 'The remainder.')
_power = _make('power', 'broadcast_power', '_power_scalar', '_rpower_scalar', operator.pow, 'The power.')
maximum = _make('maximum', 'broadcast_maximum', '_maximum_scalar', '_maximum_scalar', max, 'The larger of the two.')
minimum = _make('minimum', 'broadcast_minimum', '_minimum_scalar', '_minimum_scalar', min, 'The smaller of the two.')
hypot = _make('hypot', 'broadcast_hypot', '_hypot_scalar', '_hypot_scalar', math.hypot, 'The hypotenuse.')
equal = _make('equal', 'broadcast_equal', '_equal_scalar', '_equal_scalar', _flag(operator.eq), '1 where equal.')
not_equal = _make('not_equal', 'broadcast_not_equal', '_not_equal_scalar', '_not_equal_scalar', _flag(operator.ne),
                  '1 where different.')
greater = _make('greater', 'broadcast_greater', '_greater_scalar', '_lesser_scalar', _flag(operator.gt),
                '1 where the first is greater.')
greater_equal = _make('greater_equal', 'broadcast_greater_equal', '_greater_equal_scalar', '_lesser_equal_scalar',
                      _flag(operator.ge), '1 where the first is not smaller.')
lesser = _make('lesser', 'broadcast_lesser', '_lesser_scalar', '_greater_scalar', _flag(operator.lt),
               '1 where the first is smaller.')
lesser_equal = _make('lesser_equal', 'broadcast_lesser_equal', '_lesser_equal_scalar', '_greater_equal_scalar',
                     _flag(operator.le), '1 where the first is not greater.')
logical_and = _make('logical_and', 'broadcast_logical_and', '_logical_and_scalar', '_logical_and_scalar',
                    _flag(lambda a, b: a and b), '1 where both are non-zero.')
logical_or = _make('logical_or', 'broadcast_logical_or', '_logical_or_scalar', '_logical_or_scalar',
                   _flag(lambda a, b: a or b), '1 where one is non-zero.')
logical_xor = _make('logical_xor', 'broadcast_logical_xor', '_logical_xor_scalar', '_logical_xor_scalar',
                    _flag(lambda a, b: bool(a) != bool(b)), '1 where exactly one is non-zero.')


def broadcast_axes(data: NDArray, axis: Any = (), size: Any = (), out: Any = None, name: Any = None) -> Any:
    """Repeat axes of length 1, or, with two arrays, give the shape they broadcast to (BCAST-AXIS-001 and -002)."""
    if isinstance(axis, NDArray):
        from ..ops.binary import broadcast_shape
        return broadcast_shape('broadcast_axes', data.shape, axis.shape)
    return dispatch.invoke(registry['broadcast_axis'], (data,), {'axis': axis, 'size': size}, out)


def power(base: Any, exp: Any) -> Any:
    """The power. Two arrays broadcast; two numbers give a number."""
    return _power(base, exp)
