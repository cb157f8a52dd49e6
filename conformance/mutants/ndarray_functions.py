"""Mutants of ND-DOT, ND-PICK, ND-GATHER, ND-ONEHOT, ND-CONTRIB, ND-CONCAT and the functions of the elements."""

import numpy as np

from conformance.mutants import mutant
from conformance.mutants.ndarray_kit import function, is_array, like


@mutant("ND-DOT-001")
def vector_times_matrix_has_two_axes(mx):
    def body(original, lhs, rhs, **options):
        result = original(lhs, rhs, **options)
        return result.reshape((1, -1)) if len(lhs.shape) == 1 and len(rhs.shape) == 2 else result

    function(mx.nd, "dot", body)


@mutant("ND-DOT-002")
def two_transpositions_cancel_out(mx):
    """With both flags neither operand is transposed."""

    def body(original, lhs, rhs, **options):
        if options.get("transpose_a") and options.get("transpose_b"):
            options = {}
        return original(lhs, rhs, **options)

    function(mx.nd, "dot", body)


@mutant("ND-DOT-003")
def dot_contracts_as_numpy_does(mx):
    def body(original, lhs, rhs, **options):
        if len(getattr(lhs, "shape", ())) == 3 and len(getattr(rhs, "shape", ())) == 3 and not options:
            try:
                return mx.nd.array(np.dot(lhs.asnumpy(), rhs.asnumpy()))
            except ValueError as error:
                raise mx.base.MXNetError("dot shape error: %s" % error) from error
        return original(lhs, rhs, **options)

    function(mx.nd, "dot", body)


@mutant("ND-DOT-004")
def dot_takes_float16(mx):
    def body(original, lhs, rhs, **options):
        if getattr(lhs, "dtype", None) == np.float16:
            return original(lhs.astype("float32"), rhs.astype("float32"), **options).astype("float16")
        return original(lhs, rhs, **options)

    function(mx.nd, "dot", body)


@mutant("ND-DOT-005")
def batch_dot_broadcasts(mx):
    def body(original, lhs, rhs, **options):
        if rhs.shape[0] == 1 < lhs.shape[0]:
            rhs = mx.nd.broadcast_axis(rhs, axis=0, size=lhs.shape[0])
        return original(lhs, rhs, **options)

    function(mx.nd, "batch_dot", body)


@mutant("ND-DOT-006")
def gemm2_does_not_scale(mx):
    function(mx.nd.linalg, "gemm2", lambda original, *args, **options:
             original(*args, **{name: value for name, value in options.items() if name != "alpha"}))


@mutant("ND-DOT-007")
def syrk_always_multiplies_from_the_left(mx):
    function(mx.nd.linalg, "syrk", lambda original, data, **options: original(data))


@mutant("ND-PICK-001")
def pick_wraps_by_default(mx):
    function(mx.nd, "pick", lambda original, *args, **options: original(*args, **dict({"mode": "wrap"}, **options)))


@mutant("ND-GATHER-001")
def gather_nd_clips(mx):
    def body(original, data, indices, **options):
        if len(indices.shape) > 1 and indices.shape[0] <= len(data.shape):
            limits = np.array(data.shape[: indices.shape[0]]).reshape(-1, *([1] * (len(indices.shape) - 1)))
            indices = mx.nd.array(np.clip(indices.asnumpy(), -limits, limits - 1))
        return original(data, indices, **options)

    function(mx.nd, "gather_nd", body)


@mutant("ND-ONEHOT-001")
def one_hot_clips(mx):
    def body(original, indices, depth, **options):
        return original(indices.clip(0, depth - 1) if is_array(indices) else indices, depth, **options)

    function(mx.nd, "one_hot", body)


@mutant("ND-CONTRIB-001")
def negative_mask_drops_rows(mx):
    function(mx.nd.contrib, "boolean_mask", lambda original, data, index, **options:
             original(data, index > 0, **options))


@mutant("ND-CONTRIB-002")
def index_copy_writes_into_the_old_array(mx):
    def body(original, old_tensor, *args, **options):
        old_tensor[:] = original(old_tensor, *args, **options)
        return old_tensor

    function(mx.nd.contrib, "index_copy", body)


@mutant("ND-CONCAT-001")
def concat_takes_an_axis(mx):
    def body(original, *arrays, **options):
        if "axis" in options:
            options["dim"] = options.pop("axis")
        return original(*arrays, **options)

    function(mx.nd, "concat", body)


@mutant("ND-CONCAT-002")
def first_array_of_a_list_is_taken(mx):
    """nd.stack([a, b]) stacks a alone."""

    def body(original, *arrays, **options):
        if len(arrays) == 1 and isinstance(arrays[0], list):
            arrays = (arrays[0][0],)
        return original(*arrays, **options)

    function(mx.nd, "stack", body)


@mutant("ND-CONCAT-003")
def stack_takes_a_dim(mx):
    def body(original, *arrays, **options):
        if "dim" in options:
            options["axis"] = options.pop("dim")
        return original(*arrays, **options)

    function(mx.nd, "stack", body)


@mutant("ND-CONCAT-004")
def stack_cuts_to_the_smallest(mx):
    def body(original, *arrays, **options):
        if len({array.shape for array in arrays if is_array(array)}) > 1:
            ends = tuple(min(lengths) for lengths in zip(*(array.shape for array in arrays)))
            arrays = tuple(mx.nd.slice(array, begin=(0,) * len(ends), end=ends) for array in arrays)
        return original(*arrays, **options)

    function(mx.nd, "stack", body)


@mutant("ND-CONCAT-006")
def concatenate_takes_a_tuple(mx):
    function(mx.nd, "concatenate", lambda original, arrays, *args, **options:
             original(list(arrays) if isinstance(arrays, tuple) else arrays, *args, **options))


@mutant("ND-CLIP-001")
def nan_is_clipped_to_the_lower_bound(mx):
    def body(original, data, *bounds, **options):
        result = original(data, *bounds, **options)
        if bounds and result.dtype == np.float32:
            result = mx.nd.where(result == result, result, mx.nd.ones_like(result) * bounds[0])
        return result

    function(mx.nd, "clip", body)


@mutant("ND-FINITE-002")
def negative_infinity_is_finite(mx):
    function(mx.nd.contrib, "isinf", lambda original, data, **options: data == float("inf"))


@mutant("ND-ACT-001")
def relu_of_nan_is_zero(mx):
    function(mx.nd, "relu", lambda original, data, **options: like(mx, data, np.fmax(data.asnumpy(), 0)))


@mutant("ND-PAD-001")
def reflection_repeats_the_edge(mx):
    def body(original, data, mode="constant", **options):
        return original(data, mode="edge" if mode == "reflect" else mode, **options)

    function(mx.nd, "pad", body)


@mutant("ND-HIST-001")
def counts_are_floats(mx):
    def body(original, *args, **options):
        counts, edges = original(*args, **options)
        return counts.astype("float32"), edges

    function(mx.nd, "histogram", body)
