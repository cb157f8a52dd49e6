"""ND-TAKE, ND-SCATTER: entries picked by positions, and written to positions."""

from conformance.case import case
from conformance.suite.ndarray._tools import expect, fails_at_the_wait


def _table(mx):
    return mx.nd.arange(6).reshape((3, 2))


@case("ND-TAKE-001", samples={
    "rows": {"indices": [0, 2], "options": {}, "want": [[0, 1], [4, 5]]},
    "above": {"indices": [5], "options": {}, "want": [[4, 5]]},
    "below": {"indices": [-1, -9], "options": {}, "want": [[0, 1], [0, 1]]},
    "columns": {"indices": [1, 7], "options": {"axis": 1}, "want": [[1, 1], [3, 3], [5, 5]]},
    "last_axis": {"indices": [1], "options": {"axis": -1}, "want": [[1], [3], [5]]},
    "mode_given": {"indices": [9], "options": {"mode": "clip"}, "want": [[4, 5]]},
    "matrix": {"indices": [[0, 1], [2, 0]], "options": {}, "want": [[[0, 1], [2, 3]], [[4, 5], [0, 1]]]}})
def clipped(mx, check, indices, options, want):
    expect(check, mx.nd.take(_table(mx), mx.nd.array(indices), **options), want, "float32")


@case("ND-TAKE-002")
def wrapped(mx, check):
    check.equal(mx.nd.take(_table(mx), mx.nd.array([-1, 4, -4, 2]), mode="wrap"), [[4, 5], [2, 3], [4, 5], [4, 5]],
                "entries")


@case("ND-TAKE-002", samples={"above": {"index": 3}, "below": {"index": -1}})
def out_of_range_is_an_error(mx, check, index):
    fails_at_the_wait(check, mx.MXNetError, "take operator contains indices out of bound",
                      lambda: mx.nd.take(_table(mx), mx.nd.array([index]), mode="raise"))


@case("ND-TAKE-002")
def in_range_is_no_error(mx, check):
    check.equal(mx.nd.take(_table(mx), mx.nd.array([2, 0]), mode="raise"), [[4, 5], [0, 1]],
                "entries with mode='raise'")


@case("ND-TAKE-002")
def unknown_mode(mx, check):
    check.raises(mx.MXNetError, "valid values are: {'clip', 'raise', 'wrap'}",
                 lambda: mx.nd.take(_table(mx), mx.nd.array([0]), mode="nearest"))


@case("ND-TAKE-003")
def fractions_are_cut(mx, check):
    check.equal(mx.nd.take(_table(mx), mx.nd.array([1.7, 0.9])), [[2, 3], [0, 1]], "entries")


@case("ND-TAKE-003", samples={"list": {"indices": [0]}, "number": {"indices": 0}})
def indices_must_be_an_array(mx, check, indices):
    check.raises(AssertionError, "Argument indices must have NDArray type", lambda: mx.nd.take(_table(mx), indices))


@case("ND-TAKE-003", samples={"above": {"axis": 2}, "below": {"axis": -3}})
def axis_out_of_range(mx, check, axis):
    check.raises(mx.MXNetError, "Axis should be in the range",
                 lambda: mx.nd.take(_table(mx), mx.nd.array([0]), axis=axis))


@case("ND-TAKE-004")
def embedding_clips(mx, check):
    weight = mx.nd.array([[1, 2], [3, 4]])
    made = mx.nd.Embedding(mx.nd.array([[5, -1], [0, 1]]), weight, input_dim=2, output_dim=2)
    check.equal(made, [[[3, 4], [1, 2]], [[1, 2], [3, 4]]], "rows of the weight")


@case("ND-SCATTER-001")
def written_into_zeros(mx, check):
    made = mx.nd.scatter_nd(mx.nd.array([1, 2]), mx.nd.array([[0, 1], [1, 2]]), shape=(2, 3))
    expect(check, made, [[0, 1, 0], [0, 0, 2]], "float32")


@case("ND-SCATTER-001")
def rows_are_written(mx, check):
    made = mx.nd.scatter_nd(mx.nd.array([[1, 2], [3, 4]]), mx.nd.array([[2, 0]]), shape=(3, 2))
    check.equal(made, [[3, 4], [0, 0], [1, 2]], "two rows")


@case("ND-SCATTER-001")
def last_of_repeated_positions(mx, check):
    check.equal(mx.nd.scatter_nd(mx.nd.array([1, 2]), mx.nd.array([[0, 0]]), shape=(3,)), [2, 0, 0], "array")


@case("ND-SCATTER-001")
def shapes_do_not_match(mx, check):
    check.raises(mx.MXNetError, "Invalid data, indices, and output shape combination",
                 lambda: mx.nd.scatter_nd(mx.nd.array([1, 2]), mx.nd.array([[0, 1]]), shape=(2, 3)))
