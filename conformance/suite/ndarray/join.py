"""ND-CONCAT: joining and stacking arrays."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.ndarray._tools import expect, refused


@case("ND-CONCAT-001", samples={
    "default": {"options": {}, "axis": 1}, "first": {"options": {"dim": 0}, "axis": 0},
    "last": {"options": {"dim": -1}, "axis": 1}})
def concat_joins_along_an_axis(mx, check, options, axis):
    left, right = np.arange(6.0).reshape(2, 3), np.arange(6.0, 12.0).reshape(2, 3)
    joined = mx.nd.concat(mx.nd.array(left), mx.nd.array(right), **options)
    expect(check, joined, np.concatenate([left, right], axis), "float32")


@case("ND-CONCAT-001")
def concat_takes_one_array(mx, check):
    expect(check, mx.nd.concat(mx.nd.array([[1, 2]]), dim=0), [[1, 2]])


@case("ND-CONCAT-001", samples={
    "axis_keyword": {"shapes": [(2, 3), (2, 3)], "options": {"axis": 0}, "fragment": "Cannot find argument 'axis'"},
    "other_axes_differ": {"shapes": [(2, 3), (3, 2)], "options": {"dim": 1}, "fragment": "Incompatible input shape"},
    "no_such_axis": {"shapes": [(2, 3), (2, 3)], "options": {"dim": 2}, "fragment": "exceeds the input dimension"},
    "no_array": {"shapes": [], "options": {}, "fragment": "num_args"}})
def concat_refuses(mx, check, shapes, options, fragment):
    arrays = [mx.nd.ones(shape) for shape in shapes]
    check.raises(mx.base.MXNetError, fragment, lambda: mx.nd.concat(*arrays, **options))


@case("ND-CONCAT-002", samples={
    "stack": {"name": "stack", "options": {"axis": 0}, "shape": (2, 2, 3)},
    "concat": {"name": "concat", "options": {"dim": 0}, "shape": (4, 3)}})
def list_is_refused_or_unpacked(mx, check, name, options, shape):
    function, array = getattr(mx.nd, name), mx.nd.ones((2, 3))
    check.shape(function(array, array, **options), shape, "shape for separate arguments")
    try:
        joined = function([array, array], **options)
    except AssertionError as error:
        check.contains(str(error), "must have NDArray type", doing="message")
    else:
        check.shape(joined, shape, "shape for a list")


@case("ND-CONCAT-003", samples={
    "default": {"options": {}, "axis": 0}, "last": {"options": {"axis": -1}, "axis": 2},
    "middle": {"options": {"axis": 1}, "axis": 1}})
def stack_adds_an_axis(mx, check, options, axis):
    left, right = np.arange(6.0).reshape(2, 3), np.arange(6.0, 12.0).reshape(2, 3)
    stacked = mx.nd.stack(mx.nd.array(left), mx.nd.array(right), **options)
    expect(check, stacked, np.stack([left, right], axis), "float32")


@case("ND-CONCAT-003", samples={
    "dim_keyword": {"count": 2, "options": {"dim": 0}, "fragment": "Cannot find argument 'dim'"},
    "no_such_axis": {"count": 2, "options": {"axis": 3}, "fragment": "exceeds the input dimension"},
    "no_array": {"count": 0, "options": {}, "fragment": "num_args"}})
def stack_refuses(mx, check, count, options, fragment):
    arrays = [mx.nd.ones((2, 3)) for _ in range(count)]
    check.raises(mx.base.MXNetError, fragment, lambda: mx.nd.stack(*arrays, **options))


@case("ND-CONCAT-004")
def stack_refuses_different_shapes(mx, check):
    check.shape(mx.nd.stack(mx.nd.ones((2, 2)), mx.nd.zeros((2, 2))), (2, 2, 2), "shape for equal shapes")
    refused(check, mx.base.MXNetError, lambda: mx.nd.stack(mx.nd.ones((2, 3)), mx.nd.ones((2, 2))))


@case("ND-CONCAT-005")
def one_stack_is_faster_than_growing(mx, check):
    """Of many small arrays: their ratio is far beyond five whether calls or copied bytes are what costs time."""
    parts = [mx.nd.full((16, 16), index) for index in range(2048)]

    def grown():
        result = parts[0].expand_dims(0)
        for part in parts[1:]:
            result = mx.nd.concat(result, part.expand_dims(0), dim=0)
        return result

    check.equal(mx.nd.stack(*parts, axis=0), grown(), "stack and the grown array")
    ratio = kit.times_as_long(lambda: grown().wait_to_read(), lambda: mx.nd.stack(*parts, axis=0).wait_to_read(), 5)
    check.that(ratio >= 5.0, "time of the loop over time of one stack", "at least 5", "%.1f" % ratio)


@case("ND-CONCAT-006")
def concatenate_takes_a_list(mx, check):
    left, right = mx.nd.array([[1, 2]]), mx.nd.array([[3, 4]])
    expect(check, mx.nd.concatenate([left, right]), [[1, 2], [3, 4]], "float32", "axis 0")
    expect(check, mx.nd.concatenate([left, right], axis=1), [[1, 2, 3, 4]], "float32", "axis 1")


@case("ND-CONCAT-006")
def concatenate_of_one_array(mx, check):
    array = mx.nd.ones((2, 3))
    check.same(mx.nd.concatenate([array], always_copy=False), array, "result with always_copy=False")
    check.not_same(mx.nd.concatenate([array]), array, "result by default")


@case("ND-CONCAT-006", samples={
    "tuple": {"make": lambda nd, a: (a, a)}, "no_array": {"make": lambda nd, a: []},
    "shapes": {"make": lambda nd, a: [a, nd.ones((2, 2))]}, "dtypes": {"make": lambda nd, a: [a, a.astype("float64")]}})
def concatenate_refuses(mx, check, make):
    arrays = make(mx.nd, mx.nd.ones((2, 3)))
    check.raises(AssertionError, mx.nd.concatenate, arrays)


@case("ND-CONCAT-006")
def concatenate_refuses_recorded_arrays(mx, check):
    variable = mx.nd.ones((2, 3))
    variable.attach_grad()
    with mx.autograd.record():
        check.raises(mx.base.MXNetError, "not supported when recording with autograd",
                     lambda: mx.nd.concatenate([variable, variable]))
