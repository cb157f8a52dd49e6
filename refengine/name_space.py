"""Modules whose functions are the operators of a name space, made when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .op import registry


def operators(
    module: dict[str, Any], make: Callable[[Any, str], Any], prefixes: Sequence[str],
    others: Mapping[str, Callable[[], Any]] | None = None,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a module.

    module: its ``globals()``;  make: gives a front end's function for an operator and the name it is asked by;
    prefixes: what the operators' names begin with, tried in this order;  others: names that are no operators.
    """
    others = others or {}

    def find(name: str) -> Any:
        if name in others:
            return others[name]()
        for prefix in prefixes:
            op = registry.get(prefix + name)
            if op is not None:
                value = module[name] = make(op, name)
                return value
        raise AttributeError(f'module {module["__name__"]!r} has no attribute {name!r}')

    def names() -> list[str]:
        return sorted({*module, *others, *(n[len(p):] for p in prefixes for n in registry if n.startswith(p))})

    return find, names
