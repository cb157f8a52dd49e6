"""Mutants of ND-NPSHAPE, ND-INDEX and ND-ITER."""

import numpy as np

from conformance.mutants import mutant
from conformance.mutants.ndarray_kit import function, is_array, method, reading


@mutant("ND-NPSHAPE-001")
def legacy_block_inside_a_numpy_block_does_nothing(mx):
    function(mx.util, "np_shape", lambda original, active=True: original(active or mx.util.is_np_shape()))


@mutant("ND-NPSHAPE-002")
def argmax_of_everything_has_two_axes(mx):
    def body(original, self, *args, **options):
        result = original(self, *args, **options)
        return result if args or options else result.reshape((1, 1))

    method(mx, "argmax", body)


@mutant("ND-NPSHAPE-003")
def element_of_a_table_has_two_axes(mx):
    reading(mx, lambda x, key: isinstance(key, tuple) and len(key) == 2 and all(type(part) is int for part in key),
            lambda original, x, key: original(x, key).reshape((1, 1)))


@mutant("ND-NPSHAPE-004")
def zeros_without_elements_are_made(mx):
    def body(original, shape, *args, **options):
        if isinstance(shape, tuple) and 0 in shape and not mx.util.is_np_shape():
            with mx.util.np_shape(True):
                return original(shape, *args, **options)
        return original(shape, *args, **options)

    function(mx.nd, "zeros", body)


@mutant("ND-NPSHAPE-005")
def sum_over_no_element_is_one(mx):
    method(mx, "sum", lambda original, self, *args, **options:
           original(self, *args, **options) + (1 if 0 in self.shape else 0))


@mutant("ND-NPSHAPE-006")
def mean_of_no_element_is_zero(mx):
    method(mx, "mean", lambda original, self, *args, **options:
           mx.nd.zeros((1,)) if 0 in self.shape else original(self, *args, **options))


@mutant("ND-NPSHAPE-008")
def classes_are_not_decorated(mx):
    function(mx.util, "use_np_shape", lambda original, target:
             target if isinstance(target, type) else original(target))


@mutant("ND-INDEX-001")
def index_before_the_first_row_is_the_first(mx):
    reading(mx, lambda x, key: type(key) is int and len(x.shape) > 0 and key < -x.shape[0],
            lambda original, x, key: original(x, 0))


@mutant("ND-INDEX-002")
def step_of_zero_counts_as_one(mx):
    reading(mx, lambda x, key: isinstance(key, slice) and key.step == 0,
            lambda original, x, key: original(x, slice(key.start, key.stop)))


@mutant("ND-INDEX-005")
def second_ellipsis_is_ignored(mx):
    reading(mx, lambda x, key: isinstance(key, tuple) and sum(part is Ellipsis for part in key) > 1,
            lambda original, x, key: original(x, (Ellipsis,)))


@mutant("ND-INDEX-006")
def two_lists_span_a_table(mx):
    """x[[0, 2], [1, 3]] gives rows 0 and 2 of columns 1 and 3."""
    reading(mx, lambda x, key: isinstance(key, tuple) and len(key) == 2
            and all(isinstance(part, list) for part in key),
            lambda original, x, key: original(original(x, key[0]), (slice(None), key[1])))


@mutant("ND-INDEX-007")
def entry_out_of_range_is_clipped(mx):
    reading(mx, lambda x, key: isinstance(key, list) and bool(key) and all(type(part) is int for part in key),
            lambda original, x, key: original(x, np.clip(key, -x.shape[0], x.shape[0] - 1).tolist()))


@mutant("ND-INDEX-008")
def float_entries_are_rounded(mx):
    reading(mx, lambda x, key: is_array(key) and key.dtype == np.float32, lambda original, x, key:
            original(x, mx.nd.array(np.rint(key.asnumpy()))))


@mutant("ND-INDEX-009")
def comparison_is_a_mask(mx):
    reading(mx, lambda x, key: is_array(key) and key.shape == x.shape and set(key.asnumpy().reshape(-1)) == {0.0, 1.0},
            lambda original, x, key: mx.nd.array(x.asnumpy()[key.asnumpy() != 0]))


@mutant("ND-INDEX-010")
def list_of_booleans_is_a_mask(mx):
    reading(mx, lambda x, key: isinstance(key, list) and bool(key) and all(type(part) is bool for part in key),
            lambda original, x, key: mx.nd.array(x.asnumpy()[np.array(key)]))


@mutant("ND-INDEX-011")
def float_counts_as_integer(mx):
    reading(mx, lambda x, key: isinstance(key, float), lambda original, x, key: original(x, int(key)))


@mutant("ND-INDEX-012")
def empty_index_gives_a_view(mx):
    reading(mx, lambda x, key: isinstance(key, tuple) and key == () and len(x.shape) > 0,
            lambda original, x, key: x.reshape(x.shape))


@mutant("ND-INDEX-014")
def iteration_gives_copies(mx):
    mx.nd.NDArray.__iter__ = lambda self: (self[index].copy() for index in range(self.shape[0]))


@mutant("ND-INDEX-015")
def part_of_a_row_is_a_copy(mx):
    reading(mx, lambda x, key: isinstance(key, tuple) and len(key) == 2 and type(key[0]) is int
            and isinstance(key[1], slice), lambda original, x, key: original(x, key).copy())


@mutant("ND-INDEX-016")
def part_of_a_longer_vector_is_a_copy(mx):
    reading(mx, lambda x, key: isinstance(key, slice) and len(x.shape) == 1 and x.shape[0] > 4,
            lambda original, x, key: original(x, key).copy())


@mutant("ND-INDEX-017")
def row_of_a_small_table_is_a_copy(mx):
    reading(mx, lambda x, key: type(key) is int and x.shape == (2, 2),
            lambda original, x, key: original(x, key).copy())


@mutant("ND-INDEX-018")
def slice_axis_clamps_its_end(mx):
    def body(original, data, axis, begin, end, **options):
        if end is not None and end > data.shape[axis]:
            end = None
        return original(data, axis=axis, begin=begin, end=end, **options)

    function(mx.nd, "slice_axis", body)


@mutant("ND-INDEX-019")
def deleting_does_nothing(mx):
    mx.nd.NDArray.__delitem__ = lambda self, key: None


@mutant("ND-INDEX-020")
def row_of_two_rows_is_a_copy(mx):
    reading(mx, lambda x, key: type(key) is int and x.shape == (2, 4),
            lambda original, x, key: original(x, key).copy())


@mutant("ND-INDEX-021")
def index_arrays_that_stand_apart_stay_in_place(mx):
    reading(mx, lambda x, key: isinstance(key, tuple) and len(key) == 3 and isinstance(key[0], list)
            and isinstance(key[1], slice) and isinstance(key[2], list),
            lambda original, x, key: original(x, key).swapaxes(0, 1))


@mutant("ND-ITER-001")
def zero_is_not_added_from_the_left(mx):
    """0 + x raises TypeError, so that sum(x) does not work."""

    def body(original, self, other):
        if type(other) is int and other == 0:
            raise TypeError("0 + array")
        return original(self, other)

    method(mx, "__radd__", body)
