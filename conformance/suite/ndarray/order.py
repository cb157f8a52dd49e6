"""ND-TOPK, ND-SORT: the largest entries, sorted entries and their positions."""

from conformance.case import case
from conformance.suite.ndarray._tools import expect

ROWS = [[3, 1, 2], [0, 5, 4]]


@case("ND-TOPK-001", samples={
    "default": {"options": {}, "want": [[0], [1]], "dtype": "float32"},
    "value": {"options": {"k": 2, "ret_typ": "value"}, "want": [[3, 2], [5, 4]], "dtype": "float32"},
    "mask": {"options": {"k": 2, "ret_typ": "mask"}, "want": [[1, 0, 1], [0, 1, 1]], "dtype": "float32"},
    "ascending": {"options": {"k": 2, "is_ascend": True}, "want": [[1, 2], [0, 2]], "dtype": "float32"},
    "dtype": {"options": {"dtype": "int32"}, "want": [[0], [1]], "dtype": "int32"},
    "first_axis": {"options": {"axis": 0}, "want": [[0, 1, 1]], "dtype": "float32"},
    "flattened": {"options": {"axis": None, "k": 2}, "want": [4, 5], "dtype": "float32"}})
def largest_entries(mx, check, options, want, dtype):
    expect(check, mx.nd.topk(mx.nd.array(ROWS), **options), want, dtype, "nd.topk with %s" % options)


@case("ND-TOPK-001")
def values_and_positions(mx, check):
    made = mx.nd.topk(mx.nd.array(ROWS), k=2, ret_typ="both")
    check.equal(len(made), 2, "number of results")
    expect(check, made[0], [[3, 2], [5, 4]], "float32", "values")
    expect(check, made[1], [[0, 2], [1, 2]], "float32", "positions")


@case("ND-TOPK-001")
def values_keep_the_dtype(mx, check):
    made = mx.nd.topk(mx.nd.array(ROWS, dtype="int32"), k=1, ret_typ="both")
    expect(check, made[0], [[3], [5]], "int32", "values")
    expect(check, made[1], [[0], [1]], "float32", "positions")


@case("ND-TOPK-002", samples={"zero": {"k": 0}, "negative": {"k": -1}})
def all_entries(mx, check, k):
    check.equal(mx.nd.topk(mx.nd.array(ROWS), k=k), [[0, 2, 1], [1, 2, 0]], "positions for k=%d" % k)


@case("ND-TOPK-002")
def more_than_there_are(mx, check):
    check.raises(mx.MXNetError, "k must be smaller than 3, get k = 5", lambda: mx.nd.topk(mx.nd.array(ROWS), k=5))


@case("ND-TOPK-002")
def equal_entries_keep_their_order(mx, check):
    check.equal(mx.nd.topk(mx.nd.array([1, 2, 2, 1, 2]), k=4), [1, 2, 4, 0], "positions")


@case("ND-SORT-001", samples={
    "default": {"options": {}, "want": [[1, 2, 3], [0, 4, 5]]},
    "descending": {"options": {"is_ascend": False}, "want": [[3, 2, 1], [5, 4, 0]]},
    "first_axis": {"options": {"axis": 0}, "want": [[0, 1, 2], [3, 5, 4]]},
    "flattened": {"options": {"axis": None}, "want": [0, 1, 2, 3, 4, 5]}})
def sorted_entries(mx, check, options, want):
    array = mx.nd.array(ROWS)
    expect(check, mx.nd.sort(array, **options), want, "float32", "nd.sort with %s" % options)
    check.equal(array, ROWS, "source afterwards")


@case("ND-SORT-001", samples={
    "default": {"options": {}, "want": [[1, 2, 0], [0, 2, 1]], "dtype": "float32"},
    "dtype": {"options": {"dtype": "int32"}, "want": [[1, 2, 0], [0, 2, 1]], "dtype": "int32"},
    "descending": {"options": {"is_ascend": False}, "want": [[0, 2, 1], [1, 2, 0]], "dtype": "float32"},
    "flattened": {"options": {"axis": None}, "want": [3, 1, 2, 0, 5, 4], "dtype": "float32"}})
def positions_in_order(mx, check, options, want, dtype):
    expect(check, mx.nd.argsort(mx.nd.array(ROWS), **options), want, dtype, "nd.argsort with %s" % options)


@case("ND-SORT-001", samples={"ascending": {"is_ascend": True, "want": [0, 3, 1, 2, 4]},
                              "descending": {"is_ascend": False, "want": [1, 2, 4, 0, 3]}})
def equal_keys_keep_their_order(mx, check, is_ascend, want):
    check.equal(mx.nd.argsort(mx.nd.array([1, 2, 2, 1, 2]), is_ascend=is_ascend), want, "positions")


@case("ND-SORT-001")
def axis_out_of_range(mx, check):
    for name in ("sort", "argsort"):
        check.raises(mx.MXNetError, "Invalid axis", getattr(mx.nd, name), mx.nd.array(ROWS), axis=5)
