"""Attributes of symbols: strings that a scope attaches to every node made inside it."""

from __future__ import annotations

import threading
from typing import Any


class AttrScope:
    """A ``with`` block whose attributes every symbol made inside gets; ValueError unless they are strings.

    >>> import refengine as mx
    >>> with mx.AttrScope(ctx_group='first'):
    ...     mx.sym.var('x').attr('ctx_group')
    'first'
    """

    _stack = threading.local()

    def __init__(self, **attributes: Any) -> None:
        for value in attributes.values():
            if not isinstance(value, str):
                raise ValueError('Attributes need to be string')
        self._attr = attributes
        self._outer: list[tuple[Any, dict[str, str]]] = []

    def get(self, attr: dict[str, str] | None) -> dict[str, str]:
        """The attributes of the scope, overridden by those given."""
        if not self._attr:
            return dict(attr) if attr else {}
        merged = dict(self._attr)
        if attr:
            merged.update(attr)
        return merged

    def __enter__(self) -> AttrScope:
        outer = current()
        self._outer.append((outer, self._attr))
        self._attr = {**outer._attr, **self._attr}
        AttrScope._stack.current = self
        return self

    def __exit__(self, *exc: Any) -> None:
        AttrScope._stack.current, self._attr = self._outer.pop()


def current() -> AttrScope:
    """The scope of this thread."""
    found = getattr(AttrScope._stack, 'current', None)
    if found is None:
        found = AttrScope._stack.current = AttrScope()
    return found
