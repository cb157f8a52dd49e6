"""AUTOGRAD-BACK, first part: heads, head gradients, several heads, and when a graph is freed."""

from conformance.case import case
from conformance.suite.autograd._tools import (
    NOT_IN_GRAPH,
    NOTHING_TO_DIFFERENTIATE,
    constant,
    gradient_at,
    not_in_graph,
    refused,
    variable,
)


@case("AUTOGRAD-BACK-001")
def product_of_a_row_and_a_column(mx, check):
    x, w, b = variable(mx, [1.0, 2.0]), variable(mx, [3.0, 4.0]), variable(mx, [5.0])
    with mx.autograd.record():
        y = mx.nd.dot(x.reshape(1, -1), w.reshape(-1, 1)) + b
    check.equal(y, [[16]], "result")
    y.backward()
    check.equal(x.grad, [3, 4], "gradient of x")
    check.equal(w.grad, [1, 2], "gradient of w")
    check.equal(b.grad, [1], "gradient of b, in its own shape")


@case("AUTOGRAD-BACK-001")
def product_without_variables(mx, check):
    x, w, b = constant(mx, [1.0, 2.0]), constant(mx, [3.0, 4.0]), constant(mx, [5.0])
    with mx.autograd.record():
        y = mx.nd.dot(x.reshape(1, -1), w.reshape(-1, 1)) + b
    check.equal(y, [[16]], "result")
    not_in_graph(mx, check, y)
    check.equal([x.grad, w.grad], [None, None], "gradients")


@case("AUTOGRAD-BACK-002")
def square_of_a_line(mx, check):
    x, w, b = variable(mx, [2.0]), variable(mx, [3.0]), variable(mx, [1.0])
    with mx.autograd.record():
        z = x * w + b
        y = z ** 2
    y.backward()
    check.equal(y, [49], "result")
    check.equal(w.grad, [28], "gradient of w: 2 * 7 * 2")
    check.equal(x.grad, [42], "gradient of x: 2 * 7 * 3")
    check.equal(b.grad, [14], "gradient of b: 2 * 7")


@case("AUTOGRAD-BACK-003")
def head_gradient_is_ones_by_default(mx, check):
    x = variable(mx, [[1.0, 2.0], [3.0, 4.0]])
    check.equal(gradient_at(mx, x, lambda x: x * x), [[2, 4], [6, 8]], "gradient")


@case("AUTOGRAD-BACK-003")
def head_gradient_is_given(mx, check):
    x = variable(mx, [[1.0, 2.0], [3.0, 4.0]])
    got = gradient_at(mx, x, lambda x: x * x, [[1, 10], [100, 1000]])
    check.equal(got, [[2, 40], [600, 8000]], "gradient")


@case("AUTOGRAD-BACK-004", samples={"number": {"head": 2.0}, "list": {"head": [1.0, 1.0]}, "numpy": {"head": "numpy"}})
def head_gradient_must_be_an_array(mx, check, head):
    if head == "numpy":
        head = constant(mx, [1.0, 1.0]).asnumpy()
    x = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        y = x * x
    check.raises(AttributeError, "handle", y.backward, head)
    check.equal(x.grad, [0, 0], "gradient after the error")
    check.equal(gradient_at(mx, x, lambda x: x * x, [1, 10]), [2, 40], "gradient with an array")


@case("AUTOGRAD-BACK-004")
def head_gradient_must_have_the_dtype_of_the_head(mx, check):
    x = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        y = x * x

    def differentiate():
        y.backward(constant(mx, [1.0, 1.0], "float64"))
        return x.grad

    refused(check, mx.base.MXNetError, "data type do not match", differentiate)


@case("AUTOGRAD-BACK-005", samples={
    "row": {"head": [1.0, 10.0]}, "flat": {"head": [1.0, 2.0, 3.0, 4.0]}, "larger": {"head": [[1.0] * 3] * 3}})
def head_gradient_of_another_shape(mx, check, head):
    x = variable(mx, [[1.0, 2.0], [3.0, 4.0]])
    with mx.autograd.record():
        y = x * x

    def differentiate():
        y.backward(constant(mx, head))
        return x.grad

    refused(check, (mx.base.MXNetError, ValueError), differentiate)
    check.equal(x.grad, [[0, 0], [0, 0]], "gradient after the error")


@case("AUTOGRAD-BACK-006")
def head_gradient_of_another_context(mx, check):
    x = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        y = x * x
    y.backward(constant(mx, [1.0, 10.0], ctx=mx.cpu(1)))
    check.equal(x.grad, [2, 40], "gradient")
    check.equal(x.grad.context, mx.cpu(0), "context of the gradient")


