"""The reference engine, with a hang."""

import time

import on_reference
from on_reference import *  # noqa: F403

__version__ = on_reference.__version__
on_reference.break_it(lambda: time.sleep(3600))
