"""ND-ARITH: operators between arrays and numbers, written into arrays, and their limits."""

import operator

import numpy as np

from conformance.case import case
from conformance.suite.ndarray._tools import INF, NAN, expect


@case("ND-ARITH-001", samples={
    "add": {"compute": lambda a: a + 1, "want": [2, 3, 4]},
    "add_left": {"compute": lambda a: 1 + a, "want": [2, 3, 4]},
    "subtract": {"compute": lambda a: a - 1, "want": [0, 1, 2]},
    "subtract_left": {"compute": lambda a: 1 - a, "want": [0, -1, -2]},
    "multiply": {"compute": lambda a: a * 2, "want": [2, 4, 6]},
    "multiply_left": {"compute": lambda a: 2 * a, "want": [2, 4, 6]},
    "divide": {"compute": lambda a: a / 2, "want": [0.5, 1, 1.5]},
    "divide_left": {"compute": lambda a: 6 / a, "want": [6, 3, 2]},
    "modulo": {"compute": lambda a: a % 2, "want": [1, 0, 1]},
    "modulo_left": {"compute": lambda a: 7 % a, "want": [0, 1, 1]},
    "power": {"compute": lambda a: a ** 2, "want": [1, 4, 9]},
    "power_left": {"compute": lambda a: 2 ** a, "want": [2, 4, 8]},
    "true": {"compute": lambda a: a + True, "want": [2, 3, 4]}})
def array_and_python_number(mx, check, compute, want):
    array = mx.nd.array([1, 2, 3])
    expect(check, compute(array), want, "float32")
    check.equal(array, [1, 2, 3], "operand afterwards")


@case("ND-ARITH-001", samples={
    "right": {"compute": lambda a: a + np.float32(2), "want": [3, 4, 5]},
    "left": {"compute": lambda a: np.float64(2) - a, "want": [1, 0, -1]},
    "integer": {"compute": lambda a: a * np.int64(3), "want": [3, 6, 9]}})
def array_and_numpy_scalar(mx, check, compute, want):
    expect(check, compute(mx.nd.array([1, 2, 3])), want, "float32")


@case("ND-ARITH-001", samples={
    name: {"name": name, "want": want} for name, want in (
        ("add", [[5, 8], [7, 10]]), ("sub", [[1, 0], [3, 2]]), ("mul", [[6, 16], [10, 24]]),
        ("truediv", [[1.5, 1], [2.5, 1.5]]), ("mod", [[1, 0], [1, 2]]), ("pow", [[9, 256], [25, 1296]]))})
def two_arrays_broadcast(mx, check, name, want):
    left, right = mx.nd.array([[3, 4], [5, 6]]), mx.nd.array([[2, 4]])
    expect(check, getattr(operator, name)(left, right), want, "float32", "table %s row" % name)


@case("ND-ARITH-001")
def negation_and_absolute_value(mx, check):
    array = mx.nd.array([1, -2, 3])
    expect(check, -array, [-1, 2, -3], "float32", "-a")
    expect(check, abs(array), [1, 2, 3], "float32", "abs(a)")


@case("ND-ARITH-002", samples={
    "list": {"compute": lambda a: a + [1, 2, 3]}, "none": {"compute": lambda a: a + None},
    "string": {"compute": lambda a: a + "x"}, "numpy_right": {"compute": lambda a: a + np.array([1, 2, 3])},
    "numpy_left": {"compute": lambda a: np.array([1, 2, 3]) + a}, "complex": {"compute": lambda a: a + (1 + 2j)},
    "equal_to_a_list": {"compute": lambda a: a == [1, 2, 3]},
    "equal_to_none": {"compute": lambda a: a == None}})  # noqa: E711 - the comparison itself is looked at
def operand_is_refused(mx, check, compute):
    array = mx.nd.array([1, 2, 3])
    check.raises(TypeError, "not supported", compute, array)
    check.equal(array, [1, 2, 3], "array after the error")


