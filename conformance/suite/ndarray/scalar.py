"""ND-SCALAR: one number out of an array."""

import numpy as np

from conformance.case import case
from conformance.suite.ndarray._tools import NAN


@case("ND-SCALAR-001", samples={"float32": {"dtype": "float32", "value": 2.5}, "int32": {"dtype": "int32", "value": 2},
                                "float64": {"dtype": "float64", "value": 0.1},
                                "uint8": {"dtype": "uint8", "value": 200}})
def scalar_of_the_dtype(mx, check, dtype, value):
    got = mx.nd.array([value], dtype=dtype).asscalar()
    check.same(type(got), np.dtype(dtype).type, "type of the scalar")
    check.equal(float(got), float(value), "value")


@case("ND-SCALAR-001", samples={"two": {"source": [1, 2]}, "none": {"source": []},
                                "square": {"source": [[1, 2], [3, 4]]}})
def size_is_not_one(mx, check, source):
    check.raises(ValueError, "The current array is not a scalar", mx.nd.array(source).asscalar)


@case("ND-SCALAR-002")
def scalar_of_a_one_by_one_matrix(mx, check):
    got = mx.nd.array([[2.5]]).asscalar()
    check.equal(np.ndim(got), 0, "dimensions of the scalar")
    check.equal(float(got), 2.5, "value")


@case("ND-SCALAR-003", samples={
    "two": {"source": [2], "want": True}, "zero": {"source": [0], "want": False}, "none": {"source": [], "want": False},
    "matrix": {"source": [[1]], "want": True}, "nan": {"source": [NAN], "want": True}})
def truth(mx, check, source, want):
    check.equal(bool(mx.nd.array(source)), want, "bool(x)")


@case("ND-SCALAR-003")
def truth_of_two_elements(mx, check):
    check.raises(ValueError, "truth value of an NDArray with multiple elements is ambiguous", bool, mx.nd.array([1, 2]))


@case("ND-SCALAR-004", samples={
    "float": {"use": float}, "int": {"use": int}, "complex": {"use": complex}, "percent": {"use": lambda x: "%f" % x},
    "format": {"use": lambda x: "{:.2f}".format(x)}})
def not_a_number(mx, check, use):
    check.raises(TypeError, use, mx.nd.array([2.5]))


@case("ND-SCALAR-004")
def not_an_index(mx, check):
    check.raises(TypeError, [1, 2, 3].__getitem__, mx.nd.array([1], dtype="int32"))


@case("ND-SCALAR-004")
def plain_format_is_the_text(mx, check):
    array = mx.nd.array([2.5])
    check.equal("{}".format(array), str(array), "'{}'.format(x)")
