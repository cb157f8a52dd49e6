"""Mutants of ND-CREATE and ND-ATTR."""

import types

import numpy as np

from conformance.mutants import mutant, wrap
from conformance.mutants.ndarray_kit import attribute, function, is_array


def _sources(mx, when, change):
    """Hand ``change(source, arguments)`` to nd.array where ``when(source, arguments)`` holds."""

    def body(original, source_array, ctx=None, dtype=None):
        arguments = {"ctx": ctx, "dtype": dtype}
        if when(source_array, arguments):
            source_array = change(source_array, arguments)
        return original(source_array, **arguments)

    function(mx.nd, "array", body)


@mutant("ND-CREATE-001")
def list_of_booleans_stays_boolean(mx):
    def change(source, arguments):
        arguments["dtype"] = "bool"
        return source

    _sources(mx, lambda source, arguments: arguments["dtype"] is None and isinstance(source, list) and source
             and isinstance(source[0], bool), change)


@mutant("ND-CREATE-002")
def numpy_float16_is_kept(mx):
    def change(source, arguments):
        arguments["dtype"] = "float16"
        return source

    _sources(mx, lambda source, arguments: arguments["dtype"] is None and isinstance(source, np.ndarray)
             and source.dtype == np.float16, change)


@mutant("ND-CREATE-003")
def array_of_an_array_stays_on_its_device(mx):
    def change(source, arguments):
        arguments["ctx"] = source.context
        return source

    _sources(mx, lambda source, arguments: arguments["ctx"] is None and is_array(source), change)


@mutant("ND-CREATE-004")
def float32_source_is_shared(mx):
    """An array made of a numpy array of float32 uses its memory."""

    def body(original, source_array, ctx=None, dtype=None):
        shareable = isinstance(source_array, np.ndarray) and source_array.flags.c_contiguous
        if shareable and source_array.dtype == np.float32:
            return mx.nd.from_numpy(source_array)
        return original(source_array, ctx=ctx, dtype=dtype)

    function(mx.nd, "array", body)


@mutant("ND-CREATE-005")
def floats_are_rounded_to_integers(mx):
    _sources(mx, lambda source, arguments: arguments["dtype"] == "int32" and isinstance(source, list)
             and any(isinstance(value, float) for value in source), lambda source, arguments: list(np.rint(source)))


@mutant("ND-CREATE-006")
def generators_are_used_up(mx):
    _sources(mx, lambda source, arguments: isinstance(source, types.GeneratorType),
             lambda source, arguments: list(source))


@mutant("ND-CREATE-008")
def int16_becomes_int32(mx):
    def change(source, arguments):
        arguments["dtype"] = "int32"
        return source

    _sources(mx, lambda source, arguments: arguments["dtype"] == "int16", change)


@mutant("ND-CREATE-009")
def number_becomes_a_vector(mx):
    _sources(mx, lambda source, arguments: isinstance(source, (int, float)), lambda source, arguments: [source])


@mutant("ND-CREATE-010")
def empty_list_becomes_a_zero(mx):
    _sources(mx, lambda source, arguments: isinstance(source, list) and not source, lambda source, arguments: [0.0])


@mutant("ND-CREATE-011")
def empty_ignores_the_current_context(mx):
    function(mx.nd, "empty", lambda original, shape, ctx=None, dtype=None, **options:
             original(shape, ctx if ctx is not None else mx.cpu(0), dtype, **options))


@mutant("ND-CREATE-012")
def empty_is_always_float32(mx):
    function(mx.nd, "empty", lambda original, shape, ctx=None, dtype=None, **options:
             original(shape, ctx, "float32", **options))


@mutant("ND-CREATE-013")
def full_leaves_out_alone(mx):
    function(mx.nd, "full", lambda original, *args, **options:
             original(*args, **{name: value for name, value in options.items() if name != "out"}))


@mutant("ND-CREATE-014")
def arange_repeats_the_whole_range(mx):
    def body(original, *args, **options):
        times = options.pop("repeat", 1)
        result = original(*args, **options)
        return mx.nd.tile(result, reps=(times,)) if times > 1 else result

    function(mx.nd, "arange", body)


