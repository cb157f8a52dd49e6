"""AUTOGRAD-GRADFN and AUTOGRAD-SECOND: gradients as new arrays, and gradients of gradients."""

import numpy as np

from conformance.case import case
from conformance.suite.autograd._tools import NOT_IN_GRAPH, constant, not_in_graph, variable


def _cube(mx, x):
    with mx.autograd.record():
        return x * x * x


@case("AUTOGRAD-GRADFN-001")
def gradients_are_new_arrays(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0], "add")
    x.grad[:] = 100
    got = mx.autograd.grad(_cube(mx, x), [x])
    check.equal((type(got), len(got)), (list, 1), "type and length of the result")
    check.equal(got[0], [3, 12, 27], "gradient")
    check.equal(x.grad, [100] * 3, "buffer of the variable")


@case("AUTOGRAD-GRADFN-001")
def gradients_with_head_gradients(mx, check):
    x, w = variable(mx, [1.0, 2.0, 3.0]), variable(mx, [1.0, 1.0, 1.0])
    with mx.autograd.record():
        heads = [x * x * x, x * w]
    head_grads = [constant(mx, [1.0, 0.0, 2.0]), constant(mx, [0.0, 10.0, 0.0])]
    got = mx.autograd.grad(heads, [w, x], head_grads=head_grads)
    check.equal(got[0], [0, 20, 0], "gradient of w")
    check.equal(got[1], [3, 10, 54], "gradient of x")


@case("AUTOGRAD-GRADFN-002")
def bare_variable_gives_a_bare_gradient(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0])
    got = mx.autograd.grad(_cube(mx, x), x)
    check.isinstance(got, mx.nd.NDArray, "type of the result")
    check.equal(got, [3, 12, 27], "gradient")


def _no_gradient(check, mx, kind, fragments, x, make_variables):
    """grad is refused for the variables made from x, and x still works."""
    with mx.autograd.record():
        y = x * x
    check.raises(kind, *(tuple(fragments) + (mx.autograd.grad, y, make_variables)))
    with mx.autograd.record():
        y = x * x
    check.equal(mx.autograd.grad(y, [x])[0], [2, 4], "gradient of the proper variable")


@case("AUTOGRAD-GRADFN-003")
def no_variable(mx, check):
    x = variable(mx, [1.0, 2.0])
    _no_gradient(check, mx, AssertionError, ["variables cannot be an empty list"], x, [])


@case("AUTOGRAD-GRADFN-003")
def variable_that_is_not_attached(mx, check):
    x = variable(mx, [1.0, 2.0])
    fragments = ["the 1-th variable because it does not require gradient"]
    _no_gradient(check, mx, mx.base.MXNetError, fragments, x, [mx.nd.ones(2)])


@case("AUTOGRAD-GRADFN-003")
def variable_that_takes_no_gradient(mx, check):
    x = variable(mx, [1.0, 2.0])
    fragments = ["does not require gradient"]
    _no_gradient(check, mx, mx.base.MXNetError, fragments, x, [variable(mx, [1.0, 1.0], "null")])


@case("AUTOGRAD-GRADFN-003")
def variable_that_is_not_reached(mx, check):
    x = variable(mx, [1.0, 2.0])
    fragments = ["the 2-th variable because it is unreachable from the outputs"]
    _no_gradient(check, mx, mx.base.MXNetError, fragments, x, [x, variable(mx, [1.0, 1.0])])


@case("AUTOGRAD-GRADFN-003")
def intermediate_is_no_variable(mx, check):
    x = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        a = x * x
        b = a * 2
    check.equal(b, [2, 8], "result")
    check.raises(mx.base.MXNetError, "does not require gradient", mx.autograd.grad, b, [a])


@case("AUTOGRAD-GRADFN-004")
def graph_is_freed(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0])
    y = _cube(mx, x)
    check.equal(mx.autograd.grad(y, [x])[0], [3, 12, 27], "gradient")
    check.raises(mx.base.MXNetError, NOT_IN_GRAPH, mx.autograd.grad, y, [x])


@case("AUTOGRAD-GRADFN-004")
def graph_is_retained_on_demand(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0])
    y = _cube(mx, x)
    mx.autograd.grad(y, [x], retain_graph=True)
    check.equal(mx.autograd.grad(y, [x])[0], [3, 12, 27], "gradient of the second call")


@case("AUTOGRAD-GRADFN-004")
def graph_is_retained_with_create_graph(mx, check):
    x = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        y = mx.nd.exp(x)
        mx.autograd.grad(y, [x], create_graph=True)
    check.close(mx.autograd.grad(y, [x])[0], np.exp([1.0, 2.0]), "gradient of the second call")


@case("AUTOGRAD-SECOND-001")
def three_derivatives_of_sine(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0])
    with mx.autograd.record():
        y = mx.nd.sin(x)
        first = mx.autograd.grad(y, [x], create_graph=True)[0]
        second = mx.autograd.grad(first, [x], create_graph=True)[0]
    second.backward()
    check.close(first, np.cos([1, 2, 3]), "first derivative")
    check.close(second, -np.sin([1, 2, 3]), "second derivative")
    check.close(x.grad, -np.cos([1, 2, 3]), "third derivative")


