"""Shape rules that work backwards: unknown dimensions of an operator's inputs from the other inputs and the parameters.

Parameters of blocks may be given with unknown dimensions (0); the operator that uses them knows what they must be. A
rule receives the shapes of all inputs (None for an input that is not there, 0 for an unknown dimension) and the
parsed parameters of the operator, and returns the completed shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ShapeRule = Callable[[list[Any], dict[str, Any]], list[Any]]

completions: dict[str, ShapeRule] = {}
"""The rule of each operator that has one, by the operator's name."""


def completes(*names: str) -> Callable[[ShapeRule], ShapeRule]:
    """Register the decorated rule for the named operators; it stands beside their forward body."""

    def decorate(rule: ShapeRule) -> ShapeRule:
        for name in names:
            completions[name] = rule
        return rule

    return decorate


def merge(*shapes: Any) -> tuple[int, ...] | None:
    """One shape from several that must agree, unknown dimensions filled from each other; None when none is known."""
    known = [shape for shape in shapes if shape is not None]
    if not known:
        return None
    if len({len(shape) for shape in known}) != 1:
        return tuple(known[0])
    return tuple(next((n for n in dims if n > 0), 0) for dims in zip(*known, strict=True))


@completes('elemwise_add', 'elemwise_sub', 'elemwise_mul', 'elemwise_div')
def same_shape(shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    """All inputs have one shape."""
    return [merge(*shapes)] * len(shapes)