@case("AUTOGRAD-BACK-007")
def second_backward_is_refused(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0])
    with mx.autograd.record():
        y = x * x
    y.backward()
    check.raises(mx.base.MXNetError, NOT_IN_GRAPH, "pass retain_graph=True to backward", y.backward)
    check.equal(x.grad, [2, 4, 6], "gradient of the first pass")


@case("AUTOGRAD-BACK-007")
def retained_graph_serves_once_more(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0], "add")
    with mx.autograd.record():
        y = x * x
    y.backward(retain_graph=True)
    check.equal(x.grad, [2, 4, 6], "gradient after the first pass")
    y.backward()
    check.equal(x.grad, [4, 8, 12], "gradient after the second pass")
    not_in_graph(mx, check, y)


@case("AUTOGRAD-BACK-008")
def heads_that_share_only_leaves(mx, check):
    x = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        y = x * 2
        z = x * 3
    y.backward()
    check.equal(x.grad, [2, 2], "gradient of the first head")
    z.backward()
    check.equal(x.grad, [3, 3], "gradient of the second head")


@case("AUTOGRAD-BACK-008")
def head_behind_a_freed_one(mx, check):
    x = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        y = x * 2
        z = y * 3
    y.backward()
    check.raises(mx.base.MXNetError, NOTHING_TO_DIFFERENTIATE, z.backward)
    check.equal(x.grad, [2, 2], "gradient of the first head")


@case("AUTOGRAD-BACK-008")
def head_inside_a_freed_one(mx, check):
    x = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        y = x * 2
        z = y * 3
    z.backward()
    check.equal(x.grad, [6, 6], "gradient")
    not_in_graph(mx, check, y)


@case("AUTOGRAD-BACK-009")
def head_that_was_not_recorded(mx, check):
    x = variable(mx, [1.0, 2.0])
    y = x * x
    error = check.raises(mx.base.MXNetError, NOT_IN_GRAPH, y.backward)
    check.contains(str(error), "autograd.record()", doing="advice in the message")
    check.equal(x.grad, [0, 0], "gradient")


@case("AUTOGRAD-BACK-009")
def head_of_arrays_that_were_not_attached(mx, check):
    a = constant(mx, [1.0, 2.0])
    with mx.autograd.record():
        b = a * a
    not_in_graph(mx, check, b)
    check.same(a.grad, None, "gradient")
    not_in_graph(mx, check, mx.nd.ones(2))


@case("AUTOGRAD-BACK-010")
def leaf_is_its_own_head(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0])
    x.backward()
    check.equal(x.grad, [1, 1, 1], "gradient")
    x.backward(constant(mx, [4.0, 5.0, 6.0]))
    check.equal(x.grad, [4, 5, 6], "gradient with a head gradient")
    with mx.autograd.record():
        x.backward()
    check.equal(x.grad, [1, 1, 1], "gradient inside record")


@case("AUTOGRAD-BACK-011")
def sum_over_several_heads(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0])
    with mx.autograd.record():
        heads = [x * 2, x * 3]
    mx.autograd.backward(heads)
    check.equal(x.grad, [5, 5, 5], "gradient of 2x + 3x")


@case("AUTOGRAD-BACK-011")
def none_among_the_head_gradients_is_ones(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0])
    with mx.autograd.record():
        heads = [x * 2, x * 3]
    mx.autograd.backward(heads, [constant(mx, [1.0, 0.0, 0.0]), None])
    check.equal(x.grad, [5, 3, 3], "gradient")


@case("AUTOGRAD-BACK-011")
def lists_must_have_the_same_length(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0])
    with mx.autograd.record():
        heads = [x * 2, x * 3]
    check.raises(AssertionError, "heads and head_grads must be lists of the same length",
                 mx.autograd.backward, heads, [mx.nd.ones(3)])
    check.equal(x.grad, [0, 0, 0], "gradient after the error")


@case("AUTOGRAD-BACK-011", samples={"bare": {"listed": False}, "listed": {"listed": True}})
def one_head_with_a_bare_head_gradient(mx, check, listed):
    x = variable(mx, [1.0, 2.0, 3.0])
    with mx.autograd.record():
        y = x * 2
    mx.autograd.backward([y] if listed else y, constant(mx, [2.0, 2.0, 2.0]))
    check.equal(x.grad, [4, 4, 4], "gradient")


@case("AUTOGRAD-BACK-011")
def no_head_at_all(mx, check):
    check.raises(mx.base.MXNetError, NOTHING_TO_DIFFERENTIATE, mx.autograd.backward, [])


@case("AUTOGRAD-BACK-012")
def head_that_is_listed_twice(mx, check):
    x = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        y = x * x
    mx.autograd.backward([y, y])
    check.equal(x.grad, [2, 4], "gradient")
