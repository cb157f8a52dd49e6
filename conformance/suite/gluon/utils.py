"""GLUON-UTIL and GLUON-ACC: splitting a batch, clipping gradients, accumulating them."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.gluon import _tools
from conformance.suite.gluon._tools import initialised, ones

VALUES = {"six": np.arange(6.0), "table": np.arange(8.0).reshape(2, 4), "seven": np.arange(7.0),
          "eight": np.arange(8.0), "columns": np.arange(10.0).reshape(2, 5), "two": np.arange(2.0)}


def _slices(mx, check, values, count, want, **options):
    data = kit.array(mx, VALUES[values])
    got = mx.gluon.utils.split_data(data, count, **options)
    check.isinstance(got, list, "kind of the result")
    check.equal(len(got), len(want), "number of slices")
    for index, (piece, wanted) in enumerate(zip(got, want)):
        check.equal(piece.asnumpy(), np.asarray(wanted, "float32"), "slice %d" % index)


@case("GLUON-UTIL-001", samples={
    "three": {"values": "six", "count": 3, "want": [[0, 1], [2, 3], [4, 5]], "options": {}},
    "other_axis": {"values": "table", "count": 2, "want": [[[0, 1], [4, 5]], [[2, 3], [6, 7]]],
                   "options": {"batch_axis": 1}},
    "one": {"values": "six", "count": 1, "want": [[0, 1, 2, 3, 4, 5]], "options": {}}})
def equal_slices(mx, check, values, count, want, options):
    _slices(mx, check, values, count, want, **options)


@case("GLUON-UTIL-002", samples={"remainder": {"values": "seven", "size": 7}, "too_few": {"values": "two", "size": 2}})
def uneven_size_is_refused(mx, check, values, size):
    data = kit.array(mx, VALUES[values])
    check.raises(ValueError, "cannot be evenly split into 3 slices along axis 0",
                 "Use a batch size that's multiple of 3 or set even_split=False", mx.gluon.utils.split_data, data, 3)
    check.equal(data.asnumpy(), np.arange(float(size)), "data afterwards")


@case("GLUON-UTIL-003", samples={
    "one_more": {"values": "seven", "count": 3, "want": [[0, 1, 2], [3, 4], [5, 6]], "options": {}},
    "two_more": {"values": "eight", "count": 3, "want": [[0, 1, 2], [3, 4, 5], [6, 7]], "options": {}},
    "columns": {"values": "columns", "count": 2, "want": [[[0, 1, 2], [5, 6, 7]], [[3, 4], [8, 9]]],
                "options": {"batch_axis": 1}}})
def first_slices_are_longer(mx, check, values, count, want, options):
    _slices(mx, check, values, count, want, even_split=False, **options)


@case("GLUON-UTIL-004")
def more_slices_than_elements(mx, check):
    data = kit.array(mx, VALUES["two"])
    try:
        pieces = mx.gluon.utils.split_data(data, 3, even_split=False)
    except ValueError as error:
        check.contains(str(error), "3", doing="message")
        return
    check.that(all(0 not in piece.shape for piece in pieces), "no slice is empty", "no empty slice",
               str([tuple(piece.shape) for piece in pieces]))


@case("GLUON-UTIL-005", samples={"no_slices": {"count": 0, "axis": 0}, "axis_too_large": {"count": 2, "axis": 3}})
def impossible_split_is_a_value_error(mx, check, count, axis):
    check.raises(ValueError, mx.gluon.utils.split_data, kit.array(mx, VALUES["six"]), count, axis)


@case("GLUON-UTIL-005")
def empty_list_of_devices_is_a_value_error(mx, check):
    check.raises(ValueError, mx.gluon.utils.split_and_load, kit.array(mx, VALUES["six"]), [])


@case("GLUON-UTIL-006")
def slices_on_their_devices(mx, check):
    data = kit.array(mx, np.arange(8.0).reshape(4, 2))
    got = mx.gluon.utils.split_and_load(data, kit.devices(mx, 2))
    check.equal([str(kit.device_of(piece)) for piece in got], ["cpu(0)", "cpu(1)"], "devices")
    check.equal(got, [[[0, 1], [2, 3]], [[4, 5], [6, 7]]], "slices")


@case("GLUON-UTIL-006", samples={"integers": {"data": np.arange(4, dtype="int64")},
                                 "doubles": {"data": np.arange(4.0)}, "list": {"data": [0, 1, 2, 3]}})
def what_is_no_array_becomes_one(mx, check, data):
    got = mx.gluon.utils.split_and_load(data, kit.devices(mx, 2))
    for piece, want in zip(got, ([0, 1], [2, 3])):
        check.isinstance(piece, _tools.array_type(mx), "kind of a slice")
        check.dtype(piece, "float32", "dtype of a slice")
        check.equal(piece, want, "slice")
    check.equal(len(got), 2, "number of slices")


@case("GLUON-UTIL-006")
def single_device_takes_everything(mx, check):
    got = mx.gluon.utils.split_and_load(kit.array(mx, VALUES["seven"]), [mx.cpu(1)])
    check.equal(len(got), 1, "number of slices")
    check.equal(got[0].asnumpy(), VALUES["seven"], "slice")
    check.equal(str(kit.device_of(got[0])), "cpu(1)", "device")


@case("GLUON-UTIL-006")
def uneven_slices_on_other_axes(mx, check):
    got = mx.gluon.utils.split_and_load(kit.array(mx, VALUES["columns"]), kit.devices(mx, 2), 1, False)
    check.equal([tuple(piece.shape) for piece in got], [(2, 3), (2, 2)], "shapes")
    check.equal([str(kit.device_of(piece)) for piece in got], ["cpu(0)", "cpu(1)"], "devices")


@case("GLUON-UTIL-007")
def split_mode_is_unknown(mx, check):
    data, where = kit.array(mx, VALUES["six"]), kit.devices(mx, 2)
    check.raises(TypeError, "unexpected keyword argument 'split_mode'",
                 lambda: mx.gluon.utils.split_and_load(data, where, split_mode="channel"))


@case("GLUON-UTIL-007")
def network_is_no_data(mx, check):
    net = initialised(mx.gluon.nn.Dense(2, in_units=2))
    check.raises(TypeError, mx.gluon.utils.split_and_load, net, kit.devices(mx, 2))
    check.equal(net(ones(mx, (1, 2))), [[2, 2]], "output of the network afterwards")


@case("GLUON-UTIL-008")
def arrays_are_scaled_to_the_norm(mx, check):
    arrays = [kit.array(mx, [3.0]), kit.array(mx, [[4.0]])]
    norm = mx.gluon.utils.clip_global_norm(arrays, 1.0)
    check.close(float(norm), 5.0, "norm")
    check.close(arrays[0], [0.6], "first array")
    check.close(arrays[1], [[0.8]], "second array")


@case("GLUON-UTIL-008", samples={"equal": {"limit": 5.0}, "larger": {"limit": 10.0}})
def smaller_norm_changes_nothing(mx, check, limit):
    arrays = [kit.array(mx, [3.0]), kit.array(mx, [4.0])]
    check.close(float(mx.gluon.utils.clip_global_norm(arrays, limit)), 5.0, "norm")
    check.close(arrays, [[3.0], [4.0]], "arrays")


@case("GLUON-UTIL-009", samples={"nan": {"value": float("nan")}, "infinity": {"value": float("inf")}})
def norm_that_is_not_finite(mx, check, value):
    arrays = [kit.array(mx, [value]), kit.array(mx, [4.0])]
    with check.warns(UserWarning, "nan or inf is detected. Clipping results will be undefined."):
        norm = mx.gluon.utils.clip_global_norm(arrays, 1.0)
    check.that(not np.isfinite(float(norm)), "the norm is not finite", "nan or inf", str(norm))


@case("GLUON-UTIL-009")
def without_the_check_an_array_comes_back(mx, check):
    arrays = [kit.array(mx, [3.0]), kit.array(mx, [4.0])]
    with check.no_warning(UserWarning):
        norm = mx.gluon.utils.clip_global_norm(arrays, 1.0, check_isfinite=False)
    check.isinstance(norm, _tools.array_type(mx), "kind of the norm")
    check.close(norm.asnumpy().reshape(-1), [5.0], "norm")
    check.close(arrays, [[0.6], [0.8]], "arrays")


@case("GLUON-UTIL-009")
def with_the_check_a_number_comes_back(mx, check):
    norm = mx.gluon.utils.clip_global_norm([kit.array(mx, [3.0])], 1.0)
    check.isinstance(norm, (float, np.floating), "kind of the norm")
    with check.no_warning(UserWarning):
        mx.gluon.utils.clip_global_norm([kit.array(mx, [float("nan")])], 1.0, check_isfinite=False)


@case("GLUON-UTIL-010")
def arrays_on_two_devices(mx, check):
    arrays = [kit.array(mx, [3.0], mx.cpu(0)), kit.array(mx, [4.0], mx.cpu(1))]
    check.close(float(mx.gluon.utils.clip_global_norm(arrays, 1.0)), 5.0, "norm")
    check.close(arrays, [[0.6], [0.8]], "arrays")
    check.equal([str(kit.device_of(array)) for array in arrays], ["cpu(0)", "cpu(1)"], "devices")


@case("GLUON-UTIL-011", needs=["float16"])
def half_precision(mx, check):
    arrays = [kit.array(mx, [3.0], dtype="float16")]
    check.close(float(mx.gluon.utils.clip_global_norm(arrays, 1.0)), 3.0, "norm", rtol=1e-3)
    check.close(arrays[0], [1.0], "array", rtol=2e-3)
    check.dtype(arrays[0], "float16", "dtype of the array")


@case("GLUON-UTIL-012")
def nothing_to_clip(mx, check):
    check.raises((AssertionError, IndexError, ValueError), mx.gluon.utils.clip_global_norm, [], 1.0)


@case("GLUON-UTIL-012")
def zero_gradients_and_zero_norm(mx, check):
    zeros = [kit.array(mx, [0.0, 0.0])]
    check.equal(float(mx.gluon.utils.clip_global_norm(zeros, 1.0)), 0.0, "norm of zeros")
    check.equal(zeros, [[0, 0]], "zeros afterwards")
    arrays = [kit.array(mx, [3.0]), kit.array(mx, [4.0])]
    check.close(float(mx.gluon.utils.clip_global_norm(arrays, 0.0)), 5.0, "norm")
    check.equal(arrays, [[0], [0]], "arrays clipped to the norm 0")


@case("GLUON-ACC-001")
def gradients_add_up_until_they_are_cleared(mx, check):
    net = mx.gluon.nn.Dense(1, in_units=3, use_bias=False)
    initialised(net)
    net.weight.grad_req = "add"
    trainer = kit.trainer(mx, net.collect_params())
    x = ones(mx, (2, 3))
    for count in (1, 2):
        with mx.autograd.record():
            loss = net(x).sum()
        loss.backward()
        check.equal(net.weight.grad(), [[2.0 * count] * 3], "gradient after %d backward passes" % count)
    trainer.step(4)
    check.equal(net.weight.data(), [[0] * 3], "weight after a step: 1 - 4 / 4")
    check.equal(net.weight.grad(), [[4] * 3], "gradient after the step")
    # Every engine clears the gradients of a whole block, through the block or through its parameters.
    (net if hasattr(net, "zero_grad") else net.collect_params()).zero_grad()
    check.equal(net.weight.grad(), [[0] * 3], "gradient after zero_grad()")


@case("GLUON-ACC-002")
def small_batches_equal_a_large_one(mx, check):
    random = check.random()
    x, y = random.uniform(-1, 1, (10, 3)).astype("float32"), random.uniform(-1, 1, (10, 2)).astype("float32")
    gradients = []
    for cuts in ([10], [4, 4, 2]):
        net = initialised(mx.gluon.nn.Dense(2, in_units=3))
        net.weight.grad_req = net.bias.grad_req = "add"
        begin = 0
        for size in cuts:
            data, target = (kit.array(mx, part[begin:begin + size]) for part in (x, y))
            with mx.autograd.record():
                loss = ((net(data) - target) ** 2).sum()
            loss.backward()
            begin += size
        gradients.append((net.weight.grad().asnumpy(), net.bias.grad().asnumpy()))
    residual = x @ np.ones((3, 2), "float32") - y
    for (weight, bias), name in zip(gradients, ("one batch", "three batches")):
        check.close(weight, 2 * residual.T @ x, "gradient of the weight, %s" % name, rtol=1e-5, atol=1e-5)
        check.close(bias, 2 * residual.sum(axis=0), "gradient of the bias, %s" % name, rtol=1e-5, atol=1e-5)
