"""The reference engine, with an end of the process."""

import os

import on_reference
from on_reference import *  # noqa: F403

__version__ = on_reference.__version__
on_reference.break_it(lambda: os._exit(0))
