"""AUTOGRAD-BACK, second part: what the walk back writes, in which order, and through which operators."""

from conformance.case import case
from conformance.suite.autograd._tools import (
    constant,
    gradient_at,
    gradient_of,
    grid,
    not_in_graph,
    operators,
    variable,
)


@case("AUTOGRAD-BACK-013")
def zeros_are_written_where_the_path_is_cut(mx, check):
    x = variable(mx, [1.0, 2.0])
    x.grad[:] = 9
    check.equal(gradient_at(mx, x, lambda x: mx.nd.BlockGrad(x) * 2), [0, 0], "gradient with write")


@case("AUTOGRAD-BACK-013")
def content_is_kept_with_add_where_the_path_is_cut(mx, check):
    x = variable(mx, [1.0, 2.0], "add")
    x.grad[:] = 9
    check.equal(gradient_at(mx, x, lambda x: mx.nd.BlockGrad(x) * 2), [9, 9], "gradient with add")


@case("AUTOGRAD-BACK-013")
def unreachable_variable_is_left_alone(mx, check):
    x, w = variable(mx, [1.0, 2.0]), variable(mx, [1.0, 1.0])
    w.grad[:] = 5
    with mx.autograd.record():
        y = x * x
        mx.nd.broadcast_mul(y, w)  # recorded, but not part of the head
    y.backward()
    check.equal(x.grad, [2, 4], "gradient of the variable that the head depends on")
    check.equal(w.grad, [5, 5], "buffer of the other one")


@case("AUTOGRAD-BACK-014")
def recording_leaves_gradients_alone(mx, check):
    x = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        y = x * x
    check.equal(x.grad, [0, 0], "gradient after the first recording")
    y.backward()
    check.equal(x.grad, [2, 4], "gradient after backward")
    with mx.autograd.record():
        y = x * 3
    check.equal(y, [3, 6], "result of the next recording")
    check.equal(x.grad, [2, 4], "gradient after the next recording")


@case("AUTOGRAD-BACK-015")
def backward_inside_record(mx, check):
    x = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        y = x * x
        y.backward()
        check.equal(mx.autograd.is_recording(), True, "is_recording() after backward")
        g = x.grad * 2
    check.equal(x.grad, [2, 4], "gradient")
    check.equal(g, [4, 8], "twice the gradient")
    not_in_graph(mx, check, g)


@case("AUTOGRAD-BACK-016")
def contributions_add_up(mx, check):
    check.equal(gradient_of(mx, [1.0, 2.0, 3.0], lambda x: x * x + x * x * x), [5, 16, 33],
                "gradient of x**2 + x**3")
    check.equal(gradient_of(mx, [3.0], lambda x: x * x * x * x), [108], "gradient of x**4")


def _traced(mx, calls):
    """A function identity(name)(x) that notes its gradient's call in *calls*."""

    class Identity(mx.autograd.Function):
        def __init__(self, name):
            super(Identity, self).__init__()
            self.name = name

        def forward(self, x):
            return x * 1

        def backward(self, gradient):
            calls.append((self.name, gradient.asnumpy().tolist()))
            return gradient * 1

    return Identity


@case("AUTOGRAD-BACK-017")
def shared_operator_is_called_once_and_last(mx, check):
    calls = []
    traced = _traced(mx, calls)
    x = variable(mx, [1.0])
    with mx.autograd.record():
        a = traced("a")(x)
        b = traced("b")(a)
        c = traced("c")(a)
        y = b * 2 + c * 3
    y.backward()
    check.equal(x.grad, [5], "gradient")
    mx.nd.waitall()
    check.equal(sorted(calls[:2]), [("b", [2.0]), ("c", [3.0])], "the first two calls")
    check.equal(calls[2:], [("a", [5.0])], "the calls after them: the common part, with the sum")


@case("AUTOGRAD-BACK-017")
def chain_is_walked_from_its_end(mx, check):
    calls = []
    traced = _traced(mx, calls)
    x = variable(mx, [1.0])
    with mx.autograd.record():
        y = x
        for name in "abc":
            y = traced(name)(y) * 2
    y.backward()
    check.equal(x.grad, [8], "gradient")
    mx.nd.waitall()
    check.equal(calls, [("c", [2.0]), ("b", [4.0]), ("a", [8.0])], "calls in order")


@case("AUTOGRAD-BACK-018")
def each_term_of_a_sum_gets_the_whole_gradient(mx, check):
    a, b, c = variable(mx, [1.0]), variable(mx, [2.0]), variable(mx, [3.0])
    with mx.autograd.record():
        y = a + b + c
    y.backward(constant(mx, [10.0]))
    check.equal([a.grad.asscalar(), b.grad.asscalar(), c.grad.asscalar()], [10.0] * 3, "gradients of the terms")


