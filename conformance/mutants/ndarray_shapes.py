"""Mutants of ND-REPR, ND-RESHAPE, ND-TRANS and ND-SPLIT."""

import numpy as np

from conformance.mutants import mutant, wrap
from conformance.mutants.ndarray_kit import attribute, function, method


@mutant("ND-REPR-001")
def device_number_is_not_shown(mx):
    method(mx, "__repr__", lambda original, self: original(self).replace("@cpu(1)", "@cpu(0)"))


@mutant("ND-REPR-002")
def empty_shape_is_shown_as_brackets(mx):
    method(mx, "__repr__", lambda original, self: original(self).replace("<NDArray  @", "<NDArray () @"))


@mutant("ND-REPR-003")
def sparse_values_are_shown(mx):
    wrap(mx.nd.sparse.CSRNDArray, "__repr__", lambda original: lambda self: "\n%s%s" % (self.asnumpy(), original(self)))


@mutant("ND-REPR-004")
def nan_cannot_be_shown(mx):
    def body(original, self):
        values = self.asnumpy()
        if values.dtype.kind == "f" and bool(np.isnan(values).any()):
            raise ValueError("the array contains NaN")
        return original(self)

    method(mx, "__repr__", body)


def _reshaping(mx, change):
    """Have ``x.reshape`` work with the shape that ``change(shape)`` gives."""

    def body(original, self, *shape, **options):
        given = tuple(shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape)
        return original(self, *((change(given),) if given and not options else shape), **options)

    method(mx, "reshape", body)


@mutant("ND-RESHAPE-001")
def list_is_no_shape(mx):
    def body(original, self, *shape, **options):
        if shape and isinstance(shape[0], list):
            raise TypeError("a shape is a tuple, got a list")
        return original(self, *shape, **options)

    method(mx, "reshape", body)


@mutant("ND-RESHAPE-002")
def smaller_shape_cuts_the_array(mx):
    def body(original, self, *shape, **options):
        try:
            return original(self, *shape, **options)
        except (mx.base.MXNetError, ValueError):
            wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
            count = int(np.prod(wanted))
            if min(wanted) > 0 and count < self.size:
                return original(original(self, (-1,))[:count], wanted)
            raise

    method(mx, "reshape", body)


@mutant("ND-RESHAPE-004")
def rest_of_the_shape_is_merged(mx):
    """The code -2 does what -1 does."""
    _reshaping(mx, lambda shape: shape if {-3, -4} & set(shape) else tuple(-1 if n == -2 else n for n in shape))


@mutant("ND-RESHAPE-005")
def split_dimensions_are_exchanged(mx):
    def change(shape):
        if -4 not in shape:
            return shape
        at = shape.index(-4)
        return shape[:at + 1] + (shape[at + 2], shape[at + 1]) + shape[at + 3:]

    _reshaping(mx, change)


@mutant("ND-RESHAPE-006")
def unknown_code_infers(mx):
    _reshaping(mx, lambda shape: tuple(-1 if n < -4 else n for n in shape))


@mutant("ND-RESHAPE-007")
def direction_is_ignored(mx):
    function(mx.nd, "reshape", lambda original, *args, **options:
             original(*args, **{name: value for name, value in options.items() if name != "reverse"}))


@mutant("ND-RESHAPE-008")
def new_axis_in_place_is_a_copy(mx):
    method(mx, "expand_dims", lambda original, self, axis, inplace=False: original(self, axis))


@mutant("ND-RESHAPE-009")
def flattened_vector_is_a_row(mx):
    function(mx.nd, "flatten", lambda original, data, **options:
             data.reshape((1, -1)) if len(data.shape) == 1 else original(data, **options))


@mutant("ND-TRANS-001")
def transposed_array_leaves_the_graph(mx):
    attribute(mx, "T", lambda value, self: value.detach())


@mutant("ND-TRANS-002")
def negative_axes_count_from_the_end(mx):
    def body(original, data, axes=(), **options):
        return original(data, axes=tuple(axis % len(data.shape) if axis < 0 else axis for axis in axes or ()),
                        **options)

    function(mx.nd, "transpose", body)


@mutant("ND-TRANS-004")
def longer_axis_is_squeezed_out_silently(mx):
    def body(original, data, axis=None, **options):
        if isinstance(axis, int) and data.shape[axis] != 1:
            return data.copy()
        return original(data, **(options if axis is None else dict(options, axis=axis)))

    function(mx.nd, "squeeze", body)


@mutant("ND-SPLIT-001")
def single_part_is_a_list(mx):
    def body(original, *args, **options):
        made = original(*args, **options)
        return made if isinstance(made, (list, tuple)) else [made]

    function(mx.nd, "split", body)
