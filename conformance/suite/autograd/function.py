"""AUTOGRAD-FUNC: differentiable functions written in Python."""

import numpy as np

from conformance.case import case
from conformance.suite.autograd._tools import ASSIGNING, constant, gradient_at, not_in_graph, refused, variable


def _function(mx, forward, backward):
    """A subclass of autograd.Function with these two methods."""
    return type("Written", (mx.autograd.Function,), {"forward": forward, "backward": backward})


def _doubled(mx):
    return _function(mx, lambda self, x: x * 2, lambda self, gradient: gradient * 2)


@case("AUTOGRAD-FUNC-001")
def sigmoid_with_a_saved_result(mx, check):
    class Sigmoid(mx.autograd.Function):
        def forward(self, x):
            y = 1 / (1 + mx.nd.exp(-x))
            self.save_for_backward(y)
            return y

        def backward(self, gradient):
            y, = self.saved_tensors
            return gradient * y * (1 - y)

    x = variable(mx, [0.0, 1.0])
    s = 1 / (1 + np.exp(-np.array([0.0, 1.0])))
    with mx.autograd.record():
        y = Sigmoid()(x) * 3
    y.backward(constant(mx, [1.0, 2.0]))
    check.close(y, 3 * s, "result")
    check.close(x.grad, np.array([3.0, 6.0]) * s * (1 - s), "gradient")


@case("AUTOGRAD-FUNC-001")
def gradient_is_the_one_that_was_written(mx, check):
    written = _function(mx, lambda self, x: x * 2, lambda self, gradient: gradient * 7)
    x = variable(mx, [1.0, 2.0])
    check.equal(gradient_at(mx, x, lambda x: written()(x * 3)), [21, 21], "gradient: 7 * 3, whatever forward does")


@case("AUTOGRAD-FUNC-002")
def methods_run_unrecorded(mx, check):
    log = []

    def forward(self, x):
        log.append(("forward", mx.autograd.is_recording(), mx.autograd.is_training()))
        return x * 1

    def backward(self, gradient):
        log.append(("backward", mx.autograd.is_recording(), gradient.writable))
        return gradient * 1

    written = _function(mx, forward, backward)
    x = variable(mx, [1.0, 1.0])
    with mx.autograd.record():
        y = written()(x)
        check.equal(mx.autograd.is_recording(), True, "is_recording() after the call")
    y.backward()
    check.equal(x.grad, [1, 1], "gradient")
    mx.nd.waitall()
    check.equal(log, [("forward", False, True), ("backward", False, False)],
                "recording and training in forward; recording and writable gradient in backward")


@case("AUTOGRAD-FUNC-002")
def call_outside_record_only_runs_forward(mx, check):
    flags = []

    def forward(self, x):
        flags.append((mx.autograd.is_recording(), mx.autograd.is_training()))
        return x * 2

    written = _function(mx, forward, lambda self, gradient: gradient)
    y = written()(variable(mx, [1.0, 2.0]))
    check.equal(y, [2, 4], "result")
    check.equal(flags, [(False, False)], "recording and training in forward")
    not_in_graph(mx, check, y)


@case("AUTOGRAD-FUNC-003")
def instance_is_called_once(mx, check):
    written = _doubled(mx)()
    check.equal(written(mx.nd.ones(2)), [2, 2], "result of the first call")
    check.raises(AssertionError, "Each Function instance can only be called once", written, mx.nd.ones(2))


def _two(mx, pack=tuple):
    return _function(mx, lambda self, a, b: pack([a * b, a + b]), lambda self, da, db: (da * 2 + db, da * 3 + db))


@case("AUTOGRAD-FUNC-004", samples={"tuple": {"pack": tuple}, "list": {"pack": list}})
def two_inputs_and_two_outputs(mx, check, pack):
    a, b = variable(mx, [1.0, 2.0]), variable(mx, [3.0, 4.0])
    with mx.autograd.record():
        product, total = _two(mx, pack)()(a, b)
        z = product + total
    check.equal([product.asnumpy(), total.asnumpy()], [[3, 8], [4, 6]], "outputs")
    z.backward()
    check.equal(a.grad, [3, 3], "gradient of a")
    check.equal(b.grad, [4, 4], "gradient of b")


@case("AUTOGRAD-FUNC-004")
def one_of_two_outputs(mx, check):
    a, b = variable(mx, [1.0, 2.0]), variable(mx, [3.0, 4.0])
    with mx.autograd.record():
        product, _ = _two(mx)()(a, b)
    product.backward()
    check.equal(a.grad, [2, 2], "gradient of a")
    check.equal(b.grad, [3, 3], "gradient of b")


