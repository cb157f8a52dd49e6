"""Operators as an engine describes them: where they are found, their arrays, their parameters, their samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.oracle.program import Literal, matches

#: Functions that only the front end itself calls: its own checks stand before them, so they are reached through it.
PRIVATE = "nd._internal."


@dataclass(frozen=True)
class Parameter:
    """A parameter: the kind of its values, its default, bounds and choices."""

    kind: str
    required: bool = False
    none: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Sample:
    """One call that works: arrays as (shape, elements), which of them are differentiated, and parameters."""

    arrays: tuple[tuple[tuple[int, ...], tuple[float, ...]], ...]
    differentiated: tuple[bool, ...]
    params: Mapping[str, Any]

    def literals(self, dtype: str, others: str | None = None) -> list[Literal]:
        """The arrays in a dtype; those that are not differentiated may have another."""
        return [Literal(shape, kind, tuple(convert(values, kind)))
                for (shape, values), smooth in zip(self.arrays, self.differentiated)
                for kind in [dtype if smooth or others is None else others]]


@dataclass(frozen=True)
class Operator:
    """One operator, under the first of its paths that both engines have."""

    path: str
    inputs: tuple[str, ...]
    variadic: bool
    params: Mapping[str, Parameter]
    samples: tuple[Sample, ...]
    rules: tuple[str, ...]
    random: bool
    source: bool

    @property
    def ready(self) -> list[Sample]:
        """Its samples, or a guess where it has none and can do without parameters."""
        if self.samples:
            return list(self.samples)
        if self.source or any(parameter.required for parameter in self.params.values()):
            return []
        values = (0.5, 1.25, 2.0, 1.75, 0.75, 1.0) if self.random else (0.5, -1.25, 2.0, 1.75, -0.75, 1.0)
        array = ((2, 3), values)
        return [Sample((array,) * max(1, len(self.inputs)), (True,) * max(1, len(self.inputs)), {})]


def convert(values: Iterable[float], dtype: str) -> list[Any]:
    """Numbers as literals of a dtype: whole for integers, truth values for booleans."""
    if dtype == "bool":
        return [bool(value) for value in values]
    if dtype.startswith("uint"):
        return [abs(int(value)) for value in values]
    if dtype.startswith("int"):
        return [int(value) for value in values]
    return [float(value) for value in values]


def paths_of(described: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every path that occurs in descriptions."""
    return [path for entry in described for path in entry["paths"]]


def read(described: Sequence[Mapping[str, Any]], common: set[str], globs: Sequence[str]) -> list[Operator]:
    """The operators that both engines have and that a glob matches (all of them if there is no glob)."""
    found = []
    for entry in described:
        path = next((path for path in entry["paths"] if path in common and not path.startswith(PRIVATE)), None)
        if path is None or (globs and not matches([path], globs)):
            continue
        params = {name: Parameter(**{**given, "choices": tuple(given.get("choices", ()))})
                  for name, given in entry["params"].items()}
        samples = tuple(
            Sample(tuple((tuple(array["shape"]), tuple(array["values"])) for array in sample["arrays"]),
                   tuple(sample["differentiated"]), {name: tupled(value) for name, value in sample["params"].items()})
            for sample in entry["samples"])
        found.append(Operator(path, tuple(entry["inputs"]), entry["variadic"], params, samples, tuple(entry["rules"]),
                              entry["random"], entry["source"]))
    return found


def tupled(value: Any) -> Any:
    """JSON's lists as the tuples that they were."""
    return tuple(tupled(item) for item in value) if isinstance(value, list) else value


def call(path: str, arguments: Sequence[str], params: Mapping[str, Any], out: str | None = None) -> str:
    """The text of a call.

    >>> call("nd.sum", ["a"], {"axis": (0, 1)}, out="b")
    'mx.nd.sum(a, axis=(0, 1), out=b)'
    """
    parts = [*arguments, *(f"{name}={value!r}" for name, value in params.items())]
    if out is not None:
        parts.append(f"out={out}")
    return f"mx.{path}({', '.join(parts)})"
