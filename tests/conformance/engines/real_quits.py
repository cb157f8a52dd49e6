"""The reference engine, with a sys.exit."""

import sys

import on_reference
from on_reference import *  # noqa: F403

__version__ = on_reference.__version__
on_reference.break_it(lambda: sys.exit("licence expired"))
