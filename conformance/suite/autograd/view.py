"""AUTOGRAD-VIEW: indexing, shape changes, copies and joins in a recorded graph."""

import numpy as np

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

TWO = [[2] * 3] * 2

# what is done with x = [[0, 1, 2], [3, 4, 5]], and its gradient
INDEXED = {
    "row": (lambda mx, x: x[0], [[1, 1, 1], [0, 0, 0]]),
    "rows": (lambda mx, x: x[0:1] * 2, [[2, 2, 2], [0, 0, 0]]),
    "column": (lambda mx, x: x[:, 1] * 2, [[0, 2, 0]] * 2),
    "columns": (lambda mx, x: x[:, 1:3] * 2, [[0, 2, 2]] * 2),
    "element": (lambda mx, x: x[0, 1] * 2, [[0, 2, 0], [0, 0, 0]]),
    "backwards": (lambda mx, x: x[::-1] * constant(mx, [[1], [2]]), [[2] * 3, [1] * 3]),
    "everything": (lambda mx, x: x[:] * 2, TWO),
    "new_axis": (lambda mx, x: x[None] * 2, TWO),
    "same_row_twice": (lambda mx, x: x[[0, 0]] * 2, [[4] * 3, [0] * 3]),
    "array_of_rows": (lambda mx, x: x[constant(mx, [1, 1])], [[0] * 3, [2] * 3]),
    "list_of_columns": (lambda mx, x: x[:, [0]], [[1, 0, 0]] * 2),
}


@case("AUTOGRAD-VIEW-001", samples={
    name: {"function": function, "want": want} for name, (function, want) in INDEXED.items()})
def gradient_lands_on_what_was_selected(mx, check, function, want):
    check.equal(gradient_at(mx, grid(mx), lambda x: function(mx, x)), want, "gradient")


@case("AUTOGRAD-VIEW-002")
def slice_shares_memory_and_selection_does_not(mx, check):
    x = grid(mx)
    with mx.autograd.record():
        sliced, selected, reshaped = x[0:1], x[[0]], x.reshape((3, 2))
    check.equal([sliced.asnumpy(), selected.asnumpy()], [[[0, 1, 2]], [[0, 1, 2]]], "both at first")
    x[:] = -1
    check.equal(sliced, [[-1, -1, -1]], "slice after the base was changed")
    check.equal(reshaped, [[-1, -1]] * 3, "reshaped array after the base was changed")
    check.equal(selected, [[0, 1, 2]], "selection after the base was changed")


@case("AUTOGRAD-VIEW-002", needs=["symbol"])
def operators_that_indexing_records(mx, check):
    x = grid(mx)
    with mx.autograd.record():
        sliced, selected = x[0:1], x[[0]]
    check.contains(operators(mx.autograd.get_symbol(sliced))[1], "slice", doing="operator of x[0:1]")
    check.that("gather_nd" in operators(mx.autograd.get_symbol(selected)), "x[[0]] is recorded as gather_nd")


@case("AUTOGRAD-VIEW-003")
def view_made_outside_is_not_connected(mx, check):
    x = variable(mx, [[1.0, 2.0], [3.0, 4.0]])
    view = x[0]
    with mx.autograd.record():
        y = view * 2
    check.equal(y, [2, 4], "result")
    not_in_graph(mx, check, y)
    check.equal(x.grad, [[0, 0], [0, 0]], "gradient of the base")


@case("AUTOGRAD-VIEW-003")
def view_that_is_attached_itself(mx, check):
    x = variable(mx, [[1.0, 2.0], [3.0, 4.0]])
    view = x[0]
    view.attach_grad()
    check.equal(gradient_at(mx, view, lambda view: view * view), [2, 4], "gradient of the view")
    check.equal(x.grad, [[0, 0], [0, 0]], "gradient of the base")


