"""Making parts of programs from hypothesis's choices: shapes, arrays, parameters, keys, and the lines around a call."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st

from conformance.oracle.operators import Parameter, convert
from conformance.oracle.program import Literal, Program

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[Any]], Any]

FLOATS = ("float32", "float64", "float16")
INTEGERS = ("int32", "int64", "int8", "uint8")
DTYPES = ("float32", "float32", "float32", "float64", "float16", "int32", "int64", "int8", "uint8", "bool")

#: Arrays have no more elements than this, so that a program can be read.
ELEMENTS = 24

#: Whole-number parameters stay this small: results must fit into memory.
SMALL = 6

RECORD = "with mx.autograd.record(): "
HEAD = "mx.nd.array((np.arange({0}.size) % 5 * 0.25 + 0.5).reshape({0}.shape), dtype={0}.dtype)"


@lru_cache(maxsize=4096)
def _sampled(options: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    return st.sampled_from(options)


@lru_cache(maxsize=256)
def _between(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


class Maker:
    """The program that is being made: its lines so far, and choices for the next ones."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._random = np.random.RandomState(draw(_between(0, 2**31 - 1)))
        self.lines: list[str] = []
        self.np_shape = False
        self.random = False
        self._names = iter([name + number for number in ("", "1", "2") for name in string.ascii_lowercase
                            if name not in "loy"])

    def program(self, origin: str) -> Program:
        return Program(tuple(self.lines), self.np_shape, self.random, origin)

    # -- choices --------------------------------------------------------------------------------------------

    def choice(self, options: Sequence[T]) -> T:
        found: T = options[self._draw(_between(0, len(options) - 1))]
        return found

    def integer(self, low: int, high: int) -> int:
        return int(self._draw(_between(low, high)))

    def chance(self, percent: int) -> bool:
        """True in so many of a hundred programs; False is what hypothesis takes for simple."""
        return bool(self._draw(_between(0, 99)) >= 100 - percent)

    def name(self) -> str:
        return next(self._names)

    # -- arrays ---------------------------------------------------------------------------------------------

    def shape(self, most: int = 4) -> tuple[int, ...]:
        """A shape: sizes of 1 are common; no size and no dimension only under numpy shape semantics."""
        sizes = (1, 2, 3, 4, 2, 3, 1, 5) if not self.np_shape else (1, 2, 3, 0, 2, 3, 1, 4)
        ndim = self.integer(0 if self.np_shape else 1, most)
        shape = [self.choice(sizes) for _ in range(ndim)]
        while np.prod(shape) > ELEMENTS:
            shape[int(np.argmax(shape))] = 1
        return tuple(shape)

    def partner(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts with another one, or nearly."""
        made = list(shape)
        for axis in range(len(made)):
            if self.chance(30):
                made[axis] = 1
        if made and self.chance(6):
            made[self.integer(0, len(made) - 1)] += 1
        if self.chance(25):
            made = made[self.integer(0, len(made)):] or made
        elif self.chance(10) and len(made) < 4:
            made.insert(0, self.choice((1, 2)))
        return tuple(made)

    def values(self, shape: tuple[int, ...], dtype: str, special: bool = False, domain: str = "any") -> Literal:
        """An array whose elements are short numbers, some of them special ones."""
        size = int(np.prod(shape))
        random = self._random
        kind = random.randint(4)
        numbers: np.ndarray[Any, Any]
        if dtype == "bool":
            numbers = random.randint(0, 2, size)
        elif dtype.startswith(("int", "uint")):
            numbers = random.randint(0 if dtype == "uint8" else -6, 7, size)
            if special:
                limit = np.iinfo(dtype)
                numbers = np.where(random.rand(size) < 0.3, random.choice([limit.min, limit.max, 0, 1], size), numbers)
        else:
            if kind == 0:
                numbers = random.randint(-4, 5, size) * 1.0
            elif kind == 1:
                numbers = random.randint(-12, 13, size) * 0.25
            else:
                numbers = np.round(random.uniform(-3, 3, size), 2)
            if domain == "positive":
                numbers = np.abs(numbers) + 0.25
            elif domain == "unit":
                numbers = np.round(numbers / 4.5, 3)
            if special:
                big = 60000.0 if dtype == "float16" else 1e30
                pool = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, big, -big, 1e-7, 1.0, -1.0]
                numbers = np.where(random.rand(size) < 0.4, random.choice(pool, size), numbers)
        return Literal(shape, dtype, tuple(convert(numbers.tolist(), dtype)))

    def array(self, shape: tuple[int, ...] | None = None, dtype: str | None = None, **options: Any) -> str:
        """A line that makes an array; returns its name."""
        chosen = self.shape() if shape is None else shape
        return self.put(self.values(chosen, dtype or self.choice(DTYPES), **options))

    def put(self, literal: Literal) -> str:
        name = self.name()
        self.lines.append(f"{name} = {literal.text}")
        return name

    def view(self, literal: Literal) -> str:
        """The array as a part of a larger one, so that it shares memory or is copied out of it."""
        if not literal.shape or not literal.values:
            return self.put(literal)
        rows = literal.values
        step = len(rows) // literal.shape[0]
        padded = Literal((literal.shape[0] + 2, *literal.shape[1:]), literal.dtype, rows[:step] + rows + rows[-step:])
        whole = self.put(padded)
        name = self.name()
        self.lines.append(f"{name} = {whole}[1:{literal.shape[0] + 1}]")
        return name

    # -- parameters -----------------------------------------------------------------------------------------

    def parameter(self, parameter: Parameter, current: Any = None) -> Any:
        """A value for a parameter: near what works, or anything of its kind, or now and then of another kind."""
        if parameter.none and self.chance(12):
            return None
        if self.chance(4):
            return self.choice((None, "x", (), (1, 2), -1, 1.5, True, "None", [1], {}))
        kind = parameter.kind
        if kind in ("Enum", "Dtype"):
            return self.choice(parameter.choices) if parameter.choices and not self.chance(5) else "nonsense"
        if kind == "Bool":
            return self.choice((True, False, 1, 0, "True", "False"))
        if kind == "Int":
            low = int(parameter.low) if parameter.low is not None else -3
            value = self.integer(low - 1, min(low + 8, SMALL))
            return str(value) if self.chance(5) else value
        if kind in ("Float", "Scalar"):
            return self.choice((0.0, 1.0, -1.0, 0.5, 2.0, 3, 0.001, -2.5, 1e6, float("inf")))
        if kind in ("Shape", "Axes", "OptionalInts"):
            return self._integers(kind, current)
        if kind == "Floats":
            return tuple(self.choice((0.5, 1.0, 2.0, -1.0, 0.1)) for _ in range(self.integer(0, 3)))
        return current

    def _integers(self, kind: str, current: Any) -> Any:
        if isinstance(current, tuple) and current and self.chance(60):
            changed = list(current)
            place = self.integer(0, len(changed) - 1)
            how = self.integer(0, 3)
            if how == 0:
                del changed[place]
            elif how == 1:
                changed.insert(place, self.integer(-1, 3))
            else:
                changed[place] = self.integer(-3, 4)
            return tuple(changed)
        if kind == "Axes" and self.chance(50):
            return self.integer(-4, 3)
        options: tuple[Any, ...] = (0, 1, -1, 2, 3, -2, 4) if kind != "OptionalInts" else (0, 1, -1, 2, None, 3, -2)
        return tuple(self.choice(options) for _ in range(self.integer(0, 4)))

    # -- the lines around a call ----------------------------------------------------------------------------

    def attach(self, name: str) -> None:
        """The array gets a gradient, now and then one that is added to or left alone."""
        how = "'add'" if self.chance(8) else "'null'" if self.chance(4) else ""
        self.lines.append(f"{name}.attach_grad({how})")

    def backward(self, result: str) -> None:
        """The gradient of a result, weighted so that a wrong order of elements shows."""
        self.lines.append(f"{result}.backward({HEAD.format(result)})")

    def key(self, shape: tuple[int, ...]) -> str:
        """The text of an index: numbers, slices, None, ellipsis, lists, arrays, masks, and mistakes."""
        parts = [self._key_part(shape[axis] if axis < len(shape) else 2) for axis in range(
            self.integer(1, max(1, len(shape)) + self.chance(8)))]
        if self.chance(12):
            parts.insert(self.integer(0, len(parts)), "None")
        if self.chance(15):
            parts.insert(self.integer(0, len(parts)), "...")
        return ", ".join(parts)

    def _key_part(self, size: int) -> str:
        kind = self.integer(0, 19)
        if kind < 5:
            return str(self.integer(-size, max(size - 1, 0)))
        if kind < 7:
            return ":"
        if kind < 13:
            bounds = ["" if self.chance(30) else str(self.integer(-size - 1, size + 1)) for _ in range(2)]
            step = self.choice(("", "", ":1", ":2", ":-1", ":-2", ":3"))
            return f"{bounds[0]}:{bounds[1]}{step}"
        numbers = [self.integer(-size if self.chance(25) else 0, max(size - 1, 0)) for _ in range(self.integer(1, 3))]
        if kind < 15:
            return repr(numbers)
        if kind < 17:
            return f"mx.nd.array({[abs(number) for number in numbers]}, dtype={self.choice(('int32', 'float32'))!r})"
        if kind == 17:
            return f"np.array({numbers})"
        if kind == 18:
            return repr([bool(self.integer(0, 1)) for _ in range(size)])
        return self.choice((str(size), str(-size - 1), "1.5", "'a'", "True", "[]", "(0, 0)", "range(2)", "np.int64(0)"))
