"""BCAST-TO, BCAST-AXIS, BCAST-ELEM, BCAST-STRIDE: one array expanded, and functions that do not expand."""

import numpy as np

from conformance.case import case
from conformance.suite.ndarray._tools import shows_in


@case("BCAST-TO-001", samples={
    "row": {"source": [[1, 2, 3]], "target": (2, 3), "want": [[1, 2, 3]] * 2},
    "column": {"source": [[1], [2]], "target": (2, 3), "want": [[1, 1, 1], [2, 2, 2]]},
    "leading_axis": {"source": [1, 2, 3], "target": (2, 3), "want": [[1, 2, 3]] * 2},
    "two_leading": {"source": [[1, 2, 3]], "target": (2, 2, 3), "want": [[[1, 2, 3]] * 2] * 2},
    "same": {"source": [[1, 2, 3]], "target": (1, 3), "want": [[1, 2, 3]]}})
def method_adds_leading_axes(mx, check, source, target, want):
    check.equal(mx.nd.array(source).broadcast_to(target), want, "x.broadcast_to(%s)" % (target,))


@case("BCAST-TO-001")
def function_keeps_a_dimension(mx, check):
    row = mx.nd.array([[1, 2, 3]])
    check.equal(mx.nd.broadcast_to(row, (2, 3)), [[1, 2, 3]] * 2, "nd.broadcast_to(x, (2, 3))")
    check.equal(mx.nd.broadcast_to(row, shape=(2, 0)), [[1, 2, 3]] * 2, "nd.broadcast_to(x, (2, 0))")


@case("BCAST-TO-001")
def function_adds_no_axes(mx, check):
    check.raises(mx.MXNetError, "cannot be broadcasted to [4,2,3]",
                 lambda: mx.nd.broadcast_to(mx.nd.array([[1, 2, 3]]), shape=(4, 2, 3)))


@case("BCAST-TO-002", samples={
    "other_size": {"target": (2, 4), "method": "could not be broadcast together with remapped shapes",
                   "function": "Array cannot be broadcasted from [1,3] to [2,4]"},
    "fewer_axes": {"target": (3,), "method": "could not be broadcast together",
                   "function": "cannot be broadcasted to [3]"}})
def impossible_target(mx, check, target, method, function):
    row = mx.nd.array([[1, 2, 3]])
    check.raises(ValueError, method, row.broadcast_to, target)
    check.raises(mx.MXNetError, function, lambda: mx.nd.broadcast_to(row, shape=target))
    check.equal(row, [[1, 2, 3]], "array afterwards")


EXPANSIONS = {
    "method": lambda mx, x: x.broadcast_to((2, 3)), "function": lambda mx, x: mx.nd.broadcast_to(x, (2, 3)),
    "same_shape": lambda mx, x: x.broadcast_to((1, 3)),
    "like": lambda mx, x: mx.nd.broadcast_like(x, mx.nd.ones((2, 3))), "like_method": lambda mx,
    x: x.broadcast_like(mx.nd.ones((2, 3))),
    "axis": lambda mx, x: mx.nd.broadcast_axis(x, axis=0, size=2), "axis_method": lambda mx,
    x: x.broadcast_axes(axis=0, size=2),
}


@case("BCAST-TO-003", samples={name: {"make": make} for name, make in sorted(EXPANSIONS.items())})
def result_is_independent(mx, check, make):
    row = mx.nd.array([[1, 2, 3]])
    made = make(mx, row)
    made[0, 0] = 9
    want = [[9, 2, 3]] + [[1, 2, 3]] * (made.shape[0] - 1)
    check.equal(made, want, "result after a write into one element")
    check.equal(row, [[1, 2, 3]], "source after a write into the result")
    row[:] = 5
    check.equal(made, want, "result after a write into the source")


@case("BCAST-TO-004")
def expanded_array_has_its_own_memory(mx, check):
    row = mx.nd.ones((1, 300))
    check.that(not shows_in(row.broadcast_to((300, 300)), row), "a write into the result stays there")
    made = row.broadcast_to((300, 300))
    made[7] = 2
    check.equal(made.reshape((-1,))[2099:2401], [1] + [2] * 300 + [1], "the result as a vector, around row 7")


@case("BCAST-TO-005")
def shape_of_another_array(mx, check):
    row = mx.nd.array([[1, 2, 3]])
    check.equal(mx.nd.broadcast_like(row, mx.nd.ones((2, 3))), [[1, 2, 3]] * 2, "nd.broadcast_like")
    check.equal(row.broadcast_like(mx.nd.ones((2, 3))), [[1, 2, 3]] * 2, "x.broadcast_like")


