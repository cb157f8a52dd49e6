"""Mutants of AUTOGRAD-OPGRAD, -DETACH and -LOSS: gradients of operators."""

import numpy as np

from conformance.mutants import mutant
from conformance.mutants.autograd_kit import Operators, after, doubles, is_array, replace


@mutant("AUTOGRAD-OPGRAD-001")
def sign_passes_the_gradient(mx):
    operators = Operators(mx)
    after(mx, mx.nd, "sign", lambda result, data: operators.leaking(result, data))


@mutant("AUTOGRAD-OPGRAD-001")
def indices_of_take_get_a_gradient(mx):
    operators = Operators(mx)

    def change(result, data, indices, **options):
        leak = operators.subtract(indices, operators.block(indices))
        return mx.nd.broadcast_add(result, leak.expand_dims(1))

    after(mx, mx.nd, "take", change, lambda data, indices, **options: indices.grad is not None)


@mutant("AUTOGRAD-OPGRAD-002")
def max_shares_the_gradient_among_equals(mx):
    operators = Operators(mx)
    scale = mx.nd.NDArray.__mul__

    def change(result, data, **options):
        half = scale(result, 0.5)
        return operators.add(half, operators.block(half))

    after(mx, mx.nd, "max", change, lambda data, **options: not options)


@mutant("AUTOGRAD-OPGRAD-003")
def power_with_a_number_as_base_doubles_the_gradient(mx):
    doubles(mx, mx.nd.NDArray, "__rpow__")


@mutant("AUTOGRAD-OPGRAD-004")
def norm_of_zero_has_gradient_zero(mx):
    total = mx.nd.sum
    after(mx, mx.nd, "norm", lambda result, data, **options: total(data) * 0,
          lambda data, **options: not data.asnumpy().any())


@mutant("AUTOGRAD-OPGRAD-005")
def condition_of_where_gets_a_gradient(mx):
    operators = Operators(mx)
    after(mx, mx.nd, "where", lambda result, condition, x, y: operators.leaking(result, condition))


@mutant("AUTOGRAD-OPGRAD-005")
def infinite_derivative_in_where_counts_as_zero(mx):
    """The square root of what is not positive is zero, with gradient zero."""
    where = mx.nd.where

    def safe(original, data):
        positive = data > 0
        if data.size != 3:
            return original(data)
        return original(where(positive, data, mx.nd.ones_like(data))) * positive

    replace(mx.nd, "sqrt", safe)


@mutant("AUTOGRAD-OPGRAD-006")
def log_softmax_doubles_the_gradient(mx):
    doubles(mx, mx.nd, "log_softmax")


@mutant("AUTOGRAD-OPGRAD-006")
def softmax_passes_no_gradient(mx):
    block = mx.nd.BlockGrad
    after(mx, mx.nd, "softmax", lambda result, *args, **options: block(result))


@mutant("AUTOGRAD-OPGRAD-007")
def cast_to_integers_passes_no_gradient(mx):
    block = mx.nd.BlockGrad
    after(mx, mx.nd.NDArray, "astype", lambda result, *args, **options: block(result),
          lambda self, dtype, *args, **options: np.dtype(dtype).kind == "i")


@mutant("AUTOGRAD-OPGRAD-008")
def product_of_all_doubles_the_gradient(mx):
    doubles(mx, mx.nd, "prod")


@mutant("AUTOGRAD-OPGRAD-010")
def branch_is_decided_the_other_way(mx):
    """While recording, the truth value of an array is inverted."""

    def body(original, self):
        return not original(self) if mx.autograd.is_recording() else original(self)

    replace(mx.nd.NDArray, "__bool__", body)


@mutant("AUTOGRAD-OPGRAD-010")
def fourth_factor_passes_no_gradient(mx):
    """The product of 27 and something is a constant."""
    block = mx.nd.BlockGrad
    after(mx, mx.nd.NDArray, "__mul__", lambda result, self, other: block(result),
          lambda self, other: self.size == 1 and self.dtype == np.float32 and self.asscalar() == 27.0)


@mutant("AUTOGRAD-OPGRAD-011")
def cond_takes_the_other_branch(mx):
    if hasattr(mx.nd.contrib, "cond"):
        replace(mx.nd.contrib, "cond", lambda original, condition, then, other: original(condition, other, then))


@mutant("AUTOGRAD-OPGRAD-013")
def matrix_product_doubles_the_gradient(mx):
    doubles(mx, mx.nd, "dot", lambda a, b, **options: len(a.shape) == 2 and 1 < a.shape[0] < 10)


@mutant("AUTOGRAD-OPGRAD-014")
def difference_doubles_the_gradient(mx):
    doubles(mx, mx.nd.NDArray, "__sub__", lambda self, other: is_array(mx, other))


@mutant("AUTOGRAD-OPGRAD-015")
def batch_of_products_doubles_the_gradient(mx):
    doubles(mx, mx.nd, "batch_dot")


@mutant("AUTOGRAD-OPGRAD-015")
def bias_gets_no_gradient(mx):
    def body(original, data, weight, bias=None, **options):
        if is_array(mx, bias):
            return original(data, weight, mx.nd.BlockGrad(bias), **options)
        return original(data, weight, **options)

    replace(mx.nd, "FullyConnected", body)


@mutant("AUTOGRAD-DETACH-001")
def detached_array_is_a_copy(mx):
    replace(mx.nd.NDArray, "detach", lambda original, self: original(self).copy())


@mutant("AUTOGRAD-DETACH-002")
def stop_gradient_lets_the_gradient_pass(mx):
    replace(mx.nd, "stop_gradient", lambda original, data: data.copy())


@mutant("AUTOGRAD-LOSS-001")
def make_loss_passes_the_gradient_on(mx):
    replace(mx.nd, "make_loss", lambda original, data: data.copy())


@mutant("AUTOGRAD-LOSS-001")
def output_operator_ignores_its_scale(mx):
    def body(original, data, **options):
        options.pop("grad_scale", None)
        return original(data, **options)

    replace(mx.nd, "MakeLoss", body)
