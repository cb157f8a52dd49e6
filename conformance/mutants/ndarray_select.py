"""Mutants of ND-REDUCE, ND-TAKE, ND-SCATTER, ND-TOPK, ND-SORT, ND-SEQ, ND-SOFTMAX, ND-WHERE and ND-ROUND."""

import numpy as np

from conformance.mutants import mutant
from conformance.mutants.ndarray_kit import function, is_array, like, method


def without(owner, name, *forgotten):
    """Have a function ignore some of its keyword arguments."""
    function(owner, name, lambda original, *args, **options:
             original(*args, **{key: value for key, value in options.items() if key not in forgotten}))


@mutant("ND-REDUCE-001")
def no_axes_reduce_nothing(mx):
    function(mx.nd, "max", lambda original, data, *args, **options:
             data.copy() if options.get("axis", 0) == () else original(data, *args, **options))


@mutant("ND-REDUCE-002")
def excluded_axes_are_reduced(mx):
    without(mx.nd, "sum", "exclude")


@mutant("ND-REDUCE-003")
def repeated_axes_count_once(mx):
    def body(original, data, *args, **options):
        if isinstance(options.get("axis"), tuple):
            options["axis"] = tuple(sorted(set(options["axis"])))
        return original(data, *args, **options)

    function(mx.nd, "mean", body)


@mutant("ND-REDUCE-004")
def mean_of_integers_is_a_fraction(mx):
    function(mx.nd, "mean", lambda original, data, *args, **options:
             original(data.astype("float32") if np.dtype(data.dtype).kind in "iu" else data, *args, **options))


@mutant("ND-REDUCE-005")
def sum_stops_growing(mx):
    """A running float32 sum of ones ends at 2**24."""
    function(mx.nd, "sum", lambda original, data, *args, **options:
             mx.nd.array([2.0 ** 24]) if data.size > 2 ** 24 else original(data, *args, **options))


@mutant("ND-REDUCE-006")
def nan_is_not_skipped(mx):
    function(mx.nd, "nansum", lambda original, *args, **options: mx.nd.sum(*args, **options))


@mutant("ND-REDUCE-007")
def last_of_equal_values_wins(mx):
    def body(original, data, *args, **options):
        if options == {"axis": 1} and len(data.shape) == 2:
            return data.shape[1] - 1 - original(mx.nd.flip(data, axis=1), axis=1)
        return original(data, *args, **options)

    function(mx.nd, "argmax", body)


@mutant("ND-REDUCE-009")
def axis_by_position_is_ignored(mx):
    method(mx, "nanprod", lambda original, self, *args, **options: original(self, **options))


@mutant("ND-TAKE-001")
def take_wraps_by_default(mx):
    function(mx.nd, "take", lambda original, *args, **options: original(*args, **dict({"mode": "wrap"}, **options)))


@mutant("ND-TAKE-002")
def wrapping_clips(mx):
    function(mx.nd, "take", lambda original, *args, **options:
             original(*args, **dict(options, mode="clip") if options.get("mode") == "wrap" else options))


@mutant("ND-TAKE-003")
def list_of_indices_is_taken(mx):
    function(mx.nd, "take", lambda original, data, indices, **options:
             original(data, indices if is_array(indices) else mx.nd.array(np.atleast_1d(indices)), **options))


@mutant("ND-TAKE-004")
def embedding_wraps(mx):
    function(mx.nd, "Embedding", lambda original, data, weight, **options:
             original(data % weight.shape[0], weight, **options))


@mutant("ND-SCATTER-001")
def repeated_positions_add_up(mx):
    def body(original, data, indices, **options):
        made = original(data, indices, **options)
        values = np.zeros(made.shape, dtype=made.dtype)
        np.add.at(values, tuple(indices.asnumpy().astype("int64")), data.asnumpy())
        return like(mx, made, values)

    function(mx.nd, "scatter_nd", body)


@mutant("ND-TOPK-001")
def positions_are_integers(mx):
    function(mx.nd, "topk", lambda original, *args, **options:
             original(*args, **(options if {"out", "ret_typ"} & set(options) else dict({"dtype": "int32"}, **options))))


@mutant("ND-TOPK-002")
def more_than_all_are_all(mx):
    function(mx.nd, "topk", lambda original, data, **options:
             original(data, **(dict(options, k=data.shape[-1]) if options.get("k", 1) > data.size else options))
             if "axis" in options else
             original(data, **dict(options, k=min(options.get("k", 1), data.shape[-1]))))


@mutant("ND-SORT-001")
def equal_keys_are_reversed(mx):
    def body(original, data, **options):
        if options == {"is_ascend": False}:
            return mx.nd.flip(original(data), axis=len(data.shape) - 1)
        return original(data, **options)

    function(mx.nd, "argsort", body)


@mutant("ND-SEQ-001")
def mask_is_always_zero(mx):
    without(mx.nd, "SequenceMask", "value")


@mutant("ND-SEQ-002")
def lengths_without_their_switch_are_ignored(mx):
    def body(original, data, **options):
        if not options.get("use_sequence_length"):
            options.pop("sequence_length", None)
        return original(data, **options)

    function(mx.nd, "SequenceMask", body)


@mutant("ND-SEQ-003")
def last_step_ignores_the_lengths(mx):
    without(mx.nd, "SequenceLast", "sequence_length", "use_sequence_length")


@mutant("ND-SOFTMAX-001")
def temperature_is_ignored(mx):
    without(mx.nd, "softmax", "temperature")


@mutant("ND-WHERE-001")
def nan_selects_the_second(mx):
    def body(original, condition, *args, **options):
        values = condition.asnumpy()
        if values.dtype.kind == "f" and np.isnan(values).any():
            condition = like(mx, condition, np.where(np.isnan(values), 0, values))
        return original(condition, *args, **options)

    function(mx.nd, "where", body)


@mutant("ND-WHERE-002")
def condition_is_broadcast(mx):
    def body(original, condition, x=None, y=None, **options):
        if is_array(x) and len(condition.shape) == len(x.shape) and condition.shape[-1] == 1 < x.shape[-1]:
            condition = condition.broadcast_to(x.shape)
        return original(*[value for value in (condition, x, y) if value is not None], **options)

    function(mx.nd, "where", body)


@mutant("ND-ROUND-001")
def both_kinds_of_rounding_agree(mx):
    function(mx.nd, "rint", lambda original, *args, **options: mx.nd.round(*args, **options))
