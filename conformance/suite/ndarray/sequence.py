"""ND-SEQ, ND-SOFTMAX: batches of sequences of different lengths, and the softmax family."""

import numpy as np

from conformance.case import case

STEPS = np.arange(12, dtype="float32").reshape(3, 2, 2)


def _masked(lengths, value):
    made = STEPS.copy()
    for column, length in enumerate(lengths):
        made[length:, column] = value
    return made


@case("ND-SEQ-001", samples={
    "zero": {"lengths": [1, 2], "options": {}, "value": 0}, "value": {"lengths": [1, 2], "options": {"value": -1},
                                                                      "value": -1},
    "none_and_more": {"lengths": [0, 9], "options": {}, "value": 0}})
def steps_behind_the_end(mx, check, lengths, options, value):
    made = mx.nd.SequenceMask(mx.nd.array(STEPS), sequence_length=mx.nd.array(lengths), use_sequence_length=True,
                              **options)
    check.equal(made, _masked(lengths, value), "masked steps")


@case("ND-SEQ-001")
def time_is_the_second_axis(mx, check):
    made = mx.nd.SequenceMask(mx.nd.array(STEPS.reshape(2, 3, 2)), sequence_length=mx.nd.array([1, 2]),
                              use_sequence_length=True, axis=1)
    check.equal(made, [[[0, 1], [0, 0], [0, 0]], [[6, 7], [8, 9], [0, 0]]], "masked steps")


@case("ND-SEQ-001")
def no_lengths(mx, check):
    check.equal(mx.nd.SequenceMask(mx.nd.array(STEPS)), STEPS, "steps without lengths")


@case("ND-SEQ-002", samples={
    "lengths_alone": {"lengths": [1, 2], "use": False, "fragment": "expects 1 inputs, but got 2"},
    "switch_alone": {"lengths": None, "use": True, "fragment": "expects 2 inputs, but got 1"},
    "too_many": {"lengths": [1, 2, 3], "use": True, "fragment": "Shape inconsistent"}})
def lengths_and_their_switch(mx, check, lengths, use, fragment):
    options = {"use_sequence_length": True} if use else {}
    if lengths is not None:
        options["sequence_length"] = mx.nd.array(lengths)
    check.raises(mx.MXNetError, fragment, lambda: mx.nd.SequenceMask(mx.nd.array(STEPS), **options))


@case("ND-SEQ-003")
def last_step(mx, check):
    check.equal(mx.nd.SequenceLast(mx.nd.array(STEPS)), STEPS[2], "last step without lengths")
    made = mx.nd.SequenceLast(mx.nd.array(STEPS), sequence_length=mx.nd.array([1, 2]), use_sequence_length=True)
    check.equal(made, [[0, 1], [6, 7]], "last valid step of each sequence")


@case("ND-SEQ-003")
def reversed_steps(mx, check):
    check.equal(mx.nd.SequenceReverse(mx.nd.array(STEPS)), STEPS[::-1], "all steps reversed")
    made = mx.nd.SequenceReverse(mx.nd.array(STEPS), sequence_length=mx.nd.array([2, 3]), use_sequence_length=True)
    check.equal(made, [[[4, 5], [10, 11]], [[0, 1], [6, 7]], [[8, 9], [2, 3]]], "valid steps reversed")


@case("ND-SOFTMAX-001", samples={
    "large": {"source": [1000.0, 0.0], "want": [1.0, 0.0]}, "all_large": {"source": [3e4, 3e4], "want": [0.5, 0.5]},
    "very_negative": {"source": [-1e30, -1e30], "want": [0.5, 0.5]}})
def large_inputs(mx, check, source, want):
    check.close(mx.nd.softmax(mx.nd.array(source)), want, "softmax")
    check.that(bool(np.isfinite(mx.nd.log_softmax(mx.nd.array(source)).asnumpy()).all()), "log_softmax is finite")


def _softmax(values, axis):
    powers = np.exp(values - values.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


@case("ND-SOFTMAX-001", samples={"default": {"options": {}, "axis": -1},
                                 "first_axis": {"options": {"axis": 0}, "axis": 0}})
def softmax_over_an_axis(mx, check, options, axis):
    source = np.array([[1, 2, 4], [3, 5, 1]], dtype="float64")
    array = mx.nd.array(source)
    check.close(mx.nd.softmax(array, **options), _softmax(source, axis), "softmax")
    check.close(mx.nd.log_softmax(array, **options), np.log(_softmax(source, axis)), "log_softmax")
    check.close(mx.nd.softmin(array, **options), _softmax(-source, axis), "softmin")


@case("ND-SOFTMAX-001")
def temperature(mx, check):
    source = np.array([1.0, 2.0])
    check.close(mx.nd.softmax(mx.nd.array(source), temperature=2.0), _softmax(source / 2, -1),
                "softmax at temperature 2")


@case("ND-SOFTMAX-001")
def valid_length(mx, check):
    made = mx.nd.softmax(mx.nd.array([[1, 2, 3], [4, 4, 4]]), length=mx.nd.array([2, 1], dtype="int32"),
                         use_length=True)
    check.close(made, [list(_softmax(np.array([1.0, 2.0]), -1)) + [0.0], [1.0, 0.0, 0.0]], "softmax of the valid part")
