"""ND-ARITH about dtypes: no promotion, numbers in the dtype of the array, integers, bool; ND-CAST."""

import itertools

from conformance.case import case
from conformance.suite.ndarray._tools import INF, NAN, expect, refused

NUMBERS = ("float16", "float32", "float64", "uint8", "int8", "int32", "int64")


@case("ND-ARITH-006", samples={
    "add": {"compute": lambda a, b: a + b}, "multiply": {"compute": lambda a, b: a * b}})
def two_dtypes_are_refused(mx, check, compute):
    arrays = {dtype: mx.nd.ones(2, dtype=dtype) for dtype in NUMBERS}
    for left, right in itertools.combinations(NUMBERS, 2):
        check.raises(mx.base.MXNetError, "Incompatible attr in node", "expected %s, got %s" % (left, right),
                     compute, arrays[left], arrays[right])


@case("ND-ARITH-006")
def two_dtypes_are_not_compared(mx, check):
    check.raises(mx.base.MXNetError, "expected int32, got float32",
                 lambda: mx.nd.ones(2, dtype="int32") == mx.nd.ones(2))


@case("ND-ARITH-006")
def other_dtype_is_not_added_in_place(mx, check):
    array = mx.nd.ones(2, dtype="int32")
    with check.raises(mx.base.MXNetError, "expected int32, got float32"):
        array += mx.nd.ones(2)
    expect(check, array, [1, 1], "int32", "array after the error")


@case("ND-ARITH-007", samples={
    "added": {"compute": lambda i: i + 1.7, "want": [6, -4, 8]},
    "multiplied": {"compute": lambda i: i * 0.5, "want": [0, 0, 0]},
    "divisor": {"compute": lambda i: i / 1.5, "want": [5, -5, 7]},
    "equal": {"compute": lambda i: i == 5.5, "want": [1, 0, 0]},
    "greater": {"compute": lambda i: i > 1.5, "want": [1, 0, 1]}})
def number_takes_the_dtype_of_the_integers(mx, check, compute, want):
    expect(check, compute(mx.nd.array([5, -5, 7], dtype="int32")), want, "int32")


@case("ND-ARITH-007")
def number_takes_the_dtype_of_the_floats(mx, check):
    half = mx.nd.array([1, 2], dtype="float16")
    expect(check, half + 1, [2, 3], "float16", "float16 + 1")
    expect(check, half * 100000.0, [INF, INF], "float16", "float16 * 100000.0")
    expect(check, mx.nd.array([1, 2], dtype="float64") * 3, [3, 6], "float64", "float64 * 3")


@case("ND-ARITH-008")
def integer_division_truncates(mx, check):
    integers = mx.nd.array([5, -5, 7], dtype="int32")
    expect(check, integers / 2, [2, -2, 3], "int32", "array / 2")
    expect(check, 10 / integers, [2, -2, 1], "int32", "10 / array")
    expect(check, mx.nd.array([7], dtype="int32") / mx.nd.array([-2], dtype="int32"), [-3], "int32", "array / array")
    expect(check, mx.nd.array([-7], dtype="int64") / 2, [-3], "int64", "int64 / 2")


@case("ND-ARITH-012", samples={
    "above": {"compute": lambda u: u + 10, "want": [4, 13]}, "below": {"compute": lambda u: u - 4, "want": [246, 255]},
    "negated": {"compute": lambda u: -u, "want": [6, 253]},
    "two_arrays": {"compute": lambda u: u + u, "want": [244, 6]}})
def uint8_wraps(mx, check, compute, want):
    expect(check, compute(mx.nd.array([250, 3], dtype="uint8")), want, "uint8")


@case("ND-ARITH-012")
def int8_wraps(mx, check):
    expect(check, mx.nd.array([120, -120], dtype="int8") + 10, [-126, -110], "int8", "int8 + 10")
    expect(check, mx.nd.array([120, -120], dtype="int8") * 2, [-16, 16], "int8", "int8 * 2")


@case("ND-ARITH-012", samples={
    "add": {"compute": lambda b: b + 1, "want": [2, 1]}, "multiply": {"compute": lambda b: b * 2, "want": [2, 0]},
    "negate": {"compute": lambda b: -b, "want": [-1, 0]}})
def bool_and_number_give_int64(mx, check, compute, want):
    expect(check, compute(mx.nd.array([1, 0], dtype="bool")), want, "int64")


@case("ND-ARITH-012")
def two_bool_arrays_are_refused(mx, check):
    flags = mx.nd.array([1, 0], dtype="bool")
    refused(check, mx.base.MXNetError, "does not support boolean type", lambda: flags + flags)


@case("ND-ARITH-013")
def unary_math_truncates_integers(mx, check):
    integers = mx.nd.array([4, 7], dtype="int32")
    expect(check, mx.nd.sqrt(integers), [2, 2], "int32", "sqrt")
    expect(check, mx.nd.sigmoid(integers), [0, 0], "int32", "sigmoid")


@case("ND-ARITH-013")
def softmax_refuses_integers(mx, check):
    refused(check, mx.base.MXNetError, "only support floating point types",
            lambda: mx.nd.softmax(mx.nd.array([4, 7], dtype="int32")))


@case("ND-CAST-001", samples={
    "int32": {"dtype": "int32", "want": [1, -1, 2, 300]}, "int64": {"dtype": "int64", "want": [1, -1, 2, 300]},
    "uint8": {"dtype": "uint8", "want": [1, 255, 2, 44]}, "int8": {"dtype": "int8", "want": [1, -1, 2, 44]},
    "bool": {"dtype": "bool", "want": [True] * 4}})
def astype_converts(mx, check, dtype, want):
    source = mx.nd.array([1.5, -1.5, 2.5, 300])
    expect(check, source.astype(dtype), want, dtype, "astype")
    expect(check, mx.nd.cast(source, dtype=dtype), want, dtype, "nd.cast")
    expect(check, source, [1.5, -1.5, 2.5, 300], "float32", "source afterwards")


@case("ND-CAST-001")
def zero_is_the_only_false_number(mx, check):
    expect(check, mx.nd.array([0.0, 0.25, -1.0]).astype("bool"), [False, True, True], "bool")


@case("ND-CAST-001")
def float16_overflows_to_infinity(mx, check):
    expect(check, mx.nd.array([70000.0, -70000.0]).astype("float16"), [INF, -INF], "float16")


@case("ND-CAST-001")
def same_dtype_is_copied_unless_told_otherwise(mx, check):
    source = mx.nd.array([1.5, 2.5])
    made = source.astype("float32")
    check.not_same(made, source, "astype of the same dtype")
    made[:] = 9
    check.equal(source, [1.5, 2.5], "source after a write into the copy")
    check.same(source.astype("float32", copy=False), source, "astype of the same dtype with copy=False")


@case("ND-CAST-001")
def unknown_dtype_is_refused(mx, check):
    source = mx.nd.array([1.5])
    check.raises(TypeError, "foo", "not understood", source.astype, "foo")
    expect(check, source, [1.5], "float32", "source after the error")


@case("ND-CAST-002")
def nan_and_large_floats_give_the_smallest_integer(mx, check):
    expect(check, mx.nd.array([NAN, 10000000000.0]).astype("int32"), [-2 ** 31, -2 ** 31], "int32")
