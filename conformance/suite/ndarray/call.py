"""ND-CALL: how operators take their arguments and refuse them."""

import warnings

import numpy as np

from conformance.case import case
from conformance.suite.ndarray._tools import expect


@case("ND-CALL-001")
def unknown_keyword(mx, check):
    array = mx.nd.ones((2, 2))
    error = check.raises(mx.base.MXNetError, "Cannot find argument 'foo'", lambda: mx.nd.sum(array, foo=1))
    check.contains(str(error), "axis", "keepdims", "exclude", doing="possible arguments in the message")


@case("ND-CALL-001")
def operators_without_parameters_drop_keywords(mx, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        like = mx.nd.zeros_like(mx.nd.ones((2,)), dtype="int64")
        total = mx.nd.broadcast_add(mx.nd.ones((2,)), mx.nd.ones((2,)), axis=1)
        symbol = mx.sym.relu(mx.sym.var("x"), foo="bar")
    expect(check, like, [0, 0], "float32")
    expect(check, total, [2, 2], "float32")
    check.equal(symbol.attr("foo"), "bar", "attribute of the node")


@case("ND-CALL-001")
def missing_attribute(mx, check):
    check.raises(mx.base.MXNetError, "Required parameter axis of int is not presented",
                 mx.nd.expand_dims, mx.nd.ones((2, 2)))


@case("ND-CALL-001")
def name_is_ignored(mx, check):
    expect(check, mx.nd.sum(mx.nd.ones((2, 2)), axis=0, name="total"), [2, 2], "float32")


@case("ND-CALL-002")
def other_value_for_an_array(mx, check):
    check.raises(AssertionError, "Argument data must have NDArray type, but got 5", mx.nd.sum, 5)
    check.raises(AssertionError, "Argument lhs must have NDArray type", mx.nd.dot, np.ones(2), mx.nd.ones(2))
    check.raises(AssertionError, "Argument rhs must have NDArray type", mx.nd.dot, mx.nd.ones(2), 2)


@case("ND-CALL-002")
def missing_array(mx, check):
    check.raises(mx.base.MXNetError, "expects 1 inputs, but got 0", mx.nd.sum)


@case("ND-CALL-003")
def unknown_operator(mx, check):
    check.raises(AttributeError, "nonexistent_op", lambda: mx.nd.nonexistent_op(mx.nd.ones(1)))


@case("ND-CALL-004", samples={
    "shape_or_none": {"call": lambda nd: nd.sum(nd.ones(2), axis=1.5),
                      "fragment": "Invalid Parameter format for axis"},
    "shape": {"call": lambda nd: nd.ones((2.5,)), "fragment": "Invalid Parameter format for shape"},
    "choice": {"call": lambda nd: nd.topk(nd.ones(2), ret_typ="foo"), "fragment": "valid values are"},
    "bound": {"call": lambda nd: nd.Dropout(nd.ones(2), p=1.5), "fragment": "exceed bound"}})
def attribute_of_the_wrong_kind(mx, check, call, fragment):
    check.raises(mx.base.MXNetError, fragment, call, mx.nd)
