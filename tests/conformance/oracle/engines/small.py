"""A miniature engine of three functions, sound or broken in one way; the files beside it name the way."""

import contextlib
import os
import time
import types

import numpy as np

MADE = {"shape": [2, 2], "values": [1.5, 2.0, -0.5, 3.0]}


class MXNetError(RuntimeError):
    """The engine's own error."""


def described():
    """What the engine offers to the differential mode."""
    common = {"variadic": False, "params": {}, "rules": ["MINI-ADD-001"], "random": False, "source": False}
    return [
        {**common, "paths": ["nd.square"], "inputs": ["data"],
         "samples": [{"arrays": [MADE], "differentiated": [True], "params": {}}]},
        {**common, "paths": ["nd.sum"], "inputs": ["data"],
         "params": {"axis": {"kind": "Axes", "none": True, "default": None}},
         "samples": [{"arrays": [MADE], "differentiated": [False], "params": {"axis": [1]}}]},
        {**common, "paths": ["nd.broadcast_add"], "inputs": ["lhs", "rhs"],
         "samples": [{"arrays": [MADE, MADE], "differentiated": [False, False], "params": {}}]},
    ]


class NDArray:
    """An array."""

    __hash__ = object.__hash__

    def __init__(self, data, back=None):
        self.data, self.grad, self.back = data, None, back

    dtype = property(lambda self: self.data.dtype.type)
    shape = property(lambda self: self.data.shape)
    size = property(lambda self: self.data.size)

    def asnumpy(self):
        return self.data.copy()

    def wait_to_read(self):
        """Nothing is ever pending."""

    def attach_grad(self):
        self.grad = NDArray(np.zeros_like(self.data))

    def __mul__(self, other):
        if not isinstance(other, NDArray):
            return NDArray(self.data * other)

        def back(head):
            for factor, array in ((other.data, self), (self.data, other)):
                if array.grad is not None:
                    array.grad = NDArray(array.grad.data + head * factor)

        return NDArray(self.data * other.data, back)

    def __add__(self, other):
        return NDArray(self.data + other)

    def sum(self):
        def back(head):
            self.backward(NDArray(head * np.ones_like(self.data)))

        return NDArray(np.atleast_1d(self.data.sum()), back)

    def backward(self, head=None):
        if self.back is not None:
            self.back(np.ones_like(self.data) if head is None else head.data)


def install(module, fault):
    """Fill a module with the engine, broken in one way or (None) not at all."""
    state = {"recording": False}

    def square(data):
        if not isinstance(data, NDArray):
            raise MXNetError("expected an array as argument")
        if fault == "crash" and (data.data < 0).any():
            os.abort()
        result = data.data * data.data
        if fault == "value" and result.dtype != bool:
            result[data.data == 3] += 1

        def back(head):
            factor = 3 if fault == "gradient" else 2
            if data.grad is not None:
                data.grad = NDArray((head * factor * data.data).astype(data.data.dtype))

        return NDArray(result, back if state["recording"] else None)

    def total(data, axis=None):
        if fault == "hang" and axis is not None:
            time.sleep(60)
        try:
            result = data.data.sum(axis=axis, dtype="float64" if fault == "dtype" else data.data.dtype)
        except (ValueError, TypeError) as error:
            raise MXNetError(f"axis: {error}") from None
        return NDArray(np.atleast_1d(result))

    def add(lhs, rhs):
        if fault == "state":
            lhs.data = lhs.data + lhs.data.dtype.type(1) if lhs.data.dtype != rhs.data.dtype else lhs.data
        if lhs.data.dtype != rhs.data.dtype:
            raise (ValueError if fault == "error" else MXNetError)("dtype differs")
        try:
            return NDArray(lhs.data + rhs.data)
        except ValueError as error:
            raise MXNetError(f"shape: {error}") from None

    @contextlib.contextmanager
    def record():
        state["recording"] = True
        yield
        state["recording"] = False

    def backward(heads, grads=None):
        for head, grad in zip(heads if isinstance(heads, list) else [heads], grads or [None]):
            head.backward(grad)

    nd = types.SimpleNamespace(
        NDArray=NDArray, square=square, sum=total, broadcast_add=add, waitall=lambda: None,
        array=lambda source, dtype="float32": NDArray(np.array(source, dtype=dtype)),
        zeros=lambda shape, dtype="float32": NDArray(np.zeros(shape, dtype)))
    autograd = types.SimpleNamespace(
        record=record, backward=backward, is_recording=lambda: state["recording"], is_training=lambda: False,
        set_recording=lambda yes: state.update(recording=yes), set_training=lambda yes: None)
    module.update(nd=nd, autograd=autograd, MXNetError=MXNetError, __version__="1", __conformance__={
        "operators": "small:described"})
