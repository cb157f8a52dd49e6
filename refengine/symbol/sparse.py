"""Operators under the name space of sparse arrays: ``mx.sym.sparse``; results are dense."""

from __future__ import annotations

from ..name_space import operators as _operators
from . import functions as _functions

__getattr__, __dir__ = _operators(globals(), _functions.make, ('_sparse_', ''))
