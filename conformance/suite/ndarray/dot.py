"""ND-DOT: matrix products."""

import numpy as np

from conformance.case import case
from conformance.suite.ndarray._tools import expect, fails_at_the_wait


@case("ND-DOT-001")
def dot_of_vectors_and_matrices(mx, check):
    a, b, v = mx.nd.arange(6).reshape((2, 3)), mx.nd.arange(12).reshape((3, 4)), mx.nd.array([1, 2, 3])
    expect(check, mx.nd.dot(a, b), [[20, 23, 26, 29], [56, 68, 80, 92]], "float32", "matrix and matrix")
    expect(check, mx.nd.dot(a, v), [8, 26], "float32", "matrix and vector")
    expect(check, mx.nd.dot(v, b), [32, 38, 44, 50], "float32", "vector and matrix")
    expect(check, mx.nd.dot(v, v), [14], "float32", "vector and vector")


@case("ND-DOT-001")
def dot_follows_numpy_for_matrices(mx, check):
    random = check.random()
    left, right = (random.randn(*shape).astype("float32") for shape in ((7, 5), (5, 3)))
    product = mx.nd.dot(mx.nd.array(left), mx.nd.array(right))
    check.close(product, left.astype("float64").dot(right), rtol=1e-5, atol=1e-5)


@case("ND-DOT-002")
def transposed_operands(mx, check):
    a = mx.nd.arange(6).reshape((2, 3))
    expect(check, mx.nd.dot(a, a, transpose_b=True), [[5, 14], [14, 50]], doing="a times its transpose")
    expect(check, mx.nd.dot(a, a, transpose_a=True), [[9, 12, 15], [12, 17, 22], [15, 22, 29]],
           doing="transpose of a times a")
    b = mx.nd.arange(6).reshape((3, 2))
    expect(check, mx.nd.dot(a, b, transpose_a=True, transpose_b=True), [[3, 9, 15], [4, 14, 24], [5, 19, 33]],
           doing="both transposed")


@case("ND-DOT-002")
def shapes_that_do_not_fit(mx, check):
    a = mx.nd.arange(6).reshape((2, 3))
    check.raises(mx.base.MXNetError, "dot shape error: [2,3] X [2,3]", mx.nd.dot, a, a)


@case("ND-DOT-003")
def last_axis_meets_first_axis(mx, check):
    left, right = np.arange(24.0).reshape(2, 3, 4), np.arange(40.0).reshape(4, 5, 2) % 7
    expect(check, mx.nd.dot(mx.nd.array(left), mx.nd.array(right)), np.tensordot(left, right, 1), "float32")
    check.shape(mx.nd.dot(mx.nd.ones((2, 3, 4)), mx.nd.ones((4, 5, 6))), (2, 3, 5, 6))
    check.raises(mx.base.MXNetError, "dot shape error",
                 lambda: mx.nd.dot(mx.nd.ones((2, 3, 4)), mx.nd.ones((3, 4, 5))))


@case("ND-DOT-003")
def first_axis_meets_first_axis_if_transposed(mx, check):
    left, right = np.arange(24.0).reshape(2, 3, 4), np.arange(10.0).reshape(2, 5)
    expect(check, mx.nd.dot(mx.nd.array(left), mx.nd.array(right), transpose_a=True),
           np.tensordot(left, right, ((0,), (0,))), "float32")


@case("ND-DOT-004", samples={"int32": {"dtype": "int32"}, "float16": {"dtype": "float16"}})
def dtype_is_refused_at_the_wait(mx, check, dtype):
    square = mx.nd.ones((2, 2), dtype=dtype)
    fails_at_the_wait(check, mx.base.MXNetError, "dot only supports float32/float64 for CPU",
                      lambda: mx.nd.dot(square, square))
    expect(check, square, [[1, 1], [1, 1]], dtype, "operand after the error")


