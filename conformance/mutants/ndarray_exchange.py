"""Mutants of ND-NUMPY, ND-DLPACK, ND-PICKLE and ND-CALL."""

import numpy as np

from conformance.mutants import mutant
from conformance.mutants.ndarray_kit import function, is_array, method


@mutant("ND-NUMPY-001")
def asnumpy_is_read_only(mx):
    def body(original, self):
        values = original(self)
        values.flags.writeable = False
        return values

    method(mx, "asnumpy", body)


@mutant("ND-NUMPY-003")
def source_stays_writable(mx):
    def body(original, ndarray, zero_copy=True):
        result = original(ndarray, zero_copy)
        ndarray.flags.writeable = True
        return result

    function(mx.nd, "from_numpy", body)


@mutant("ND-NUMPY-004")
def copied_source_becomes_read_only(mx):
    def body(original, ndarray, zero_copy=True):
        result = original(ndarray, zero_copy)
        ndarray.flags.writeable = False
        return result

    function(mx.nd, "from_numpy", body)


@mutant("ND-NUMPY-005")
def own_class_is_copied(mx):
    method(mx, "as_nd_ndarray", lambda original, self: original(self).copy())


@mutant("ND-NUMPY-006")
def exp_takes_numpy_arrays(mx):
    function(mx.nd, "exp", lambda original, data, **options:
             original(data if type(data) is mx.nd.NDArray else data.as_nd_ndarray(), **options))


@mutant("ND-DLPACK-001")
def capsule_is_copied(mx):
    function(mx.nd, "from_dlpack", lambda original, dlpack: original(dlpack).copy())


@mutant("ND-PICKLE-001")
def copy_is_the_array_itself(mx):
    mx.nd.NDArray.__copy__ = lambda self: self


def first_of_its_type(device):
    """The device of the same type with number 0."""
    return type(device), (device.device_type, 0)


@mutant("ND-PICKLE-002")
def number_of_a_context_is_not_pickled(mx):
    setattr(type(mx.cpu(0)), "__reduce__", first_of_its_type)  # noqa: B010 - a plain assignment does not pass mypy


@mutant("ND-CALL-001")
def sum_ignores_unknown_keywords(mx):
    def body(original, *args, **options):
        options.pop("foo", None)
        return original(*args, **options)

    function(mx.nd, "sum", body)


@mutant("ND-CALL-001")
def zeros_like_refuses_unknown_keywords(mx):
    def body(original, *args, **options):
        if "dtype" in options:
            raise mx.base.MXNetError("Cannot find argument 'dtype'")
        return original(*args, **options)

    function(mx.nd, "zeros_like", body)


@mutant("ND-CALL-002")
def sum_takes_numbers(mx):
    def body(original, *args, **options):
        if args and not is_array(args[0]) and np.isscalar(args[0]):
            args = (mx.nd.array([args[0]]),) + args[1:]
        return original(*args, **options)

    function(mx.nd, "sum", body)


@mutant("ND-CALL-003")
def unknown_operators_do_nothing(mx):
    """mx.nd.anything exists and gives None."""
    known = vars(mx.nd).get("__getattr__")

    def look_up(name):
        if known is not None:
            try:
                return known(name)
            except AttributeError:
                pass
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *args, **options: None

    mx.nd.__getattr__ = look_up


@mutant("ND-CALL-004")
def dropout_accepts_any_rate(mx):
    function(mx.nd, "Dropout", lambda original, data, p=0.5, **options: original(data, p=min(p, 1.0), **options))
