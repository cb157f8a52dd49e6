"""Arrays of the independent evaluation: elements in numpy, a dtype, methods by the table of functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from conformance.parity.table import load_functions

Array = np.ndarray[Any, Any]

#: What programs call of ``mx.nd``, and as methods; ``plain_functions`` fills it.
FUNCTIONS: dict[str, Callable[..., Any]] = {}


class NoOpinion(Exception):
    """The evaluation does not cover this."""


class Refused(Exception):
    """The rules demand an error here."""


class Plain:
    """An array: its elements (floats as float64), and the dtype it has in the program."""

    __array_priority__ = 1000.0
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, data: Array, dtype: str) -> None:
        self.data, self.dtype = data, dtype
        self.grad: Array | None = None
        self.wants: str | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.data.shape)

    @property
    def size(self) -> int:
        return int(self.data.size)

    @property
    def ndim(self) -> int:
        return int(self.data.ndim)

    @property
    def T(self) -> Plain:
        return Plain(self.data.T, self.dtype)

    @property
    def floating(self) -> bool:
        return self.dtype.startswith("float")

    def attach_grad(self, grad_req: str = "write") -> None:
        self.wants = grad_req

    def astype(self, dtype: str) -> Plain:
        if not self.floating or not dtype.startswith("float"):
            raise NoOpinion("a cast to or from whole numbers")
        return Plain(rounded(self.data, dtype), dtype)

    def reshape(self, *shape: Any, **options: Any) -> Any:
        return FUNCTIONS["reshape"](self, shape=shape[0] if len(shape) == 1 else shape, **options)

    def __neg__(self) -> Any:
        return FUNCTIONS["negative"](self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        function = FUNCTIONS.get(name)
        if function is None or name not in _methods():
            raise NoOpinion(name)
        return lambda *args, **kwargs: function(self, *args, **kwargs)

    def __getitem__(self, key: Any) -> Plain:
        _simple_key(key, self)
        return Plain(np.array(self.data[key]), self.dtype).at_least_one()

    def __setitem__(self, key: Any, value: Any) -> None:
        _simple_key(key, self)
        if not isinstance(value, int | float) or isinstance(value, bool) or not self.floating:
            raise NoOpinion("what is written")
        self.data = self.data.copy()
        self.data[key] = rounded(np.array(float(value)), self.dtype)

    def at_least_one(self) -> Plain:
        """Results of the ``nd`` functions have a dimension at least."""
        return self if self.data.ndim else Plain(self.data.reshape(1), self.dtype)


@cache
def _methods() -> frozenset[str]:
    """The functions that are methods as well: not all of them are."""
    return frozenset(name.partition(".")[2] for name in load_functions() if name.startswith("NDArray."))


def _simple_key(key: Any, array: Plain) -> None:
    """Numbers in range, and slices that select something; everything else is left to the rules of indexing."""
    parts = key if isinstance(key, tuple) else (key,)
    if len(parts) > array.ndim or not array.size:
        raise NoOpinion("a key with more parts than dimensions")
    for part, length in zip(parts, array.shape):
        if type(part) is int:
            if not -length <= part < length:
                raise NoOpinion("an index out of range")
        elif isinstance(part, slice):
            if (part.step or 1) < 1 or not len(range(*part.indices(length))):
                raise NoOpinion("an empty or backward slice")
        else:
            raise NoOpinion("such a key")


def rounded(data: Array, dtype: str) -> Array:
    """As a dtype holds it, and floats back in float64."""
    with np.errstate(all="ignore"):
        held: Array = np.asarray(data, np.dtype(dtype))
        if dtype.startswith("float"):
            held = np.asarray(held, np.dtype("float64"))
    return held
