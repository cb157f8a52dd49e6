"""ND-INDEX, first part: reading by integers, slices, None, ... and what is refused."""

import numpy as np

from conformance.case import case
from conformance.suite.ndarray._tools import expect


def _table(mx):
    """The numbers 0 to 11 in three rows."""
    return mx.nd.arange(12).reshape((3, 4))


@case("ND-INDEX-001")
def integer_drops_the_axis(mx, check):
    table = _table(mx)
    expect(check, table[0], [0, 1, 2, 3], doing="x[0]")
    expect(check, table[-1], [8, 9, 10, 11], doing="x[-1]")
    expect(check, table[-3], [0, 1, 2, 3], doing="x[-3]")
    expect(check, table[0:2, 1], [1, 5], doing="x[0:2, 1]")


@case("ND-INDEX-001", samples={
    "beyond": {"key": 3, "fragment": "index 3 is out of bounds for axis 0 with size 3"},
    "before": {"key": -4, "fragment": "index -4 is out of bounds for axis 0 with size 3"},
    "second_axis": {"key": (0, 4), "fragment": "index 4 is out of bounds for axis"},
    "too_many": {"key": (slice(0, 1), 0, 0), "fragment": "too many indices"}})
def integer_out_of_range(mx, check, key, fragment):
    table = _table(mx)
    check.raises(IndexError, fragment, lambda: table[key])
    check.equal(table, np.arange(12).reshape(3, 4), "array after the error")


@case("ND-INDEX-002", samples={
    "clamped": {"key": slice(-10, 2), "want": [[0, 1, 2, 3], [4, 5, 6, 7]]},
    "step": {"key": slice(None, None, 2), "want": [[0, 1, 2, 3], [8, 9, 10, 11]]},
    "negative_step": {"key": slice(2, 0, -1), "want": [[8, 9, 10, 11], [4, 5, 6, 7]]},
    "reversed_second_axis": {"key": (slice(0, 1), slice(None, None, -1)), "want": [[3, 2, 1, 0]]},
    "negative_stop": {"key": slice(1, -1), "want": [[4, 5, 6, 7]]},
    "stop_beyond": {"key": slice(2, 99), "want": [[8, 9, 10, 11]]}})
def slice_follows_python(mx, check, key, want):
    expect(check, _table(mx)[key], want, "float32")


@case("ND-INDEX-002")
def slice_without_rows_is_empty(mx, check):
    table = _table(mx)
    check.shape(table[5:9], (0, 4), "shape of x[5:9]")
    check.shape(table[1:1], (0, 4), "shape of x[1:1]")


@case("ND-INDEX-002")
def step_of_zero_is_refused(mx, check):
    table = _table(mx)
    check.raises(ValueError, "slice step cannot be zero", lambda: table[::0])


@case("ND-INDEX-003")
def reversed_range_is_empty(mx, check):
    check.shape(_table(mx)[2:1], (0, 4), "shape of x[2:1]")


@case("ND-INDEX-004")
def empty_slice_of_the_second_axis(mx, check):
    check.shape(mx.nd.arange(6).reshape((2, 3))[:, 1:1], (2, 0), "shape of x[:, 1:1]")


@case("ND-INDEX-005")
def none_inserts_an_axis(mx, check):
    table = _table(mx)
    expect(check, table[None], np.arange(12).reshape(1, 3, 4), doing="x[None]")
    expect(check, table[:, None, 1], [[1], [5], [9]], doing="x[:, None, 1]")
    expect(check, table[0, None], [[0, 1, 2, 3]], doing="x[0, None]")


@case("ND-INDEX-005")
def ellipsis_fills_up(mx, check):
    cube = mx.nd.arange(24).reshape((2, 3, 4))
    expect(check, _table(mx)[..., 1], [1, 5, 9], doing="x[..., 1]")
    expect(check, cube[1, ..., 0], [12, 16, 20], doing="y[1, ..., 0]")
    check.raises(IndexError, "more than one ellipsis", lambda: cube[..., ...])


@case("ND-INDEX-011", samples={
    "float": {"key": 1.0, "fragment": "does not support slicing with key 1.0"},
    "string": {"key": "a", "fragment": "does not support slicing with key a"}})
def key_is_refused(mx, check, key, fragment):
    table = _table(mx)
    check.raises(ValueError, fragment, lambda: table[key])


@case("ND-INDEX-011")
def numpy_integers_and_true_are_integers(mx, check):
    table = _table(mx)
    expect(check, table[np.int64(1)], [4, 5, 6, 7], doing="x[numpy.int64(1)]")
    expect(check, table[np.int32(-1)], [8, 9, 10, 11], doing="x[numpy.int32(-1)]")
    expect(check, table[True], [4, 5, 6, 7], doing="x[True]")


@case("ND-INDEX-019")
def items_cannot_be_deleted(mx, check):
    vector = mx.nd.array([1, 2, 3])
    with check.raises((AttributeError, TypeError)):
        del vector[0]
    check.equal(vector + 1, [2, 3, 4], "array after the error, plus 1")


@case("ND-INDEX-018")
def slice_takes_none_and_negative_bounds(mx, check):
    table = mx.nd.arange(6).reshape((2, 3))
    expect(check, mx.nd.slice(table, begin=(None, 1), end=(None, 3)), [[1, 2], [4, 5]], doing="open first axis")
    expect(check, mx.nd.slice(table, begin=(0, -1), end=(2, None), step=(1, -1)), [[2, 1, 0], [5, 4, 3]],
           doing="backwards along the second axis")


@case("ND-INDEX-018")
def slice_clamps_the_end(mx, check):
    table = mx.nd.arange(6).reshape((2, 3))
    expect(check, mx.nd.slice(table, begin=(1, 1), end=(9, 9)), [[4, 5]])


@case("ND-INDEX-018")
def slice_axis_refuses_bad_bounds(mx, check):
    table = mx.nd.arange(6).reshape((2, 3))
    expect(check, mx.nd.slice_axis(table, axis=1, begin=-2, end=None), [[1, 2], [4, 5]], doing="last two columns")
    check.raises(mx.base.MXNetError, "Invalid begin, end",
                 lambda: mx.nd.slice_axis(table, axis=0, begin=1, end=1))
    check.raises(mx.base.MXNetError, "Invalid end", lambda: mx.nd.slice_axis(table, axis=1, begin=0, end=9))


@case("ND-INDEX-018")
def slice_like_takes_the_shape_of_another(mx, check):
    table = mx.nd.arange(6).reshape((2, 3))
    expect(check, mx.nd.slice_like(table, mx.nd.ones((1, 2))), [[0, 1]], doing="all axes")
    expect(check, mx.nd.slice_like(table, mx.nd.ones((1, 2)), axes=(1,)), [[0, 1], [3, 4]], doing="axes=(1,)")