@case("AUTOGRAD-SECOND-001")
def gradient_is_part_of_the_loss(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0])
    with mx.autograd.record():
        y = mx.nd.exp(x)
        z = y + mx.autograd.grad(y, [x], create_graph=True)[0]
    z.backward()
    check.close(x.grad, 2 * np.exp([1, 2, 3]), "gradient of exp(x) + exp'(x)")


V = np.array([0.5, 2.0, 3.0])
S = 1 / (1 + np.exp(-V))
TWICE = {
    "square": 2 + 0 * V, "sin": -np.sin(V), "cos": -np.cos(V), "tan": 2 * np.tan(V) / np.cos(V) ** 2,
    "arctan": -2 * V / (1 + V * V) ** 2, "sinh": np.sinh(V), "cosh": np.cosh(V), "exp": np.exp(V),
    "expm1": np.exp(V), "log": -1 / V ** 2,
    "log1p": -1 / (1 + V) ** 2, "log2": -1 / V ** 2 / np.log(2), "log10": -1 / V ** 2 / np.log(10),
    "sqrt": -0.25 * V ** -1.5, "rsqrt": 0.75 * V ** -2.5, "cbrt": -2 / 9 * V ** (-5 / 3),
    "rcbrt": 4 / 9 * V ** (-7 / 3), "reciprocal": 2 / V ** 3, "sigmoid": S * (1 - S) * (1 - 2 * S),
    "tanh": -2 * np.tanh(V) * (1 - np.tanh(V) ** 2), "relu": 0 * V, "abs": 0 * V,
}


def _second(mx, x, function):
    with mx.autograd.record():
        first = mx.autograd.grad(function(x), [x], create_graph=True)[0]
    first.backward()
    return x.grad


@case("AUTOGRAD-SECOND-002", samples={name: {"name": name, "want": want} for name, want in TWICE.items()})
def second_derivative(mx, check, name, want):
    got = _second(mx, variable(mx, V), getattr(mx.nd, name))
    check.close(got, want, "second derivative of %s" % name, rtol=1e-3, atol=1e-4)


@case("AUTOGRAD-SECOND-002")
def second_derivative_of_arcsin(mx, check):
    v = np.array([0.1, 0.5, -0.5])
    check.close(_second(mx, variable(mx, v), mx.nd.arcsin), v * (1 - v * v) ** -1.5, rtol=1e-3, atol=1e-4)


@case("AUTOGRAD-SECOND-002")
def second_derivative_through_clip_and_transpose(mx, check):
    x = variable(mx, [[0.5, 2.0, 3.0]])
    check.equal(_second(mx, x, lambda x: mx.nd.clip(mx.nd.square(x), 1, 5)), [[0, 2, 0]], "through clip")
    check.equal(_second(mx, x, lambda x: mx.nd.square(mx.nd.transpose(x))), [[2, 2, 2]], "through transpose")


@case("AUTOGRAD-SECOND-002")
def second_derivative_through_fully_connected(mx, check):
    w = constant(mx, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    x = variable(mx, [[0.5, 2.0, 3.0]])

    def forward(x):
        return mx.nd.FullyConnected(mx.nd.square(x), w, num_hidden=2, no_bias=True)

    check.equal(_second(mx, x, forward), [[10, 14, 18]], "twice the column sums of the weight")


@case("AUTOGRAD-SECOND-003")
def second_derivative_of_arcsinh(mx, check):
    check.close(_second(mx, variable(mx, V), mx.nd.arcsinh), -V / (1 + V * V) ** 1.5, rtol=1e-3, atol=1e-4)


@case("AUTOGRAD-SECOND-003", samples={
    "product": {"function": lambda nd, x: x * x}, "power": {"function": lambda nd, x: x ** 2},
    "elemwise_mul": {"function": lambda nd, x: nd.elemwise_mul(x, x)}})
def second_derivative_of_a_product(mx, check, function):
    check.equal(_second(mx, variable(mx, [1.0, 2.0]), lambda x: function(mx.nd, x)), [2, 2], "second derivative")


@case("AUTOGRAD-SECOND-004")
def gradient_without_create_graph_is_a_constant(mx, check):
    x = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        first = mx.autograd.grad(mx.nd.exp(x), [x])[0]
    check.close(first, np.exp([1.0, 2.0]), "gradient")
    not_in_graph(mx, check, first)


@case("AUTOGRAD-SECOND-004")
def gradient_made_outside_record_is_differentiable(mx, check):
    x = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        y = mx.nd.exp(x)
    first = mx.autograd.grad(y, [x], create_graph=True)[0]
    check.equal(mx.autograd.is_recording(), False, "is_recording() afterwards")
    first.backward()
    check.close(first, np.exp([1.0, 2.0]), "gradient")
    check.close(x.grad, np.exp([1.0, 2.0]), "its gradient")
