"""DIAG-L1 to -L5 and DIAG-MSG: the layers of a shape diagnosis, and what the messages say."""

from conformance.case import case
from conformance.suite.autograd._tools import ASSIGNING, NOT_IN_GRAPH, NOTHING_TO_DIFFERENTIATE, variable


@case("DIAG-L1-001")
def transposition_is_seen_in_the_shapes(mx, check):
    a, b = mx.nd.ones((2, 3)), mx.nd.ones((3, 2)) * 2
    check.equal((a.shape, b.shape), ((2, 3), (3, 2)), "shapes")
    check.raises(mx.base.MXNetError, "operands could not be broadcast together with shapes [2,3] [3,2]",
                 lambda: a * b)
    check.equal(a * b.T, [[2] * 3] * 2, "elementwise product with the transposed array")
    check.equal(mx.nd.dot(a, b), [[6, 6]] * 2, "matrix product, which needs no transposition")


@case("DIAG-L2-001")
def shapes_that_broadcast(mx, check):
    a, b = mx.nd.ones((1, 3)), mx.nd.ones((2, 1))
    check.equal(a + b, [[2] * 3] * 2, "sum of (1, 3) and (2, 1)")
    check.raises(mx.base.MXNetError, "could not be broadcast together", lambda: mx.nd.ones((2, 3)) + mx.nd.ones((3, 2)))


@case("DIAG-L2-001", samples={
    "elemwise_add": {"call": lambda nd, a, b: nd.elemwise_add(a, b), "words": ("Incompatible attr in node",)},
    "add_n": {"call": lambda nd, a, b: nd.add_n(a, b), "words": ("Incompatible attr in node",)},
    "where": {"call": lambda nd, a, b: nd.where(a, a, b), "words": ("inferring shapes failed",)}})
def operator_that_needs_equal_shapes(mx, check, call, words):
    a, b = mx.nd.ones((1, 3)), mx.nd.ones((2, 1))
    error = check.raises(mx.base.MXNetError, *(words + (call, mx.nd, a, b)))
    check.that("could not be broadcast" not in str(error), "the message does not speak of broadcasting", got=str(error))


@case("DIAG-L3-001")
def no_array_is_rejected_for_its_strides(mx, check):
    a = mx.nd.array([[0, 1, 2], [3, 4, 5]])
    transposed = a.T
    check.equal(transposed + mx.nd.ones((3, 2)), [[1, 4], [2, 5], [3, 6]], "sum with a transposed array")
    check.equal(mx.nd.dot(a, transposed), [[5, 14], [14, 50]], "product with a transposed array")
    check.equal(a[:, ::2] + 1, [[1, 3], [4, 6]], "sum with every other column")
    check.equal(a[::-1] * 2, [[6, 8, 10], [0, 2, 4]], "product with the rows reversed")


@case("DIAG-L4-001")
def operand_is_copied_to_the_other_context(mx, check):
    a, b = mx.nd.ones(2, ctx=mx.cpu(1)), mx.nd.ones(2)
    check.that(a.context != b.context, "the contexts differ", got=str(a.context))
    c = b.as_in_context(a.context)
    check.equal((c.context, b.context), (mx.cpu(1), mx.cpu(0)), "contexts of the copy and of the original")
    total = a + c
    check.equal(total, [2, 2], "sum")
    check.equal(total.context, mx.cpu(1), "context of the sum")


@case("DIAG-L5-001")
def write_to_the_graph_is_reported(mx, check):
    a = variable(mx, [1.0])
    with mx.autograd.record():
        error = check.raises(mx.base.MXNetError, ASSIGNING, a.__setitem__, slice(None), 2.0)
    check.contains(str(error), "record section", doing="advice in the message")


@case("DIAG-MSG-001", samples={
    "broadcasting": {"call": lambda nd, q, k: q * k.T,
                     "words": "operands could not be broadcast together with shapes [32,64] [64,32]"},
    "dot": {"call": lambda nd, q, k: nd.dot(q, k), "words": "dot shape error: [32,64] X [32,64]"},
    "elementwise": {"call": lambda nd, q, k: nd.elemwise_mul(q, k.T), "words": "expected [32,64], got [64,32]"},
    "layer": {"call": lambda nd, q, k: nd.FullyConnected(nd.ones((2, 3)), nd.ones((4, 2)), num_hidden=4, no_bias=True),
              "words": "Shape inconsistent, Provided = [4,2], inferred shape=(4,3)"}})
def words_of_a_shape_error(mx, check, call, words):
    q, k = mx.nd.ones((32, 64)), mx.nd.ones((32, 64))
    error = check.raises(mx.base.MXNetError, words, call, mx.nd, q, k)
    check.that("Shape mismatch" not in str(error), "the message does not say 'Shape mismatch'", got=str(error))


@case("DIAG-MSG-002")
def words_of_a_gradient_error(mx, check):
    x = mx.nd.ones(2)
    with mx.autograd.record():
        y = x * 2
    error = check.raises(mx.base.MXNetError, NOT_IN_GRAPH, y.backward)
    check.that("gradient not defined for parameter" not in str(error),
               "the message does not say 'gradient not defined for parameter'", got=str(error))
    x.attach_grad("null")
    with mx.autograd.record():
        y = x * 2
    check.raises(mx.base.MXNetError, NOTHING_TO_DIFFERENTIATE, y.backward)


@case("DIAG-MSG-002")
def graph_that_was_freed(mx, check):
    x = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        y = x * 2
        z = y * 3
    y.backward()
    check.equal(x.grad, [2, 2], "gradient")
    check.raises(mx.base.MXNetError, NOT_IN_GRAPH, y.backward)
    check.raises(mx.base.MXNetError, NOTHING_TO_DIFFERENTIATE, z.backward)


@case("DIAG-MSG-002")
def parameter_without_gradient(mx, check):
    net = mx.gluon.nn.Dense(1, in_units=1)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd")
    check.raises(UserWarning, "has not been updated by backward since last `step`", trainer.step, 1)


@case("DIAG-MSG-003")
def class_of_the_errors(mx, check):
    check.same(mx.MXNetError, mx.base.MXNetError, "mx.MXNetError")
    check.that(issubclass(mx.MXNetError, RuntimeError), "it is a RuntimeError")
    check.that(not issubclass(mx.MXNetError, ValueError), "it is no ValueError")
    error = check.raises(mx.MXNetError, "could not be broadcast", lambda: mx.nd.ones(2) + mx.nd.ones(3))
    check.isinstance(error, mx.MXNetError, "error of a computation")


@case("DIAG-MSG-003")
def index_error_is_an_index_error(mx, check):
    wrong = mx.nd.array([[5], [0]])
    error = check.raises(IndexError, lambda: mx.nd.gather_nd(mx.nd.ones((2, 3)), wrong).asnumpy())
    check.that(not isinstance(error, mx.base.MXNetError), "it is no MXNetError", got=type(error).__name__)
    check.equal(mx.nd.gather_nd(mx.nd.ones((2, 3)), mx.nd.array([[1], [0]])), [1], "element at a proper index")
