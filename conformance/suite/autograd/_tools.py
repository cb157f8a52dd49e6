"""What the cases of automatic differentiation share: variables, gradients of a function, messages of errors.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import json

import numpy as np

NOT_IN_GRAPH = "Cannot differentiate node because it is not in a computational graph"
NOTHING_TO_DIFFERENTIATE = "There are no inputs in computation graph that require gradients"
ASSIGNING = "Assigning to NDArrays that are already in a computational graph"
IN_PLACE = "not supported when recording with autograd"

NAN, INF = float("nan"), float("inf")


def flags(mx):
    """Whether the engine records and whether it is in training mode now."""
    return mx.autograd.is_recording(), mx.autograd.is_training()


def constant(mx, values, dtype="float32", ctx=None):
    """A legacy array without gradient."""
    return mx.nd.array(np.asarray(values, dtype=dtype), dtype=dtype, ctx=ctx or mx.cpu(0))


def variable(mx, values, grad_req="write", dtype="float32", ctx=None):
    """A legacy array with a gradient buffer."""
    made = constant(mx, values, dtype, ctx)
    made.attach_grad(grad_req)
    return made


def grid(mx):
    """The numbers 0 ... 5 as a variable with two rows."""
    return variable(mx, [[0, 1, 2], [3, 4, 5]])


def gradient_at(mx, x, function, head=None):
    """The gradient in *x*, a variable, after one backward pass of ``function(x)``."""
    with mx.autograd.record():
        y = function(x)
    if head is None:
        y.backward()
    else:
        y.backward(constant(mx, head, str(np.dtype(y.dtype))))
    return x.grad


def gradient_of(mx, values, function, head=None, dtype="float32"):
    """The gradient of ``function`` at *values*, an array of its own that is made a variable."""
    return gradient_at(mx, variable(mx, values, dtype=dtype), function, head)


def not_in_graph(mx, check, array):
    """backward from *array* is refused, because it is in no recorded graph."""
    check.raises(mx.base.MXNetError, NOT_IN_GRAPH, array.backward)


def refused(check, kind, *fragments_and_function):
    """A computation fails, at the call or when its result is waited for; returns the exception."""
    fragments, function = fragments_and_function[:-1], fragments_and_function[-1]

    def waited():
        result = function()
        if hasattr(result, "wait_to_read"):
            result.wait_to_read()

    return check.raises(kind, *(fragments + (waited,)))


def operators(symbol):
    """The names of the operators of a symbol's nodes in order; "null" stands for a variable."""
    return [node["op"] for node in json.loads(symbol.tojson())["nodes"]]