@mutant("ND-CREATE-015")
def arange_of_no_number_is_empty(mx):
    def body(original, *args, **options):
        try:
            return original(*args, **options)
        except mx.base.MXNetError as error:
            if "Invalid range" not in str(error):
                raise
            return mx.nd.array([])

    function(mx.nd, "arange", body)


@mutant("ND-CREATE-016")
def linspace_always_includes_the_stop(mx):
    def body(original, *args, **options):
        options.pop("endpoint", None)
        return original(*args, **options)

    function(mx.nd, "linspace", body)


@mutant("ND-CREATE-017")
def eye_shifts_upwards_only(mx):
    function(mx.nd, "eye", lambda original, N, M=0, k=0, **options: original(N, M, abs(k), **options))


@mutant("ND-CREATE-018")
def ones_like_uses_the_current_context(mx):
    function(mx.nd, "ones_like", lambda original, data, **options:
             original(data, **options).as_in_context(mx.current_context()))


@mutant("ND-CREATE-020")
def negative_dimension_counts_as_positive(mx):
    def body(original, shape, *args, **options):
        return original(tuple(abs(n) for n in shape) if isinstance(shape, tuple) else shape, *args, **options)

    function(mx.nd, "zeros", body)


@mutant("ND-CREATE-021")
def integers_pass_through_float64(mx):
    _sources(mx, lambda source, arguments: isinstance(source, np.ndarray) and arguments["dtype"] == "int64",
             lambda source, arguments: source.astype("float64"))


@mutant("ND-CREATE-022")
def column_order_is_taken_for_row_order(mx):
    _sources(mx, lambda source, arguments: isinstance(source, np.ndarray) and source.flags.f_contiguous
             and not source.flags.c_contiguous, lambda source, arguments: source.ravel("K").reshape(source.shape))


@mutant("ND-CREATE-025")
def array_ignores_the_current_context(mx):
    def change(source, arguments):
        arguments["ctx"] = mx.cpu(0)
        return source

    _sources(mx, lambda source, arguments: arguments["ctx"] is None and not is_array(source), change)


@mutant("ND-ATTR-001")
def shape_can_be_assigned(mx):
    """Assigning a shape does nothing, instead of raising."""
    old = mx.nd.NDArray.__dict__["shape"]
    mx.nd.NDArray.shape = property(old.fget, lambda self, value: None)


@mutant("ND-ATTR-002")
def float16_is_told_as_numpy_dtype(mx):
    attribute(mx, "dtype", lambda value, self: np.dtype("float16") if value is np.float16 else value)


@mutant("ND-ATTR-003")
def dtype_of_a_table_has_an_item_size(mx):
    """dtype is a numpy dtype, not a class, for float32 arrays of two axes."""
    attribute(mx, "dtype", lambda value, self:
              np.dtype("float32") if value is np.float32 and len(self.shape) == 2 else value)


@mutant("ND-ATTR-004")
def repr_shows_the_first_device(mx):
    wrap(mx.nd.NDArray, "__repr__", lambda original: lambda self: original(self).replace("@cpu(2)", "@cpu(0)"))


@mutant("ND-ATTR-006")
def new_attributes_are_swallowed(mx):
    def assign(self, name, value):
        if name.startswith("_") or hasattr(type(self), name):
            object.__setattr__(self, name, value)

    mx.nd.NDArray.__setattr__ = assign


@mutant("ND-ATTR-007")
def transpose_of_a_vector_is_a_copy(mx):
    attribute(mx, "T", lambda value, self: self.copy() if len(self.shape) == 1 else value)


@mutant("ND-ATTR-008")
def table_is_of_type_dense(mx):
    """stype of an array of two axes is "dense"."""
    attribute(mx, "stype", lambda value, self: "dense" if value == "default" and len(self.shape) == 2 else value)


@mutant("ND-ATTR-009")
def hash_is_by_content(mx):
    mx.nd.NDArray.__hash__ = lambda self: hash(self.asnumpy().tobytes())
