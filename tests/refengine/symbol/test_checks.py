"""Checks of symbols that programs call in their tests."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

import refengine as mx
from refengine import test_utils
from refengine.symbol import checks

x, w = mx.sym.var("x"), mx.sym.var("w")
A, B, ONE = np.array([1.0, 2]), np.array([3.0, 4]), np.ones(2)


def test_the_examples():
    assert not doctest.testmod(checks).failed


def test_forward():
    product = mx.sym.elemwise_mul(x, w, name="product")
    check = test_utils.check_symbolic_forward
    assert check(product, [A, B], [A * B])[0].asnumpy().tolist() == [3, 8]
    assert check(product, {"x": A, "w": B}, {"product_output": A * B}, dtype=np.float64)[0].dtype == np.float64
    with pytest.raises(AssertionError, match="FORWARD_product_output is not EXPECTED_product_output"):
        check(product, [A, B], [A * B + 1])
    with pytest.raises(ValueError, match="key `w` is missing in `args`"):
        check(product, [A], [A * B])
    with pytest.raises(ValueError, match="do not match"):
        check(product, {"x": A, "q": B}, [A * B])
    assert test_utils.simple_forward(product, x=A, w=B).tolist() == [3, 8]
    both = test_utils.simple_forward(mx.sym.Group([x + 1, x * 2]), x=A)
    assert [out.tolist() for out in both] == [[2, 3], [2, 4]]


def test_forward_with_states():
    norm = mx.sym.BatchNorm(x, name="bn")
    values = [np.ones((2, 2)), ONE, np.zeros(2)]
    out = test_utils.check_symbolic_forward(norm, values, [np.ones((2, 2))], rtol=1e-2, aux_states=[np.zeros(2), ONE])
    assert out[0].asnumpy().ravel().tolist() == pytest.approx([0.9995004] * 4)
    with pytest.raises(ValueError, match="key `bn_moving_var` is missing in `aux_states`"):
        test_utils.check_symbolic_forward(norm, values, [np.ones((2, 2))], aux_states=[np.zeros(2)])


@pytest.mark.parametrize("request_", ["write", "add", "null", ["write", "add"], {"x": "write", "w": "null"}])
def test_backward(request_):
    found = test_utils.check_symbolic_backward(x * w, [A, B], [ONE], [B, A], grad_req=request_)
    if request_ == "write":
        assert found["x"].asnumpy().tolist() == [3, 4]
    assert set(found) == {"x", "w"}


def test_backward_that_is_not_as_expected():
    with pytest.raises(AssertionError, match="BACKWARD_w is not EXPECTED_w"):
        test_utils.check_symbolic_backward(x * w, [A, B], [ONE], [B, A + 1])


def test_consistency():
    kinds = [{"ctx": mx.cpu(), "x": (2, 4), "type_dict": {"x": kind}} for kind in ("float16", "float64", "float32")]
    scaled = mx.sym.broadcast_mul(x, mx.sym.var("w", shape=(1, 4)), name="out")
    truth = test_utils.check_consistency(scaled, kinds, arg_params={"x": np.ones((2, 4)), "w": np.ones((1, 4))})
    assert {name: value.asnumpy().ravel()[0] for name, value in truth.items()} == {"out_output": 1, "x": 1, "w": 2}
    assert truth["x"].dtype == np.float64
    assert list(test_utils.check_consistency(scaled, kinds, grad_req="null")) == ["out_output"]
    other = mx.sym.broadcast_mul(x, mx.sym.var("w", shape=(1, 4)) * 1.5, name="out")
    with pytest.raises(AssertionError, match="out_output of entry"):
        test_utils.check_consistency([scaled, scaled, other], kinds)
    assert test_utils.check_consistency([scaled, scaled, other], kinds, raise_on_err=False)
    with pytest.raises(AssertionError, match="at least two"):
        test_utils.check_consistency(scaled, kinds[:1])
