"""Names of blocks and parameters: prefixes, counters and name scopes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .. import name


class _State(threading.local):
    scope: NameScope | None = None      # the innermost scope of this thread


state = _State()


class NameScope:
    """The scope of a block: children that are made inside get its prefix and its counters, symbols its prefix.

    Symbols are counted afresh each time that it is entered. A block with an empty prefix has no scope of its own: what
    is made inside belongs to the scope around it.
    """

    def __init__(self, block: Any) -> None:
        self.block = block
        self.counters: dict[str, int] = {}
        self._outer: list[tuple[NameScope | None, name.Prefix]] = []

    def __enter__(self) -> NameScope:
        if not self.block._empty_prefix:
            symbols = name.Prefix(self.block.prefix)
            self._outer.append((state.scope, symbols))
            state.scope = self
            symbols.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        if not self.block._empty_prefix:
            state.scope, symbols = self._outer.pop()
            symbols.__exit__(*exc)


def place(prefix: str | None, params: Any, hint: str, make: Callable[..., Any]) -> tuple[str, Any]:
    """Prefix and ParameterDict of a new block; ``make(prefix, shared)`` builds the dict."""
    scope = state.scope
    if scope is None:
        if prefix is None:
            prefix = name.current().get(None, hint) + '_'
        return prefix, make(prefix) if params is None else make(params.prefix, params)
    if prefix is None:
        count = scope.counters.get(hint, 0)
        scope.counters[hint] = count + 1
        prefix = f'{hint}{count}_'
    parent = scope.block.params
    inner = make(parent.prefix + prefix, parent._shared) if params is None else make(params.prefix, params)
    return scope.block.prefix + prefix, inner
