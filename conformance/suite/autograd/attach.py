"""AUTOGRAD-ATTACH: variables, their gradient buffers and what is asked of them."""

from conformance.case import case
from conformance.suite.autograd._tools import (
    NOTHING_TO_DIFFERENTIATE,
    constant,
    gradient_at,
    gradient_of,
    not_in_graph,
    variable,
)


@case("AUTOGRAD-ATTACH-001")
def gradient_is_none_until_attached(mx, check):
    x = mx.nd.array([1, 2], dtype="float64", ctx=mx.cpu(1))
    check.same(x.grad, None, "grad before attach_grad")
    check.same(x.attach_grad(), None, "result of attach_grad")
    check.equal(x.grad, [0, 0], "grad after attach_grad")
    check.dtype(x.grad, "float64")
    check.equal(x.grad.context, mx.cpu(1), "context of the gradient")


@case("AUTOGRAD-ATTACH-001")
def buffer_has_the_shape_of_the_array(mx, check):
    x = variable(mx, [[1, 2, 3], [4, 5, 6]])
    check.equal(x.grad, [[0, 0, 0], [0, 0, 0]], "grad of an array with two rows")
    check.dtype(x.grad, "float32")


@case("AUTOGRAD-ATTACH-002")
def default_request_is_write(mx, check):
    x = constant(mx, [3.0])
    x.attach_grad()
    for _ in range(2):
        gradient_at(mx, x, lambda x: x * 2)
    check.equal(x.grad, [2], "gradient after two passes")


@case("AUTOGRAD-ATTACH-002", samples={
    "write": {"request": "write", "want": [2]}, "add": {"request": "add", "want": [4]}})
def request_is_taken(mx, check, request, want):
    x = constant(mx, [3.0])
    x.attach_grad(grad_req=request)
    for _ in range(2):
        gradient_at(mx, x, lambda x: x * 2)
    check.equal(x.grad, want, "gradient after two passes")


@case("AUTOGRAD-ATTACH-002", samples={"word": {"request": "foo"}, "none": {"request": None}})
def other_requests_are_refused(mx, check, request):
    x = variable(mx, [3.0])
    check.raises(KeyError, str(request), x.attach_grad, request)
    check.equal(gradient_at(mx, x, lambda x: x * 2), [2], "gradient of the variable as it was before")


@case("AUTOGRAD-ATTACH-003")
def write_replaces_the_gradient(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0])
    for _ in range(2):
        check.equal(gradient_at(mx, x, lambda x: x * x), [2, 4, 6], "gradient")


@case("AUTOGRAD-ATTACH-003")
def add_accumulates_until_cleared(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0], "add")
    check.equal(gradient_at(mx, x, lambda x: x * x), [2, 4, 6], "gradient after the first pass")
    check.equal(gradient_at(mx, x, lambda x: x * x), [4, 8, 12], "gradient after the second pass")
    x.grad[:] = 0
    check.equal(gradient_at(mx, x, lambda x: x * x), [2, 4, 6], "gradient after it was cleared")


@case("AUTOGRAD-ATTACH-004")
def null_takes_no_gradient(mx, check):
    x = variable(mx, [1.0, 2.0], "null")
    with mx.autograd.record():
        y = x * x
    check.equal(y, [1, 4], "result")
    check.raises(mx.base.MXNetError, NOTHING_TO_DIFFERENTIATE, y.backward)
    check.equal(x.grad, [0, 0], "gradient buffer")


@case("AUTOGRAD-ATTACH-004")
def null_beside_a_variable(mx, check):
    x, w = variable(mx, [1.0, 2.0], "null"), variable(mx, [3.0, 4.0])
    gradient_at(mx, w, lambda w: w * x)
    check.equal(w.grad, [1, 2], "gradient of the variable")
    left = x.grad  # the releases have dropped the buffer by now
    check.that(left is None or not left.asnumpy().any(), "the array that takes none has got none", got=left)


@case("AUTOGRAD-ATTACH-005")
def attaching_afterwards_does_not_connect(mx, check):
    x = constant(mx, [1.0, 2.0])
    with mx.autograd.record():
        y = x * x
    x.attach_grad()
    not_in_graph(mx, check, y)
    check.equal(x.grad, [0, 0], "gradient")


@case("AUTOGRAD-ATTACH-005")
def attaching_inside_record_connects(mx, check):
    x = constant(mx, [1.0, 2.0])
    with mx.autograd.record():
        x.attach_grad()
        y = x * x
    y.backward()
    check.equal(x.grad, [2, 4], "gradient")


@case("AUTOGRAD-ATTACH-006")
def attaching_again_makes_a_new_buffer(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0])
    with mx.autograd.record():
        y = x * x
    old = x.grad
    x.attach_grad()
    y.backward()
    check.equal(x.grad, [0, 0, 0], "new buffer")
    check.equal(old, [2, 4, 6], "old buffer, to which the graph belongs")


