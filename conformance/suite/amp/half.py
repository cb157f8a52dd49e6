"""AMP-LS: what float16 can hold, and what loss scaling rescues."""

import numpy as np

from conformance.case import case
from conformance.suite import kit


@case("AMP-LS-014")
def largest_and_smallest_numbers(mx, check):
    cast = mx.nd.array([65504.0, 65519.0, 65520.0, -65520.0]).astype("float16")
    check.equal(cast, [65504, 65504, float("inf"), -float("inf")], "large numbers as float16")
    check.dtype(cast, "float16")
    cast = mx.nd.array([6e-8, 2e-8]).astype("float16")
    check.equal(cast, [2.0 ** -24, 0.0], "small numbers as float16")


@case("AMP-LS-014")
def product_overflows(mx, check):
    product = mx.nd.array([65504.0, 2.0], dtype="float16") * 2
    check.equal(product, [float("inf"), 4], "product")
    check.dtype(product, "float16")


def _gradient(mx, factor):
    """The float16 gradient of 1e-4 * x**2 * factor at 1e-5."""
    x = mx.nd.array([1e-5], dtype="float16")
    x.attach_grad()
    small = mx.nd.array([1e-4], dtype="float16")
    with mx.autograd.record():
        y = x * x * small * factor
    y.backward()
    return x.grad


@case("AMP-LS-015")
def gradient_underflows_without_scaling(mx, check):
    got = _gradient(mx, 1)
    check.equal(got, [0], "gradient of about 2e-9")
    check.dtype(got, "float16")


@case("AMP-LS-015")
def scaled_gradient_survives(mx, check):
    got = float(_gradient(mx, 65504).asnumpy()[0])
    check.that(1e-4 < got < 2e-4, "the scaled gradient is about 1.3e-4", "0.0001 ... 0.0002", got)


@case("AMP-LS-016")
def start_of_the_releases_rescues_what_a_thousand_loses(mx, check):
    def gradient(scale):
        x = mx.nd.ones(16, dtype="float16")
        x.attach_grad()
        small = mx.nd.full((16,), 2.0 ** -16, dtype="float16")
        with mx.autograd.record():
            loss = (x * small * small).astype("float32").mean() * scale
        loss.backward()
        return x.grad

    check.equal(gradient(2.0 ** 10), [0.0] * 16, "gradient of 2**-36, scaled by 2**10")
    check.equal(gradient(2.0 ** 16), [2.0 ** -20] * 16, "gradient of 2**-36, scaled by 2**16")


def _layer(mx):
    layer = mx.gluon.nn.Dense(4, in_units=3, dtype="float16")
    layer.initialize()
    return layer


@case("AMP-LS-017")
def layer_has_parameters_in_half_precision(mx, check):
    layer = _layer(mx)
    check.dtype(layer.weight.data(), "float16", "dtype of the weight")
    check.dtype(layer.bias.data(), "float16", "dtype of the bias")
    y = layer(kit.array(mx, np.ones((2, 3)), dtype="float16"))
    check.dtype(y, "float16", "dtype of the result")
    try:
        y.wait_to_read()
    except mx.base.MXNetError as error:  # the builds for the cpu cannot compute it
        check.contains(str(error), "float16 fully connected layer", doing="error at the wait")


@case("AMP-LS-017")
def layer_refuses_single_precision(mx, check):
    check.raises(mx.base.MXNetError, "expected float32, got float16", _layer(mx), kit.array(mx, np.ones((2, 3))))
