"""Contributed operators in graphs: ``mx.sym.contrib``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..name_space import operators as _operators
from . import functions as _functions


def _loop(name: str) -> Callable[[], Any]:
    def load() -> Any:
        from . import control_flow
        return getattr(control_flow, name)

    return load


__getattr__, __dir__ = _operators(globals(), _functions.make, ('_contrib_',),
                                  {name: _loop(name) for name in ('foreach', 'while_loop', 'cond')})