@case("ND-ARITH-003", samples={
    "floordiv": {"compute": lambda a: a // 2}, "matmul": {"compute": lambda a: a @ a},
    "and": {"compute": lambda a: a & a}, "or": {"compute": lambda a: a | a}, "invert": {"compute": lambda a: ~a},
    "divmod": {"compute": lambda a: divmod(a, 2)}, "plus": {"compute": lambda a: +a},
    "round": {"compute": round}})
def operator_does_not_exist(mx, check, compute):
    check.raises(TypeError, compute, mx.nd.array([1, 2, 3]))


@case("ND-ARITH-004", samples={
    name: {"name": name, "want": want} for name, want in (
        ("iadd", [4, 6]), ("isub", [2, 2]), ("imul", [3, 8]), ("itruediv", [3, 2]), ("imod", [0, 0]))})
def written_into_the_left_array(mx, check, name, want):
    array = mx.nd.array([3, 4])
    alias = array
    check.same(getattr(operator, name)(array, mx.nd.array([1, 2])), array, "result")
    expect(check, alias, want, "float32", "array afterwards")


@case("ND-ARITH-004")
def written_by_numbers_in_turn(mx, check):
    array = mx.nd.ones(3) * 3
    alias = array
    array += 1
    array -= 2
    array *= 3
    array /= 2
    array %= 2
    check.same(array, alias, "array after +=, -=, *=, /= and %=")
    check.equal(alias, [1, 1, 1], "((3 + 1 - 2) * 3 / 2) % 2")


@case("ND-ARITH-004")
def power_has_no_form_in_place(mx, check):
    array = mx.nd.ones(3) * 3
    alias = array
    array **= 2
    check.not_same(array, alias, "array after **=")
    check.equal(array, [9, 9, 9], "new array")
    check.equal(alias, [3, 3, 3], "old array")


@case("ND-ARITH-005", samples={
    "add": {"compute": lambda a: a + 1, "want": 4}, "subtract": {"compute": lambda a: a - 1, "want": 2},
    "multiply": {"compute": lambda a: a * 2, "want": 6}, "negate": {"compute": lambda a: -a, "want": -3}})
def operator_makes_a_new_array(mx, check, compute, want):
    array = mx.nd.full(3, 3)
    alias = array
    array = compute(array)
    check.not_same(array, alias, "result")
    array[0] = 99
    check.equal(array, [99, want, want], "new array after a write")
    check.equal(alias, [3, 3, 3], "old array")


@case("ND-ARITH-009", samples={
    "float": {"left": [-5.0, 5.5], "right": 3, "want": [1, 2.5], "dtype": "float32"},
    "negative_divisor": {"left": [5, -5], "right": [-3, -3], "want": [-1, -2], "dtype": "float32"},
    "integers": {"left": [5, -5, 7], "right": [3, 3, -3], "want": [2, 1, -2], "dtype": "int32"}})
def modulo_has_the_sign_of_the_divisor(mx, check, left, right, want, dtype):
    divisor = mx.nd.array(right, dtype=dtype) if isinstance(right, list) else right
    expect(check, mx.nd.array(left, dtype=dtype) % divisor, want, dtype)


@case("ND-ARITH-009")
def modulo_of_a_number_by_an_array(mx, check):
    expect(check, -7 % mx.nd.array([3, -3]), [2, -1], "float32")


@case("ND-ARITH-009")
def modulo_by_zero_is_zero(mx, check):
    expect(check, mx.nd.array([5.0]) % 0, [0], "float32", "float % 0")
    expect(check, mx.nd.array([5], dtype="int32") % 0, [0], "int32", "integer % 0")
    expect(check, mx.nd.array([5.0]) % mx.nd.array([0.0]), [0], "float32", "float % an array of 0")


@case("ND-ARITH-010")
def float_division_by_zero(mx, check):
    with check.no_warning():
        expect(check, mx.nd.array([5.0, -5.0, 0.0]) / mx.nd.array([0.0, 0.0, 0.0]), [INF, -INF, NAN], "float32",
               "array / array")
        expect(check, mx.nd.array([5.0]) / 0, [INF], "float32", "array / 0")
        expect(check, 1 / mx.nd.array([0.0, -1.0]), [INF, -1], "float32", "1 / array")


@case("ND-ARITH-011", samples={
    "array": {"expression": "mx.nd.array([5], dtype='int32') / mx.nd.array([0], dtype='int32')"},
    "number": {"expression": "mx.nd.array([5], dtype='int32') / 0"}})
def integer_division_by_zero_leaves_the_process_alive(mx, check, expression):
    del mx
    # 2.0.0b1 survives the first time only.
    status, out, err = check.python("""
for _ in range(3):
    try:
        (%s).asnumpy()
        print("value")
    except Exception:
        print("exception")
""" % expression)
    check.equal(status, 0, "exit status of the process (%s)" % err[-200:])
    check.equal(len(out.split()), 3, "number of divisions that ended")


@case("ND-ARITH-014")
def powers_at_the_edges(mx, check):
    expect(check, mx.nd.array([0.0, 5.0]) ** 0, [1, 1], "float32", "x ** 0")
    expect(check, mx.nd.array([-2.0]) ** 0.5, [NAN], "float32", "(-2) ** 0.5")
    expect(check, mx.nd.array([-2.0]) ** mx.nd.array([2.0]), [4], "float32", "(-2) ** [2]")
    expect(check, mx.nd.array([0.0]) ** mx.nd.array([0.0]), [1], "float32", "0 ** [0]")


@case("ND-ARITH-014")
def cube_roots_of_negative_numbers(mx, check):
    check.close(mx.nd.cbrt(mx.nd.array([-8.0, 27.0])), [-2, 3], "cbrt")


@case("ND-ARITH-016")
def logarithm_outside_its_domain(mx, check):
    with check.no_warning():
        expect(check, mx.nd.log(mx.nd.array([0, -1])), [-INF, NAN], "float32", "log")


@case("ND-ARITH-016")
def square_root_outside_its_domain(mx, check):
    with check.no_warning():
        expect(check, mx.nd.sqrt(mx.nd.array([-1, 4])), [NAN, 2], "float32", "sqrt")
