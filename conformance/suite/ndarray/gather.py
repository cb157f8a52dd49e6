"""ND-PICK, ND-GATHER, ND-ONEHOT and ND-CONTRIB: choosing entries and rows by index."""

from conformance.case import case
from conformance.suite.ndarray._tools import expect, fails_at_the_wait


@case("ND-PICK-001")
def pick_takes_one_entry_per_position(mx, check):
    table = mx.nd.array([[1, 2, 3], [4, 5, 6]])
    expect(check, mx.nd.pick(table, mx.nd.array([0, 2])), [1, 6], "float32", "along the last axis")
    expect(check, mx.nd.pick(table, mx.nd.array([0, 2]), keepdims=True), [[1], [6]], doing="keepdims=True")
    expect(check, mx.nd.pick(table, mx.nd.array([0, 1, 0]), axis=0), [1, 5, 3], doing="axis=0")


@case("ND-PICK-001")
def pick_clips_or_wraps(mx, check):
    table = mx.nd.array([[1, 2, 3], [4, 5, 6]])
    expect(check, mx.nd.pick(table, mx.nd.array([0, 5])), [1, 6], doing="index 5 by default")
    expect(check, mx.nd.pick(table, mx.nd.array([0, -1])), [1, 4], doing="index -1 by default")
    expect(check, mx.nd.pick(table, mx.nd.array([-1, 4]), mode="wrap"), [3, 5], doing="indices -1 and 4 with wrap")


@case("ND-PICK-001")
def pick_refuses(mx, check):
    table = mx.nd.array([[1, 2, 3], [4, 5, 6]])
    check.raises(mx.base.MXNetError, "valid values are: {'clip', 'wrap'}",
                 lambda: mx.nd.pick(table, mx.nd.array([0, 2]), mode="raise"))
    check.raises(mx.base.MXNetError, "Shape inconsistent", lambda: mx.nd.pick(table, mx.nd.array([0, 1, 2])))


@case("ND-GATHER-001")
def gather_nd_takes_entries_or_slices(mx, check):
    table = mx.nd.arange(6).reshape((2, 3))
    expect(check, mx.nd.gather_nd(table, mx.nd.array([[0, 1], [1, 2]])), [1, 5], "float32", "entries (0, 1), (1, 2)")
    expect(check, mx.nd.gather_nd(table, mx.nd.array([[1, 0]])), [[3, 4, 5], [0, 1, 2]], doing="rows 1 and 0")
    expect(check, mx.nd.gather_nd(table, mx.nd.array([[-1], [-1]])), [5], doing="entry (-1, -1)")


@case("ND-GATHER-001")
def gather_nd_out_of_range(mx, check):
    table = mx.nd.arange(6).reshape((2, 3))
    fails_at_the_wait(check, IndexError, "index 5 is out of bounds for axis 0 with size 2",
                      lambda: mx.nd.gather_nd(table, mx.nd.array([[0, 5], [0, 0]])))
    check.equal(table, [[0, 1, 2], [3, 4, 5]], "array after the error")


@case("ND-GATHER-001")
def gather_nd_refuses_index_shapes(mx, check):
    table = mx.nd.arange(6).reshape((2, 3))
    check.raises(mx.base.MXNetError, "at least 2 dimensions", lambda: mx.nd.gather_nd(table, mx.nd.array([0, 1])))
    check.raises(mx.base.MXNetError, "Number of indices exceeds data dimension",
                 lambda: mx.nd.gather_nd(table, mx.nd.array([[0], [0], [0]])))


@case("ND-ONEHOT-001")
def one_hot_rows(mx, check):
    expect(check, mx.nd.one_hot(mx.nd.array([0, 2]), 3), [[1, 0, 0], [0, 0, 1]], "float32")
    expect(check, mx.nd.one_hot(mx.nd.array([1.7]), 3), [[0, 1, 0]], doing="index 1.7")


@case("ND-ONEHOT-001")
def one_hot_index_out_of_range(mx, check):
    expect(check, mx.nd.one_hot(mx.nd.array([5, -1, 3]), 3), [[0, 0, 0]] * 3, "float32")


@case("ND-ONEHOT-001")
def one_hot_values_and_dtype(mx, check):
    expect(check, mx.nd.one_hot(mx.nd.array([1, 7]), 3, on_value=8, off_value=1, dtype="int32"),
           [[1, 8, 1], [1, 1, 1]], "int32")


@case("ND-ONEHOT-001")
def one_hot_refuses_a_list(mx, check):
    check.raises(AssertionError, "must have NDArray type", mx.nd.one_hot, [0, 1], 2)


@case("ND-CONTRIB-001")
def boolean_mask_keeps_rows(mx, check):
    table = mx.nd.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    expect(check, mx.nd.contrib.boolean_mask(table, mx.nd.array([0, 1, 0])), [[3, 4]], "float32", "mask 0, 1, 0")
    expect(check, mx.nd.contrib.boolean_mask(table, mx.nd.array([-1, 0, 2])), [[1, 2], [5, 6]], doing="mask -1, 0, 2")


@case("ND-CONTRIB-001")
def boolean_mask_is_differentiable(mx, check):
    table = mx.nd.array([[1.0, 2.0], [3.0, 4.0]])
    table.attach_grad()
    with mx.autograd.record():
        kept = mx.nd.contrib.boolean_mask(table, mx.nd.array([0, 1])) * 2
    kept.backward()
    expect(check, table.grad, [[0, 0], [2, 2]], "float32", "gradient")


@case("ND-CONTRIB-002")
def index_copy_replaces_rows_of_a_copy(mx, check):
    old, new = mx.nd.full((3, 2), 7), mx.nd.array([[1, 2], [3, 4]])
    expect(check, mx.nd.contrib.index_copy(old, mx.nd.array([2, 0]), new), [[3, 4], [7, 7], [1, 2]], "float32")
    check.equal(old, [[7, 7]] * 3, "old array afterwards")


@case("ND-CONTRIB-002", samples={
    "equal": {"other": [1, 2], "want": 1}, "close": {"other": [1, 2.000001], "want": 1},
    "different": {"other": [1, 2.1], "want": 0}})
def allclose_gives_one_flag(mx, check, other, want):
    flag = mx.nd.contrib.allclose(mx.nd.array([1, 2]), mx.nd.array(other))
    check.equal(flag.reshape((1,)), [want], "flag")
    check.dtype(flag, "uint8")
