"""AUTOGRAD-INPLACE: writes into arrays, inside and outside of a recorded graph."""

import operator

from conformance.case import case
from conformance.suite.autograd._tools import ASSIGNING, IN_PLACE, constant, gradient_at, variable


def _assign(index, value):
    def write(mx, array):
        del mx
        array[index] = value
    return write


def _into(name):
    def write(mx, array):
        getattr(mx.nd, name)(mx.nd.ones(3), mx.nd.ones(3), out=array)
    return write


def _operate(function, value):
    def write(mx, array):
        del mx
        function(array, value)
    return write


WRITES = {
    "add": _operate(operator.iadd, 1),
    "subtract": _operate(operator.isub, 1),
    "multiply": _operate(operator.imul, 2),
    "divide": _operate(operator.itruediv, 2),
    "all": _assign(slice(None), 5),
    "element": _assign(0, 5),
    "out": _into("broadcast_add"),
    "copyto": lambda mx, array: mx.nd.ones(3).copyto(array),
}


@case("AUTOGRAD-INPLACE-001", samples={name: {"write": write} for name, write in WRITES.items()})
def writing_while_recording(mx, check, write):
    x = variable(mx, [1.0, 2.0, 3.0])
    with mx.autograd.record():
        y = x * 2
        for what, array in (("the leaf", x), ("the intermediate", y)):
            error = check.raises(mx.base.MXNetError, ASSIGNING, write, mx, array)
            check.contains(str(error), "graph", doing="message for %s" % what)
    y.backward()
    check.equal(x.grad, [2, 2, 2], "gradient of the graph recorded before")


@case("AUTOGRAD-INPLACE-002")
def refused_addition_loses_nothing(mx, check):
    a = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        check.raises(mx.base.MXNetError, ASSIGNING, operator.iadd, a, 1)
    check.equal(a.grad, [0, 0], "gradient buffer after the error")
    a[:] = constant(mx, [1.0, 2.0])
    check.equal(gradient_at(mx, a, lambda a: a * a), [2, 4], "gradient of the next recording")


@case("AUTOGRAD-INPLACE-002")
def addition_outside_record(mx, check):
    a = variable(mx, [1.0, 2.0])
    kept = a
    a += 1
    check.same(a, kept, "array after a += 1")
    check.equal(a, [2, 3], "its values")
    check.equal(gradient_at(mx, a, lambda a: a * a), [4, 6], "its gradient")


@case("AUTOGRAD-INPLACE-002")
def sum_under_a_name_of_its_own(mx, check):
    a = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        c = a + constant(mx, [1.0, 1.0])
        y = c * c
    y.backward()
    check.equal(a.grad, [4, 6], "gradient of the leaf")
    check.same(c.grad, None, "grad of the sum")


@case("AUTOGRAD-INPLACE-003")
def parameters_are_updated_outside_record(mx, check):
    w = variable(mx, [1.0, 2.0])
    w[:] = constant(mx, [5.0, 6.0])
    check.equal(w.grad, [0, 0], "gradient buffer after w[:] = ...")
    check.equal(gradient_at(mx, w, lambda w: (w * w).sum()), [10, 12], "gradient at the new values")
    w -= 0.5 * w.grad
    check.equal(w, [0, 0], "values after a step")
    w += 1
    check.equal(gradient_at(mx, w, lambda w: (w * w).sum()), [2, 2], "gradient after the step")


@case("AUTOGRAD-INPLACE-003")
def parameters_are_updated_under_pause(mx, check):
    w = variable(mx, [5.0, 6.0])
    with mx.autograd.record():
        with mx.autograd.pause():
            w[:] = 1
        loss = (w * w).sum()
    loss.backward()
    check.equal(w.grad, [2, 2], "gradient at the new values")


@case("AUTOGRAD-INPLACE-004")
def write_before_recording_counts(mx, check):
    a = variable(mx, [1.0])
    a[:] = 2.0
    check.equal(gradient_at(mx, a, lambda a: a * a), [4], "gradient at the new value")


