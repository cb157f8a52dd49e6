"""ND-CMP: comparisons, NaN, logical functions; ND-ARITH-015: the named forms of the operators."""

import operator

from conformance.case import case
from conformance.suite.ndarray._tools import NAN, expect, refused


@case("ND-CMP-001", samples={
    "eq": {"name": "eq", "want": [0, 1, 0]}, "ne": {"name": "ne", "want": [1, 0, 1]},
    "gt": {"name": "gt", "want": [0, 0, 1]}, "ge": {"name": "ge", "want": [0, 1, 1]},
    "lt": {"name": "lt", "want": [1, 0, 0]}, "le": {"name": "le", "want": [1, 1, 0]}})
def comparison_gives_zeros_and_ones(mx, check, name, want):
    compare = getattr(operator, name)
    left = mx.nd.array([1, 2, 3])
    expect(check, compare(left, mx.nd.array([3, 2, 1])), want, "float32", "two arrays")
    expect(check, compare(left, 2), [float(compare(value, 2)) for value in (1, 2, 3)], "float32", "array and 2")
    expect(check, compare(2, left), [float(compare(2, value)) for value in (1, 2, 3)], "float32", "2 and array")


@case("ND-CMP-001", samples={dtype: {"dtype": dtype} for dtype in ("int32", "float16", "float64", "uint8")})
def comparison_keeps_the_dtype(mx, check, dtype):
    array = mx.nd.array([1, 2], dtype=dtype)
    expect(check, array > 1, [0, 1], dtype, "array > 1")
    expect(check, array == mx.nd.array([1, 1], dtype=dtype), [1, 0], dtype, "array == array")


@case("ND-CMP-001")
def comparison_broadcasts(mx, check):
    left = mx.nd.array([1, 2, 3])
    expect(check, left == mx.nd.array([[1], [3]]), [[1, 0, 0], [0, 0, 1]], "float32", "row == column")
    check.raises(mx.base.MXNetError, "could not be broadcast together", lambda: left == mx.nd.ones((2,)))


@case("ND-CMP-002")
def bool_and_number_are_compared_in_int64(mx, check):
    flags = mx.nd.array([1, 0], dtype="bool")
    expect(check, flags == 1, [1, 0], "int64", "flags == 1")
    expect(check, flags > 0, [1, 0], "int64", "flags > 0")


@case("ND-CMP-002")
def two_bool_arrays_are_not_compared(mx, check):
    flags = mx.nd.array([1, 0], dtype="bool")
    refused(check, mx.base.MXNetError, "does not support boolean type", lambda: flags == flags)


@case("ND-CMP-003")
def nan_is_unequal_to_everything(mx, check):
    array = mx.nd.array([NAN, 1])
    same = array
    expect(check, array == same, [0, 1], doing="x == x")
    expect(check, array != same, [1, 0], doing="x != x")
    expect(check, array < 1, [0, 0], doing="x < 1")
    expect(check, array >= 1, [0, 1], doing="x >= 1")


@case("ND-CMP-004")
def maximum_and_minimum_pass_nan_on(mx, check):
    array, zeros = mx.nd.array([NAN, 1]), mx.nd.array([0, 0])
    expect(check, mx.nd.maximum(array, zeros), [NAN, 1], doing="maximum, NaN on the left")
    expect(check, mx.nd.maximum(zeros, array), [NAN, 1], doing="maximum, NaN on the right")
    expect(check, mx.nd.broadcast_maximum(zeros, array), [NAN, 1], doing="broadcast_maximum")
    expect(check, mx.nd.minimum(array, zeros), [NAN, 0], doing="minimum, NaN on the left")
    expect(check, mx.nd.minimum(zeros, array), [NAN, 0], doing="minimum, NaN on the right")


@case("ND-CMP-004")
def max_and_min_pass_nan_on(mx, check):
    array = mx.nd.array([1, NAN, 3])
    expect(check, mx.nd.max(array).reshape((1,)), [NAN], doing="max")
    expect(check, mx.nd.min(array).reshape((1,)), [NAN], doing="min")


@case("ND-CMP-005", samples={
    "and": {"name": "logical_and", "want": [0, 1, 0, 0]}, "or": {"name": "logical_or", "want": [1, 1, 1, 0]},
    "xor": {"name": "logical_xor", "want": [1, 0, 1, 0]}})
def logical_function_of_two_arrays(mx, check, name, want):
    for dtype in ("float32", "int32"):
        left, right = mx.nd.array([0, 2, -1, 0], dtype=dtype), mx.nd.array([1, 3, 0, 0], dtype=dtype)
        expect(check, getattr(mx.nd, name)(left, right), want, dtype, "%s of %s" % (name, dtype))


@case("ND-CMP-005")
def logical_not(mx, check):
    expect(check, mx.nd.logical_not(mx.nd.array([0, 2, -1], dtype="int32")), [1, 0, 0], "int32", "of int32")
    expect(check, mx.nd.logical_not(mx.nd.array([0, 0.5, NAN])), [1, 0, 0], "float32", "of float32")


@case("ND-ARITH-015", samples={
    "add": {"name": "add", "numbers": 8, "arrays": [8, 5, 3]},
    "subtract": {"name": "subtract", "numbers": 4, "arrays": [4, 1, 1]},
    "multiply": {"name": "multiply", "numbers": 12, "arrays": [12, 6, 2]},
    "divide": {"name": "divide", "numbers": 3, "arrays": [3, 1.5, 2]},
    "modulo": {"name": "modulo", "numbers": 0, "arrays": [0, 1, 0]},
    "power": {"name": "power", "numbers": 36, "arrays": [36, 9, 2]},
    "maximum": {"name": "maximum", "numbers": 6, "arrays": [6, 3, 2]},
    "minimum": {"name": "minimum", "numbers": 2, "arrays": [2, 2, 1]},
    "equal": {"name": "equal", "numbers": 0, "arrays": [0, 0, 0]},
    "not_equal": {"name": "not_equal", "numbers": 1, "arrays": [1, 1, 1]},
    "greater": {"name": "greater", "numbers": 1, "arrays": [1, 1, 1]},
    "greater_equal": {"name": "greater_equal", "numbers": 1, "arrays": [1, 1, 1]},
    "lesser": {"name": "lesser", "numbers": 0, "arrays": [0, 0, 0]},
    "lesser_equal": {"name": "lesser_equal", "numbers": 0, "arrays": [0, 0, 0]}})
def named_function_takes_numbers_and_arrays(mx, check, name, numbers, arrays):
    function = getattr(mx.nd, name)
    left, right = [6, 3, 2], [2, 2, 1]
    result = function(6, 2)
    check.that(not hasattr(result, "asnumpy"), "%s of two numbers is a Python number" % name, got=result)
    check.equal(float(result), float(numbers), "%s(6, 2)" % name)
    expect(check, function(mx.nd.array(left), mx.nd.array(right)), arrays, "float32", "%s of two arrays" % name)
    expect(check, function(mx.nd.array(left[:2]), 2), arrays[:2], "float32", "%s of an array and a number" % name)
    expect(check, function(6, mx.nd.array([2])), [numbers], "float32", "%s of a number and an array" % name)


@case("ND-ARITH-015")
def named_logical_function_takes_a_number(mx, check):
    array = mx.nd.array([1, 0, 3])
    expect(check, mx.nd.logical_and(array, 0), [0, 0, 0], doing="logical_and(a, 0)")
    expect(check, mx.nd.logical_or(array, 0), [1, 0, 1], doing="logical_or(a, 0)")
    expect(check, mx.nd.logical_xor(array, 1), [0, 1, 0], doing="logical_xor(a, 1)")
