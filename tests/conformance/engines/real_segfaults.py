"""The reference engine, with a read of address 0."""

import ctypes

import on_reference
from on_reference import *  # noqa: F403

__version__ = on_reference.__version__
on_reference.break_it(lambda: ctypes.string_at(0))
