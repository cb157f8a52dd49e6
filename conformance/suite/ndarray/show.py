"""ND-REPR: the text of an array."""

from conformance.case import case
from conformance.suite.ndarray._tools import NAN


@case("ND-REPR-001", samples={
    "vector": {"source": [1, 2], "options": {}, "want": "\n[1. 2.]\n<NDArray 2 @cpu(0)>"},
    "integers": {"source": [[1, 2], [3, 4]], "options": {"dtype": "int32"},
                 "want": "\n[[1 2]\n [3 4]]\n<NDArray 2x2 @cpu(0)>"},
    "fractions": {"source": [[0.5, -1.25]], "options": {"dtype": "float64"},
                  "want": "\n[[ 0.5  -1.25]]\n<NDArray 1x2 @cpu(0)>"}})
def text_shape_and_context(mx, check, source, options, want):
    array = mx.nd.array(source, **options)
    check.equal(repr(array), want, "repr")
    check.equal(str(array), want, "str")


@case("ND-REPR-001")
def context_of_another_device(mx, check):
    shown = repr(mx.nd.ones((1, 2, 3), ctx=mx.cpu(1)))
    check.equal(shown, "\n[[[1. 1. 1.]\n  [1. 1. 1.]]]\n<NDArray 1x2x3 @cpu(1)>", "repr on cpu(1)")


@case("ND-REPR-002")
def no_dimensions(mx, check):
    check.equal(repr(mx.nd.array(5)), "\n5.0\n<NDArray  @cpu(0)>", "repr of a zero-dimensional array")


@case("ND-REPR-002")
def no_elements(mx, check):
    check.equal(repr(mx.nd.array([])), "\n[]\n<NDArray 0 @cpu(0)>", "repr of an array without elements")


@case("ND-REPR-003", samples={"csr": {"stype": "csr", "name": "CSRNDArray"},
                              "row_sparse": {"stype": "row_sparse", "name": "RowSparseNDArray"}})
def sparse_array_shows_no_values(mx, check, stype, name):
    shown = repr(mx.nd.sparse.zeros(stype, (2, 3)))
    check.equal(shown, "\n<%s 2x3 @cpu(0)>" % name, "repr")


@case("ND-REPR-004")
def nan_is_shown(mx, check):
    check.equal(repr(mx.nd.array([NAN, 1])), "\n[nan  1.]\n<NDArray 2 @cpu(0)>", "repr")


@case("ND-REPR-004")
def text_raises_a_pending_error(mx, check):
    failed = mx.nd.take(mx.nd.ones((2,)), mx.nd.array([9]), mode="raise")
    check.raises(mx.MXNetError, "out of bound", repr, failed)
