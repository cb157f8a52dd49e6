"""BCAST-RULE, BCAST-ERR, BCAST-INPLACE: which shapes go together, and the errors of those that do not."""

import numpy as np

from conformance.case import case
from conformance.suite.ndarray._tools import INF

APART = "operands could not be broadcast together with shapes"

A = np.array([[1, 2, 3], [4, 5, 6]], dtype="float32")
B = np.array([[2, 0, 3]], dtype="float32")


def _numbers(shape, first=1):
    return np.arange(first, first + int(np.prod(shape)), dtype="float32").reshape(shape)


@case("BCAST-RULE-001", samples={
    "row": {"left": (2, 3), "right": (1, 3), "want": (2, 3)}, "missing_axis": {"left": (2, 3), "right": (3,),
                                                                               "want": (2, 3)},
    "both": {"left": (1, 3), "right": (2, 1), "want": (2, 3)},
    "vector_and_column": {"left": (3,), "right": (2, 1), "want": (2, 3)},
    "one_element": {"left": (1,), "right": (2, 2), "want": (2, 2)},
    "three_axes": {"left": (4, 1, 3), "right": (2, 1), "want": (4, 2, 3)},
    "equal": {"left": (2, 3), "right": (2, 3), "want": (2, 3)}})
def aligned_from_the_right(mx, check, left, right, want):
    a, b = mx.nd.array(_numbers(left)), mx.nd.array(_numbers(right, 100))
    check.equal(a + b, _numbers(left) + _numbers(right, 100), "left + right")
    check.equal(b * a, _numbers(left) * _numbers(right, 100), "right * left")
    check.shape(a + b, want)


@case("BCAST-RULE-002")
def single_row_is_repeated(mx, check):
    made = mx.nd.array([[1, 2, 3], [4, 5, 6]]) + mx.nd.array([[10, 20, 30]])
    check.equal(made, [[11, 22, 33], [14, 25, 36]], "sum")


FUNCTIONS = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "true_divide": np.divide,
    "modulo": np.mod, "power": np.power, "maximum": np.maximum, "minimum": np.minimum, "equal": np.equal,
    "not_equal": np.not_equal, "greater": np.greater, "greater_equal": np.greater_equal, "lesser": np.less,
    "lesser_equal": np.less_equal, "logical_and": np.logical_and, "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}


@case("BCAST-RULE-003", samples={name: {"name": name, "want": want} for name, want in sorted(FUNCTIONS.items())})
def function_broadcasts(mx, check, name, want):
    left, right = np.array([[0, 3, 5]], dtype="float32"), np.array([[3], [2]], dtype="float32")
    check.close(getattr(mx.nd, name)(mx.nd.array(left), mx.nd.array(right)), want(left, right), "nd.%s" % name)


@case("BCAST-RULE-003", samples={
    "+": {"use": lambda a, b: a + b}, "-": {"use": lambda a, b: a - b}, "*": {"use": lambda a, b: a * b},
    "/": {"use": lambda a, b: a / b}, "%": {"use": lambda a, b: a % b}, "**": {"use": lambda a, b: a ** b},
    "==": {"use": lambda a, b: a == b}, "!=": {"use": lambda a, b: a != b}, ">": {"use": lambda a, b: a > b},
    ">=": {"use": lambda a, b: a >= b}, "<": {"use": lambda a, b: a < b}, "<=": {"use": lambda a, b: a <= b}})
def operator_broadcasts(mx, check, use):
    left, right = np.array([[0, 3, 5]], dtype="float32"), np.array([[3], [2]], dtype="float32")
    check.close(use(mx.nd.array(left), mx.nd.array(right)), use(left, right), "result")


FAMILY = {
    "add": [[3, 2, 6], [6, 5, 9]], "plus": [[3, 2, 6], [6, 5, 9]], "sub": [[-1, 2, 0], [2, 5, 3]],
    "minus": [[-1, 2, 0], [2, 5, 3]], "mul": [[2, 0, 9], [8, 0, 18]], "div": [[0.5, INF, 1], [2, INF, 2]],
    "mod": [[1, 0, 0], [0, 0, 0]], "power": [[1, 1, 27], [16, 1, 216]], "maximum": [[2, 2, 3], [4, 5, 6]],
    "minimum": [[1, 0, 3], [2, 0, 3]], "hypot": [[5 ** 0.5, 2, 18 ** 0.5], [20 ** 0.5, 5, 45 ** 0.5]],
    "equal": [[0, 0, 1], [0, 0, 0]], "not_equal": [[1, 1, 0], [1, 1, 1]], "greater": [[0, 1, 0], [1, 1, 1]],
    "greater_equal": [[0, 1, 1], [1, 1, 1]], "lesser": [[1, 0, 0], [0, 0, 0]], "lesser_equal": [[1, 0, 1], [0, 0, 0]],
    "logical_and": [[1, 0, 1], [1, 0, 1]], "logical_or": [[1, 1, 1], [1, 1, 1]], "logical_xor": [[0, 1, 0], [0, 1, 0]],
}