@case("ND-DOT-004", samples={"float32": {"dtype": "float32"}, "float64": {"dtype": "float64"}})
def dtype_is_kept(mx, check, dtype):
    expect(check, mx.nd.dot(mx.nd.ones((1, 2), dtype=dtype), mx.nd.ones((2, 1), dtype=dtype)), [[2]], dtype)


@case("ND-DOT-005", samples={
    "plain": {"left": (2, 3, 4), "right": (2, 4, 5), "flags": {}},
    "transpose_a": {"left": (2, 4, 3), "right": (2, 4, 5), "flags": {"transpose_a": True}},
    "transpose_b": {"left": (2, 3, 4), "right": (2, 5, 4), "flags": {"transpose_b": True}},
    "four_axes": {"left": (3, 2, 3, 4), "right": (3, 2, 4, 5), "flags": {}}})
def batch_dot_multiplies_the_last_two_axes(mx, check, left, right, flags):
    a, b = (np.arange(float(np.prod(shape))).reshape(shape) % 11 for shape in (left, right))
    want = np.matmul(np.swapaxes(a, -1, -2) if flags.get("transpose_a") else a,
                     np.swapaxes(b, -1, -2) if flags.get("transpose_b") else b)
    expect(check, mx.nd.batch_dot(mx.nd.array(a), mx.nd.array(b), **flags), want, "float32")


@case("ND-DOT-005", samples={
    "batches_differ": {"left": (2, 3, 4), "right": (1, 4, 5), "fragment": "batch_dot shape error"},
    "matrices_do_not_fit": {"left": (2, 3, 4), "right": (2, 3, 4), "fragment": "batch_dot shape error"},
    "two_axes": {"left": (3, 4), "right": (4, 5), "fragment": "batch_dot currently only support"}})
def batch_dot_refuses(mx, check, left, right, fragment):
    check.raises(mx.base.MXNetError, fragment, lambda: mx.nd.batch_dot(mx.nd.ones(left), mx.nd.ones(right)))


@case("ND-DOT-006")
def gemm2_equals_dot(mx, check):
    random = check.random()
    q, k = (random.randn(32, 64).astype("float32") for _ in range(2))
    product = mx.nd.linalg.gemm2(mx.nd.array(q), mx.nd.array(k), transpose_b=True)
    check.close(product, q.astype("float64").dot(k.T.astype("float64")), "gemm2 and numpy", rtol=1e-4, atol=1e-4)
    check.close(product, mx.nd.dot(mx.nd.array(q), mx.nd.array(k).T), "gemm2 and nd.dot", rtol=1e-4, atol=1e-4)


@case("ND-DOT-006")
def gemm2_scales(mx, check):
    a = mx.nd.arange(6).reshape((2, 3))
    expect(check, mx.nd.linalg.gemm2(a, a, transpose_b=True, alpha=2), [[10, 28], [28, 100]], "float32")


@case("ND-DOT-006")
def gemm2_takes_batches_and_refuses_what_does_not_fit(mx, check):
    check.shape(mx.nd.linalg.gemm2(mx.nd.ones((2, 3, 4)), mx.nd.ones((2, 4, 5))), (2, 3, 5))
    a = mx.nd.arange(6).reshape((2, 3))
    check.raises(mx.base.MXNetError, "Incompatible matrix dimensions", mx.nd.linalg.gemm2, a, a)
    check.raises(mx.base.MXNetError,
                 lambda: mx.nd.linalg.gemm2(mx.nd.ones((2, 3, 4)), mx.nd.ones((3, 4, 5))))


@case("ND-DOT-007")
def syrk_multiplies_by_the_transpose(mx, check):
    a = mx.nd.arange(6).reshape((2, 3))
    expect(check, mx.nd.linalg.syrk(a), [[5, 14], [14, 50]], "float32", "a times its transpose")
    expect(check, mx.nd.linalg.syrk(a, transpose=True), [[9, 12, 15], [12, 17, 22], [15, 22, 29]], "float32",
           "transpose of a times a")
