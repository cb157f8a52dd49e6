"""Recording and going back."""

import contextlib

import numpy as np

_recording = False


def is_recording():
    """True while operations are recorded."""
    return _recording


@contextlib.contextmanager
def record(train_mode=True):
    """Record what is computed in the block."""
    global _recording
    before, _recording = _recording, True
    try:
        yield
    finally:
        _recording = before


def backward(heads):
    """Write the gradients of everything with an attached gradient that the heads were made of."""
    gradients = {id(head): np.ones_like(head._data) for head in heads}
    found = {}
    for array in reversed(_ordered(heads)):
        gradient = gradients[id(array)]
        if array.grad is not None and array.grad_req != "null":
            found[id(array)] = (array, gradient)
        if array._pull is not None:
            for source, part in zip(array._inputs, array._pull(gradient)):
                gradients[id(source)] = gradients.get(id(source), 0) + part
    for array, gradient in found.values():
        if array.grad_req == "add":
            gradient = array.grad._data + gradient
        array.grad._data[...] = gradient


def _ordered(heads):
    """Everything below the heads, inputs first."""
    order, seen = [], set()

    def visit(array):
        if id(array) not in seen:
            seen.add(id(array))
            for source in array._inputs:
                visit(source)
            order.append(array)

    for head in heads:
        visit(head)
    return order
