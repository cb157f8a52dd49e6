"""Mutants of ND-SAVE."""

import os

from conformance.mutants import mutant
from conformance.mutants.ndarray_kit import function, is_array


def _saving(mx, change):
    """Have ``nd.save`` write what ``change(data)`` gives."""
    function(mx.nd, "save", lambda original, fname, data, *args, **options:
             original(fname, change(data), *args, **options))


@mutant("ND-SAVE-001")
def single_array_is_saved_under_a_name(mx):
    _saving(mx, lambda data: {"0": data} if is_array(data) else data)


@mutant("ND-SAVE-002")
def nothing_loads_as_a_dictionary(mx):
    function(mx.nd, "load", lambda original, fname: original(fname) or {})


@mutant("ND-SAVE-003")
def tuple_is_saved(mx):
    _saving(mx, lambda data: list(data) if isinstance(data, tuple) else data)


@mutant("ND-SAVE-004")
def empty_file_loads_as_nothing(mx):
    function(mx.nd, "load", lambda original, fname:
             [] if os.path.exists(fname) and os.path.getsize(fname) == 0 else original(fname))


@mutant("ND-SAVE-005")
def device_is_not_recorded(mx):
    _saving(mx, lambda data: [array.as_in_context(mx.cpu(0)) if is_array(array) else array for array in data]
            if isinstance(data, list) else data)


@mutant("ND-SAVE-006")
def kind_of_shapes_is_not_compared(mx):
    def body(original, fname):
        try:
            return original(fname)
        except mx.base.MXNetError as error:
            if "np shape semantics" not in str(error):
                raise
            with mx.util.np_shape(not mx.util.is_np_shape()):
                return original(fname)

    function(mx.nd, "load", body)


@mutant("ND-SAVE-007")
def names_in_memory_are_dropped(mx):
    def body(original, buffer):
        made = original(buffer)
        return list(made.values()) if isinstance(made, dict) else made

    function(mx.nd, "load_frombuffer", body)


@mutant("ND-SAVE-008")
def sparse_arrays_are_saved_dense(mx):
    _saving(mx, lambda data: {name: array.tostype("default") for name, array in data.items()}
            if isinstance(data, dict) else data)