@case("BCAST-TO-005")
def only_the_method_adds_axes(mx, check):
    row, other = mx.nd.array([[1, 2, 3]]), mx.nd.ones((4, 2, 3))
    check.equal(row.broadcast_like(other), [[[1, 2, 3]] * 2] * 4, "x.broadcast_like")
    check.raises(mx.MXNetError, "cannot be broadcasted to [4,2,3]", lambda: mx.nd.broadcast_like(row, other))


@case("BCAST-TO-005")
def listed_axes_alone(mx, check):
    made = mx.nd.broadcast_like(mx.nd.array([[1], [2]]), mx.nd.ones((5, 4)), lhs_axes=(1,), rhs_axes=(1,))
    check.equal(made, [[1] * 4, [2] * 4], "nd.broadcast_like with axes")


@case("BCAST-TO-005")
def other_array_is_smaller(mx, check):
    check.raises(mx.MXNetError, "Array cannot be broadcasted",
                 lambda: mx.nd.broadcast_like(mx.nd.ones((2, 3)), mx.nd.ones((1, 3))))


@case("BCAST-AXIS-001", samples={
    "one": {"source": [[1], [2]], "options": {"axis": 1, "size": 3}, "want": [[1] * 3, [2] * 3]},
    "two": {"source": [[[1], [2]]], "options": {"axis": (0, 2), "size": (2, 3)}, "want": [[[1] * 3, [2] * 3]] * 2},
    "none": {"source": [[1], [2]], "options": {}, "want": [[1], [2]]}})
def axes_of_size_one(mx, check, source, options, want):
    for name in ("broadcast_axis", "broadcast_axes"):
        array = mx.nd.array(source)
        made = getattr(mx.nd, name)(array, **options)
        check.equal(made, want, "nd.%s" % name)
        check.that(not shows_in(made, array), "a write into the result of nd.%s stays there" % name)


@case("BCAST-AXIS-001", samples={
    "longer_axis": {"options": {"axis": 0, "size": 3}, "fragment": "Broadcasting axis must have size 1"},
    "out_of_range": {"options": {"axis": 2, "size": 3}, "fragment": ""},
    "negative": {"options": {"axis": -1, "size": 3}, "fragment": ""},
    "unequal_lists": {"options": {"axis": (1,), "size": (3, 4)}, "fragment": ""}})
def impossible_axis(mx, check, options, fragment):
    array = mx.nd.array([[1], [2]])
    check.raises(mx.MXNetError, fragment, lambda: mx.nd.broadcast_axis(array, **options))
    check.equal(array, [[1], [2]], "array afterwards")


@case("BCAST-AXIS-002", samples={
    "rows_and_columns": {"left": (1, 3), "right": (2, 1), "want": (2, 3)},
    "three_axes": {"left": (4, 1, 3), "right": (2, 1), "want": (4, 2, 3)},
    "equal": {"left": (2,), "right": (2,), "want": (2,)}})
def common_shape_of_two_arrays(mx, check, left, right, want):
    check.equal(mx.nd.broadcast_axes(mx.nd.ones(left), mx.nd.ones(right)), want, "nd.broadcast_axes(a, b)")


@case("BCAST-AXIS-002")
def two_arrays_that_do_not_match(mx, check):
    check.raises((mx.MXNetError, ValueError), "could not be broadcast together with shapes [2,3] [3,2]",
                 mx.nd.broadcast_axes, mx.nd.ones((2, 3)), mx.nd.ones((3, 2)))


@case("BCAST-AXIS-002")
def axes_by_keyword(mx, check):
    check.equal(mx.nd.broadcast_axes(mx.nd.array([[1]]), axis=1, size=2), [[1, 1]],
                "nd.broadcast_axes(x, axis=1, size=2)")


ELEMENTWISE = {"elemwise_add": np.add, "elemwise_sub": np.subtract, "elemwise_mul": np.multiply,
               "elemwise_div": np.divide,
               "add_n": np.add, "ElementWiseSum": np.add}


@case("BCAST-ELEM-001", samples={name: {"name": name, "want": want} for name, want in sorted(ELEMENTWISE.items())})
def equal_shapes(mx, check, name, want):
    left, right = np.array([[1, 2, 3], [4, 5, 6]], dtype="float32"), np.array([[2, 4, 8], [1, 2, 4]], dtype="float32")
    check.equal(getattr(mx.nd, name)(mx.nd.array(left), mx.nd.array(right)), want(left, right), "nd.%s" % name)


