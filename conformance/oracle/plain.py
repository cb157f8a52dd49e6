"""An independent evaluation in numpy: what a program must give by the rules, as far as those rules are plain.

It has no opinion about most of the model, and says so (:class:`NoOpinion`). Floats are computed in float64 and only
compared in their own precision; whole numbers only where arithmetic is exact. Nothing here knows any engine.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.oracle import plain_functions, plain_moving  # noqa: F401 - they fill the table
from conformance.oracle.plain_array import FUNCTIONS, Array, NoOpinion, Plain, Refused, rounded
from conformance.oracle.program import Program, assigned

__all__ = ["NoOpinion", "Plain", "Refused", "gradients", "rounded", "scope_at"]

def _array(source: Any, dtype: str | None = None, **options: Any) -> Plain:
    if dtype is None or options or isinstance(source, Plain):
        raise NoOpinion("how it is made")
    return Plain(rounded(np.array(source), dtype), dtype)


def _zeros(shape: Any, dtype: str = "float32", **options: Any) -> Plain:
    return Plain(rounded(np.zeros(shape), dtype), dtype)


class _Functions:
    array, zeros = staticmethod(_array), staticmethod(_zeros)
    NDArray = Plain

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in FUNCTIONS:
            raise NoOpinion(name)
        return FUNCTIONS[name]


class _Autograd:
    @staticmethod
    def record() -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()


class Module:
    """What programs call ``mx``."""

    nd = _Functions()
    autograd = _Autograd()


Scope = dict[str, Any]


def scope_at(program: Program, index: int, moved: tuple[str, Array] | None = None) -> Scope:
    """The variables after a statement; ``moved`` adds to the elements of an array where it is made.

    Raises NoOpinion, or Refused if the last statement must fail.
    """
    scope: Scope = {"mx": Module, "np": np, "nan": math.nan, "inf": math.inf}
    for number, line in enumerate(program.lines[: index + 1]):
        try:
            exec(line, scope)
        except Refused:
            if number == index:
                raise
            raise NoOpinion("an error before") from None
        except NoOpinion:
            raise
        except Exception as error:  # noqa: BLE001 - numpy or Python refuses it: what the rules say is another matter
            raise NoOpinion(f"{type(error).__name__}: {error}") from None
        if moved is not None and assigned(line) == moved[0]:
            scope[moved[0]].data = scope[moved[0]].data + moved[1]
    return scope


def gradients(program: Program, index: int) -> dict[str, Array]:
    """The gradient of every array that wants one, after the backward in this statement, by central differences."""
    line = program.lines[index]
    head, dot, rest = line.partition(".backward(")
    if not dot or not head.isidentifier():
        raise NoOpinion("such a backward")
    if any("BlockGrad" in other or re.match(r"\w+\[.*\] = ", other) for other in program.lines[:index]):
        raise NoOpinion("a graph that is cut")
    if sum("backward" in other for other in program.lines[: index + 1]) > 1:
        raise NoOpinion("several passes")
    scope = scope_at(program, index - 1)
    result = scope.get(head)
    if not isinstance(result, Plain) or not result.floating:
        raise NoOpinion("what is differentiated")
    weight = np.ones(result.shape)
    if rest.rstrip(")"):
        given = eval(rest[:-1], scope)
        if not isinstance(given, Plain):
            raise NoOpinion("such a head gradient")
        weight = given.data
    found = {}
    for name, value in scope.items():
        if isinstance(value, Plain) and value.wants == "write":
            found[name] = _numeric(program, index - 1, head, name, value, weight)
    return found


def _numeric(program: Program, index: int, head: str, name: str, value: Plain, weight: Array) -> Array:
    if not np.isfinite(value.data).all():
        raise NoOpinion("special values")

    def total(place: int, step: float) -> float:
        moved = np.zeros(value.size)
        moved[place] = step
        with np.errstate(all="ignore"):
            return float((scope_at(program, index, (name, moved.reshape(value.shape)))[head].data * weight).sum())

    gradient = np.zeros(value.size)
    for place in range(value.size):
        step = 1e-5 * max(1.0, abs(float(value.data.reshape(-1)[place])))
        middle, up, down = total(place, 0.0), total(place, step), total(place, -step)
        right, left = (up - middle) / step, (middle - down) / step
        if not math.isfinite(right + left) or abs(right - left) > 1e-2 * (1 + abs(right)):
            raise NoOpinion("a kink or a pole")
        gradient[place] = (right + left) / 2
    return gradient.reshape(value.shape)
