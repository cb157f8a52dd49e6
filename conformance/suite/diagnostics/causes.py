"""DIAG-AG and DIAG-FINITE: what breaks a gradient, what does not, and the right remedies."""

import operator

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.autograd._tools import ASSIGNING, constant, gradient_at, not_in_graph, variable
from conformance.suite.diagnostics._tools import on_absent_gpu


@case("DIAG-AG-001")
def assignment_in_place_keeps_the_variable(mx, check):
    w = variable(mx, [1.0, 2.0])
    w[:] = constant(mx, [5.0, 6.0])
    check.equal(w.grad, [0, 0], "gradient buffer")
    check.equal(gradient_at(mx, w, lambda w: (w * w).sum()), [10, 12], "gradient at the new values")


@case("DIAG-AG-001")
def computed_replacement_is_no_variable(mx, check):
    w = variable(mx, [5.0, 6.0])
    u = w + (constant(mx, [7.0, 8.0]) - w)
    check.equal(u, [7, 8], "values of the replacement")
    check.same(u.grad, None, "its grad")
    with mx.autograd.record():
        y = u * u
    not_in_graph(mx, check, y)


@case("DIAG-AG-002")
def intermediate_passes_the_gradient(mx, check):
    z = variable(mx, [[1.0, 2.0, 3.0]])
    with mx.autograd.record():
        t = mx.nd.softmax(z)
        loss = -mx.nd.log(mx.nd.pick(t, constant(mx, [2])))
    loss.backward()
    e = np.exp([[1.0, 2.0, 3.0]])
    check.close(z.grad, e / e.sum() - [[0, 0, 1]], "gradient of the logits", rtol=2e-5, atol=1e-5)
    check.same(t.grad, None, "grad of the intermediate")


@case("DIAG-AG-002")
def intermediate_that_breaks_the_chain(mx, check):
    for name, step in (("detach", lambda x: (x * 2).detach()), ("numpy", lambda x: mx.nd.array((x * 2).asnumpy()))):
        x = variable(mx, [1.0, 2.0])
        with mx.autograd.record():
            y = step(x) * x
        y.backward()
        check.equal(x.grad, [2, 4], "gradient through %s: that of constant * x" % name)


@case("DIAG-AG-003")
def array_from_numpy_has_no_history(mx, check):
    values = np.array([1.0, 2.0], dtype="float32")
    not_in_graph(mx, check, mx.nd.array(values).sum())
    x = mx.nd.array(values)
    x.attach_grad()
    check.equal(gradient_at(mx, x, lambda x: x.sum()), [1, 1], "gradient when it is attached and recorded")
    with mx.autograd.record():
        y = mx.nd.array(x.asnumpy()).sum()
    not_in_graph(mx, check, y)


@case("DIAG-AG-004")
def mixed_devices_are_an_error_in_the_forward_pass(mx, check):
    check.raises(mx.base.MXNetError, "require all inputs live on the same context",
                 lambda: mx.nd.zeros((2,)) + on_absent_gpu(mx, (2,)))


@case("DIAG-AG-004")
def helper_array_on_the_context_of_the_parameter(mx, check):
    p = mx.nd.ones((2,), ctx=mx.cpu(1))
    p.attach_grad()
    with mx.autograd.record():
        helper = mx.nd.ones(p.shape, ctx=p.context) * 4
        y = (p * helper + p).sum()
    y.backward()
    check.equal(p.grad, [5, 5], "gradient")
    check.equal(p.grad.context, mx.cpu(1), "its context")


@case("DIAG-AG-005")
def addition_in_place_is_an_error(mx, check):
    a = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        q = a * 1
        check.raises(mx.base.MXNetError, ASSIGNING, operator.iadd, q, a)
        check.raises(mx.base.MXNetError, ASSIGNING, operator.iadd, a, 1)
    check.equal(a.grad, [0, 0], "gradient buffer")
    with mx.autograd.record():
        y = a + constant(mx, [10.0, 10.0])
        z = y * 3
    z.backward()
    check.equal(a.grad, [3, 3], "gradient with a + b instead")


