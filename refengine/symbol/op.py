"""Every operator without a name space of its own: ``mx.sym.op``."""

from __future__ import annotations

from ..name_space import operators as _operators
from . import functions as _functions

__getattr__, __dir__ = _operators(globals(), _functions.make, ('',))