@case("BCAST-RULE-004", samples={name: {"name": name, "want": want} for name, want in sorted(FAMILY.items())})
def broadcast_family(mx, check, name, want):
    made = getattr(mx.nd, "broadcast_" + name)(mx.nd.array(A), mx.nd.array(B))
    check.close(made, want, "nd.broadcast_%s" % name)
    check.dtype(made, "float32")


@case("BCAST-RULE-004")
def functions_over_shapes_exist(mx, check):
    for name in ("to", "like", "axis", "axes"):
        check.that(callable(getattr(mx.nd, "broadcast_" + name, None)), "nd.broadcast_%s is a function" % name)


@case("BCAST-RULE-005", samples={"row": {"left": (0, 3), "right": (1, 3), "want": (0, 3)},
                                 "both": {"left": (0, 1), "right": (1, 3), "want": (0, 3)},
                                 "zeros": {"left": (0, 3), "right": (0, 3), "want": (0, 3)}})
def dimension_of_zero(mx, check, left, right, want):
    with mx.util.np_shape(True):
        check.shape(mx.nd.zeros(left) + mx.nd.ones(right), want)


@case("BCAST-RULE-005")
def zero_against_two(mx, check):
    with mx.util.np_shape(True):
        check.raises(mx.MXNetError, "could not be broadcast together", lambda: mx.nd.zeros((0, 3)) + mx.nd.ones((2, 3)))


@case("BCAST-RULE-005")
def no_dimensions_against_all(mx, check):
    with mx.util.np_shape(True):
        check.equal(mx.nd.array(2) + mx.nd.array([[1, 2], [3, 4]]), [[3, 4], [5, 6]], "sum")


@case("BCAST-RULE-006")
def five_alternating_axes(mx, check):
    left, right = _numbers((2, 1, 2, 1, 2)), _numbers((1, 2, 1, 2, 1), 100)
    check.equal(mx.nd.array(left) + mx.nd.array(right), left + right, "sum")


@case("BCAST-RULE-006")
def axes_that_merge(mx, check):
    left, right = _numbers((1,) * 8 + (2,)), _numbers((2,) + (1,) * 8, 100)
    check.equal(mx.nd.array(left) + mx.nd.array(right), left + right, "sum")


@case("BCAST-RULE-006")
def six_alternating_axes(mx, check):
    """Either right or refused, at the latest when the result is waited for."""
    left, right = _numbers((2, 1, 2, 1, 2, 1)), _numbers((1, 2, 1, 2, 1, 2), 100)
    try:
        made = (mx.nd.array(left) + mx.nd.array(right)).asnumpy()
    except mx.MXNetError as error:
        check.contains(str(error), "Too many broadcast dimensions", doing="text of the refusal")
    else:
        check.equal(made, left + right, "sum")


@case("BCAST-RULE-007")
def output_depends_on_one_element(mx, check):
    a, b = mx.nd.ones((2, 3)), mx.nd.ones((1, 3))
    a.attach_grad()
    b.attach_grad()
    with mx.autograd.record():
        total = mx.nd.broadcast_add(a, b)
    total.backward(mx.nd.array([[0, 1, 0], [0, 0, 0]]))
    check.equal(a.grad, [[0, 1, 0], [0, 0, 0]], "gradient of the first operand")
    check.equal(b.grad, [[0, 1, 0]], "gradient of the repeated operand")


@case("BCAST-RULE-007")
def repeated_element_feeds_its_column(mx, check):
    a, b = _numbers((3, 2)), _numbers((1, 2), 10)
    before = (mx.nd.array(a) * mx.nd.array(b)).asnumpy()
    changed = b.copy()
    changed[0, 1] = 100
    after = (mx.nd.array(a) * mx.nd.array(changed)).asnumpy()
    check.equal(after != before, [[False, True]] * 3, "elements that a change of b[0, 1] reaches")


