"""ND-SPLIT, ND-WHERE, ND-ROUND: parts of an array, one of two arrays, and whole numbers."""

import numpy as np

from conformance.case import case
from conformance.suite.ndarray._tools import NAN, expect, refused

GRID = np.arange(12, dtype="float32").reshape(2, 6)


@case("ND-SPLIT-001", samples={
    "columns": {"parts": 3, "options": {"axis": 1}, "want": np.split(GRID, 3, 1)},
    "default_axis": {"parts": 2, "options": {}, "want": np.split(GRID, 2, 1)},
    "rows": {"parts": 2, "options": {"axis": 0}, "want": np.split(GRID, 2, 0)},
    "squeezed": {"parts": 2, "options": {"axis": 0, "squeeze_axis": True}, "want": [GRID[0], GRID[1]]}})
def equal_parts(mx, check, parts, options, want):
    made = mx.nd.split(mx.nd.array(GRID), num_outputs=parts, **options)
    check.isinstance(made, list, "nd.split")
    check.equal(len(made), parts, "number of parts")
    for got, expected in zip(made, want):
        check.equal(got, expected, "part")


@case("ND-SPLIT-001")
def one_part_is_no_list(mx, check):
    made = mx.nd.split(mx.nd.array(GRID), 1)
    check.isinstance(made, mx.nd.NDArray, "nd.split into one part")
    check.equal(made, GRID, "the part")


@case("ND-SPLIT-001")
def uneven_parts(mx, check):
    check.raises(mx.MXNetError, "evenly sized chunks", lambda: mx.nd.split(mx.nd.array(GRID), num_outputs=4, axis=1))
    check.raises(ValueError, "equal division", mx.nd.split_v2, mx.nd.array(GRID), 4, axis=1)


@case("ND-SPLIT-001")
def parts_between_points(mx, check):
    made = mx.nd.split_v2(mx.nd.array(GRID), (1, 3), axis=1)
    check.equal(len(made), 3, "number of parts")
    for got, expected in zip(made, np.split(GRID, (1, 3), 1)):
        check.equal(got, expected, "part")


@case("ND-SPLIT-001")
def points_must_be_a_tuple(mx, check):
    check.raises(ValueError, "must either int or tuple", mx.nd.split_v2, mx.nd.array(GRID), [1, 3], axis=1)


@case("ND-WHERE-001", samples={
    "comparison": {"condition": [1, 0, 1], "dtype": "float32", "want": [1, 2, 3]},
    "integers": {"condition": [1, 0, 7], "dtype": "int32", "want": [1, 2, 3]},
    "nan_is_true": {"condition": [NAN, 0, 0.5], "dtype": "float32", "want": [1, 2, 3]},
    "negative_is_true": {"condition": [-1, -1, 0], "dtype": "float32", "want": [1, -2, -3]}})
def one_of_two(mx, check, condition, dtype, want):
    array = mx.nd.array([1, -2, 3])
    expect(check, mx.nd.where(mx.nd.array(condition, dtype=dtype), array, -array), want, "float32")


@case("ND-WHERE-001")
def result_of_a_comparison(mx, check):
    array = mx.nd.array([1, -2, 3])
    check.equal(mx.nd.where(array > 0, array * 2, array * 3), [2, -6, 6], "nd.where(x > 0, 2 * x, 3 * x)")


@case("ND-WHERE-001")
def vector_selects_rows(mx, check):
    made = mx.nd.where(mx.nd.array([1, 0]), mx.nd.ones((2, 3)), mx.nd.zeros((2, 3)))
    check.equal(made, [[1, 1, 1], [0, 0, 0]], "rows")


@case("ND-WHERE-002", samples={
    "condition": {"shapes": ((2, 1), (2, 3), (2, 3))}, "choice": {"shapes": ((3,), (3,), (1,))},
    "row": {"shapes": ((2, 3), (3,), (2, 3))}})
def shapes_are_not_broadcast(mx, check, shapes):
    check.raises(mx.MXNetError, "inferring shapes failed", mx.nd.where, *[mx.nd.ones(shape) for shape in shapes])


@case("ND-WHERE-002")
def scalars_are_refused(mx, check):
    check.raises(AssertionError, "Argument x must have NDArray type", mx.nd.where, mx.nd.array([1, 0]), 1, 2)


@case("ND-WHERE-002")
def other_dtypes_are_refused(mx, check):
    array = mx.nd.array([1, -2, 3])
    check.raises(mx.MXNetError, "where", mx.nd.where, array, array, array.astype("float64"))


@case("ND-WHERE-002")
def three_inputs_are_required(mx, check):
    check.raises(mx.MXNetError, "expects 3 inputs, but got 1", mx.nd.where, mx.nd.array([1, 0]))


@case("ND-WHERE-002")
def bool_condition_is_refused(mx, check):
    array = mx.nd.array([1, -2, 3])
    refused(check, mx.MXNetError, lambda: mx.nd.where(mx.nd.array([1, 0, 1], dtype="bool"), array, array))


@case("ND-ROUND-001", samples={
    name: {"name": name, "want": want} for name, want in (
        ("round", [-3, -2, -1, 0, 0, 1, 2, 3]), ("rint", [-3, -2, -1, 0, 0, 0, 1, 2]),
        ("fix", [-2, -1, 0, 0, 0, 0, 1, 2]),
        ("trunc", [-2, -1, 0, 0, 0, 0, 1, 2]), ("floor", [-3, -2, -1, -1, 0, 0, 1, 2]),
        ("ceil", [-2, -1, 0, 0, 1, 1, 2, 3]),
        ("sign", [-1, -1, -1, -1, 1, 1, 1, 1]))})
def halves_and_fractions(mx, check, name, want):
    source = [-2.5, -1.5, -0.5, -0.25, 0.25, 0.5, 1.5, 2.5]
    expect(check, getattr(mx.nd, name)(mx.nd.array(source)), want, "float32", name)


@case("ND-ROUND-001")
def sign_of_zero(mx, check):
    check.equal(mx.nd.sign(mx.nd.array([-3, 0, 4])), [-1, 0, 1], "nd.sign")
