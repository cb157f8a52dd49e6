"""Ways to break the legacy arrays through their public names; no mutants live here.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

from conformance.mutants import wrap


def function(owner, name, body):
    """Replace a function of a module by ``body(original, *args, **kwargs)``."""
    wrap(owner, name, lambda original: lambda *args, **kwargs: body(original, *args, **kwargs))


def method(mx, name, body):
    """Replace a method of the legacy array by ``body(original, self, *args, **kwargs)``."""
    wrap(mx.nd.NDArray, name,
         lambda original: lambda self, *args, **kwargs: body(original, self, *args, **kwargs))


def attribute(mx, name, body):
    """Replace a property of the legacy array by ``body(value, self)``."""
    wrap(mx.nd.NDArray, name, lambda getter: lambda self: body(getter(self), self))


def reading(mx, when, instead):
    """Have ``x[key]`` give ``instead(original, x, key)`` where ``when(x, key)`` holds."""

    def body(original, self, key):
        return instead(original, self, key) if when(self, key) else original(self, key)

    method(mx, "__getitem__", body)


def is_array(value):
    """True for arrays of the engine."""
    return hasattr(value, "asnumpy")


def like(mx, array, values):
    """An array of the dtype and context of another one."""
    return mx.nd.array(values, dtype=array.dtype, ctx=array.context)
