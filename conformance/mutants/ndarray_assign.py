"""Mutants of ND-SETITEM and ND-SCALAR."""

import numpy as np

from conformance.mutants import mutant
from conformance.mutants.ndarray_kit import is_array, method


def _writing(mx, when, instead):
    """Have ``x[key] = value`` do ``instead(original, x, key, value)`` where ``when(x, key, value)`` holds."""

    def body(original, self, key, value):
        return instead(original, self, key, value) if when(self, key, value) else original(self, key, value)

    method(mx, "__setitem__", body)


@mutant("ND-SETITEM-001")
def fractions_are_rounded_into_integers(mx):
    _writing(mx, lambda x, key, value: isinstance(value, float) and np.dtype(x.dtype).kind in "iu",
             lambda original, x, key, value: original(x, key, round(value)))


@mutant("ND-SETITEM-002")
def row_is_cleared_before_it_is_refused(mx):
    def instead(original, x, key, value):
        original(x, key, 9)
        original(x, key, value)

    _writing(mx, lambda x, key, value: type(key) is int and is_array(value) and len(x.shape) > 1, instead)


@mutant("ND-SETITEM-003")
def row_behind_the_end_is_the_last(mx):
    _writing(mx, lambda x, key, value: type(key) is int and key >= x.shape[0] > 0,
             lambda original, x, key, value: original(x, x.shape[0] - 1, value))


@mutant("ND-SETITEM-004")
def first_of_repeated_positions_wins(mx):
    _writing(mx, lambda x, key, value: isinstance(key, list) and len(set(key)) < len(key) and is_array(value),
             lambda original, x, key, value: original(x, key[::-1], value[::-1]))


@mutant("ND-SETITEM-007")
def none_becomes_zero(mx):
    _writing(mx, lambda x, key, value: value is None, lambda original, x, key, value: original(x, key, 0))


@mutant("ND-SETITEM-008")
def comparison_is_a_mask(mx):
    def instead(original, x, key, value):
        values = x.asnumpy()
        values[key.asnumpy() != 0] = value
        original(x, slice(None), values)

    _writing(mx, lambda x, key, value: is_array(key) and key.shape == x.shape and not is_array(value), instead)


@mutant("ND-SETITEM-009")
def large_integers_are_exact(mx):
    _writing(mx, lambda x, key, value: isinstance(value, int) and abs(value) > 2 ** 53,
             lambda original, x, key, value: original(x, key, np.full(x[key].shape, value)))


@mutant("ND-SETITEM-011")
def array_onto_itself_is_refused(mx):
    def instead(original, x, key, value):
        raise ValueError("an array cannot be assigned to itself")

    _writing(mx, lambda x, key, value: value is x, instead)


@mutant("ND-SETITEM-012")
def element_from_elsewhere_is_refused(mx):
    def instead(original, x, key, value):
        raise mx.base.MXNetError("the value lives on %s, the array on %s" % (value.context, x.context))

    _writing(mx, lambda x, key, value: type(key) is int and is_array(value) and value.context != x.context, instead)


@mutant("ND-SCALAR-001")
def scalar_of_bytes_is_a_python_int(mx):
    method(mx, "asscalar", lambda original, self:
           int(original(self)) if np.dtype(self.dtype) == np.uint8 else original(self))


@mutant("ND-SCALAR-003")
def nan_is_false(mx):
    def body(original, self):
        return original(self) and (self.size != 1 or bool((self.asnumpy() == self.asnumpy()).all()))

    method(mx, "__bool__", body)
