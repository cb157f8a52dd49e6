"""AUTOGRAD-OPGRAD: gradients of operators: kinks, singular points, casts, products, control flow."""

import numpy as np

from conformance.case import case
from conformance.suite.autograd._tools import INF, NAN, constant, gradient_at, gradient_of, grid, not_in_graph, variable

FLAT = {
    "round": lambda nd, x: nd.round(x),
    "floor": lambda nd, x: nd.floor(x),
    "ceil": lambda nd, x: nd.ceil(x),
    "sign": lambda nd, x: nd.sign(x),
    "argmax": lambda nd, x: nd.argmax(x, axis=1),
    "topk_indices": lambda nd, x: nd.topk(x, k=1),
    "one_hot": lambda nd, x: nd.one_hot(x, 6),
    "comparison": lambda nd, x: x > 1,
    "zeros_like": lambda nd, x: nd.zeros_like(x) * 2,
}


@case("AUTOGRAD-OPGRAD-001", samples={name: {"function": function} for name, function in FLAT.items()})
def flat_operator_has_zero_gradient(mx, check, function):
    x = grid(mx)
    x.grad[:] = 9
    check.equal(gradient_at(mx, x, lambda x: function(mx.nd, x)), [[0] * 3] * 2, "gradient, written over nines")


@case("AUTOGRAD-OPGRAD-001")
def index_argument_has_zero_gradient(mx, check):
    indices, w = variable(mx, [0.0, 1.0]), variable(mx, [[1.0, 1.0], [1.0, 1.0]])
    check.equal(gradient_at(mx, indices, lambda i: mx.nd.take(w, i)), [0, 0], "gradient of the indices")
    check.equal(w.grad, [[1, 1], [1, 1]], "gradient of the data")


KINKS = {
    "max_of_equals": (lambda nd, x: nd.max(x), [1, 1, 0], [1, 1, 0]),
    "max_along_an_axis": (lambda nd, x: nd.max(x, axis=1), [[1, 2, 2], [3, 0, 3]], [[0, 1, 1], [1, 0, 1]]),
    "clip_at_its_bounds": (lambda nd, x: nd.clip(x, 1, 3), [1, 2, 3], [1, 1, 1]),
    "clip": (lambda nd, x: nd.clip(x, 1.5, 2.5), [1, 2, 3], [0, 1, 0]),
    "relu": (lambda nd, x: nd.relu(x), [-1, 0, 1], [0, 0, 1]),
    "abs": (lambda nd, x: nd.abs(x), [-1, 0, 1], [-1, 0, 1]),
    "maximum": (lambda nd, x: nd.maximum(x, 2), [1, 2, 3], [0, 1, 1]),
    "minimum": (lambda nd, x: nd.minimum(x, 2), [1, 2, 3], [1, 1, 0]),
}


@case("AUTOGRAD-OPGRAD-002", samples={
    name: {"function": function, "values": values, "want": want} for name, (function, values, want) in KINKS.items()})
def gradient_at_a_kink(mx, check, function, values, want):
    check.equal(gradient_of(mx, values, lambda x: function(mx.nd, x)), want, "gradient")


X = np.array([1.0, 2.0, 3.0])
SCALARS = {
    "square": (lambda x: x ** 2, 2 * X),
    "power_of_two": (lambda x: 2 ** x, 2 ** X * np.log(2)),
    "quotient": (lambda x: 6 / x, -6 / X ** 2),
    "difference": (lambda x: 6 - x, -np.ones(3)),
    "remainder": (lambda x: x % 2, np.ones(3)),
    "remainder_of_seven": (lambda x: 7 % x, -np.floor(7 / X)),
}


@case("AUTOGRAD-OPGRAD-003", samples={
    name: {"function": function, "want": want} for name, (function, want) in SCALARS.items()})
def operator_with_a_number(mx, check, function, want):
    check.close(gradient_of(mx, X, function), want, "gradient")


@case("AUTOGRAD-OPGRAD-004")
def square_root_at_zero(mx, check):
    check.equal(gradient_of(mx, [0.0, 4.0], mx.nd.sqrt), [INF, 0.25], "gradient of sqrt")


@case("AUTOGRAD-OPGRAD-004")
def norm_of_the_zero_vector(mx, check):
    check.equal(gradient_of(mx, [0.0, 0.0], mx.nd.norm), [NAN, NAN], "gradient of norm")


@case("AUTOGRAD-OPGRAD-004")
def zero_times_infinity(mx, check):
    got = gradient_of(mx, [0.0, 4.0], lambda x: mx.nd.log(x) * 0)
    check.equal(got, [NAN, 0], "gradient of log(x) * 0")


@case("AUTOGRAD-OPGRAD-005")
def where_sends_the_gradient_to_the_chosen_branch(mx, check):
    got = gradient_of(mx, [1, 2, 3, 4], lambda x: mx.nd.where(x > 2, x * x, x * 3))
    check.equal(got, [3, 3, 6, 8], "gradient")


