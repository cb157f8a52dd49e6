"""ND-ATTR: what an array tells about itself."""

import time
import weakref

import numpy as np

from conformance.case import case
from conformance.suite.ndarray._tools import expect

#: Names that numpy users look for and the releases do not have; an engine may.
NUMPY_NAMES = ("item", "tolist", "numpy", "eval", "nbytes", "resize", "dot", "strides")


@case("ND-ATTR-001")
def shape_ndim_size_and_len(mx, check):
    array = mx.nd.arange(6).reshape((2, 3))
    check.equal(type(array.shape), tuple, "type of shape")
    check.equal([type(length) for length in array.shape], [int, int], "types of its members")
    check.equal((array.shape, array.ndim, array.size, len(array)), ((2, 3), 2, 6, 2), "shape, ndim, size and len")
    check.equal((type(array.ndim), type(array.size)), (int, int), "types of ndim and size")


@case("ND-ATTR-001")
def shape_cannot_be_set(mx, check):
    array = mx.nd.arange(6).reshape((2, 3))
    with check.raises(AttributeError, "shape"):
        array.shape = (3, 2)
    check.equal(array, [[0, 1, 2], [3, 4, 5]], "array after the error")


@case("ND-ATTR-002", samples={name: {"name": name} for name in ("float32", "float64", "float16", "int64", "uint8")})
def dtype_is_a_numpy_class(mx, check, name):
    found = mx.nd.ones(2, dtype=name).dtype
    check.same(found, getattr(np, name), "dtype")
    check.isinstance(found, type, "dtype")
    check.equal(found == name, False, "dtype == %r" % name)
    check.equal(np.dtype(found) == name, True, "numpy.dtype(dtype) == %r" % name)


@case("ND-ATTR-003")
def size_in_bytes(mx, check):
    array = mx.nd.ones((1000, 1000))
    check.equal(array.size * np.dtype(array.dtype).itemsize, 4000000, "size * numpy.dtype(dtype).itemsize")
    check.equal(array.asnumpy().nbytes, 4000000, "bytes of asnumpy()")


@case("ND-ATTR-003")
def itemsize_of_the_class_is_no_number(mx, check):
    array = mx.nd.ones((2, 2))
    check.raises(TypeError, "unsupported operand type", lambda: array.size * array.dtype.itemsize)
    check.equal(array, [[1, 1], [1, 1]], "array after the error")


@case("ND-ATTR-004")
def context_and_ctx_are_the_same(mx, check):
    for device in (mx.cpu(0), mx.cpu(2)):
        array = mx.nd.ones(2, ctx=device)
        check.equal(array.context, device, "context")
        check.equal(array.ctx, device, "ctx")
        check.equal(str(array.context), str(device), "text of the context")
    check.equal(mx.nd.ones(2).context, mx.cpu(0), "context of a fresh array")


@case("ND-ATTR-004")
def device_stands_at_the_end_of_the_repr(mx, check):
    for index in (0, 2):
        shown = repr(mx.nd.ones(2, ctx=mx.cpu(index)))
        check.that(shown.rstrip().endswith("@cpu(%d)>" % index), "end of the repr", "@cpu(%d)>" % index, shown)


@case("ND-ATTR-005", samples={name: {"name": name} for name in NUMPY_NAMES})
def numpy_name_does_not_exist(mx, check, name):
    array = mx.nd.ones((2, 2))
    check.raises(AttributeError, name, lambda: getattr(array, name))


@case("ND-ATTR-006")
def attributes_cannot_be_added(mx, check):
    array = mx.nd.ones(2)
    with check.raises(AttributeError, "note"):
        array.note = 1
    check.equal(hasattr(array, "note"), False, "whether the attribute exists")


@case("ND-ATTR-006")
def weak_references_are_refused(mx, check):
    array = mx.nd.ones(2)
    check.raises(TypeError, "weak reference", weakref.ref, array)


@case("ND-ATTR-007")
def transpose_of_a_vector_is_itself(mx, check):
    vector = mx.nd.array([1, 2, 3])
    check.same(vector.T, vector, "v.T")


@case("ND-ATTR-007")
def transpose_reverses_all_axes(mx, check):
    expect(check, mx.nd.array([[1, 2, 3]]).T, [[1], [2], [3]], doing="transpose of a row")
    values = np.arange(24, dtype="float32").reshape(2, 3, 4)
    expect(check, mx.nd.array(values).T, np.transpose(values, (2, 1, 0)), "float32", "transpose of three axes")


@case("ND-ATTR-008")
def stype_is_default(mx, check):
    check.equal(mx.nd.ones((2, 2)).stype, "default", "stype")
    check.equal(mx.nd.arange(3)[1:].stype, "default", "stype of a view")


@case("ND-ATTR-008")
def reading_attributes_does_not_wait(mx, check):
    """Reading them takes a small part of the time that the computation takes, whenever the engine does that."""
    operand = mx.nd.ones((700, 700))
    operand.wait_to_read()
    shares = []
    for _ in range(5):  # another process may hold up the reading once
        begun = time.perf_counter()
        product = mx.nd.dot(operand, operand)
        called = time.perf_counter()
        seen = (product.shape, product.size, product.dtype, product.context, product.stype)
        read = time.perf_counter()
        product.wait_to_read()
        shares.append((read - called) / (time.perf_counter() - begun))
        if shares[-1] < 0.25:
            break
    check.equal(seen, ((700, 700), 490000, np.float32, mx.cpu(0), "default"), "attributes")
    check.that(min(shares) < 0.25, "share of the time that reading the attributes took", "less than a quarter",
               "%.2f" % min(shares))


@case("ND-ATTR-009")
def hash_is_by_identity(mx, check):
    one, other = mx.nd.array([1, 2]), mx.nd.array([1, 2])
    check.equal(hash(one), hash(one), "hash of the same array")
    known = {one: "one", other: "other"}
    one[:] = 5
    check.equal(known[one], "one", "entry of an array that has changed since")
    check.equal(known[other], "other", "entry of the other array")


@case("ND-ATTR-009")
def sets_hold_arrays_by_identity(mx, check):
    one, other = mx.nd.array([1]), mx.nd.array([2])
    check.equal(len({one, one, other}), 2, "members of a set")
    check.equal((one in {one}, other in {one}), (True, False), "membership")
