"""ND-CREATE, first part: nd.array over lists, numpy arrays, other arrays and scalars."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.ndarray._tools import NAN, expect

NOT_ARRAY_LIKE = "source_array must be array like object"

DTYPES = ("float16", "float32", "float64", "uint8", "int8", "int32", "int64", "bool")


@case("ND-CREATE-001", samples={
    "integers": {"source": [1, 2], "want": [1, 2]},
    "tuple": {"source": (1.5,), "want": [1.5]},
    "booleans": {"source": [True, False], "want": [1, 0]},
    "nested": {"source": [[1, 2], [3, 4]], "want": [[1, 2], [3, 4]]},
    "range": {"source": range(3), "want": [0, 1, 2]}})
def list_gives_float32(mx, check, source, want):
    expect(check, mx.nd.array(source), want, "float32")


@case("ND-CREATE-002", samples={dtype: {"dtype": dtype} for dtype in
                                ("float64", "int64", "int32", "float16", "uint8", "bool")})
def numpy_array_gives_float32(mx, check, dtype):
    source = np.array([1, 0], dtype=dtype)
    expect(check, mx.nd.array(source), [1, 0], "float32")
    expect(check, mx.nd.array(source, dtype=source.dtype), [1, 0], dtype, "array made with the dtype of its source")


@case("ND-CREATE-003")
def dtype_of_an_array_is_kept(mx, check):
    source = mx.nd.array([1, 2], dtype="int32")
    expect(check, mx.nd.array(source), [1, 2], "int32")
    expect(check, mx.nd.array(source, dtype="float64"), [1, 2], "float64", "array made with another dtype")


@case("ND-CREATE-003")
def context_of_an_array_is_not_kept(mx, check):
    source = mx.nd.array([1, 2], dtype="int32", ctx=mx.cpu(1))
    made = mx.nd.array(source)
    expect(check, made, [1, 2], "int32")
    check.equal(made.context, mx.cpu(0), "context without ctx=")
    check.equal(mx.nd.array(source, ctx=mx.cpu(2)).context, mx.cpu(2), "context with ctx=cpu(2)")
    with mx.cpu(3):
        check.equal(mx.nd.array(source).context, mx.cpu(3), "context inside `with cpu(3)`")


@case("ND-CREATE-003", "ND-CREATE-004")
def array_is_copied(mx, check):
    source = mx.nd.array([1, 2], dtype="int32")
    made = mx.nd.array(source)
    made[:] = 9
    check.equal(source, [1, 2], "source after a write into the copy")
    source[:] = 5
    check.equal(made, [9, 9], "copy after a write into the source")


@case("ND-CREATE-004", samples={"float32": {"dtype": "float32"}, "float64": {"dtype": "float64"}})
def numpy_array_is_copied(mx, check, dtype):
    source = np.array([1, 2], dtype=dtype)
    made = mx.nd.array(source, dtype=dtype)
    check.that(source.flags.writeable, "the source stays writable")
    source[:] = 7
    check.equal(made, [1, 2], "array after a write into its source")
    made[:] = 3
    check.equal(source, [7, 7], "source after a write into the array")


@case("ND-CREATE-004")
def list_is_copied(mx, check):
    source = [[1.0, 2.0], [3.0, 4.0]]
    made = mx.nd.array(source)
    source[0][0] = 7.0
    check.equal(made, [[1, 2], [3, 4]], "array after a write into its source")
    check.equal(source, [[7.0, 2.0], [3.0, 4.0]], "source")


@case("ND-CREATE-005", samples={
    "float_to_integer": {"source": [1.7, -1.7], "dtype": "int32", "want": [1, -1], "name": "int32"},
    "uint8_wraps_above": {"source": [300], "dtype": "uint8", "want": [44], "name": "uint8"},
    "uint8_wraps_below": {"source": [-1], "dtype": "uint8", "want": [255], "name": "uint8"},
    "int_is_int64": {"source": [1, 2], "dtype": int, "want": [1, 2], "name": "int64"},
    "float_is_float64": {"source": [1, 2], "dtype": float, "want": [1, 2], "name": "float64"},
    "bool": {"source": [2, 0], "dtype": "bool", "want": [True, False], "name": "bool"}})
def explicit_dtype_converts(mx, check, source, dtype, want, name):
    expect(check, mx.nd.array(source, dtype=dtype), want, name)


@case("ND-CREATE-006", samples={
    "ragged": {"source": [[1, 2], [3]]},
    "strings": {"source": ["a"]},
    "dictionary": {"source": {1: 2}},
    "complex": {"source": [1 + 2j]}})
def source_is_refused(mx, check, source):
    check.raises(TypeError, NOT_ARRAY_LIKE, mx.nd.array, source)


@case("ND-CREATE-006")
def generator_is_refused(mx, check):
    check.raises(TypeError, NOT_ARRAY_LIKE, mx.nd.array, (value for value in range(3)))


@case("ND-CREATE-006")
def list_of_arrays_is_refused(mx, check):
    check.raises(TypeError, NOT_ARRAY_LIKE, mx.nd.array, [mx.nd.array([1]), mx.nd.array([2])])


@case("ND-CREATE-007")
def none_is_a_nan_or_refused(mx, check):
    try:
        made = mx.nd.array(None)
    except TypeError as error:
        check.contains(str(error), NOT_ARRAY_LIKE, doing="message")
    else:
        expect(check, made, NAN, "float32")


@case("ND-CREATE-008", samples={dtype: {"dtype": dtype} for dtype in DTYPES})
def element_type_exists(mx, check, dtype):
    expect(check, mx.nd.array([1, 0], dtype=dtype), [1, 0], dtype)


@case("ND-CREATE-008", samples={dtype: {"dtype": dtype} for dtype in ("complex64", "int16")})
def element_type_is_refused(mx, check, dtype):
    check.raises(KeyError, dtype, lambda: mx.nd.array([1], dtype=dtype))


@case("ND-CREATE-009")
def scalar_gives_shape_of_no_axes(mx, check):
    made = mx.nd.array(5)
    expect(check, made, 5.0, "float32")
    check.equal((made.shape, made.ndim, made.size), ((), 0, 1), "shape, ndim and size")
    expect(check, mx.nd.array(-7, dtype="int32"), -7, "int32", "array with a dtype")


@case("ND-CREATE-010")
def empty_list_gives_no_element(mx, check):
    made = mx.nd.array([])
    check.equal((made.shape, made.size), ((0,), 0), "shape and size")
    check.equal(made.asnumpy().shape, (0,), "shape of asnumpy()")
    check.dtype(mx.nd.array([], dtype="int32"), "int32")


@case("ND-CREATE-021")
def large_integers_are_rounded_in_float32(mx, check):
    expect(check, mx.nd.array([16777217]), [16777216], "float32", "2**24 + 1")
    expect(check, mx.nd.array([16777216]), [16777216], "float32", "2**24")


@case("ND-CREATE-021")
def large_integers_are_exact_in_int64(mx, check):
    expect(check, mx.nd.array(np.array([2 ** 53 + 1]), dtype="int64"), [2 ** 53 + 1], "int64", "2**53 + 1")


@case("ND-CREATE-022")
def strided_source_is_copied_in_row_major_order(mx, check):
    expect(check, mx.nd.array(np.arange(4)[::2]), [0, 2], doing="every second element")
    expect(check, mx.nd.array(np.arange(4, dtype="float32")[::-1]), [3, 2, 1, 0], doing="reversed")


@case("ND-CREATE-022")
def transposed_source_is_copied_in_row_major_order(mx, check):
    made = mx.nd.array(np.array([[1, 2], [3, 4]], dtype="float32").T)
    expect(check, made, [[1, 3], [2, 4]])
    check.equal(made.reshape((4,)), [1, 3, 2, 4], "elements in order")


@case("ND-CREATE-025")
def context_is_cpu_0_or_the_given_one(mx, check):
    for source in ([1.0, 1.0], np.ones(2)):
        check.equal(mx.nd.array(source).context, mx.cpu(0), "context without ctx=")
        check.equal(mx.nd.array(source, ctx=mx.cpu(1)).context, mx.cpu(1), "context with ctx=cpu(1)")


@case("ND-CREATE-025")
def current_context_is_used(mx, check):
    with mx.cpu(2):
        check.equal(mx.nd.array(np.ones(2)).context, mx.cpu(2), "context inside `with cpu(2)`")
        check.equal(mx.nd.array([1.0]).context, mx.cpu(2), "context of a list inside `with cpu(2)`")
        check.equal(mx.nd.array([1.0], ctx=mx.cpu(1)).context, mx.cpu(1), "context with ctx=cpu(1) inside it")
    check.equal(mx.nd.array([1.0]).context, mx.cpu(0), "context afterwards")


@case("ND-CREATE-024")
def numpy_source_is_much_faster_than_a_list(mx, check):
    values = check.random().rand(1000, 1000).astype("float32")
    nested = values.tolist()
    check.close(mx.nd.array(nested), values, "array made of the list")
    ratio = kit.times_as_long(lambda: mx.nd.array(nested).wait_to_read(), lambda: mx.nd.array(values).wait_to_read(), 5)
    check.that(ratio >= 5.0, "time for a nested list over time for a numpy array", "at least 5", "%.1f" % ratio)
