"""Operators of images in graphs: ``mx.sym.image``."""

from __future__ import annotations

from ..name_space import operators as _operators
from . import functions as _functions

__getattr__, __dir__ = _operators(globals(), _functions.make, ('_image_',))
