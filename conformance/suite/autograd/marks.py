"""AUTOGRAD-MARK, -SYM, -CTX, -LEAF and -NP: given buffers, the graph as a symbol, contexts, leaves, numpy arrays."""

from conformance.case import case
from conformance.suite.autograd._tools import constant, gradient_at, variable


@case("AUTOGRAD-MARK-001")
def buffer_is_the_gradient_itself(mx, check):
    x, buffer = constant(mx, [1.0, 2.0, 3.0]), mx.nd.zeros(3)
    mx.autograd.mark_variables([x], [buffer])
    for _ in range(2):
        gradient_at(mx, x, lambda x: x * x)
    check.equal(buffer, [2, 4, 6], "given buffer after two passes: the default is write")
    check.equal(x.grad, [2, 4, 6], "x.grad")
    buffer[:] = 5
    check.equal(x.grad, [5, 5, 5], "x.grad after a write to the buffer")


@case("AUTOGRAD-MARK-001")
def bare_variable_and_one_word(mx, check):
    x, buffer = constant(mx, [1.0, 2.0, 3.0]), constant(mx, [10.0, 10.0, 10.0])
    mx.autograd.mark_variables(x, buffer, grad_reqs="add")
    gradient_at(mx, x, lambda x: x * x)
    check.equal(buffer, [12, 14, 16], "buffer with add")


@case("AUTOGRAD-MARK-001")
def list_of_requests(mx, check):
    x, y, z = (constant(mx, [1.0, 1.0]) for _ in range(3))
    buffers = [constant(mx, [10.0, 10.0]) for _ in range(3)]
    mx.autograd.mark_variables([x, y, z], buffers, grad_reqs=["write", "add", "null"])
    with mx.autograd.record():
        head = x * 2 + y * 3 + z * 5
    head.backward()
    check.equal(buffers, [[2, 2], [13, 13], [10, 10]], "buffers for write, add and null")


@case("AUTOGRAD-MARK-001")
def wrong_arguments(mx, check):
    x, buffer = constant(mx, [1.0, 2.0]), mx.nd.zeros(2)
    check.raises(KeyError, "foo", mx.autograd.mark_variables, [x], [buffer], grad_reqs="foo")
    check.raises(AssertionError, mx.autograd.mark_variables, x, [buffer])
    check.same(x.grad, None, "grad after the errors")


@case("AUTOGRAD-MARK-002")
def two_variables_share_a_buffer(mx, check):
    x, w, buffer = constant(mx, [1.0, 2.0, 3.0]), constant(mx, [1.0, 1.0, 1.0]), mx.nd.zeros(3)
    mx.autograd.mark_variables([x, w], [buffer, buffer], "add")
    with mx.autograd.record():
        y = x * w
    y.backward()
    check.equal(buffer, [2, 3, 4], "buffer: the sum of both gradients")


@case("AUTOGRAD-MARK-002", samples={
    "shape": {"shape": (2,), "dtype": "float32"}, "dtype": {"shape": (3,), "dtype": "float64"}})
def unfit_buffer_fails_at_backward(mx, check, shape, dtype):
    x = constant(mx, [1.0, 2.0, 3.0])
    mx.autograd.mark_variables([x], [mx.nd.zeros(shape, dtype=dtype)])
    with mx.autograd.record():
        y = x * x
    check.equal(y, [1, 4, 9], "result")
    check.raises(mx.base.MXNetError, "Incompatible attr in node", y.backward)


@case("AUTOGRAD-MARK-003")
def lists_of_unequal_length(mx, check):
    status, out, _ = check.python("""
x = mx.nd.ones(3)
try:
    mx.autograd.mark_variables([x, x], [mx.nd.zeros(3)])
    print("accepted")
except Exception:
    print("refused")
""")
    check.equal((status, out.split()), (0, ["refused"]), "exit status, what was printed")


