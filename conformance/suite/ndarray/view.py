"""ND-INDEX, third part: which reads share memory; ND-ITER: iteration."""

from conformance.case import case
from conformance.suite.ndarray._tools import expect, number, shows_in


def _table(mx):
    """The numbers 0 to 11 in three rows."""
    return mx.nd.arange(12).reshape((3, 4))


@case("ND-INDEX-012")
def whole_array_by_index_is_itself(mx, check):
    vector = mx.nd.arange(4)
    check.same(vector[:], vector, "x[:]")
    check.same(vector[()], vector, "x[()]")
    check.not_same(vector[0:4], vector, "x[0:4]")


@case("ND-INDEX-014")
def unpacking_and_iteration(mx, check):
    table = mx.nd.arange(6).reshape((3, 2))
    first, second, third = table
    expect(check, [first, second, third], [[0, 1], [2, 3], [4, 5]], doing="unpacked rows")
    expect(check, list(table), [[0, 1], [2, 3], [4, 5]], doing="rows by iteration")
    expect(check, list(reversed(table)), [[4, 5], [2, 3], [0, 1]], doing="rows reversed")


@case("ND-INDEX-014")
def items_of_an_iteration_are_views(mx, check):
    table = mx.nd.arange(6).reshape((3, 2))
    for row in table:
        row[:] = 9
    check.equal(table, [[9, 9]] * 3, "array after writes into its items")


@case("ND-INDEX-014")
def membership(mx, check):
    vector = mx.nd.array([1, 2, 3])
    check.equal((3 in vector, 9 in vector), (True, False), "3 in v, 9 in v")


@case("ND-INDEX-015", samples={
    "row": {"read": lambda x: x[0]}, "rows": {"read": lambda x: x[0:2]}, "all": {"read": lambda x: x[:]},
    "element": {"read": lambda x: x[0, 1]}, "part_of_a_row": {"read": lambda x: x[0, 1:3]},
    "row_as_table": {"read": lambda x: x[1:2, :]}, "block_in_one_row": {"read": lambda x: x[0:1, 1:2]},
    "ellipsis": {"read": lambda x: x[...]}, "twice": {"read": lambda x: x[1][2]},
    "reshaped": {"read": lambda x: x[0].reshape((2, 2))}, "step_1": {"read": lambda x: x[0:2:1]}})
def contiguous_read_is_a_view(mx, check, read):
    table = _table(mx)
    check.equal(shows_in(read(table), table), True, "whether a write into the result shows in the array")


@case("ND-INDEX-015", samples={
    "column": {"read": lambda nd, x: x[:, 1]}, "columns": {"read": lambda nd, x: x[:, 1:3]},
    "every_second_row": {"read": lambda nd, x: x[::2]}, "reversed": {"read": lambda nd, x: x[::-1]},
    "index_array": {"read": lambda nd, x: x[[0]]}, "slice_axis": {"read": lambda nd, x: x.slice_axis(0, 0, 1)},
    "slice": {"read": lambda nd, x: nd.slice(x, (0, 0), (1, 4))},
    "split": {"read": lambda nd, x: nd.split(x, 3, axis=0)[0]}})
def other_read_is_a_copy(mx, check, read):
    table = _table(mx)
    check.equal(shows_in(read(mx.nd, table), table), False, "whether a write into the result shows in the array")
    check.equal(table, [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], "array")


@case("ND-INDEX-016")
def writes_are_seen_both_ways(mx, check):
    base = mx.nd.arange(5)
    view = base[1:4]
    view += 10
    check.equal(base, [0, 11, 12, 13, 4], "base after view += 10")
    base[:] = 0
    check.equal(view, [0, 0, 0], "view after a write into the base")


@case("ND-INDEX-016")
def view_outlives_its_base(mx, check):
    base = mx.nd.arange(6)
    view = base[2:5]
    del base
    others = [mx.nd.ones((6,)) for _ in range(4)]  # would take the memory if it were free
    check.equal(view, [2, 3, 4], "view after its base is gone")
    check.equal(len(others), 4, "other arrays")


@case("ND-INDEX-017")
def rows_are_not_swapped_by_assignment(mx, check):
    table = mx.nd.array([[1, 2], [3, 4]])
    table[0], table[1] = table[1], table[0]
    check.equal(table, [[3, 4], [3, 4]], "rows after x[0], x[1] = x[1], x[0]")


@case("ND-INDEX-017")
def rows_are_swapped_through_a_copy(mx, check):
    table = mx.nd.array([[1, 2], [3, 4]])
    table[0], table[1] = table[1].copy(), table[0].copy()
    check.equal(table, [[3, 4], [1, 2]], "rows after a swap of copies")


@case("ND-INDEX-020")
def views_of_views_compose(mx, check):
    table = _table(mx)
    table[1:3][0][1:2][:] = 50
    check.equal(table, [[0, 1, 2, 3], [4, 50, 6, 7], [8, 9, 10, 11]], "array after a write through three views")
    table[1][2] = 60
    check.equal(table, [[0, 1, 2, 3], [4, 50, 60, 7], [8, 9, 10, 11]], "array after x[1][2] = 60")


@case("ND-INDEX-020")
def reshaped_view_is_a_view(mx, check):
    table = _table(mx)
    table[2].reshape((2, 2))[1] = -1
    check.equal(table, [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, -1, -1]], "array after a write through a reshaped row")


@case("ND-ITER-001")
def python_sum_max_and_min(mx, check):
    vector = mx.nd.array([3, 1, 2])
    check.equal(number(sum(vector)), 6.0, "sum(v)")
    check.equal(number(max(vector)), 3.0, "max(v)")
    check.equal(number(min(vector)), 1.0, "min(v)")


@case("ND-ITER-001")
def python_sorted(mx, check):
    check.equal([number(item) for item in sorted(mx.nd.array([3, 1, 2]))], [1.0, 2.0, 3.0], "sorted(v)")
