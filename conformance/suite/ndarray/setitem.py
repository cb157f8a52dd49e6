"""ND-SETITEM: writing into an array."""

import numpy as np

from conformance.case import case
from conformance.suite.ndarray._tools import INF, NAN, expect


@case("ND-SETITEM-001")
def scalar_fills(mx, check):
    array = mx.nd.zeros((2, 3))
    alias, view = array, array[1]
    array[:] = 3
    check.equal(alias, [[3] * 3] * 2, "the same object")
    check.equal(view, [3] * 3, "a view taken before")


@case("ND-SETITEM-001", samples={
    "array": {"make": lambda mx: mx.nd.array([1, 2, 3])}, "list": {"make": lambda mx: [1, 2, 3]},
    "numpy": {"make": lambda mx: np.array([1, 2, 3])}, "row": {"make": lambda mx: mx.nd.array([[1, 2, 3]])},
    "leading_one": {"make": lambda mx: mx.nd.ones((1, 2, 3)) * mx.nd.array([1, 2, 3])},
    "tuple": {"make": lambda mx: (1, 2, 3)}})
def array_like_is_broadcast(mx, check, make):
    array = mx.nd.zeros((2, 3))
    array[:] = make(mx)
    expect(check, array, [[1, 2, 3]] * 2, "float32")


@case("ND-SETITEM-001", samples={
    "array": {"make": lambda mx: mx.nd.array([1.5, 2.5]), "want": [1, 2]},
    "number": {"make": lambda mx: 1.7, "want": [1, 1]},
    "numpy": {"make": lambda mx: np.array([-1.5, 2.5]), "want": [-1, 2]}})
def value_takes_the_dtype_of_the_array(mx, check, make, want):
    array = mx.nd.zeros((2,), dtype="int32")
    array[:] = make(mx)
    expect(check, array, want, "int32")


@case("ND-SETITEM-002", samples={
    "short": {"key": slice(None), "make": lambda mx: mx.nd.array([1, 2])},
    "short_list": {"key": slice(None), "make": lambda mx: [1, 2]},
    "more_axes": {"key": slice(None), "make": lambda mx: mx.nd.ones((2, 3, 1))},
    "row": {"key": 0, "make": lambda mx: mx.nd.array([1, 2])}})
def value_of_another_shape(mx, check, key, make):
    array = mx.nd.zeros((2, 3))
    value = make(mx)
    check.raises(ValueError, "could not be broadcast together", array.__setitem__, key, value)
    check.equal(array, [[0] * 3] * 2, "array afterwards")


@case("ND-SETITEM-003", samples={
    "row": {"key": 0, "value": 9, "want": [[9, 9, 9], [3, 4, 5]]},
    "element": {"key": (1, 2), "value": 9, "want": [[0, 1, 2], [3, 4, 9]]},
    "column": {"key": (slice(None), 1), "value": [7, 8], "want": [[0, 7, 2], [3, 8, 5]]},
    "step": {"key": (slice(None), slice(None, None, 2)), "value": 9, "want": [[9, 1, 9], [9, 4, 9]]},
    "backwards": {"key": slice(None, None, -1), "value": [[7, 8, 9], [10, 11, 12]],
                  "want": [[10, 11, 12], [7, 8, 9]]},
    "backwards_columns": {"key": (0, slice(None, None, -2)), "value": [7, 8], "want": [[8, 1, 7], [3, 4, 5]]},
    "from_the_end": {"key": (-1, -1), "value": 9, "want": [[0, 1, 2], [3, 4, 9]]},
    "ellipsis": {"key": (Ellipsis, 0), "value": 9, "want": [[9, 1, 2], [9, 4, 5]]}})
def region_is_written(mx, check, key, value, want):
    array = mx.nd.arange(6).reshape((2, 3))
    array[key] = mx.nd.array(value) if isinstance(value, list) else value
    check.equal(array, want, "array")


@case("ND-SETITEM-003", samples={
    "row": {"key": 2, "fragment": "index 2 is out of bounds"},
    "row_from_the_end": {"key": -3, "fragment": "out of bounds"},
    "column": {"key": (0, 3), "fragment": "index 3 is out of bounds for axis 1"},
    "too_many": {"key": (0, 0, 0), "fragment": "too many indices"}})
def region_outside(mx, check, key, fragment):
    array = mx.nd.zeros((2, 3))
    check.raises(IndexError, fragment, array.__setitem__, key, 1)
    check.equal(array, [[0] * 3] * 2, "array afterwards")


@case("ND-SETITEM-004")
def listed_positions(mx, check):
    array = mx.nd.zeros((2, 3))
    array[[0, 1], [0, 2]] = mx.nd.array([7, 8])
    check.equal(array, [[7, 0, 0], [0, 0, 8]], "positions by lists")
    array[mx.nd.array([1])] = mx.nd.array([[4, 5, 6]])
    check.equal(array, [[7, 0, 0], [4, 5, 6]], "rows by an array")
    array[[0, 1], 1] = 9
    check.equal(array, [[7, 9, 0], [4, 9, 6]], "a list beside a number")


