"""Pebble: arrays, autograd, parameters and a trainer with SGD, on one device, in plain numpy.

It is wrong in three ways, so that there is something to find; the README goes through them.
"""

from pebble import autograd, gluon, init, nd, optimizer, random
from pebble.context import Context, cpu

__version__ = "0.3.0"

#: What gluon-conformance is told: everything that this engine can do beyond the basics, which is nothing yet.
__conformance__ = {"capabilities": []}

__all__ = ["Context", "autograd", "cpu", "gluon", "init", "nd", "optimizer", "random"]