@case("AUTOGRAD-INPLACE-005")
def leaf_changed_between_forward_and_backward(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0])
    with mx.autograd.record():
        y = x * x
    x[:] = 10
    y.backward()
    check.equal(x.grad, [20, 20, 20], "gradient, which reads the leaf when it is computed")


@case("AUTOGRAD-INPLACE-006")
def whole_assignment_is_recorded_as_a_copy(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0])
    with mx.autograd.record():
        y = mx.nd.zeros(3)
        y[:] = x * 2
        z = y * y
    z.backward()
    check.equal(x.grad, [8, 16, 24], "gradient of (2x)**2")


@case("AUTOGRAD-INPLACE-006")
def copyto_is_recorded(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0])
    with mx.autograd.record():
        y = mx.nd.zeros(3)
        x.copyto(y)
        z = y * y
    z.backward()
    check.equal(x.grad, [2, 4, 6], "gradient")


def _partly(shape, index):
    def write(mx, value):
        target = mx.nd.zeros(shape)
        target[index] = value
    return write


PARTIAL = {
    "row": _partly((2, 3), 0),
    "column": _partly((3, 2), (slice(None), 0)),
    "list": _partly((4,), [0, 1, 2]),
    "addition": lambda mx, value: operator.iadd(mx.nd.zeros(3), value),
}


@case("AUTOGRAD-INPLACE-006", samples={name: {"write": write} for name, write in PARTIAL.items()})
def partial_assignment_of_a_recorded_value(mx, check, write):
    x = variable(mx, [1.0, 2.0, 3.0])
    with mx.autograd.record():
        y = x * 2
        check.raises(mx.base.MXNetError, IN_PLACE, write, mx, y)
    y.backward()
    check.equal(x.grad, [2, 2, 2], "gradient of the value that was refused")


@case("AUTOGRAD-INPLACE-007")
def out_outside_a_graph_is_recorded(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0])
    with mx.autograd.record():
        y = mx.nd.zeros(3)
        mx.nd.broadcast_add(x, x, out=y)
        z = y * 3
    z.backward()
    check.equal(y, [2, 4, 6], "array given as out=")
    check.equal(x.grad, [6, 6, 6], "gradient")


@case("AUTOGRAD-INPLACE-008")
def view_taken_before_is_written_freely(mx, check):
    x = variable(mx, [[1.0, 2.0], [3.0, 4.0]])
    view = x[0]
    with mx.autograd.record():
        view[:] = 5
    check.equal(x, [[5, 5], [3, 4]], "leaf")


@case("AUTOGRAD-INPLACE-008")
def view_taken_while_recording_is_not(mx, check):
    x = variable(mx, [[1.0, 2.0], [3.0, 4.0]])
    with mx.autograd.record():
        view = x[0]
        check.raises(mx.base.MXNetError, ASSIGNING, view.__setitem__, slice(None), 5)


@case("AUTOGRAD-INPLACE-009", samples={name: {"write": write} for name, write in WRITES.items()})
def refused_write_changes_nothing(mx, check, write):
    x = variable(mx, [1.0, 2.0, 3.0])
    with mx.autograd.record():
        y = x * 2
        for array in (x, y):
            check.raises(mx.base.MXNetError, ASSIGNING, write, mx, array)
    check.equal(x, [1, 2, 3], "leaf")
    check.equal(y, [2, 4, 6], "intermediate")


@case("AUTOGRAD-INPLACE-010", samples={name: {"write": WRITES[name]} for name in ("multiply", "all", "out")})
def array_without_gradient_counts_as_part_of_a_graph(mx, check, write):
    x = variable(mx, [1.0, 2.0, 3.0], "null")
    with mx.autograd.record():
        check.raises(mx.base.MXNetError, ASSIGNING, write, mx, x)
    x[:] = 7
    check.equal(x, [7, 7, 7], "array after a write outside")


@case("AUTOGRAD-INPLACE-011")
def intermediate_changed_under_pause(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0])
    with mx.autograd.record():
        y = x * 2
        with mx.autograd.pause():
            y += 1
        z = y * y
    z.backward()
    check.equal(y, [3, 5, 7], "intermediate")
    check.equal(x.grad, [12, 20, 28], "gradient: 2 * y * 2")
