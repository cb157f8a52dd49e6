"""The error classes of the engine, shared constants and helpers for the wording of errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


class MXNetError(RuntimeError):
    """Any error that the engine itself reports; a ``RuntimeError``, as in MXNet (rule DIAG-MSG-003)."""


class NotImplementedForSymbol(MXNetError):
    """A method of NDArray that has no symbolic counterpart."""

    def __init__(self, function: Any, alias: str | None = None, *args: Any) -> None:
        super().__init__()
        self.function = getattr(function, "__name__", str(function))
        self.alias = alias
        self.args = tuple(str(type(a)) for a in args)

    def __str__(self) -> str:
        alias = f' (namely operator "{self.alias}")' if self.alias else ''
        given = f' with arguments ({", ".join(self.args)})' if self.args else ''
        return f'Function {self.function}{alias}{given} is not implemented for Symbol and only available in NDArray.'


class InternalError(MXNetError):
    """A broken promise inside the engine: always a bug of the engine, never of the program."""


class LateError(Exception):
    """Raised by an operator body for errors that MXNet reports only when the result is waited for.

    ``error`` is what the wait raises, ``outputs`` are arrays of the right shape and dtype without meaningful content.
    """

    def __init__(self, error: Exception, outputs: Sequence[Any]) -> None:
        super().__init__(str(error))
        self.error = error
        self.outputs = tuple(outputs)


class _NullType:
    """The value of an operator attribute that was not given."""

    def __repr__(self) -> str:
        return '_Null'

    def __bool__(self) -> bool:
        return False


_Null = _NullType()

string_types = (str,)
numeric_types = (float, int, np.generic)
integer_types = (int, np.int32, np.int64)
mx_real_t = np.float32

IN_GRAPH = ('Assigning to NDArrays that are already in a computational graph will cause undefined behavior when '
            'evaluating gradients. Please call backward first to clear the graph or do this out side of a record '
            'section. ')


def shape_text(shape: Iterable[int]) -> str:
    """A shape in the wording of error messages: ``[2,3]``."""
    return '[' + ','.join(str(int(n)) for n in shape) + ']'


def as_dtype(dtype: Any) -> np.dtype[Any]:
    """numpy's dtype for what names one; an array of the engine, whose dtype is a type, stands for its own."""
    kind = None if isinstance(dtype, type) else getattr(dtype, 'dtype', None)
    return np.dtype(kind if isinstance(kind, type) else dtype)


def dtype_text(dtype: Any) -> str:
    """The name of an element type as error messages spell it: ``float32``."""
    return as_dtype(dtype).name


def plural_shapes(shapes: Iterable[Iterable[int]]) -> str:
    """One shape per line, with the terminator that the releases print."""
    return '\n'.join(shape_text(s) for s in shapes)