APARTNESS = {
    "add": lambda mx: mx.nd.ones((2, 3)) + mx.nd.ones((3, 2)),
    "short_vector": lambda mx: mx.nd.ones((2, 3)) + mx.nd.ones((2,)),
    "three_axes": lambda mx: mx.nd.ones((2, 3, 4)) * mx.nd.ones((3, 3, 4)),
    "comparison": lambda mx: mx.nd.ones((3,)) > mx.nd.ones((2,)),
    "equality": lambda mx: mx.nd.ones((3,)) == mx.nd.ones((2,)),
    "broadcast_add": lambda mx: mx.nd.broadcast_add(mx.nd.ones((2, 3)), mx.nd.ones((3, 2))),
    "broadcast_maximum": lambda mx: mx.nd.broadcast_maximum(mx.nd.ones((2, 3)), mx.nd.ones((3, 2))),
}


@case("BCAST-ERR-001", samples={name: {"use": use} for name, use in sorted(APARTNESS.items())})
def shapes_that_do_not_match(mx, check, use):
    error = check.raises(mx.MXNetError, APART, use, mx)
    check.isinstance(error, RuntimeError, "the error")
    check.that(not isinstance(error, ValueError), "the error is no ValueError", got=type(error))


@case("BCAST-ERR-001")
def both_shapes_are_named(mx, check):
    check.raises(mx.MXNetError, APART + " [2,3] [3,2]", lambda: mx.nd.ones((2, 3)) + mx.nd.ones((3, 2)))
    check.raises(mx.MXNetError, APART + " [2,3,4] [4,4]", lambda: mx.nd.broadcast_mul(mx.nd.ones((2, 3, 4)),
                                                                                      mx.nd.ones((4, 4))))


@case("BCAST-ERR-001", samples={
    "broadcast_to": {"use": lambda mx, a: a.broadcast_to((2, 4))},
    "broadcast_like": {"use": lambda mx, a: a.broadcast_like(mx.nd.ones((2, 4)))},
    "assignment": {"use": lambda mx, a: a.__setitem__(slice(None), mx.nd.ones((2, 4)))}})
def methods_raise_value_errors(mx, check, use):
    array = mx.nd.ones((2, 3))
    check.raises(ValueError, "operands could not be broadcast together", use, mx, array)
    check.equal(array, np.ones((2, 3)), "array afterwards")


@case("BCAST-ERR-002", samples={
    "view": {"make": lambda mx: mx.nd.arange(12).reshape((4, 3))[1:3]},
    "transposed": {"make": lambda mx: mx.nd.arange(6).reshape((3, 2)).T},
    "expanded": {"make": lambda mx: mx.nd.arange(3).broadcast_to((2, 3))},
    "fresh": {"make": lambda mx: mx.nd.ones((2, 3))}})
def shapes_alone_decide(mx, check, make):
    array = make(mx)
    column = np.array([[10], [20]], dtype="float32")
    check.equal(array + mx.nd.array(column), array.asnumpy() + column, "sum with a column")
    check.raises(mx.MXNetError, "could not be broadcast together", lambda: array + mx.nd.ones((2,)))


@case("BCAST-ERR-003")
def nothing_is_changed(mx, check):
    array, other, target = mx.nd.ones((2, 3)), mx.nd.ones((3, 2)), mx.nd.full((2, 3), 5)
    check.raises(mx.MXNetError, "could not be broadcast", lambda: mx.nd.broadcast_add(array, other, out=target))
    check.equal(target, [[5, 5, 5]] * 2, "out array")
    check.equal(array, [[1, 1, 1]] * 2, "first operand")
    check.equal(other, [[1, 1]] * 3, "second operand")


@case("BCAST-INPLACE-001", samples={
    "+=": {"method": "__iadd__", "want": [[2, 4, 6], [5, 7, 9]]},
    "-=": {"method": "__isub__", "want": [[0, 0, 0], [3, 3, 3]]},
    "*=": {"method": "__imul__", "want": [[1, 4, 9], [4, 10, 18]]},
    "/=": {"method": "__itruediv__", "want": [[1, 1, 1], [4, 2.5, 2]]}})
def right_operand_is_broadcast(mx, check, method, want):
    array = mx.nd.array([[1, 2, 3], [4, 5, 6]])
    alias = array
    made = getattr(array, method)(mx.nd.array([[1, 2, 3]]))
    check.same(made, alias, "result of the operator")
    check.equal(alias, want, "array")


@case("BCAST-INPLACE-001")
def target_is_never_broadcast(mx, check):
    array = mx.nd.ones((1, 3))
    check.raises(mx.MXNetError, "Shape inconsistent", array.__iadd__, mx.nd.ones((2, 3)))
    check.equal(array, [[1, 1, 1]], "array afterwards")
