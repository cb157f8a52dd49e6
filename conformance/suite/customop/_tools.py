"""What the cases of custom operators share: operators made from functions, and the array mode they work in.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import contextlib

from conformance.suite import kit

#: The first lines of a program that registers an operator in a process of its own.
LEGACY = "if hasattr(mx, 'util') and hasattr(mx.util, 'is_np_array') and mx.util.is_np_array(): mx.npx.reset_np()\n"


@contextlib.contextmanager
def legacy(mx):
    """Legacy arrays; what was started is waited for before the mode changes back."""
    with kit.legacy_mode(mx):
        yield
        mx.nd.waitall()


def prop(mx, forward=None, backward=None, top_gradient=True, operator=None, **methods):
    """A CustomOpProp class whose operator computes with the given functions.

    forward, backward: as the methods of CustomOp, with ``self``;  operator: called with the Prop's keywords to make
    the operator instead;  methods: further methods of the Prop.
    """
    bodies = {name: body for name, body in (("forward", forward), ("backward", backward)) if body is not None}
    computing = type("Operator", (mx.operator.CustomOp,), bodies)

    class Described(mx.operator.CustomOpProp):
        def __init__(self):
            super(Described, self).__init__(need_top_grad=top_gradient)

        def create_operator(self, ctx, in_shapes, in_dtypes):
            return computing() if operator is None else operator(ctx, in_shapes, in_dtypes)

    return type("Described", (Described,), methods)


def register(mx, name, *functions, **options):
    """Register what :func:`prop` makes under ``conform_<name>`` and return that name."""
    full = "conform_" + name
    mx.operator.register(full)(prop(mx, *functions, **options))
    return full


def times(factor):
    """A forward that multiplies its first input."""
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * factor)
    return forward


def passing(factor):
    """A backward that multiplies the gradient of the first output."""
    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * factor)
    return backward


def variable(mx, values, grad_req="write"):
    """A legacy float32 array with a gradient buffer."""
    made = mx.nd.array(values, dtype="float32")
    made.attach_grad(grad_req)
    return made
