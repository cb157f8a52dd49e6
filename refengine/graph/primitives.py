"""Arithmetic between values of a graph under construction, computed exactly as raw arrays compute it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np


class Primitive:
    """An operator that gradients write as Python arithmetic: ``a * b``, ``1 - a``, ``-a``, ``a > 0``.

    ``scalar`` among the parameters is the operand that is no array.
    """

    mutates: ClassVar[tuple[int, ...]] = ()
    kernels: ClassVar[list[Any]] = []
    backward = grad = infer = None
    num_outputs = 1
    injected: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, name: str, forward: Callable[..., Any], takes_out: bool, elementwise: bool = True,
                 ufunc: str | None = None) -> None:
        self.name = name
        self.forward = forward
        self.elementwise = elementwise
        self.ufunc = ufunc      # of numpy, with a number in the place that the name of the primitive tells
        if takes_out:
            self.injected = frozenset({'out'})  # type: ignore[misc]

    def __repr__(self) -> str:
        return f'<Primitive {self.name}>'


def _pair(name: str, ufunc: Any, function: Callable[[Any, Any], Any]) -> Primitive:
    if ufunc is None:
        return Primitive(name, lambda xp, a, b: function(a, b), False)
    return Primitive(name, lambda xp, a, b, out=None: getattr(xp, ufunc)(a, b, out=out), True, ufunc=ufunc)


def _right(name: str, ufunc: Any, function: Callable[[Any, Any], Any]) -> Primitive:
    if ufunc is None:
        return Primitive(name, lambda xp, a, scalar: function(a, scalar), False)
    return Primitive(name, lambda xp, a, scalar, out=None: getattr(xp, ufunc)(a, scalar, out=out), True,
                     ufunc=ufunc)


def _left(name: str, ufunc: Any, function: Callable[[Any, Any], Any]) -> Primitive:
    if ufunc is None:
        return Primitive(name, lambda xp, a, scalar: function(scalar, a), False)
    return Primitive(name, lambda xp, a, scalar, out=None: getattr(xp, ufunc)(scalar, a, out=out), True,
                     ufunc=ufunc)


# Powers take numpy's own short cuts for small exponents, so they go through the operator itself.
_TABLE: dict[str, tuple[str | None, Callable[[Any, Any], Any]]] = {
    'add': ('add', operator.add), 'sub': ('subtract', operator.sub), 'mul': ('multiply', operator.mul),
    'truediv': ('true_divide', operator.truediv), 'pow': (None, operator.pow), 'mod': (None, operator.mod),
    'lt': (None, operator.lt), 'le': (None, operator.le), 'gt': (None, operator.gt), 'ge': (None, operator.ge),
    'eq': (None, operator.eq), 'ne': (None, operator.ne),
}

PAIRS = {name: _pair(f'{name}', ufunc, function) for name, (ufunc, function) in _TABLE.items()}
RIGHT = {name: _right(f'{name}_number', ufunc, function) for name, (ufunc, function) in _TABLE.items()}
LEFT = {name: _left(f'number_{name}', ufunc, function) for name, (ufunc, function) in _TABLE.items()}
NEGATIVE = Primitive('neg', lambda xp, a, out=None: xp.negative(a, out=out), True, ufunc='negative')
ZEROS = Primitive('zeros', lambda xp, a: xp.zeros(a.shape, a.dtype), False, False)

IN_PLACE = frozenset(id(p) for table in (PAIRS, RIGHT, LEFT) for p in table.values() if p.injected) | {id(NEGATIVE)}
"""Those that may write over one of their operands."""

_REFLECTED = ('add', 'sub', 'mul', 'truediv', 'pow', 'mod')


def install(cls: type, emit: Callable[..., Any]) -> None:
    """Give a class of values Python arithmetic; ``emit(primitive, operands, params)`` makes the result."""
    def binary(name: str) -> Callable[..., Any]:
        def method(self: Any, other: Any) -> Any:
            if isinstance(other, cls):
                return emit(PAIRS[name], (self, other), {})
            if isinstance(other, (bool, int, float, np.generic)):
                return emit(RIGHT[name], (self,), {'scalar': other})
            return NotImplemented

        return method

    def reflected(name: str) -> Callable[..., Any]:
        def method(self: Any, other: Any) -> Any:
            if isinstance(other, (bool, int, float, np.generic)):
                return emit(LEFT[name], (self,), {'scalar': other})
            return NotImplemented

        return method

    for name in _TABLE:
        setattr(cls, f'__{name}__', binary(name))
    for name in _REFLECTED:
        setattr(cls, f'__r{name}__', reflected(name))
    cls.__neg__ = lambda self: emit(NEGATIVE, (self,), {})  # type: ignore[attr-defined]
    cls.__hash__ = object.__hash__  # type: ignore[assignment]