@case("AUTOGRAD-OPGRAD-005")
def branch_that_was_not_taken_poisons_with_nan(mx, check):
    got = gradient_of(mx, [4.0, 0.0, -1.0], lambda x: mx.nd.where(x > 0, mx.nd.sqrt(x), x * 0))
    check.equal(got, [0.25, NAN, NAN], "gradient")


@case("AUTOGRAD-OPGRAD-005")
def condition_gets_no_gradient(mx, check):
    c, a = variable(mx, [1.0, 0.0]), variable(mx, [2.0, 3.0])
    c.grad[:] = 9
    with mx.autograd.record():
        y = mx.nd.where(c, a * 5, a * 7)
    y.backward()
    check.equal(a.grad, [5, 7], "gradient of the branches")
    check.equal(c.grad, [0, 0], "gradient of the condition, written over nines")


@case("AUTOGRAD-OPGRAD-006", samples={
    "softmax": {"function": lambda nd, z, k: -nd.log(nd.pick(nd.softmax(z), k))},
    "log_softmax": {"function": lambda nd, z, k: -nd.pick(nd.log_softmax(z), k)}})
def cross_entropy_of_softmax(mx, check, function):
    z = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 0.0]])
    chosen = np.array([2, 1])
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    got = gradient_of(mx, z, lambda z: function(mx.nd, z, constant(mx, chosen)))
    check.close(got, p - np.eye(3)[chosen], "gradient: softmax minus one-hot", rtol=2e-5, atol=1e-5)


@case("AUTOGRAD-OPGRAD-007", samples={"float64": {"dtype": "float64"}, "int32": {"dtype": "int32"}})
def gradient_comes_back_in_the_source_dtype(mx, check, dtype):
    got = gradient_of(mx, [1.0, 2.0], lambda x: x.astype(dtype) * 2)
    check.equal(got, [2, 2], "gradient")
    check.dtype(got, "float32")


@case("AUTOGRAD-OPGRAD-007", needs=["float16"])
def gradient_comes_back_from_half_precision(mx, check):
    got = gradient_of(mx, [1.0, 2.0], lambda x: x.astype("float16") * 2)
    check.equal(got, [2, 2], "gradient")
    check.dtype(got, "float32")


@case("AUTOGRAD-OPGRAD-007")
def round_trip_through_integers(mx, check):
    got = gradient_of(mx, [1.5, 2.5], lambda x: x.astype("int32").astype("float32") * 2)
    check.equal(got, [2, 2], "gradient")


@case("AUTOGRAD-OPGRAD-008")
def sort_and_topk(mx, check):
    weights = constant(mx, [1, 2, 3])
    got = gradient_at(mx, grid(mx), lambda x: mx.nd.sort(x, axis=1, is_ascend=False) * weights)
    check.equal(got, [[3, 2, 1]] * 2, "gradient of the sorted rows, weighted")
    got = gradient_at(mx, grid(mx), lambda x: mx.nd.topk(x, k=1, ret_typ="value"))
    check.equal(got, [[0, 0, 1]] * 2, "gradient of the largest of each row")


@case("AUTOGRAD-OPGRAD-008")
def norm_prod_and_cumsum(mx, check):
    check.close(gradient_of(mx, [3.0, 4.0], mx.nd.norm), [0.6, 0.8], "gradient of norm")
    check.equal(gradient_of(mx, [1.0, 2.0, 3.0], mx.nd.prod), [6, 3, 2], "gradient of prod")
    check.equal(gradient_of(mx, [1.0, 2.0, 3.0], mx.nd.cumsum), [3, 2, 1], "gradient of cumsum")


@case("AUTOGRAD-OPGRAD-009")
def random_draw_gives_zero_to_its_parameters(mx, check):
    loc, scale = variable(mx, [1.0, 1.0]), variable(mx, [1.0, 1.0])
    with mx.autograd.record():
        y = mx.nd.random.normal(loc=loc, scale=scale)
    y.backward()
    check.equal(loc.grad, [0, 0], "gradient of loc")
    check.equal(scale.grad, [0, 0], "gradient of scale")


@case("AUTOGRAD-OPGRAD-009")
def random_draw_from_numbers_is_in_no_graph(mx, check):
    with mx.autograd.record():
        y = mx.nd.random.normal(shape=(2,))
    not_in_graph(mx, check, y)


@case("AUTOGRAD-OPGRAD-010", samples={
    "positive": {"value": 2.0, "want": 2.0}, "negative": {"value": -2.0, "want": -4.0}})
def python_branch(mx, check, value, want):
    x, w = constant(mx, [value]), variable(mx, [3.0])

    def forward(w):
        if x > 0:
            return x * w
        return x * w * 2

    check.equal(gradient_at(mx, w, forward), [want], "gradient of the branch that was taken")


@case("AUTOGRAD-OPGRAD-010", samples={str(count): {"count": count} for count in (0, 1, 3)})
def python_loop(mx, check, count):
    def forward(w):
        y = w * 1
        for _ in range(count):
            y = y * w
        return y

    check.equal(gradient_of(mx, [3.0], forward), [(count + 1) * 3.0 ** count], "gradient of w**%d" % (count + 1))