@case("AUTOGRAD-SYM-001")
def recorded_graph_as_a_symbol(mx, check):
    x = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        y = (x * x).sum()
    symbol = mx.autograd.get_symbol(y)
    check.isinstance(symbol, mx.sym.Symbol, "type of the result")
    check.equal(len(symbol.list_arguments()), 1, "number of arguments")
    y.backward()
    check.equal(x.grad, [2, 4], "gradient")
    check.raises(mx.base.MXNetError, "NDArray is not part of a computation graph", mx.autograd.get_symbol, y)


@case("AUTOGRAD-SYM-001")
def symbol_of_something_else(mx, check):
    check.raises(AssertionError, "Invalid argument type", mx.autograd.get_symbol, 5)
    check.raises(mx.base.MXNetError, "NDArray is not part of a computation graph",
                 mx.autograd.get_symbol, mx.nd.ones(2))


@case("AUTOGRAD-CTX-001")
def gradient_lives_where_its_variable_does(mx, check):
    p = mx.nd.ones((2,), ctx=mx.cpu(1))
    p.attach_grad()
    with mx.autograd.record():
        y = (p * mx.nd.ones((2,), ctx=mx.cpu(1)) * 3).sum().as_in_context(mx.cpu(0))
    y.backward()
    check.equal(y.context, mx.cpu(0), "context of the head")
    check.equal(p.grad, [3, 3], "gradient")
    check.equal(p.grad.context, mx.cpu(1), "context of the gradient")


@case("AUTOGRAD-CTX-001")
def variables_of_two_contexts(mx, check):
    a, b = variable(mx, [1.0, 2.0], ctx=mx.cpu(1)), variable(mx, [3.0, 4.0], ctx=mx.cpu(2))
    with mx.autograd.record():
        y = a.as_in_context(mx.cpu(0)) * b.as_in_context(mx.cpu(0))
    y.backward()
    check.equal([a.grad.asnumpy(), b.grad.asnumpy()], [[3, 4], [1, 2]], "gradients")
    check.equal([a.grad.context, b.grad.context], [mx.cpu(1), mx.cpu(2)], "contexts of the gradients")


def _leaf(array):
    return array.is_leaf, array.requires_grad


@case("AUTOGRAD-LEAF-001")
def leaves_and_what_requires_a_gradient(mx, check):
    x = mx.nd.ones(2)
    check.equal(_leaf(x), (True, False), "is_leaf and requires_grad of a plain array")
    for request, required in (("null", False), ("add", True), ("write", True)):
        x.attach_grad(request)
        check.equal(_leaf(x), (True, required), "of an array attached with %s" % request)


@case("AUTOGRAD-LEAF-001")
def recorded_results_are_no_leaves(mx, check):
    x = variable(mx, [1.0, 1.0])
    with mx.autograd.record():
        y = x * 2
        c = mx.nd.ones(2) * 2
        with mx.autograd.pause():
            p = x * 2
    check.equal(_leaf(y), (False, True), "is_leaf and requires_grad of a recorded result")
    check.equal(_leaf(c), (True, False), "of a result that depends on no variable")
    check.equal(_leaf(p), (True, False), "of a result computed under pause")
    check.equal(_leaf(y.detach()), (True, False), "of a detached result")
    check.equal(_leaf(x * 2), (True, False), "of a result computed outside record")
    y.backward()
    check.equal(_leaf(y), (True, False), "of a recorded result after backward")


@case("AUTOGRAD-LEAF-001")
def properties_are_read_only(mx, check):
    x = variable(mx, [1.0, 1.0])
    for name in ("is_leaf", "requires_grad"):
        check.raises(AttributeError, setattr, x, name, False)
    check.equal(_leaf(x), (True, True), "is_leaf and requires_grad afterwards")


@case("AUTOGRAD-NP-001")
def numpy_arrays_take_part(mx, check):
    x = mx.np.array([1.0, 2.0])
    check.same(x.grad, None, "grad before attach_grad")
    x.attach_grad()
    with mx.autograd.record():
        y = x * x
        with mx.autograd.pause():
            c = x * 5
        z = y + c
    z.backward()
    check.isinstance(x.grad, type(x), "type of the gradient")
    check.equal(x.grad, [2, 4], "gradient")
    check.raises(mx.base.MXNetError, "Cannot differentiate node", c.backward)
