"""ND-NUMPY, ND-DLPACK and ND-PICKLE: giving arrays to others and taking them back."""

import copy
import warnings

import numpy as np

from conformance.case import case
from conformance.suite.ndarray._tools import expect, number, through_pickle


@case("ND-NUMPY-001", samples={dtype: {"dtype": dtype} for dtype in ("float32", "float16", "int64", "bool")})
def asnumpy_keeps_the_dtype(mx, check, dtype):
    values = mx.nd.array([1, 0, 1], dtype=dtype).asnumpy()
    check.same(type(values), np.ndarray, "type")
    expect(check, values, [1, 0, 1], dtype)


@case("ND-NUMPY-001")
def asnumpy_gives_a_writable_copy(mx, check):
    array = mx.nd.array([1, 2, 3])
    values = array.asnumpy()
    check.that(values.flags.writeable, "the copy is writable")
    values[0] = 9
    check.equal(array, [1, 2, 3], "array after a write into the copy")
    array[:] = 5
    check.equal(values, [9, 2, 3], "copy after a write into the array")


@case("ND-NUMPY-002")
def numpy_takes_values_only_where_the_array_offers_them(mx, check):
    array = mx.nd.array([[1, 2], [3, 4]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy finds 32 axes in 1.9.1, since every element is again an array
        taken = np.asarray(array)
    if hasattr(array, "__array__"):
        expect(check, taken, [[1, 2], [3, 4]], "float32", "numpy.asarray")
    else:
        check.dtype(taken, "object", "dtype of numpy.asarray")
    expect(check, array.asnumpy(), [[1, 2], [3, 4]], "float32", "asnumpy")


@case("ND-NUMPY-003")
def from_numpy_shares_memory(mx, check):
    source = np.array([1.0, 2.0, 3.0], dtype="float32")
    array = mx.nd.from_numpy(source)
    expect(check, array, [1, 2, 3], "float32", "array")
    array[:] = 7
    array.wait_to_read()
    check.equal(source, [7, 7, 7], "source after a write into the array")


@case("ND-NUMPY-003")
def from_numpy_sees_writes_of_older_views(mx, check):
    source = np.array([1.0, 2.0], dtype="float32")
    view = source[:]
    array = mx.nd.from_numpy(source)
    view[0] = 42
    check.equal(array, [42, 2], "array after a write into an older view of its source")


@case("ND-NUMPY-003")
def from_numpy_makes_the_source_read_only(mx, check):
    source = np.array([1.0, 2.0, 3.0], dtype="float32")
    array = mx.nd.from_numpy(source)
    check.that(not source.flags.writeable, "the source is read-only")
    with check.raises(ValueError, "read-only"):
        source[0] = 5
    check.equal(array, [1, 2, 3], "array after the error")


@case("ND-NUMPY-003", samples={dtype: {"dtype": dtype} for dtype in ("float64", "float16", "int32", "int64", "uint8")})
def from_numpy_keeps_the_dtype(mx, check, dtype):
    expect(check, mx.nd.from_numpy(np.array([1, 2], dtype=dtype)), [1, 2], dtype)


@case("ND-NUMPY-004")
def from_numpy_refuses_other_memory_orders(mx, check):
    source = np.ones((2, 3), dtype="float32").T
    check.raises(ValueError, "Only c-contiguous arrays are supported for zero-copy", mx.nd.from_numpy, source)
    check.that(source.flags.writeable, "the source stays writable")


@case("ND-NUMPY-004", samples={"complex64": {"dtype": "complex64"}, "int16": {"dtype": "int16"}})
def from_numpy_refuses_dtypes(mx, check, dtype):
    check.raises(ValueError, "%s is not supported" % dtype, mx.nd.from_numpy, np.ones(2, dtype=dtype))


@case("ND-NUMPY-004")
def from_numpy_refuses_a_list(mx, check):
    check.raises(AttributeError, "flags", mx.nd.from_numpy, [1, 2])


@case("ND-NUMPY-004")
def from_numpy_copies_on_request(mx, check):
    source = np.array([1.0, 2.0], dtype="float32")
    array = mx.nd.from_numpy(source, zero_copy=False)
    check.that(source.flags.writeable, "the source stays writable")
    source[0] = 9
    check.equal(array, [1, 2], "array after a write into its source")


@case("ND-NUMPY-005", needs=("numpy_mode",))
def both_array_classes_share_memory(mx, check):
    legacy = mx.nd.ones(3)
    modern = legacy.as_np_ndarray()
    check.same(type(modern), mx.np.ndarray, "type of as_np_ndarray()")
    modern[:] = 5
    check.equal(legacy, [5, 5, 5], "legacy array after a write into the other")
    back = modern.as_nd_ndarray()
    check.same(type(back), mx.nd.NDArray, "type of as_nd_ndarray()")
    back[:] = 6
    check.equal(legacy, [6, 6, 6], "legacy array after a write into the one made back")
    check.equal(modern, [6, 6, 6], "the other after that write")


@case("ND-NUMPY-005")
def own_class_gives_the_array_itself(mx, check):
    legacy = mx.nd.ones(3)
    check.same(legacy.as_nd_ndarray(), legacy, "as_nd_ndarray() of a legacy array")


@case("ND-NUMPY-006")
def legacy_operator_refuses_numpy_arrays(mx, check):
    array = mx.np.array([1, 2, 3])
    check.raises(TypeError, "legacy operator which can only accept legacy ndarrays", mx.nd.exp, array)
    check.equal(array, [1, 2, 3], "array after the error")


@case("ND-DLPACK-001")
def capsule_shares_memory(mx, check):
    array = mx.nd.array([[1, 2], [3, 4]])
    other = mx.nd.from_dlpack(mx.nd.to_dlpack_for_read(array))
    expect(check, other, [[1, 2], [3, 4]], "float32", "array made of the capsule")
    array[0, 0] = 9
    array.wait_to_read()
    check.equal(other, [[9, 2], [3, 4]], "that array after a write into the first")


@case("ND-DLPACK-001")
def writes_through_a_capsule_are_seen(mx, check):
    array = mx.nd.array([[1, 2], [3, 4]])
    other = mx.nd.from_dlpack(mx.nd.to_dlpack_for_write(array))
    other += 1
    other.wait_to_read()
    check.equal(array, [[2, 3], [4, 5]], "array after a write through the capsule")


@case("ND-DLPACK-001")
def capsule_of_a_view(mx, check):
    array = mx.nd.array([[1, 2], [3, 4]])
    expect(check, mx.nd.from_dlpack(mx.nd.to_dlpack_for_read(array[1])), [3, 4], "float32")


@case("ND-DLPACK-001")
def capsule_is_consumed_once(mx, check):
    capsule = mx.nd.to_dlpack_for_read(mx.nd.array([1, 2]))
    first = mx.nd.from_dlpack(capsule)
    check.raises((AssertionError, ValueError), "consumed only once", mx.nd.from_dlpack, capsule)
    check.equal(first, [1, 2], "array of the first time")


@case("ND-DLPACK-002")
def capsule_comes_back_on_cpu_0(mx, check):
    array = mx.nd.ones(2, ctx=mx.cpu(1))
    check.equal(mx.nd.from_dlpack(mx.nd.to_dlpack_for_read(array)).context, mx.cpu(0), "context")


@case("ND-DLPACK-002")
def legacy_arrays_have_no_dlpack_method(mx, check):
    array = mx.nd.ones(2)
    check.raises(AttributeError, "__dlpack__", lambda: array.__dlpack__())


@case("ND-PICKLE-001")
def pickle_keeps_values_and_dtype(mx, check):
    array = mx.nd.array([[1, 2], [3, 4]], dtype="int32", ctx=mx.cpu(1))
    restored = through_pickle(mx, array)
    expect(check, restored, [[1, 2], [3, 4]], "int32", "restored array")
    check.equal(restored.context, mx.cpu(0), "context of the restored array")
    restored[:] = 9
    check.equal(array, [[1, 2], [3, 4]], "array after a write into the restored one")


@case("ND-PICKLE-001")
def pickle_drops_the_gradient(mx, check):
    array = mx.nd.array([1, 2])
    array.attach_grad()
    check.that(array.grad is not None, "the array has a gradient")
    check.same(through_pickle(mx, array).grad, None, "gradient of the restored array")


@case("ND-PICKLE-001", samples={"copy": {"duplicate": copy.copy}, "deepcopy": {"duplicate": copy.deepcopy}})
def copies_are_independent(mx, check, duplicate):
    array = mx.nd.array([[1, 2], [3, 4]], dtype="int32")
    other = duplicate(array)
    expect(check, other, [[1, 2], [3, 4]], "int32", "copy")
    other[:] = 5
    check.equal(array, [[1, 2], [3, 4]], "array after a write into the copy")
    check.equal(other, [[5, 5], [5, 5]], "copy")


@case("ND-PICKLE-002")
def contexts_pickle(mx, check):
    for device in (mx.cpu(0), mx.cpu(1)):
        check.equal(through_pickle(mx, device), device, "restored context")


@case("ND-PICKLE-002", needs=("sparse",))
def sparse_arrays_pickle(mx, check):
    dense = mx.nd.array([[0, 2], [0, 0], [3, 0]])
    for stype in ("csr", "row_sparse"):
        restored = through_pickle(mx, dense.tostype(stype))
        check.equal(restored.stype, stype, "stype")
        check.equal(restored.tostype("default"), [[0, 2], [0, 0], [3, 0]], "values of %s" % stype)
    check.equal(number(through_pickle(mx, mx.nd.sparse.zeros("csr", (2, 2))).tostype("default").sum()), 0.0, "zeros")