PASSING = {
    "reshape": (lambda mx, x: x.reshape((3, 2)) * 2, TWO),
    "T": (lambda mx, x: x.T * 2, TWO),
    "transpose": (lambda mx, x: mx.nd.transpose(x, axes=(1, 0)) * 2, TWO),
    "flatten_in_place": (lambda mx, x: x.flatten(inplace=True) * 2, TWO),
    "expand_dims": (lambda mx, x: x.expand_dims(0) * 2, TWO),
    "expand_dims_in_place": (lambda mx, x: x.expand_dims(0, inplace=True) * 2, TWO),
    "copy": (lambda mx, x: x.copy() * 2, TWO),
    "copyto": (lambda mx, x: x.copyto(mx.cpu(0)) * 2, TWO),
    "as_in_context": (lambda mx, x: x.as_in_context(mx.cpu(1)) * 2, TWO),
    "astype": (lambda mx, x: x.astype("float64") * 2, TWO),
    "astype_to_the_same": (lambda mx, x: x.astype("float32") * 2, TWO),
    "array": (lambda mx, x: mx.nd.array(x) * 2, TWO),
    "repeat": (lambda mx, x: mx.nd.repeat(x, 2, axis=0), TWO),
    "tile": (lambda mx, x: mx.nd.tile(x, (2, 1)), TWO),
    "flip": (lambda mx, x: mx.nd.flip(x, axis=1) * 2, TWO),
    "concat": (lambda mx, x: mx.nd.concat(x, x * 2, dim=0), [[3] * 3] * 2),
    "stack": (lambda mx, x: mx.nd.stack(x, x * 2), [[3] * 3] * 2),
    "split": (lambda mx, x: mx.nd.split(x, 3, axis=1)[1] * 2, [[0, 2, 0]] * 2),
    "take": (lambda mx, x: mx.nd.take(x, constant(mx, [0, 0, 1])), [[2] * 3, [1] * 3]),
    "pick": (lambda mx, x: mx.nd.pick(x, constant(mx, [0, 2])), [[1, 0, 0], [0, 0, 1]]),
    "gather_nd": (lambda mx, x: mx.nd.gather_nd(x, constant(mx, [[0, 0], [1, 1]])), [[0, 2, 0], [0, 0, 0]]),
    "embedding": (lambda mx, x: mx.nd.Embedding(constant(mx, [0, 0]), x, input_dim=2, output_dim=3),
                  [[2] * 3, [0] * 3]),
    "cumsum": (lambda mx, x: mx.nd.cumsum(x), [[6, 5, 4], [3, 2, 1]]),
    "pad": (lambda mx, x: mx.nd.pad(x.reshape((1, 1, 2, 3)), mode="edge", pad_width=(0, 0, 0, 0, 0, 1, 0, 0)),
            [[1, 1, 1], [2, 2, 2]]),
}


@case("AUTOGRAD-VIEW-004", samples={
    name: {"function": function, "want": want} for name, (function, want) in PASSING.items()})
def operator_passes_the_gradient(mx, check, function, want):
    got = gradient_at(mx, grid(mx), lambda x: function(mx, x))
    check.equal(got, want, "gradient")
    check.dtype(got, "float32")
    check.equal(got.context, mx.cpu(0), "context of the gradient")


@case("AUTOGRAD-VIEW-004", needs=["numpy_mode"])
def change_of_front_end_passes_the_gradient(mx, check):
    got = gradient_at(mx, grid(mx), lambda x: x.as_np_ndarray().as_nd_ndarray() * 2)
    check.equal(got, TWO, "gradient through as_np_ndarray and back")


@case("AUTOGRAD-VIEW-005")
def numpy_step_breaks_the_chain(mx, check):
    x = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        y = mx.nd.array(x.asnumpy()) * 2
    check.equal(y, [2, 4], "result")
    not_in_graph(mx, check, y)
    check.equal(x.grad, [0, 0], "gradient")


@case("AUTOGRAD-VIEW-005")
def numpy_part_is_a_constant(mx, check):
    got = gradient_of(mx, [1.0, 2.0], lambda x: (x * mx.nd.array(np.sin(x.asnumpy()))).sum())
    check.close(got, np.sin([1.0, 2.0]), "gradient of x * constant")


@case("AUTOGRAD-VIEW-006")
def unused_output_gives_zero(mx, check):
    x = variable(mx, [0.0, 1.0, 2.0, 3.0])
    with mx.autograd.record():
        first, _ = mx.nd.split(x, 2, axis=0)
        y = first * 3
    y.backward()
    check.equal(x.grad, [3, 3, 0, 0], "gradient")


@case("AUTOGRAD-VIEW-006")
def unused_output_in_the_middle(mx, check):
    x = grid(mx)
    with mx.autograd.record():
        parts = mx.nd.split(x, 3, axis=1)
        y = parts[0] * 3 + parts[2] * 5
    y.backward()
    check.equal(x.grad, [[3, 0, 5]] * 2, "gradient")
