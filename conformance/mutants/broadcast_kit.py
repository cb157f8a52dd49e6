"""Ways to break broadcasting; no mutants live here.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

from conformance.mutants.ndarray_kit import is_array, method


def operator(mx, name, when, instead):
    """Have a binary operator give ``instead(original, x, other)`` where ``when(x, other)`` holds for two arrays."""

    def body(original, self, other):
        if is_array(other) and when(self, other):
            return instead(original, self, other)
        return original(self, other)

    method(mx, name, body)


def refuse(mx, left, right):
    """The error of shapes that do not match."""
    shapes = ["[%s]" % ",".join(str(size) for size in array.shape) for array in (left, right)]
    raise mx.base.MXNetError("operands could not be broadcast together with shapes %s %s" % tuple(shapes))


class Linked(object):
    """Pairs of arrays of which the second takes every write into the first, as if they shared memory.

    Only the last few pairs are remembered.
    """

    def __init__(self, mx, limit=4):
        self.pairs = []
        self.limit = limit
        method(mx, "__setitem__", self._write)

    def add(self, array, shadow):
        """A write into *array* shows in *shadow* from now on; returns *array*."""
        self.pairs = [pair for pair in self.pairs if pair[0] is not array][1 - self.limit:] + [(array, shadow)]
        return array

    def _write(self, original, array, key, value):
        original(array, key, value)
        for written, shadow in self.pairs:
            if written is array:
                values = array if array.shape == shadow.shape else array[:1].reshape(shadow.shape)
                original(shadow, slice(None), values.asnumpy())