@case("BCAST-ELEM-001", samples={name: {"name": name} for name in sorted(ELEMENTWISE)})
def unequal_shapes(mx, check, name):
    array = mx.nd.ones((2, 3))
    for shape in ((1, 3), (3,), (6,), (3, 2)):
        got = "expected [2,3], got [%s]" % ",".join(map(str, shape))
        check.raises(mx.MXNetError, "Incompatible attr in node", got,
                     getattr(mx.nd, name), array, mx.nd.ones(shape))
    check.equal(array, np.ones((2, 3)), "array afterwards")


@case("BCAST-ELEM-001")
def sum_of_many(mx, check):
    made = mx.nd.add_n(*[mx.nd.full((2,), 10 ** power) for power in range(4)])
    check.equal(made, [1111, 1111], "nd.add_n of four arrays")


@case("BCAST-ELEM-002")
def add_broadcasts(mx, check):
    row, column = mx.nd.array([[1, 2, 3]]), mx.nd.array([[10], [20]])
    check.equal(mx.nd.add(row, column), [[11, 12, 13], [21, 22, 23]], "nd.add")
    check.equal(row + column, [[11, 12, 13], [21, 22, 23]], "+")


@case("BCAST-ELEM-002")
def elemwise_add_does_not(mx, check):
    row, column = mx.nd.array([[1, 2, 3]]), mx.nd.array([[10], [20]])
    check.raises(mx.MXNetError, "expected [1,3], got [2,1]", mx.nd.elemwise_add, row, column)
    made = mx.nd.elemwise_add(row.broadcast_to((2, 3)), column.broadcast_to((2, 3)))
    check.equal(made, [[11, 12, 13], [21, 22, 23]], "nd.elemwise_add of expanded arrays")


@case("BCAST-STRIDE-001", samples={
    "matrix": {"shape": (2, 3), "want": (3, 1)}, "cube": {"shape": (2, 3, 4), "want": (12, 4, 1)},
    "row": {"shape": (1, 3), "want": (3, 1)}, "vector": {"shape": (2,), "want": (1,)}})
def strides_of_a_fresh_array(mx, check, shape, want):
    array = mx.nd.ones(shape)
    check.equal(array.stride, want, "x.stride")
    check.equal(mx.nd.stride(array), want, "nd.stride(x)")


@case("BCAST-STRIDE-001", samples={"row": {"shape": (1, 3)}, "vector": {"shape": (3,)}})
def stride_of_a_repeated_axis(mx, check, shape):
    """Zero while nothing was written, in an engine that expands without copying; never after a write."""
    made = mx.nd.ones(shape).broadcast_to((2, 3))
    check.that(made.stride in ((0, 1), (3, 1)), "stride of the expanded array", "(0, 1) or (3, 1)", made.stride)
    made[0, 0] = 5
    check.equal(made.stride, (3, 1), "stride after a write")
    check.equal(made, [[5, 1, 1], [1, 1, 1]], "values after the write")


@case("BCAST-STRIDE-001")
def stride_of_a_transposed_array(mx, check):
    check.equal(mx.nd.ones((32, 64)).T.stride, (32, 1), "stride")


@case("BCAST-STRIDE-002", samples={
    "first": {"source": (1, 3), "target": (2, 3)}, "last": {"source": (2, 1), "target": (2, 3)},
    "middle": {"source": (2, 1, 3), "target": (2, 4, 3)}, "both": {"source": (1, 2, 1), "target": (3, 2, 3)},
    "none": {"source": (1, 3), "target": (1, 3)}})
def read_with_strides_of_zero(mx, check, source, target):
    values = np.arange(int(np.prod(source)), dtype="float32").reshape(source)
    strides = [0 if size == 1 != wanted else stride
               for size, wanted, stride in zip(source, target, values.strides)]
    want = np.lib.stride_tricks.as_strided(values, target, strides)
    check.equal(mx.nd.array(values).broadcast_to(target), want, "array read with the strides %s" % strides)


@case("BCAST-STRIDE-003")
def product_of_queries_and_keys(mx, check):
    random = check.random()
    queries, keys = random.rand(32, 64).astype("float32"), random.rand(32, 64).astype("float32")
    q, k = mx.nd.array(queries), mx.nd.array(keys)
    check.close(mx.nd.dot(q, k.T), queries.dot(keys.T), "nd.dot(q, k.T)")
    check.close(mx.nd.linalg.gemm2(q, k, transpose_b=True), queries.dot(keys.T),
                "nd.linalg.gemm2(q, k, transpose_b=True)")


@case("BCAST-STRIDE-003")
def elementwise_product_with_the_transpose(mx, check):
    q, k = mx.nd.ones((32, 64)), mx.nd.ones((32, 64))
    check.raises(mx.MXNetError, "operands could not be broadcast together with shapes [32,64] [64,32]", lambda: q * k.T)
