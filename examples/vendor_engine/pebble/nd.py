"""Arrays that remember how they were made while autograd records."""

import numpy as np

from pebble import autograd
from pebble.context import cpu


class NDArray:
    """A numpy array with a gradient."""

    def __init__(self, data, inputs=(), pull=None):
        self._data = data
        self._inputs, self._pull = inputs, pull  # what it was made of, and how a gradient flows back to that
        self.grad, self.grad_req = None, "null"

    # -- looking at it --------------------------------------------------------------------------------------

    @property
    def shape(self):
        return self._data.shape

    @property
    def dtype(self):
        return self._data.dtype.type

    @property
    def ctx(self):
        return cpu()

    context = ctx

    def asnumpy(self):
        return self._data.copy()

    def __repr__(self):
        return f"{self._data!r}\n<NDArray {'x'.join(map(str, self.shape))} @cpu(0)>"

    def __setitem__(self, key, value):
        self._data[key] = value._data if isinstance(value, NDArray) else value

    def copy(self):
        return NDArray(self._data.copy())

    # -- arithmetic -----------------------------------------------------------------------------------------

    def __add__(self, other):
        return _binary(self, other, np.add, lambda g, a, b: (g, g))

    def __sub__(self, other):
        return _binary(self, other, np.subtract, lambda g, a, b: (g, -g))

    def __mul__(self, other):
        return _binary(self, other, np.multiply, lambda g, a, b: (g * b, g * a))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1

    def sum(self):
        return _made(self._data.sum(), (self,), lambda g: (np.broadcast_to(g, self.shape),))

    # -- autograd -------------------------------------------------------------------------------------------

    def attach_grad(self, grad_req="write"):
        self.grad, self.grad_req = NDArray(np.zeros_like(self._data)), grad_req

    def backward(self):
        autograd.backward([self])


def _made(data, inputs, pull):
    if not autograd.is_recording():
        return NDArray(np.asarray(data))
    return NDArray(np.asarray(data), inputs, pull)


def _binary(left, right, forward, pull):
    if not isinstance(right, NDArray):
        right = NDArray(np.asarray(right, dtype=left._data.dtype))
    a, b = left._data, right._data
    return _made(forward(a, b), (left, right), lambda g: tuple(
        _fit(part, shape) for part, shape in zip(pull(g, a, b), (a.shape, b.shape))))


def _fit(gradient, shape):
    """Sum a gradient over what was broadcast."""
    gradient = np.asarray(gradient)
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1 and gradient.shape[axis] != 1:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient


def array(source, ctx=None, dtype="float32"):
    """An array with the values of *source*."""
    values = source._data if isinstance(source, NDArray) else source
    return NDArray(np.array(values, dtype=dtype))


def zeros(shape, ctx=None, dtype="float32"):
    """An array of zeros."""
    return NDArray(np.zeros(shape, dtype))


def waitall():
    """Nothing to wait for: everything is done at once."""