@case("ND-SETITEM-004")
def last_of_repeated_positions(mx, check):
    array = mx.nd.zeros((2, 3))
    array[[0, 0]] = mx.nd.array([[1, 1, 1], [2, 2, 2]])
    check.equal(array, [[2, 2, 2], [0, 0, 0]], "array")


@case("ND-SETITEM-005")
def negative_entry_counts_from_the_end(mx, check):
    """On a view into a larger array, so that an engine that writes before the view damages nothing else."""
    base = mx.nd.zeros((8,))
    base[2:6][[-1]] = mx.nd.array([5.0])
    check.equal(base, [0, 0, 0, 0, 0, 5, 0, 0], "the larger array")


@case("ND-SETITEM-006")
def entry_out_of_range(mx, check):
    """In a process of its own: a write outside the buffer may damage anything."""
    status, printed, _ = check.python(
        "base = mx.nd.zeros((8,))\n"
        "view = base[2:6]\n"
        "try:\n"
        "    view[[0, 5]] = mx.nd.array([1.0, 2.0])\n"
        "    mx.nd.waitall()\n"
        "    print('no error', base.asnumpy().tolist())\n"
        "except IndexError:\n"
        "    print('IndexError', base.asnumpy().tolist())\n")
    check.equal(printed.strip(), "IndexError [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]", "what happened")
    check.equal(status, 0, "exit status")


@case("ND-SETITEM-007", samples={"text": {"value": "a"}, "object": {"value": object()}, "dict": {"value": {}}})
def value_is_no_array(mx, check, value):
    array = mx.nd.zeros((2,))
    check.raises(TypeError, "does not support assignment with non-array-like object", array.__setitem__, slice(None),
                 value)
    check.equal(array, [0, 0], "array afterwards")


@case("ND-SETITEM-007")
def none_becomes_nan(mx, check):
    array = mx.nd.zeros((2,))
    array[:] = None
    check.equal(array, [NAN, NAN], "array")


@case("ND-SETITEM-008", samples={
    "looks_right": {"source": [1, -2, 3], "want": [0, 0, 3]}, "looks_wrong": {"source": [1, 2, -3],
                                                                              "want": [0, 0, -3]}})
def comparison_is_no_mask(mx, check, source, want):
    array = mx.nd.array(source)
    array[array < 0] = 0
    check.equal(array, want, "array after x[x < 0] = 0")


@case("ND-SETITEM-009")
def number_goes_through_double_precision(mx, check):
    array = mx.nd.zeros((1,), dtype="int64")
    array[:] = 2 ** 53 + 1
    expect(check, array, [2 ** 53], "int64", "filled with the number 2**53 + 1")
    array[:] = np.array([2 ** 53 + 1])
    expect(check, array, [2 ** 53 + 1], "int64", "filled from a numpy array of 2**53 + 1")


@case("ND-SETITEM-009", samples={
    "wraps": {"dtype": "uint8", "value": 300, "want": [44]}, "infinite": {"dtype": "float16", "value": 1e6,
                                                                          "want": [INF]}})
def number_is_converted(mx, check, dtype, value, want):
    array = mx.nd.zeros((1,), dtype=dtype)
    array[:] = value
    expect(check, array, want, dtype)


@case("ND-SETITEM-010")
def overlapping_parts(mx, check):
    array = mx.nd.arange(5)
    array[:-1] = array[1:]
    check.equal(array, [1, 2, 3, 4, 4], "x[:-1] = x[1:]")
    array = mx.nd.arange(5)
    array[1:] = array[:-1]
    check.equal(array, [0, 0, 0, 0, 0], "x[1:] = x[:-1]")


@case("ND-SETITEM-011")
def array_onto_itself(mx, check):
    array = mx.nd.arange(4)
    array[:] = array
    check.equal(array, [0, 1, 2, 3], "x[:] = x")


@case("ND-SETITEM-011")
def transposed_onto_itself(mx, check):
    array = mx.nd.arange(4).reshape((2, 2))
    array[:] = array.T
    check.equal(array, [[0, 2], [1, 3]], "x[:] = x.T")


@case("ND-SETITEM-012")
def value_of_another_context(mx, check):
    array = mx.nd.zeros((2,))
    array[:] = mx.nd.array([1, 2], ctx=mx.cpu(1))
    check.equal(array, [1, 2], "array")
    check.equal(array.context, mx.cpu(0), "context")
    array[1] = mx.nd.array([5], ctx=mx.cpu(2))
    check.equal(array, [1, 5], "array after x[1] = value")