@case("AUTOGRAD-OPGRAD-011", needs=["control"])
def foreach_is_differentiable(mx, check):
    w = variable(mx, [3.0])
    with mx.autograd.record():
        outputs, state = mx.nd.contrib.foreach(
            lambda item, state: (item * w + state, item * w + state), constant(mx, [1.0, 2.0, 3.0]),
            constant(mx, [0.0]))
    check.equal(outputs, [[3], [9], [18]], "outputs")
    check.equal(state, [18], "final state")
    state.backward()
    check.equal(w.grad, [6], "gradient")


@case("AUTOGRAD-OPGRAD-011", needs=["control"])
def while_loop_is_differentiable(mx, check):
    w = variable(mx, [3.0])
    with mx.autograd.record():
        outputs, states = mx.nd.contrib.while_loop(
            lambda i, s: i < 3, lambda i, s: ([s + i * w], [i + 1, s + i * w]),
            [constant(mx, [0.0]), constant(mx, [0.0])], max_iterations=5)
    check.shape(outputs[0], (5, 1), "shape of the outputs: as many rows as iterations are allowed")
    check.equal(outputs[0][0:3], [[0], [3], [9]], "outputs of the iterations that ran")
    check.equal(states[1], [9], "final state")
    states[1].backward()
    check.equal(w.grad, [3], "gradient")


@case("AUTOGRAD-OPGRAD-011", needs=["control"])
def cond_is_differentiable(mx, check):
    for value, want in ((3.0, 2), (-3.0, 5)):
        w = variable(mx, [value])
        got = gradient_at(mx, w, lambda w: mx.nd.contrib.cond(w > 0, lambda: w * 2, lambda: w * 5))
        check.equal(got, [want], "gradient of the branch taken at %g" % value)


@case("AUTOGRAD-OPGRAD-012")
def index_alone_gets_zero(mx, check):
    indices = variable(mx, [0.0, 1.0])
    indices.grad[:] = 9
    with mx.autograd.record():
        y = mx.nd.take(mx.nd.ones((2, 2)), indices)
    y.backward()
    check.equal(indices.grad, [0, 0], "gradient of the indices, written over nines")


@case("AUTOGRAD-OPGRAD-013")
def matrix_product(mx, check):
    a, b = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]]), np.array([[5.0, 6.0], [7.0, 8.0]])
    head = np.array([[1.0, 0.0], [2.0, 3.0], [1.0, 1.0]])
    left, right = variable(mx, a), variable(mx, b)
    with mx.autograd.record():
        c = mx.nd.dot(left, right)
    c.backward(constant(mx, head))
    check.equal(left.grad, head.dot(b.T), "gradient of A: G times B transposed")
    check.equal(right.grad, a.T.dot(head), "gradient of B: A transposed times G")


@case("AUTOGRAD-OPGRAD-013")
def inner_product_with_itself(mx, check):
    check.equal(gradient_of(mx, [1.0, 2.0], lambda v: mx.nd.dot(v, v)), [2, 4], "gradient")


@case("AUTOGRAD-OPGRAD-014", samples={
    "product": {"function": lambda a, b: a * b, "want": ([15], [6])},
    "sum": {"function": lambda a, b: a + b, "want": ([3], [3])},
    "difference": {"function": lambda a, b: a - b, "want": ([3], [-3])}})
def two_operands(mx, check, function, want):
    a, b = variable(mx, [2.0]), variable(mx, [5.0])
    with mx.autograd.record():
        y = function(a, b)
    y.backward(constant(mx, [3.0]))
    check.equal(a.grad, want[0], "gradient of a = 2")
    check.equal(b.grad, want[1], "gradient of b = 5")


@case("AUTOGRAD-OPGRAD-015")
def fully_connected(mx, check):
    x, w = variable(mx, [[1.0, 2.0], [3.0, 4.0]]), variable(mx, [[1.0, 1.0], [2.0, 0.0], [0.0, 3.0]])
    b = variable(mx, [0.0, 0.0, 0.0])
    with mx.autograd.record():
        y = mx.nd.FullyConnected(x, w, b, num_hidden=3)
    y.backward()
    check.equal(y, [[3, 2, 6], [7, 6, 12]], "result")
    check.equal(x.grad, [[3, 4], [3, 4]], "gradient of the data")
    check.equal(w.grad, [[4, 6]] * 3, "gradient of the weight")
    check.equal(b.grad, [2, 2, 2], "gradient of the bias: summed over the batch")


@case("AUTOGRAD-OPGRAD-015")
def batch_of_products(mx, check):
    p, q = variable(mx, np.ones((2, 1, 3))), variable(mx, np.full((2, 3, 1), 2.0))
    with mx.autograd.record():
        r = mx.nd.batch_dot(p, q)
    r.backward(constant(mx, [[[1]], [[10]]]))
    check.equal(p.grad, [[[2, 2, 2]], [[20, 20, 20]]], "gradient of the left factors")
    check.equal(q.grad, [[[1]] * 3, [[10]] * 3], "gradient of the right factors")
