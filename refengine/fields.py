"""The typed fields of operator parameters: kind, default, bounds, and conversion from values and their text."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from .base import MXNetError, dtype_text, shape_text

REQUIRED: Any = type('Required', (), {'__repr__': lambda self: 'required'})()

DTYPES = ('float16', 'float32', 'float64', 'uint8', 'int8', 'int32', 'int64', 'bool')


class Field:
    """One parameter of an operator: its kind, default and documentation; ``parse`` accepts values and their text."""

    kind = 'any'

    def __init__(self, default: Any = REQUIRED, doc: str = '', *, none: bool = False) -> None:
        self.default = default
        self.doc = doc
        self.none = none or default is None

    def convert(self, value: Any) -> Any:
        """The value in its normal form; any exception means that it has the wrong format."""
        return value

    def parse(self, value: Any, name: str, op: str) -> Any:
        if value is None or (value.__class__ is str and value == 'None'):
            if self.none:
                return None
            raise self._bad(name, value, op)
        if hasattr(value, 'asnumpy'):     # an array in the place of a number
            raise self._bad(name, value, op)
        try:
            return self.convert(value)
        except MXNetError:
            raise
        except Exception:  # noqa: BLE001 - whatever a conversion raises, the format is wrong
            raise self._bad(name, value, op) from None

    def _bad(self, name: str, value: Any, op: str) -> MXNetError:
        return MXNetError(f"Invalid Parameter format for {name} expect {self.kind} but value='{value}', "
                          f'in operator {op}(name="", {name}="{value}")')


def _refuse_truth(value: Any) -> None:
    if isinstance(value, (bool, np.bool_)):
        raise ValueError(value)


def _listed(value: Any) -> Any:
    """The value, if it has an order: the members of a dict or a set are in none that means anything."""
    if not isinstance(value, Sequence | np.ndarray):
        raise ValueError(value)
    return value


def _finite(value: Any) -> float:
    """A member of a tuple of numbers, which the releases read without words for truth, infinity and NaN."""
    _refuse_truth(value)
    if isinstance(value, str) or not isfinite(value):
        raise ValueError(value)
    return float(value)


class Int(Field):
    """An integer, optionally with bounds."""

    kind = 'int'

    def __init__(self, default: Any = REQUIRED, doc: str = '', *, low: int | None = None, high: int | None = None,
                 none: bool = False) -> None:
        super().__init__(default, doc, none=none)
        self.low, self.high = low, high
        if self.none:
            self.kind = 'int or None'

    def convert(self, value: Any) -> int:
        _refuse_truth(value)
        if isinstance(value, str):
            value = int(value)
        elif isinstance(value, (float, np.floating)) and value != int(value):
            raise ValueError(value)
        return int(value)

    def parse(self, value: Any, name: str, op: str) -> Any:
        if type(value) is not int:
            value = super().parse(value, name, op)
        _check_bounds(value, self.low, self.high, name)
        return value


class Float(Field):
    """A floating point number, optionally with bounds; one that may be left out is finite (as in the releases)."""

    kind = 'float'

    def __init__(self, default: Any = REQUIRED, doc: str = '', *, low: float | None = None, high: float | None = None,
                 none: bool = False) -> None:
        super().__init__(default, doc, none=none)
        self.low, self.high = low, high
        if self.none:
            self.kind = 'float or None'

    def convert(self, value: Any) -> float:
        _refuse_truth(value)
        return float(value)

    def parse(self, value: Any, name: str, op: str) -> Any:
        if type(value) is not float:
            value = super().parse(value, name, op)
        if self.none and value is not None and not isfinite(value):
            raise self._bad(name, value, op)
        _check_bounds(value, self.low, self.high, name)
        return value


def _check_bounds(value: Any, low: Any, high: Any, name: str) -> None:
    if value is None or (low is None and high is None):
        return
    if (low is not None and value < low) or (high is not None and value > high):
        if low is not None and high is not None:
            text = f'exceed bound [{low},{high}]'
        elif low is not None:
            text = f'should be greater equal to {low}'
        else:
            text = f'should be smaller equal to {high}'
        raise MXNetError(f'value {value} for Parameter {name} {text}')


class Bool(Field):
    """True or False, or their text."""

    kind = 'boolean'

    def convert(self, value: Any) -> bool:
        if isinstance(value, str):
            return {'true': True, 'false': False, '1': True, '0': False}[value.lower()]
        if isinstance(value, (bool, np.bool_, int, np.integer)) and value in (0, 1):
            return bool(value)
        raise ValueError(value)


class Str(Field):
    """Text; None is the text ``None`` where it does not stand for no value."""

    kind = 'string'

    def parse(self, value: Any, name: str, op: str) -> Any:
        return super().parse(value, name, op) if self.none else str(value)

    def convert(self, value: Any) -> str:
        return str(value)


class Enum(Field):
    """One of a list of words."""

    kind = 'string'

    def __init__(self, values: Sequence[str], default: Any = REQUIRED, doc: str = '') -> None:
        super().__init__(default, doc, none='None' in values)
        self.values = tuple(values)

    def parse(self, value: Any, name: str, op: str) -> Any:
        if value is None:
            value = 'None'
        elif not isinstance(value, str):
            named = isinstance(value, type | np.dtype) or (name == 'dtype' and isinstance(
                getattr(value, 'dtype', None), type))
            value = dtype_text(value) if named else str(value)
        if value not in self.values:
            words = ', '.join(f"'{v}'" for v in sorted(self.values))
            raise MXNetError(f"Invalid Input: '{value}', valid values are: {{{words}}}, "
                             f'in operator {op}(name="", {name}="{value}")')
        return None if value == 'None' else value


class Dtype(Enum):
    """An element type, as name, numpy type or numpy dtype; its normal form is the name, and None is the default."""

    def __init__(self, default: Any = 'float32', doc: str = '', values: Sequence[str] = DTYPES) -> None:
        super().__init__(values if default is not None else (*values, 'None'), default, doc)

    def parse(self, value: Any, name: str, op: str) -> Any:
        if value is None and self.default is not REQUIRED:
            return self.default
        if value is not None and not isinstance(value, str):
            value = dtype_text(value)
        return super().parse(value, name, op)


class Shape(Field):
    """A tuple of integers, optionally of a fixed length or without 0; a single integer stands for a tuple of one."""

    kind = 'Shape(tuple)'

    def __init__(self, default: Any = REQUIRED, doc: str = '', *, none: bool = False, ndim: int | None = None,
                 nonzero: bool = False) -> None:
        super().__init__(default, doc, none=none)
        self.ndim, self.nonzero = ndim, nonzero

    def convert(self, value: Any) -> tuple[int, ...]:
        if isinstance(value, str):
            value = literal_eval(value.replace('L', ''))
        _refuse_truth(value)
        if isinstance(value, (int, np.integer)):
            return (int(value),)
        if not isinstance(value, Sequence | np.ndarray):
            raise ValueError(value)
        out = []
        for item in value:
            _refuse_truth(item)
            if not isinstance(item, (int, np.integer)):
                raise ValueError(item)
            out.append(int(item))
        return tuple(out)

    def parse(self, value: Any, name: str, op: str) -> Any:
        if type(value) is not tuple or not all(type(n) is int for n in value):
            value = super().parse(value, name, op)
        if self.ndim is not None and value is not None and len(value) != self.ndim:
            raise MXNetError(f'value {shape_text(value)}for Parameter {name} has wrong dimensions, expected '
                             f'dimension={self.ndim}, in operator {op}(name="", {name}="{value}")')
        if self.nonzero and value and 0 in value:
            raise MXNetError(f'value {shape_text(value)}for Parameter {name} is invalid, the input shape must be '
                             f'nonzero in all dimensions, in operator {op}(name="", {name}="{value}")')
        return value


class Axes(Shape):
    """Axes of a reduction: None, an integer or a tuple of integers; its normal form is None or a tuple."""

    kind = 'Shape or None'

    def __init__(self, default: Any = None, doc: str = '') -> None:
        super().__init__(default, doc, none=True)


class OptionalInts(Field):
    """A tuple whose members are integers or None, as slice bounds are."""

    kind = 'Shape(tuple)'

    def convert(self, value: Any) -> tuple[int | None, ...]:
        if isinstance(value, str):
            value = literal_eval(value)
        _refuse_truth(value)
        if isinstance(value, (int, np.integer)) or value is None:
            value = (value,)
        return tuple(None if n is None else int(n) for n in _listed(value))

    def parse(self, value: Any, name: str, op: str) -> Any:
        if (value is None or (isinstance(value, str) and value == 'None')) and self.default is not REQUIRED:
            return self.default
        return super().parse(value, name, op)


class Floats(Field):
    """A tuple of finite floating point numbers."""

    kind = 'tuple of <float>'

    def convert(self, value: Any) -> tuple[float, ...]:
        if isinstance(value, str):
            value = literal_eval(value)
        _refuse_truth(value)
        if isinstance(value, (int, float, np.generic)):
            value = (value,)
        return tuple(_finite(v) for v in _listed(value))


class Scalar(Field):
    """A number that is combined with an array: kept as int, float or bool, as it was given."""

    kind = 'double'

    def convert(self, value: Any) -> Any:
        if isinstance(value, str):
            return float(value)
        if isinstance(value, np.generic):   # a float64 is a float as well, which would widen what it meets
            value = value.item()
        if isinstance(value, (bool, int, float)):
            return value
        raise ValueError(value)
