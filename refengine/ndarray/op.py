"""Every operator without a name space of its own: ``mx.nd.op``."""

from __future__ import annotations

from typing import Any

from ..name_space import operators as _operators
from . import functions as _functions


def _custom() -> Any:
    from .custom import Custom
    return Custom


def _cached() -> Any:
    from .cached_op import CachedOp
    return CachedOp


__getattr__, __dir__ = _operators(globals(), _functions.make, ('',), {'Custom': _custom, 'CachedOp': _cached})
