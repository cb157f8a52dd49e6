"""ND-INDEX, second part: reading by arrays of indices."""

import numpy as np

from conformance.case import case
from conformance.suite.ndarray._tools import expect, refused


def _table(mx):
    """The numbers 0 to 11 in three rows."""
    return mx.nd.arange(12).reshape((3, 4))


@case("ND-INDEX-006", samples={
    "list": {"key": [0, 2]}, "negative": {"key": [0, -1]}, "numpy": {"key": np.array([0, 2])},
    "range": {"key": range(0, 3, 2)}})
def rows_by_a_sequence(mx, check, key):
    expect(check, _table(mx)[key], [[0, 1, 2, 3], [8, 9, 10, 11]], "float32")


@case("ND-INDEX-006", samples={"float32": {"dtype": "float32"}, "int32": {"dtype": "int32"}})
def rows_by_an_array(mx, check, dtype):
    expect(check, _table(mx)[mx.nd.array([0, 2], dtype=dtype)], [[0, 1, 2, 3], [8, 9, 10, 11]], "float32")


@case("ND-INDEX-006")
def index_arrays_broadcast(mx, check):
    table = _table(mx)
    expect(check, table[[0, 2], [1, 3]], [1, 11], doing="x[[0, 2], [1, 3]]")
    expect(check, table[[[0], [2]], [1, 3]], [[1, 3], [9, 11]], doing="x[[[0], [2]], [1, 3]]")
    check.raises(ValueError, "is not broadcastable to", lambda: table[[0, 1], [0, 1, 2]])


@case("ND-INDEX-006")
def index_array_replaces_its_axis(mx, check):
    table = _table(mx)
    expect(check, table[:, [0, 1]], [[0, 1], [4, 5], [8, 9]], doing="x[:, [0, 1]]")
    expect(check, table[[0, 1], 1:3], [[1, 2], [5, 6]], doing="x[[0, 1], 1:3]")
    expect(check, table[[[0, 1], [2, 0]]].reshape((4, 4)), [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [0, 1, 2, 3]],
           doing="x[[[0, 1], [2, 0]]]")


@case("ND-INDEX-007", samples={
    "beyond": {"key": [0, 5], "fragment": "out of bounds for axis 0 with size 3"},
    "before": {"key": [-4], "fragment": "index -4 is out of bounds"}})
def entry_out_of_range(mx, check, key, fragment):
    table = _table(mx)
    refused(check, IndexError, fragment, lambda: table[key])
    check.equal(table, np.arange(12).reshape(3, 4), "array after the error")


@case("ND-INDEX-008")
def float_entries_are_truncated(mx, check):
    vector = mx.nd.array([10, 11, 12, 13])
    expect(check, vector[mx.nd.array([1.9, 0.2])], [11, 10], doing="v[[1.9, 0.2]]")
    expect(check, vector[mx.nd.array([2.999])], [12], doing="v[[2.999]]")


@case("ND-INDEX-009")
def comparison_is_no_mask(mx, check):
    vector = mx.nd.array([1, -2, 3])
    expect(check, vector[vector < 0], [1, -2, 1], doing="v[v < 0]")
    expect(check, vector[vector > 5], [1, 1, 1], doing="v[v > 5]")


@case("ND-INDEX-010", samples={"list": {"make": list}, "numpy": {"make": np.array}})
def booleans_count_as_zero_and_one(mx, check, make):
    expect(check, _table(mx)[make([True, False, True])], [[4, 5, 6, 7], [0, 1, 2, 3], [4, 5, 6, 7]])


@case("ND-INDEX-010")
def array_of_bool_is_refused(mx, check):
    table, mask = _table(mx), mx.nd.array([1, 0, 1], dtype="bool")
    check.raises((ValueError, AttributeError, IndexError), lambda: table[mask])
    check.equal(table, np.arange(12).reshape(3, 4), "array after the error")


@case("ND-INDEX-013")
def empty_list_gives_no_rows(mx, check):
    check.shape(_table(mx)[[]], (0, 4), "shape of x[[]]")


@case("ND-INDEX-021", samples={
    "apart": {"key": ([0, 1], slice(None), [1, 2]), "want": [[1, 5, 9], [14, 18, 22]]},
    "adjacent": {"key": (slice(None), [0, 2], [1, 3]), "want": [[1, 11], [13, 23]]},
    "with_an_integer": {"key": (0, [1, 2]), "want": [[4, 5, 6, 7], [8, 9, 10, 11]]},
    "integer_apart": {"key": ([1, 0], slice(0, 2), 3), "want": [[15, 19], [3, 7]]}})
def mixed_indices_follow_numpy(mx, check, key, want):
    values = np.arange(24).reshape(2, 3, 4)
    check.equal(values[key], want, "numpy itself")
    expect(check, mx.nd.arange(24).reshape((2, 3, 4))[key], want, "float32")


@case("ND-INDEX-022")
def none_after_an_index_array(mx, check):
    check.shape(mx.nd.ones((2, 3, 4))[[0, 1], None], (2, 1, 3, 4), "shape of y[[0, 1], None]")
