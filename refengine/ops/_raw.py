"""Registered operators on raw arrays: the name space for bodies that are written as gradients are, against ``F``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from ..op import registry


class Raw:
    """The forward bodies of all operators with the array module filled in."""

    def __init__(self, xp: Any) -> None:
        self._xp = xp

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = partial(registry[name].forward, self._xp)
        setattr(self, name, function)
        return function


@cache
def raw(xp: Any) -> Raw:
    """The name space of one array module."""
    return Raw(xp)