@case("AUTOGRAD-ATTACH-007")
def attaching_an_intermediate_cuts_the_graph(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0])
    with mx.autograd.record():
        y = x * x
        y.attach_grad()
        z = y * 2
    z.backward()
    check.equal(y.grad, [2, 2, 2], "gradient of the intermediate")
    check.equal(x.grad, [0, 0, 0], "gradient of what lies before it")


@case("AUTOGRAD-ATTACH-008")
def sparse_buffer_holds_the_rows_that_were_used(mx, check):
    w = mx.nd.ones((3, 2))
    w.attach_grad(stype="row_sparse")
    check.equal(w.grad.stype, "row_sparse", "storage type before backward")
    with mx.autograd.record():
        y = mx.nd.Embedding(mx.nd.array([1]), w, input_dim=3, output_dim=2, sparse_grad=True)
    y.backward()
    check.equal(w.grad.stype, "row_sparse", "storage type after backward")
    check.equal(w.grad.indices, [1], "rows that the gradient holds")
    check.equal(w.grad.tostype("default"), [[0, 0], [1, 1], [0, 0]], "gradient")


@case("AUTOGRAD-ATTACH-009")
def kept_handle_sees_later_gradients(mx, check):
    x = variable(mx, [1.0, 2.0])
    kept = x.grad
    check.not_same(x.grad, kept, "object that x.grad gives")
    gradient_at(mx, x, lambda x: x * 2)
    check.equal(kept, [2, 2], "handle kept from before backward")
    kept[:] = 7
    check.equal(x.grad, [7, 7], "x.grad after a write through the handle")


@case("AUTOGRAD-ATTACH-010")
def gradient_cannot_be_assigned(mx, check):
    x = variable(mx, [1.0, 2.0])
    x.grad[:] = 1
    check.raises(AttributeError, "grad", setattr, x, "grad", mx.nd.ones(2) * 5)
    check.equal(x.grad, [1, 1], "gradient afterwards")


@case("AUTOGRAD-ATTACH-010")
def augmented_assignment_changes_the_buffer_and_raises(mx, check):
    x = variable(mx, [1.0, 2.0])
    x.grad[:] = 1
    with check.raises(AttributeError, "grad"):
        x.grad *= 2
    check.equal(x.grad, [2, 2], "gradient after x.grad *= 2")


@case("AUTOGRAD-ATTACH-010")
def buffer_is_changed_in_place(mx, check):
    x = variable(mx, [1.0, 2.0])
    x.grad[:] = 2
    handle = x.grad
    handle += 1
    check.equal(x.grad, [3, 3], "gradient after g = x.grad; g += 1")
    x.grad[:] *= 2
    check.equal(x.grad, [6, 6], "gradient after x.grad[:] *= 2")


@case("AUTOGRAD-ATTACH-011", samples={name: {"dtype": name} for name in ("int32", "int64", "float64")})
def gradient_has_the_dtype_of_the_array(mx, check, dtype):
    got = gradient_of(mx, [1, 2], lambda x: x * x, dtype=dtype)
    check.equal(got, [2, 4], "gradient")
    check.dtype(got, dtype)


@case("AUTOGRAD-ATTACH-011", needs=["float16"])
def gradient_in_half_precision(mx, check):
    got = gradient_of(mx, [1, 2], lambda x: x * x, dtype="float16")
    check.equal(got, [2, 4], "gradient")
    check.dtype(got, "float16")


@case("AUTOGRAD-ATTACH-012")
def dropping_the_gradient(mx, check):
    x = variable(mx, [1.0, 2.0])
    x.drop_grad()
    check.same(x.grad, None, "grad")
    with mx.autograd.record():
        y = x * x
    check.raises(mx.base.MXNetError, "computation", y.backward)


@case("AUTOGRAD-ATTACH-013")
def rebinding_the_name_loses_the_gradient(mx, check):
    x = variable(mx, [1.0, 2.0])
    kept = x
    x = x + 1
    check.same(x.grad, None, "grad of the new array")
    check.equal(kept.grad, [0, 0], "grad of the old array")


@case("AUTOGRAD-ATTACH-013")
def rebinding_inside_record(mx, check):
    kept = x = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        x = x * 2
    x.backward()
    check.same(x.grad, None, "grad of the new array")
    check.equal(kept.grad, [2, 2], "grad of the old array")


@case("AUTOGRAD-ATTACH-014")
def intermediates_and_plain_inputs_keep_none(mx, check):
    x, c = variable(mx, [1.0, 2.0]), constant(mx, [3.0, 4.0])
    with mx.autograd.record():
        y = x * c
        z = y * 2
    z.backward()
    check.same(y.grad, None, "grad of the intermediate")
    check.same(c.grad, None, "grad of the input that was not attached")
    check.same(z.grad, None, "grad of the head")
    check.equal(x.grad, [6, 8], "grad of the variable")
