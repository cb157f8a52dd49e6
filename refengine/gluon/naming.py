"""Names of blocks and parameters: prefixes, counters and name scopes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class NameManager(threading.local):
    """Gives each new block without a scope a number of its own kind: dense0, dense1, …; one per thread."""

    def __init__(self) -> None:
        self.counters: dict[str, int] = {}
        self.scope: NameScope | None = None

    def number(self, counters: dict[str, int], hint: str) -> str:
        """The next name for a hint, and count it."""
        count = counters.get(hint, 0)
        counters[hint] = count + 1
        return f'{hint}{count}_'


manager = NameManager()


def next_prefix(hint: str) -> str:
    """The next free prefix outside every scope."""
    return manager.number(manager.counters, hint)


class NameScope:
    """The scope of a block: children that are made inside get its prefix and its counters."""

    def __init__(self, block: Any) -> None:
        self.block = block
        self.counters: dict[str, int] = {}
        self._outer: list[NameScope | None] = []

    def __enter__(self) -> NameScope:
        if not self.block._empty_prefix:
            self._outer.append(manager.scope)
            manager.scope = self
        return self

    def __exit__(self, *exc: Any) -> None:
        if not self.block._empty_prefix:
            manager.scope = self._outer.pop()


def place(prefix: str | None, params: Any, hint: str, make: Callable[..., Any]) -> tuple[str, Any]:
    """Prefix and ParameterDict of a new block; ``make(prefix, shared)`` builds the dict."""
    scope = manager.scope
    if scope is None:
        if prefix is None:
            prefix = next_prefix(hint)
        return prefix, make(prefix) if params is None else make(params.prefix, params)
    if prefix is None:
        prefix = manager.number(scope.counters, hint)
    parent = scope.block.params
    inner = make(parent.prefix + prefix, parent._shared) if params is None else make(params.prefix, params)
    return scope.block.prefix + prefix, inner
