"""Names of symbols: counters per operator, and prefixes."""

from __future__ import annotations

import threading
from typing import Any


class NameManager:
    """Gives each symbol without a name the next one of its kind: ``fullyconnected0``, ``fullyconnected1``, …

    As a ``with`` block it counts afresh inside (rule GRAPH-SYM-003).
    """

    _stack = threading.local()

    def __init__(self) -> None:
        self._counter: dict[str, int] = {}
        self._outer: list[Any] = []

    def get(self, name: str | None, hint: str) -> str:
        """The name itself if there is one, else the next for the hint."""
        if name:
            return name
        count = self._counter.get(hint, 0)
        self._counter[hint] = count + 1
        return f'{hint}{count}'

    def __enter__(self) -> NameManager:
        self._outer.append(current())
        NameManager._stack.current = self
        return self

    def __exit__(self, *exc: Any) -> None:
        NameManager._stack.current = self._outer.pop()


class Prefix(NameManager):
    """A name manager that puts a prefix in front of every name, given ones too.

    >>> import refengine as mx
    >>> with mx.name.Prefix('net_'):
    ...     mx.sym.exp(mx.sym.var('x'), name='e').name
    'net_e'
    """

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def get(self, name: str | None, hint: str) -> str:
        """The prefixed name."""
        return self._prefix + super().get(name, hint)


def current() -> NameManager:
    """The name manager of this thread."""
    found = getattr(NameManager._stack, 'current', None)
    if found is None:
        found = NameManager._stack.current = NameManager()
    return found