@case("DIAG-AG-006")
def python_if_differentiates_the_branch_taken(mx, check):
    for value, want in ((2.0, 2.0), (-2.0, -4.0)):
        x, w = constant(mx, [value]), variable(mx, [3.0])
        with mx.autograd.record():
            y = x * w if x > 0 else x * w * 2
        y.backward()
        check.equal(w.grad, [want], "gradient of a Python if at %g" % value)
        got = gradient_at(mx, w, lambda w, x=x: mx.nd.where(x > 0, x * w, x * w * 2))
        check.equal(got, [want], "gradient of where at %g" % value)


@case("DIAG-AG-006")
def condition_of_several_elements(mx, check):
    v = constant(mx, [1.0, -1.0])
    with check.raises(ValueError, "truth value of an NDArray with multiple elements is ambiguous"):
        bool(v > 0)
    got = gradient_at(mx, variable(mx, [1.0, -1.0]), lambda x: mx.nd.where(v > 0, x * 3, x * 5))
    check.equal(got, [3, 5], "gradient of where")


def _clipped_by(mx, clip):
    """The gradient [60, 80] of a variable, after *clip* was called with the variable."""
    w = variable(mx, [3.0, 4.0])
    gradient_at(mx, w, lambda w: (w * w * 10).sum())
    clip(w)
    return w.grad


@case("DIAG-AG-007")
def clipped_result_that_is_thrown_away(mx, check):
    check.equal(_clipped_by(mx, lambda w: mx.nd.clip(w.grad, -1, 1)), [60, 80], "gradient")


@case("DIAG-AG-007")
def clipping_in_place(mx, check):
    def assigned(w):
        w.grad[:] = mx.nd.clip(w.grad, -1, 1)

    check.equal(_clipped_by(mx, assigned), [1, 1], "gradient after w.grad[:] = clip(w.grad, -1, 1)")
    check.equal(_clipped_by(mx, lambda w: mx.nd.clip(w.grad, -2, 2, out=w.grad)), [2, 2],
                "gradient after clip with out=w.grad")


@case("DIAG-AG-008")
def clipping_keeps_the_buffer(mx, check):
    x = variable(mx, [3.0, 4.0])
    kept = x.grad
    gradient_at(mx, x, lambda x: (x * x).sum())
    x.grad[:] = mx.nd.clip(x.grad, -1, 1)
    check.equal(kept, [1, 1], "handle kept from before, after clipping")
    gradient_at(mx, x, lambda x: (x * 2).sum())
    check.equal(kept, [2, 2], "handle after the next backward")


@case("DIAG-AG-009")
def gradients_are_scaled_to_a_joint_norm(mx, check):
    a, b = kit.array(mx, [3.0]), kit.array(mx, [0.0, 4.0])
    norm = mx.gluon.utils.clip_global_norm([a, b], 1.0)
    check.close(float(norm), 5.0, "norm before scaling", rtol=1e-5)
    check.close(a, [0.6], "first array", rtol=1e-4)
    check.close(b, [0.0, 0.8], "second array", rtol=1e-4)


@case("DIAG-AG-009")
def small_gradients_are_left_alone(mx, check):
    c = kit.array(mx, [0.3, 0.4])
    check.close(float(mx.gluon.utils.clip_global_norm([c], 1.0)), 0.5, "norm", rtol=1e-5)
    check.close(c, [0.3, 0.4], "array", rtol=1e-6)


@case("DIAG-FINITE-001")
def infinite_gradient_raises_nothing(mx, check):
    x = variable(mx, [0.0, 4.0])
    gradient_at(mx, x, lambda x: mx.nd.sqrt(x).sum())
    check.equal(mx.nd.contrib.isfinite(x.grad), [0, 1], "isfinite of the gradient")
    check.equal(mx.nd.contrib.isfinite(x.grad).prod().asscalar(), 0, "product of it")
    check.contains(repr(x.grad), "inf", doing="repr of the gradient")
    x[:] = 4
    gradient_at(mx, x, lambda x: mx.nd.sqrt(x).sum())
    check.equal(mx.nd.contrib.isfinite(x.grad).prod().asscalar(), 1, "product for a finite gradient")


@case("DIAG-FINITE-001")
def nan_is_not_finite(mx, check):
    got = mx.nd.contrib.isfinite(constant(mx, [float("nan"), float("-inf"), 1.0]))
    check.equal(got, [0, 0, 1], "isfinite of NaN, minus infinity and 1")
