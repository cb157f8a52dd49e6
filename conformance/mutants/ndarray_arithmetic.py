"""Mutants of ND-ARITH, ND-CMP and ND-CAST."""

import numpy as np

from conformance.mutants import mutant
from conformance.mutants.ndarray_kit import function, is_array, like, method

FLOATS = (np.float16, np.float32)


@mutant("ND-ARITH-001")
def absolute_value_is_the_array_itself(mx):
    method(mx, "__abs__", lambda original, self: self)


@mutant("ND-ARITH-002")
def none_is_unequal(mx):
    """x == None is False."""
    method(mx, "__eq__", lambda original, self, other: False if other is None else original(self, other))


@mutant("ND-ARITH-004")
def modulo_in_place_makes_a_new_array(mx):
    method(mx, "__imod__", lambda original, self, other: self % other)


@mutant("ND-ARITH-005")
def constant_array_is_doubled_in_place(mx):
    """2 times an array whose elements are all equal writes into that array."""

    def body(original, self, other):
        values = self.asnumpy()
        if not is_array(other) and other == 2 and values.size and (values == values.flat[0]).all():
            self += values.flat[0].item()
            return self
        return original(self, other)

    method(mx, "__mul__", body)


@mutant("ND-ARITH-006")
def float16_and_float32_are_added(mx):
    def body(original, self, other):
        if is_array(other) and self.dtype != other.dtype and self.dtype in FLOATS and other.dtype in FLOATS:
            return original(self.astype("float32"), other.astype("float32"))
        return original(self, other)

    method(mx, "__add__", body)


@mutant("ND-ARITH-007")
def fraction_makes_integers_floats(mx):
    """int32 + 1.7 is float32."""

    def body(original, self, other):
        if isinstance(other, float) and self.dtype == np.int32:
            return original(self.astype("float32"), other)
        return original(self, other)

    method(mx, "__add__", body)


@mutant("ND-ARITH-008")
def integer_division_rounds_down(mx):
    def body(original, self, other):
        if not is_array(other) and other == 2 and self.dtype in (np.int32, np.int64):
            return like(mx, self, self.asnumpy() // 2)
        return original(self, other)

    method(mx, "__truediv__", body)


@mutant("ND-ARITH-009")
def modulo_has_the_sign_of_the_dividend(mx):
    def body(original, self, other):
        if not is_array(other) and other == 3 and self.dtype == np.float32:
            return like(mx, self, np.fmod(self.asnumpy(), 3))
        return original(self, other)

    method(mx, "__mod__", body)


@mutant("ND-ARITH-010")
def float_division_by_zero_raises(mx):
    def body(original, self, other):
        if not is_array(other) and other == 0 and self.dtype == np.float32:
            raise ZeroDivisionError("array / 0")
        return original(self, other)

    method(mx, "__truediv__", body)


@mutant("ND-ARITH-012")
def boolean_times_number_is_boolean(mx):
    method(mx, "__mul__", lambda original, self, other:
           original(self, other).astype("bool") if self.dtype == np.bool_ else original(self, other))


@mutant("ND-ARITH-013")
def square_root_of_integers_is_rounded(mx):
    def body(original, data, **options):
        if is_array(data) and data.dtype == np.int32:
            return like(mx, data, np.rint(np.sqrt(data.asnumpy())))
        return original(data, **options)

    function(mx.nd, "sqrt", body)


@mutant("ND-ARITH-014")
def cube_root_of_negative_numbers_is_nan(mx):
    function(mx.nd, "cbrt", lambda original, data, **options: mx.nd.sqrt(mx.nd.sign(data)) * original(data, **options))


@mutant("ND-ARITH-015")
def maximum_of_two_numbers_is_an_array(mx):
    def body(original, lhs, rhs, **options):
        return original(lhs, rhs, **options) if is_array(lhs) or is_array(rhs) else mx.nd.array([max(lhs, rhs)])

    function(mx.nd, "maximum", body)


@mutant("ND-ARITH-016")
def logarithm_of_zero_is_nan(mx):
    def body(original, data, **options):
        return original(mx.nd.where(data == 0, mx.nd.ones_like(data) * -1, data), **options)

    function(mx.nd, "log", body)


@mutant("ND-CMP-001")
def at_most_means_less_than(mx):
    method(mx, "__le__", lambda original, self, other: self < other)


@mutant("ND-CMP-002")
def boolean_and_number_compare_to_booleans(mx):
    def body(original, self, other):
        result = original(self, other)
        return result.astype("bool") if self.dtype == np.bool_ and not is_array(other) else result

    method(mx, "__eq__", body)


@mutant("ND-CMP-003")
def nan_equals_nan(mx):
    def body(original, self, other):
        if is_array(other) and self.dtype == np.float32 and self.shape == other.shape:
            left, right = self.asnumpy(), other.asnumpy()
            return like(mx, self, (left == right) | (np.isnan(left) & np.isnan(right)))
        return original(self, other)

    method(mx, "__eq__", body)


@mutant("ND-CMP-004")
def maximum_ignores_nan(mx):
    def body(original, lhs, rhs, **options):
        if is_array(lhs) and is_array(rhs):
            return like(mx, lhs, np.fmax(lhs.asnumpy(), rhs.asnumpy()))
        return original(lhs, rhs, **options)

    function(mx.nd, "maximum", body)


@mutant("ND-CMP-005")
def exclusive_or_includes_both(mx):
    def body(original, lhs, rhs, **options):
        if is_array(lhs) and is_array(rhs):
            return mx.nd.logical_or(lhs, rhs, **options)
        return original(lhs, rhs, **options)

    function(mx.nd, "logical_xor", body)


@mutant("ND-CAST-001")
def uint8_saturates(mx):
    def body(original, self, dtype, *args, **options):
        source = self.clip(0, 255) if dtype == "uint8" and self.dtype == np.float32 else self
        return original(source, dtype, *args, **options)

    method(mx, "astype", body)
