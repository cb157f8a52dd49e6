"""A symbol as a function of arrays; expected values are those of MXNet 1.9.1."""

from __future__ import annotations

import doctest

import pytest

import refengine as mx
from refengine import autograd, nd
from refengine.ndarray import cached_op, type_numbers

x, w = mx.sym.var("x"), mx.sym.var("w")


def test_the_examples():
    assert not doctest.testmod(cached_op).failed


def test_calls_and_gradients():
    op = nd.CachedOp(x * 2 + w)
    a, b, out = nd.array([1.0, 2.0]), nd.array([3.0, 4.0]), nd.zeros(2)
    a.attach_grad()
    with autograd.record():
        result = op(a, b)
    result.backward()
    assert result.asnumpy().tolist() == [5, 8]
    assert a.grad.asnumpy().tolist() == [2, 2]
    assert op(a, b, out=out) is out
    assert out.asnumpy().tolist() == [5, 8]
    several = nd.CachedOp(mx.sym.Group([x * 2, w + 1]), {"static_alloc": True}.items())(a, b)
    assert [r.asnumpy().tolist() for r in several] == [[2, 4], [4, 5]]


def test_calls_that_do_not_fit():
    op, a = nd.CachedOp(x + w), nd.ones(2)
    with pytest.raises(mx.MXNetError, match="inputs.size\\(\\) == num_inputs\\(\\) \\(1 vs. 2\\)"):
        op(a)
    with pytest.raises(mx.MXNetError, match="But x is on cpu\\(0\\) while w is on cpu\\(1\\)"):
        op(a, a.as_in_context(mx.cpu(1)))
    with pytest.raises(TypeError, match="got unexpected keyword argument\\(s\\): foo"):
        op(a, a, foo=1)
    with pytest.raises(AttributeError, match="'int' object has no attribute 'handle'"):
        op(1, a)
    with pytest.raises(mx.MXNetError, match="Cannot find argument 'foo'"):
        nd.CachedOp(x + w, [("foo", True)])


def test_numbers_of_types():
    assert nd.ndarray._DTYPE_MX_TO_NP[4] is type_numbers.np.int32
    assert nd.ndarray._STORAGE_TYPE_STR_TO_ID == {"undefined": -1, "default": 0, "row_sparse": 1, "csr": 2}
