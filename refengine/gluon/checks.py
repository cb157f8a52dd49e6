"""Checks of what layers are made with: senseless parameters fail where the layer is made, not at its first call.

The releases notice most of them later, while parameters are initialised or at the first call, and some never: a
negative epsilon, say, gives results that are no numbers. Messages name the layer, the parameter, what was expected and
what was given. Errors are MXNetErrors, as those of the operators that would have refused the value, and the Python
error for a wrong value or a wrong kind of value as well.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import MXNetError
from ..op import registry

UNKNOWN = -1
"""The least size of an input: 0, and -1 as in the 2.x release, are sizes that the first input tells."""


class WrongValue(MXNetError, ValueError):
    """A parameter of a layer has a value that no layer can have."""


class WrongKind(MXNetError, TypeError):
    """A parameter of a layer is of another kind than it must be."""


def _name(layer: Any) -> str:
    return type(layer).__name__


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _kind(layer: Any, name: str, expected: str, value: Any) -> WrongKind:
    return WrongKind(f'{_name(layer)}: {name} must be {expected}, got {value!r} of type {type(value).__name__}')


def _value(layer: Any, name: str, expected: str, value: Any) -> WrongValue:
    return WrongValue(f'{_name(layer)}: {name} must be {expected}, got {value!r}')


def whole(layer: Any, least: int = 1, **named: Any) -> None:
    """Whole numbers of at least ``least``, by the names of the parameters.

    >>> whole('a layer', units=3)
    >>> whole('a layer', units=0)
    Traceback (most recent call last):
        ...
    refengine.gluon.checks.WrongValue: str: units must be a whole number of at least 1, got 0
    """
    for name, value in named.items():
        if not _is_whole(value):
            raise _kind(layer, name, f'a whole number of at least {least}', value)
        if value < least:
            raise _value(layer, name, f'a whole number of at least {least}', value)


def number(layer: Any, least: float = -math.inf, most: float = math.inf, **named: Any) -> None:
    """Numbers within bounds; nothing that is no number is within them."""
    between = ('a number' if least == -math.inf else f'a number of at least {least}' if most == math.inf else
               f'a number from {least} to {most}')
    for name, value in named.items():
        if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real | np.number):
            raise _kind(layer, name, between, value)
        if not least <= value <= most:
            raise _value(layer, name, between, value)


def sizes(layer: Any, length: int, least: int, **named: Sequence[Any]) -> None:
    """One whole number of at least ``least`` for each of ``length`` axes."""
    for name, values in named.items():
        expected = f'{length} whole number{"s" if length > 1 else ""} of at least {least}'
        if len(values) != length:
            raise WrongValue(f'{_name(layer)}: {name} must have the same number of dimensions as the kernel, '
                             f'{expected}, got {tuple(values)}')
        for value in values:
            if not _is_whole(value):
                raise _kind(layer, name, expected, tuple(values))
            if value < least:
                raise _value(layer, name, expected, tuple(values))


def divides(layer: Any, groups: int, **named: int) -> None:
    """Numbers of channels that ``groups`` divides; those that are not known yet pass."""
    for name, value in named.items():
        if value > 0 and value % groups:
            raise WrongValue(f'{_name(layer)}: {name} must be a multiple of groups, got {name}={value} and '
                             f'groups={groups}')


def activation(layer: Any, value: Any, name: str = 'activation') -> None:
    """The name of an activation function."""
    words = registry['Activation'].params['act_type'].values      # type: ignore[attr-defined]
    if value not in words:
        known = ', '.join(repr(word) for word in sorted(words))
        raise (_value if isinstance(value, str) else _kind)(layer, name, f'one of {known}', value)


def normalisation(layer: Any, epsilon: Any, axis: Any = 0, in_channels: Any = 0) -> None:
    """What the normalising layers share: an epsilon that is not negative, an axis, a number of channels."""
    number(layer, 0, epsilon=epsilon)
    if not _is_whole(axis):
        raise _kind(layer, 'axis', 'a whole number', axis)
    whole(layer, UNKNOWN, in_channels=in_channels)


def as_tuple(layer: Any, name: str, value: Any, length: int) -> tuple[Any, ...]:
    """A number for every axis, or the numbers of all of them."""
    if _is_whole(value):
        return (value,) * length
    if isinstance(value, str) or not hasattr(value, '__iter__'):
        raise _kind(layer, name, f'a whole number or {length} of them', value)
    return tuple(value)
