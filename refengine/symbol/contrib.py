"""Contributed operators in graphs: ``mx.sym.contrib``."""

from __future__ import annotations

from typing import Any

from ..op import registry as _registry
from . import functions as _functions

_PREFIXES = ('_contrib_',)


_LOOPS = ('foreach', 'while_loop', 'cond')


def __getattr__(name: str) -> Any:
    if name in _LOOPS:
        from . import control_flow
        return getattr(control_flow, name)
    for prefix in _PREFIXES:
        op = _registry.get(prefix + name)
        if op is not None:
            value = globals()[name] = _functions.make(op, name)
            return value
    raise _functions.missing(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LOOPS, *(n[len(p):] for p in _PREFIXES for n in _registry if n.startswith(p))})
