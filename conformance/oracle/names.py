"""Every operation that a program of the families may be about, so that a pattern for none is told at once."""

from __future__ import annotations

import string
from collections.abc import Iterable
from functools import cache

from conformance.errors import UsageFault
from conformance.oracle.families import BINARY, OPERATORS, REDUCTIONS, UNARY
from conformance.oracle.methods import TEMPLATES
from conformance.oracle.program import matches, operations
from conformance.rule import near_names

#: Operations of the lines around a call: its arrays, their gradients, reading and writing by a key.
_AROUND = (
    "a = mx.nd.array([1.0])", "a = mx.nd.zeros((0,))", "a.attach_grad()", "y.backward()", "mx.autograd.backward(y)",
    "a[0] = 1", "y = a[0]", "y = -a", "y = abs(a)", "y = a.T", "y = a.reshape((-1,))", "y = mx.nd.BlockGrad(a)",
    "a.copy()", "y = a.size", "y = a.shape", "y = a.dtype",
)


class _Any(dict[str, str]):
    """Fills every gap of a template; which value makes no difference to what is called."""

    def __missing__(self, gap: str) -> str:
        return "a" if gap == "a" else "1"


@cache
def of_families() -> frozenset[str]:
    """The names as patterns are held against them.

    >>> {"nd.relu", "NDArray.relu", "NDArray[]=", "NDArray +=", "NDArray **", "nd.cumsum"} <= of_families()
    True
    """
    lines = [*_AROUND, *(string.Formatter().vformat(template, (), _Any()) for template in TEMPLATES)]
    lines += [f"y = mx.nd.{name}(a)" for name in (*UNARY, *BINARY, *REDUCTIONS)]
    lines += [f"y = a.{name}()" for name in (*UNARY, *REDUCTIONS)]
    lines += [f"y = a {symbol} a" for symbol in OPERATORS]
    lines += [f"a {symbol}= a" for symbol in ("+", "-", "*", "/", "%")]
    return frozenset(name for line in lines for name in operations(line))


def check(globs: Iterable[str], paths: Iterable[str]) -> None:
    """UsageFault for a pattern that no program can match.

    paths: the operators that both engines have.
    """
    known = sorted({*of_families(), *paths})
    for glob in globs:
        if not matches(known, [glob]):
            near = near_names(glob, known, 3)
            raise UsageFault(f"--operators: no operation of both engines matches {glob!r}",
                             f"Did you mean {', '.join(near)}?" if near else
                             "Names are those of functions and methods, such as 'nd.sum', 'NDArray.reshape', "
                             "'NDArray[]' and 'NDArray +'.")
