"""ND-REDUCE: sums, extremes, norms and positions over axes."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.ndarray._tools import INF, NAN, expect, fails_at_the_wait

CUBE = np.arange(24, dtype="float32").reshape(2, 3, 4)


@case("ND-REDUCE-001", samples={
    "sum": {"name": "sum", "want": np.sum}, "mean": {"name": "mean", "want": np.mean},
    "max": {"name": "max", "want": np.max},
    "min": {"name": "min", "want": np.min}})
def over_everything(mx, check, name, want):
    with kit.legacy_mode(mx):
        array = mx.nd.array(CUBE)
        for options in ({}, {"axis": ()}):
            expect(check, getattr(mx.nd, name)(array, **options), [want(CUBE)], "float32",
                   "nd.%s(x, %s)" % (name, options))
            expect(check, getattr(array, name)(**options), [want(CUBE)], "float32", "x.%s(%s)" % (name, options))


@case("ND-REDUCE-001", samples={
    "prod": {"name": "prod", "source": [[1, 2], [3, 4]], "want": [24]},
    "norm": {"name": "norm", "source": [[1, 2], [2, 4]], "want": [5]}})
def product_and_norm_over_everything(mx, check, name, source, want):
    with kit.legacy_mode(mx):
        check.equal(getattr(mx.nd, name)(mx.nd.array(source)), want, name)


@case("ND-REDUCE-001", samples={
    "number": {"axis": 0}, "negative": {"axis": -1}, "tuple": {"axis": (0, 2)}, "last_two": {"axis": (-2, -1)}})
def over_an_axis(mx, check, axis):
    array = mx.nd.array(CUBE)
    for name, expected in (("sum", np.sum), ("mean", np.mean), ("max", np.max), ("min", np.min)):
        check.close(getattr(mx.nd, name)(array, axis=axis), expected(CUBE, axis), "nd.%s over %s" % (name, axis))
    check.close(mx.nd.prod(array / 8, axis=axis), np.prod(CUBE / 8, axis), "nd.prod over %s" % (axis,), rtol=1e-4)
    check.close(mx.nd.norm(array, axis=axis), np.sqrt((CUBE ** 2).sum(axis)), "nd.norm over %s" % (axis,))


@case("ND-REDUCE-002", samples={
    "one": {"axis": 1, "want": (2, 1, 4)}, "two": {"axis": (0, 2), "want": (1, 3, 1)},
    "all": {"axis": None, "want": (1, 1, 1)}})
def axes_are_kept(mx, check, axis, want):
    options = {} if axis is None else {"axis": axis}
    made = mx.nd.sum(mx.nd.array(CUBE), keepdims=True, **options)
    check.equal(made, CUBE.sum(axis, keepdims=True), "nd.sum with keepdims")
    check.shape(made, want)


@case("ND-REDUCE-002", samples={
    "one": {"axis": 1, "keepdims": False, "want": CUBE.sum((0, 2))},
    "two": {"axis": (0, 1), "keepdims": False, "want": CUBE.sum(2)},
    "kept": {"axis": 0, "keepdims": True, "want": CUBE.sum((1, 2), keepdims=True)}})
def axes_are_excluded(mx, check, axis, keepdims, want):
    check.equal(mx.nd.sum(mx.nd.array(CUBE), axis=axis, exclude=True, keepdims=keepdims), want, "nd.sum with exclude")


@case("ND-REDUCE-003", samples={
    "too_large": {"axis": 3, "fragment": "Exceeds input dimensions"},
    "too_small": {"axis": -4, "fragment": "Exceeds input dimensions"},
    "repeated": {"axis": (0, 0), "fragment": "Reduction axes have duplicates"}})
def impossible_axis(mx, check, axis, fragment):
    for name in ("sum", "mean", "max"):
        check.raises(mx.MXNetError, fragment, getattr(mx.nd, name), mx.nd.array(CUBE), axis=axis)


@case("ND-REDUCE-004", samples={
    "integer_mean": {"name": "mean", "source": [1, 2], "dtype": "int32", "want": [1]},
    "uint8_sum": {"name": "sum", "source": [200, 100], "dtype": "uint8", "want": [44]},
    "int32_sum": {"name": "sum", "source": [2 ** 31 - 1, 1], "dtype": "int32", "want": [-2 ** 31]},
    "bool_sum": {"name": "sum", "source": [1, 1], "dtype": "bool", "want": [True]},
    "float64_sum": {"name": "sum", "source": [0.1, 0.2], "dtype": "float64", "want": [0.1 + 0.2]},
    "int8_max": {"name": "max", "source": [-3, -7], "dtype": "int8", "want": [-3]}})
def dtype_is_kept(mx, check, name, source, dtype, want):
    with kit.legacy_mode(mx):
        expect(check, getattr(mx.nd, name)(mx.nd.array(source, dtype=dtype)), want, dtype, name)


@case("ND-REDUCE-004", needs=["float16"])
def float16_sum_overflows(mx, check):
    with kit.legacy_mode(mx):
        expect(check, mx.nd.sum(mx.nd.ones((70000,), dtype="float16")), [INF], "float16", "sum of 70000 ones")


@case("ND-REDUCE-005")
def sum_of_many_ones(mx, check):
    with kit.legacy_mode(mx):
        expect(check, mx.nd.sum(mx.nd.ones((2 ** 24 + 2,))), [16777218.0], "float32", "sum of 2**24 + 2 ones")
        expect(check, mx.nd.sum(mx.nd.ones((2 ** 24 + 2,)) * -2), [-33554436.0], "float32", "sum of as many times -2")


@case("ND-REDUCE-006", samples={
    "nansum": {"name": "nansum", "source": [1, NAN, 2], "want": [3]},
    "nanprod": {"name": "nanprod", "source": [2, NAN, 3], "want": [6]},
    "sum": {"name": "sum", "source": [1, NAN], "want": [NAN]},
    "prod": {"name": "prod", "source": [1, NAN], "want": [NAN]},
    "only_nan": {"name": "nansum", "source": [NAN, NAN], "want": [0]}})
def nan_is_skipped_or_spreads(mx, check, name, source, want):
    with kit.legacy_mode(mx):
        check.equal(getattr(mx.nd, name)(mx.nd.array(source)), want, name)


@case("ND-REDUCE-006", samples={"default": {"options": {}, "want": [[5, 13]]},
                                "first": {"options": {"ord": 1}, "want": [[7, 17]]},
                                "second": {"options": {"ord": 2}, "want": [[5, 13]]}})
def order_of_the_norm(mx, check, options, want):
    check.equal(mx.nd.norm(mx.nd.array([[[3, -4], [5, 12]]]), axis=2, **options), want, "norm with %s" % options)


@case("ND-REDUCE-006")
def another_order_of_the_norm(mx, check):
    fails_at_the_wait(check, mx.MXNetError, "norm only supports ord=1 and ord=2",
                      lambda: mx.nd.norm(mx.nd.array([3, 4]), ord=3))


@case("ND-REDUCE-007", samples={
    "argmax": {"name": "argmax", "axis": 1, "want": [0, 1]}, "argmin": {"name": "argmin", "axis": 1, "want": [1, 0]},
    "argmax_columns": {"name": "argmax", "axis": 0, "want": [0, 1, 1]},
    "argmax_all": {"name": "argmax", "axis": None, "want": [4]},
    "argmin_all": {"name": "argmin", "axis": None, "want": [3]}})
def position_of_the_extreme(mx, check, name, axis, want):
    with kit.legacy_mode(mx):
        array = mx.nd.array([[3, 1, 2], [0, 5, 5]])
        options = {} if axis is None else {"axis": axis}
        expect(check, getattr(mx.nd, name)(array, **options), want, "float32", "nd.%s" % name)
        expect(check, getattr(array, name)(**options), want, "float32", "x.%s" % name)


@case("ND-REDUCE-007", samples={"int32": {"dtype": "int32"}, "float64": {"dtype": "float64"},
                                "uint8": {"dtype": "uint8"}})
def dtype_of_the_position(mx, check, dtype):
    with kit.legacy_mode(mx):
        expect(check, mx.nd.argmax(mx.nd.array([3, 9, 1], dtype=dtype)), [1], dtype, "nd.argmax")
        expect(check, mx.nd.argmin(mx.nd.array([3, 9, 1], dtype=dtype)), [2], dtype, "nd.argmin")


@case("ND-REDUCE-007")
def position_keeps_the_axis(mx, check):
    check.equal(mx.nd.argmax(mx.nd.array([[3, 1, 2], [0, 5, 5]]), axis=1, keepdims=True), [[0], [1]],
                "argmax with keepdims")


@case("ND-REDUCE-007")
def position_along_a_missing_axis(mx, check):
    for name in ("argmax", "argmin"):
        check.raises(mx.MXNetError, "exceeds the input dimension",
                     getattr(mx.nd, name), mx.nd.array([[3, 1]]), axis=2)


@case("ND-REDUCE-008")
def running_sum(mx, check):
    expect(check, mx.nd.cumsum(mx.nd.array([[1, 2], [3, 4]]), axis=0), [[1, 2], [4, 6]], "float32", "nd.cumsum")


@case("ND-REDUCE-008")
def mean_and_variance(mx, check):
    mean, variance = mx.nd.moments(mx.nd.array([[1.0, 2.0], [3.0, 6.0]]), axes=(0,))
    check.equal(mean, [2, 4], "mean")
    check.equal(variance, [1, 4], "variance")


@case("ND-REDUCE-009", samples={name: {"name": name} for name in ("sum", "mean", "max", "min", "prod", "nansum",
                                                                  "nanprod")})
def method_and_function_agree(mx, check, name):
    source = np.arange(6, dtype="float32").reshape(2, 3)
    array = mx.nd.array(source)
    want = getattr(np, name)(source, axis=1)
    for doing, got in (("nd.%s(x, axis=1)" % name, getattr(mx.nd, name)(array, axis=1)),
                       ("nd.%s(x, 1)" % name, getattr(mx.nd, name)(array, 1)),
                       ("x.%s(axis=1)" % name, getattr(array, name)(axis=1)),
                       ("x.%s(1)" % name, getattr(array, name)(1))):
        check.equal(got, want, doing)


@case("ND-REDUCE-009")
def axis_as_text(mx, check):
    array = mx.nd.arange(6).reshape((2, 3))
    check.equal(mx.nd.sum(array, axis="1"), [3, 12], "nd.sum(x, axis='1')")
    check.equal(mx.nd.max(array, axis="(0, 1)", keepdims=True), [[5]], "nd.max(x, axis='(0, 1)')")
