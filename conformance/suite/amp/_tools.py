"""What the cases of loss scaling share: the module of mixed precision, arrays and parameters of either front end.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import importlib

from conformance.suite import kit

#: The first lines of a program that switches mixed precision on, which cannot be undone in its process.
IMPORT = """
import importlib
def module(mx):
    try:
        return importlib.import_module(mx.__name__ + ".amp")
    except ImportError:
        return importlib.import_module(mx.__name__ + ".contrib.amp")
amp = module(mx)
"""


def amp(mx, part=""):
    """The module of mixed precision, or a part of it, wherever the engine has it."""
    name = "." + part if part else ""
    try:
        return importlib.import_module(mx.__name__ + ".amp" + name)
    except ImportError:
        return importlib.import_module(mx.__name__ + ".contrib.amp" + name)


def released(mx):
    """A loss scaler as the releases have it: the class in ``amp.loss_scaler``, without arguments."""
    return amp(mx, "loss_scaler").LossScaler()


def explicit(mx, **options):
    """A loss scaler of the explicit interface: ``amp.LossScaler``."""
    return amp(mx).LossScaler(**options)


def parameter(mx, *gradient):
    """An initialised parameter with this gradient."""
    made = kit.parameter(mx, "p", value=1.0, shape=(len(gradient),))
    made.grad()[:] = kit.array(mx, gradient)
    return made


class Holder(object):
    """What ``has_overflow`` looks at in a parameter: its gradients, one per device, or None."""

    grad_req = "write"

    def __init__(self, mx, *gradient):
        self._grad = [kit.array(mx, gradient)] if gradient else None


def number(value):
    """An array with one element as a float, whether its shape is () or (1,)."""
    return float(value.asnumpy().reshape(-1)[0])