@case("AUTOGRAD-FUNC-004")
def input_that_is_used_twice(mx, check):
    a = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        product, total = _two(mx)()(a, a)
        z = product + total
    z.backward()
    check.equal(a.grad, [7, 7], "gradient: the sum of both")


@case("AUTOGRAD-FUNC-004")
def gradient_of_one_element_is_broadcast(mx, check):
    written = _function(mx, lambda self, x: x * 2, lambda self, gradient: gradient[0:1] * 5)
    x = variable(mx, [1.0, 2.0, 3.0])
    check.equal(gradient_at(mx, x, lambda x: written()(x)), [5, 5, 5], "gradient")


@case("AUTOGRAD-FUNC-005")
def gradients_accumulate(mx, check):
    x = variable(mx, [1.0, 1.0], "add")
    for _ in range(2):
        gradient_at(mx, x, lambda x: _doubled(mx)()(x))
    check.equal(x.grad, [4, 4], "gradient after two passes")


@case("AUTOGRAD-FUNC-006")
def first_input_needs_no_gradient(mx, check):
    written = _function(mx, lambda self, a, b: a * b, lambda self, gradient: (gradient * 2, gradient * 3))
    c, d = constant(mx, [1.0, 1.0]), variable(mx, [1.0, 1.0])
    with mx.autograd.record():
        y = written()(c, d)
    y.backward()
    check.equal(d.grad, [3, 3], "gradient of the second input")


def _boom(self, gradient):
    raise ValueError("boom")


@case("AUTOGRAD-FUNC-007", samples={
    "exception": {"backward": _boom, "printed": "boom"},
    "none": {"backward": lambda self, gradient: None, "printed": ""},
    "two_gradients": {"backward": lambda self, gradient: (gradient, gradient), "printed": ""}})
def failing_backward_is_reported_at_the_next_wait(mx, check, backward, printed):
    written = _function(mx, lambda self, x: x * 1, backward)
    a = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        y = written()(a)
    check.equal(y, [1, 2], "result")

    def differentiate():
        y.backward()
        return a.grad

    with check.printed() as out:
        refused(check, mx.base.MXNetError, differentiate)
    check.contains(out.getvalue(), "Error in Function.backward", printed, doing="standard output")
    b = variable(mx, [1.0, 2.0])
    check.equal(gradient_at(mx, b, lambda b: _doubled(mx)()(b)), [2, 2], "gradient of a sound function afterwards")


@case("AUTOGRAD-FUNC-008")
def exception_in_forward_leaves_the_state(mx, check):
    def forward(self, x):
        raise ValueError("boom")

    written = _function(mx, forward, lambda self, gradient: gradient)
    a = variable(mx, [1.0, 1.0])
    with mx.autograd.record():
        check.raises(ValueError, "boom", written(), a)
        check.equal(mx.autograd.is_recording(), True, "is_recording() after the exception")
        y = a * 2
    y.backward()
    check.equal(a.grad, [2, 2], "gradient of what was recorded afterwards")


@case("AUTOGRAD-FUNC-009")
def input_must_not_be_returned(mx, check):
    written = _function(mx, lambda self, x: x, lambda self, gradient: gradient * 7)
    copied = _function(mx, lambda self, x: x.copy(), lambda self, gradient: gradient * 7)
    a = variable(mx, [1.0, 1.0])
    with mx.autograd.record():
        check.raises(mx.base.MXNetError, ASSIGNING, written(), a)
    check.equal(gradient_at(mx, a, lambda a: copied()(a)), [7, 7], "gradient of a function that returns a copy")


@case("AUTOGRAD-FUNC-010")
def arguments_must_be_arrays_while_recording(mx, check):
    written = _function(mx, lambda self, x, factor: x * factor, lambda self, gradient: gradient)
    a = variable(mx, [1.0, 1.0])
    with mx.autograd.record():
        check.raises((AttributeError, AssertionError, TypeError), written(), a, 2)
    check.equal(written()(a, 2), [2, 2], "result outside record")


@case("AUTOGRAD-FUNC-010")
def methods_must_be_implemented(mx, check):
    check.raises(NotImplementedError, mx.autograd.Function(), mx.nd.ones(2))
    half = type("Half", (mx.autograd.Function,), {"forward": lambda self, x: x * 2})
    check.equal(half()(mx.nd.ones(2)), [2, 2], "result of a function without backward")
    check.raises(NotImplementedError, half().backward, mx.nd.ones(2))


@case("AUTOGRAD-FUNC-010")
def result_without_attached_input_is_in_no_graph(mx, check):
    with mx.autograd.record():
        y = _doubled(mx)()(mx.nd.ones(2))
    check.equal(y, [2, 2], "result")
    not_in_graph(mx, check, y)
