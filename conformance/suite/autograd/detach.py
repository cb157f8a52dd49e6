"""AUTOGRAD-DETACH and AUTOGRAD-LOSS: operators that stop a gradient or start one."""

from conformance.case import case
from conformance.suite.autograd._tools import constant, gradient_of, not_in_graph, variable


@case("AUTOGRAD-DETACH-001")
def no_gradient_flows_through_detach(mx, check):
    got = gradient_of(mx, [1.0, 2.0, 3.0], lambda x: (x * x).detach() * x)
    check.equal(got, [1, 4, 9], "gradient of constant * x")


@case("AUTOGRAD-DETACH-001")
def detached_array_is_over_the_same_memory(mx, check):
    x = variable(mx, [1.0, 2.0, 3.0])
    detached = x.detach()
    check.not_same(detached, x, "detached array")
    check.same(detached.grad, None, "its grad")
    not_in_graph(mx, check, detached)
    detached[:] = 5
    check.equal(x, [5, 5, 5], "array after a write through the detached one")


@case("AUTOGRAD-DETACH-001")
def head_that_is_detached(mx, check):
    x = variable(mx, [1.0, 2.0])
    with mx.autograd.record():
        y = (x * x).detach()
    check.equal(y, [1, 4], "result")
    not_in_graph(mx, check, y)


@case("AUTOGRAD-DETACH-002", samples={name: {"name": name} for name in ("BlockGrad", "stop_gradient")})
def graph_stays_connected_with_zero_gradient(mx, check, name):
    stop = getattr(mx.nd, name)
    check.equal(stop(constant(mx, [1.0, -2.0])), [1, -2], "value")
    check.equal(gradient_of(mx, [1.0, 2.0, 3.0], lambda x: stop(x * x) * x), [1, 4, 9], "gradient of constant * x")
    check.equal(gradient_of(mx, [1.0, 2.0, 3.0], lambda x: stop(x * x)), [0, 0, 0], "gradient of a constant")


@case("AUTOGRAD-DETACH-002")
def blocked_result_is_a_copy(mx, check):
    x = constant(mx, [1.0, 2.0])
    y = mx.nd.BlockGrad(x)
    y[:] = 5
    check.equal(x, [1, 2], "input after a write to the result")


@case("AUTOGRAD-LOSS-001")
def make_loss_starts_with_ones(mx, check):
    values = [1.0, 2.0, 3.0]
    check.equal(mx.nd.make_loss(constant(mx, values)), values, "value of make_loss")
    got = gradient_of(mx, values, lambda x: mx.nd.make_loss(x * x), [10.0] * 3)
    check.equal(got, [2, 4, 6], "gradient of make_loss with a head gradient of 10")
    got = gradient_of(mx, values, lambda x: mx.nd.make_loss(x * x) * 5)
    check.equal(got, [2, 4, 6], "gradient of 5 * make_loss")


@case("AUTOGRAD-LOSS-001", samples={
    "default": {"options": {}, "want": [2, 4, 6]},
    "scale": {"options": {"grad_scale": 3}, "want": [6, 12, 18]},
    "valid": {"options": {"normalization": "valid", "valid_thresh": 2}, "want": [1, 2, 3]},
    "scale_and_valid": {"options": {"normalization": "valid", "valid_thresh": 2, "grad_scale": 3}, "want": [3, 6, 9]}})
def output_operator_scales_and_normalizes(mx, check, options, want):
    values = [1.0, 2.0, 3.0]
    check.equal(mx.nd.MakeLoss(constant(mx, values), **options), values, "value of MakeLoss")
    got = gradient_of(mx, values, lambda x: mx.nd.MakeLoss(x * x, **options), [10.0] * 3)
    check.close(got, want, "gradient of MakeLoss with a head gradient of 10")


@case("AUTOGRAD-LOSS-001")
def batch_is_the_first_of_two_axes(mx, check):
    got = gradient_of(mx, [[1.0], [2.0], [3.0]], lambda x: mx.nd.MakeLoss(x * x, normalization="batch"))
    check.close(got, [[2 / 3], [4 / 3], [2]], "gradient of three rows")
    got = gradient_of(mx, [[1.0, 2.0, 3.0]], lambda x: mx.nd.MakeLoss(x * x, normalization="batch"))
    check.close(got, [[2, 4, 6]], "gradient of one row")
