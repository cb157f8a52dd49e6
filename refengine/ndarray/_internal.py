"""Operators whose names begin with an underscore: ``mx.nd._internal``."""

from __future__ import annotations

from ..name_space import operators as _operators
from . import functions as _functions

__getattr__, __dir__ = _operators(globals(), _functions.make, ('',))