@case("AUTOGRAD-BACK-019")
def sum_repeats_the_gradient_along_its_axis(mx, check):
    check.equal(gradient_at(mx, grid(mx), lambda x: mx.nd.sum(x, axis=1), [10, 20]), [[10] * 3, [20] * 3],
                "gradient of sum(axis=1)")
    check.equal(gradient_at(mx, grid(mx), lambda x: mx.nd.sum(x, axis=0), [1, 2, 3]), [[1, 2, 3]] * 2,
                "gradient of sum(axis=0)")


@case("AUTOGRAD-BACK-019")
def sum_whose_result_is_used_further(mx, check):
    weights = constant(mx, [[1], [2]])
    got = gradient_at(mx, grid(mx), lambda x: mx.nd.sum(x, axis=1).reshape((2, 1)) * weights)
    check.equal(got, [[1] * 3, [2] * 3], "gradient")


@case("AUTOGRAD-BACK-020")
def reshape_passes_the_gradient_in_the_shape_of_its_input(mx, check):
    got = gradient_of(mx, range(6), lambda x: (x.reshape((2, 3)) * x.reshape((2, 3))).sum())
    check.equal(got, [0, 2, 4, 6, 8, 10], "gradient of the sum of squares, reshaped")
    got = gradient_of(mx, range(6), lambda x: mx.nd.reshape(x, shape=(3, 2)) * constant(mx, [[1, 2]]))
    check.equal(got, [1, 2, 1, 2, 1, 2], "gradient of a reshaped product")


@case("AUTOGRAD-BACK-020", needs=["symbol"])
def reshape_is_recorded_as_an_operator(mx, check):
    x = variable(mx, range(6))
    with mx.autograd.record():
        y = x.reshape((2, 3))
    names = operators(mx.autograd.get_symbol(y))
    check.equal(len(names), 2, "nodes of the graph: a variable and an operator")
    check.contains(names[1].lower(), "reshape", doing="name of the operator")


@case("AUTOGRAD-BACK-021")
def graph_has_one_node_per_variable_and_operator(mx, check):
    x, w, b = variable(mx, [1.0, 2.0]), variable(mx, [3.0, 4.0]), variable(mx, [5.0])
    with mx.autograd.record():
        y = x * w + b
    symbol = mx.autograd.get_symbol(y)
    check.equal(operators(symbol), ["null", "null", "broadcast_mul", "null", "broadcast_add"], "nodes in order")
    check.equal(len(symbol.list_arguments()), 3, "number of arguments")


@case("AUTOGRAD-BACK-022")
def symbolic_and_imperative_agree(mx, check):
    symbol = mx.sym.Variable("x")
    expression = symbol * symbol + 1
    x, gradient = constant(mx, [1.0, 2.0]), mx.nd.zeros(2)
    bind = expression.bind if hasattr(expression, "bind") else expression._bind
    executor = bind(mx.cpu(), {"x": x}, args_grad={"x": gradient})
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones(2))
    check.equal(executor.outputs[0], [2, 5], "symbolic result")
    check.equal(gradient, [2, 4], "symbolic gradient")
    check.equal(gradient_of(mx, [1.0, 2.0], lambda x: x * x + 1), [2, 4], "imperative gradient")


@case("AUTOGRAD-BACK-023")
def list_of_losses(mx, check):
    x = variable(mx, [1.0, 1.0])
    with mx.autograd.record():
        losses = [(x * i).sum() for i in range(3)]
    mx.autograd.backward(losses)
    check.equal(x.grad, [3, 3], "gradient of one call with the list")


@case("AUTOGRAD-BACK-023")
def losses_one_by_one(mx, check):
    x = variable(mx, [1.0, 1.0], "add")
    with mx.autograd.record():
        losses = [(x * i).sum() for i in range(3)]
    for loss in losses:
        loss.backward()
    check.equal(x.grad, [3, 3], "accumulated gradient of one call per loss")


@case("AUTOGRAD-BACK-024")
def gradient_as_data_is_a_constant(mx, check):
    x = variable(mx, [1.0, 2.0])
    kept = gradient_at(mx, x, lambda x: x * x).copy()
    check.equal(gradient_at(mx, x, lambda x: x * kept), [2, 4], "gradient of x * constant")


@case("AUTOGRAD-BACK-024")
def buffer_as_data_is_a_constant(mx, check):
    x, w = variable(mx, [1.0, 2.0]), variable(mx, [3.0, 4.0])
    gradient_at(mx, x, lambda x: x * x)
    check.equal(gradient_at(mx, w, lambda w: w * x.grad), [2, 4], "gradient of w * x.grad")
    check.equal(x.grad, [2, 4], "x.grad afterwards")


@case("AUTOGRAD-BACK-025")
def backward_returns_none_and_reading_waits(mx, check):
    x = variable(mx, [[1.0] * 64] * 64)
    with mx.autograd.record():
        y = x
        for _ in range(20):
            y = mx.nd.dot(y, constant(mx, [[1.0 if i == j else 0.0 for j in range(64)] for i in range(64)]))
    check.same(y.backward(), None, "result of backward")
    check.equal(x.grad, [[1.0] * 64] * 64, "gradient, read at once")
