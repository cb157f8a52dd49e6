"""BCAST-GRAD: gradients of broadcast operands."""

import numpy as np

from conformance.case import case

A = np.array([[1, 2, 3], [4, 5, 6]], dtype="float32")
B = np.array([[2, 2, 3]], dtype="float32")


def _gradients(mx, function, *sources):
    """The gradients of the sum of a function, one per array that it is given."""
    arrays = [mx.nd.array(source) for source in sources]
    for array in arrays:
        array.attach_grad()
    with mx.autograd.record():
        result = function(*arrays)
    result.backward()
    return [array.grad for array in arrays]


@case("BCAST-GRAD-001", samples={
    "add": {"name": "broadcast_add", "want": ([[1] * 3] * 2, [[2, 2, 2]])},
    "sub": {"name": "broadcast_sub", "want": ([[1] * 3] * 2, [[-2, -2, -2]])},
    "mul": {"name": "broadcast_mul", "want": ([[2, 2, 3]] * 2, [[5, 7, 9]])}})
def summed_over_the_repeated_axis(mx, check, name, want):
    left, right = _gradients(mx, getattr(mx.nd, name), A, B)
    check.equal(left, want[0], "gradient of the first operand")
    check.equal(right, want[1], "gradient of the second operand")


@case("BCAST-GRAD-001", samples={"vector": {"shape": (3,), "want": [2, 2, 2]}, "one": {"shape": (1,), "want": [6]},
                                 "column": {"shape": (2, 1), "want": [[3], [3]]},
                                 "corner": {"shape": (1, 1), "want": [[6]]}})
def shape_of_the_operand(mx, check, shape, want):
    left, right = _gradients(mx, lambda a, b: a + b, A, np.ones(shape))
    check.equal(left, np.ones((2, 3)), "gradient of the large operand")
    check.equal(right, want, "gradient of the small operand")


@case("BCAST-GRAD-001")
def both_operands_are_repeated(mx, check):
    left, right = _gradients(mx, lambda a, b: a * b, [[1, 2, 3]], [[10], [20]])
    check.equal(left, [[30, 30, 30]], "gradient of the row")
    check.equal(right, [[6], [6]], "gradient of the column")


LOG = np.log(A.astype("float64"))

CALCULUS = {
    "div": (1 / np.repeat(B, 2, 0), -(A / B ** 2).sum(0, keepdims=True)),
    "power": (B * A ** (B - 1), (A ** B * LOG).sum(0, keepdims=True)),
    "hypot": (A / np.hypot(A, B), (B / np.hypot(A, B)).sum(0, keepdims=True)),
    "mod": (np.ones((2, 3)), -np.trunc(A / B).sum(0, keepdims=True)),
}


@case("BCAST-GRAD-002", samples={name: {"name": name, "want": want} for name, want in sorted(CALCULUS.items())})
def as_in_calculus(mx, check, name, want):
    left, right = _gradients(mx, getattr(mx.nd, "broadcast_" + name), A, B)
    check.close(left, want[0], "gradient of the first operand", rtol=1e-5)
    check.close(right, want[1], "gradient of the second operand", rtol=1e-5)


@case("BCAST-GRAD-003", samples={name: {"name": name} for name in
                                 ("broadcast_maximum", "maximum", "broadcast_minimum", "minimum")})
def tie_goes_to_the_first_operand(mx, check, name):
    left, right = _gradients(mx, getattr(mx.nd, name), [1.0, 2.0, 3.0], [1.0, 5.0, 0.0])
    largest = "max" in name
    check.equal(left, [1, 0, 1] if largest else [1, 1, 0], "gradient of the first operand")
    check.equal(right, [0, 1, 0] if largest else [0, 0, 1], "gradient of the second operand")


@case("BCAST-GRAD-003", samples={name: {"name": "broadcast_" + name} for name in (
    "equal", "not_equal", "greater", "greater_equal", "lesser", "lesser_equal", "logical_and", "logical_or",
    "logical_xor")})
def comparisons_have_no_gradient(mx, check, name):
    left, right = _gradients(mx, getattr(mx.nd, name), [1.0, 2.0], [1.0, 3.0])
    check.equal(left, [0, 0], "gradient of the first operand")
    check.equal(right, [0, 0], "gradient of the second operand")


@case("BCAST-GRAD-004", samples={
    "function": {"source": np.ones((2, 3, 1)), "make": lambda mx, x: mx.nd.broadcast_to(x, (2, 3, 4)),
                 "want": np.full((2, 3, 1), 4.0)},
    "method": {"source": np.ones(3), "make": lambda mx, x: x.broadcast_to((2, 3)) * mx.nd.array([[1], [10]]),
               "want": [11, 11, 11]},
    "like": {"source": np.ones((1, 2)), "make": lambda mx, x: mx.nd.broadcast_like(x, mx.nd.ones((3, 2))),
             "want": [[3, 3]]},
    "axis": {"source": np.ones((1, 2)), "make": lambda mx, x: mx.nd.broadcast_axis(x, axis=0, size=5),
             "want": [[5, 5]]}})
def gradient_of_an_expansion(mx, check, source, make, want):
    got, = _gradients(mx, lambda x: make(mx, x), source)
    check.equal(got, want, "gradient")
