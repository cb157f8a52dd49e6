"""GLUON-PARAMS: parameters written to files and read back."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.gluon import _tools
from conformance.suite.gluon._tools import initialised, ones

KEYS = ["0.bias", "0.weight", "1.beta", "1.gamma", "1.running_mean", "1.running_var", "2.bias", "2.weight"]


def _dense(mx, units=4, inputs=3):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(units, in_units=inputs))
    return net


def _saved(mx, check, change=None):
    """A file with 0.weight = 2 and 0.bias = 1 of a Dense(4) of 3, changed before it is written."""
    arrays = {"0.weight": kit.array(mx, np.full((4, 3), 2.0)), "0.bias": kit.array(mx, np.ones(4))}
    if change is not None:
        change(arrays)
    path = check.path("changed.params")
    _tools.save(mx, path, arrays)
    return path


@case("GLUON-PARAMS-009")
def structural_names(mx, check):
    net = _tools.filled(mx, _tools.network(mx), check)
    path = check.path("net.params")
    net.save_parameters(path)
    saved = _tools.load(mx, path)
    check.equal(sorted(saved), KEYS, "names in the file")
    check.equal(saved["2.weight"], net[2].weight.data().asnumpy(), "last weight in the file")
    other = _tools.network(mx)
    other.load_parameters(path)
    x = kit.array(mx, [[1.0, -2.0, 3.0]])
    check.equal(other(x).asnumpy(), net(x).asnumpy(), "output of a net that has loaded them")


def _without_weight(arrays):
    del arrays["0.weight"]


def _with_extra(arrays):
    arrays["7.weight"] = arrays["0.weight"]


@case("GLUON-PARAMS-010")
def missing_parameter(mx, check):
    net = initialised(_dense(mx))
    path = _saved(mx, check, _without_weight)
    check.raises(AssertionError, "Parameter '0.weight' is missing in", "Set allow_missing=True",
                 net.load_parameters, path)
    check.equal(net[0].bias.data(), [0] * 4, "bias after the refusal")
    net.load_parameters(path, allow_missing=True)
    check.equal(net[0].bias.data(), [1] * 4, "bias that was loaded")
    check.equal(net[0].weight.data().asnumpy(), np.ones((4, 3)), "weight that is missing in the file")


@case("GLUON-PARAMS-010")
def extra_parameter(mx, check):
    net = initialised(_dense(mx))
    path = _saved(mx, check, _with_extra)
    check.raises(ValueError, "7.weight", "is not present in", "Set ignore_extra=True", net.load_parameters, path)
    net.load_parameters(path, ignore_extra=True)
    check.equal(net[0].weight.data().asnumpy(), np.full((4, 3), 2.0), "weight that was loaded")


@case("GLUON-PARAMS-011")
def shape_of_the_file_differs(mx, check):
    net = initialised(_dense(mx))

    def change(arrays):
        arrays["0.weight"] = kit.array(mx, np.ones((4, 5)))

    path = _saved(mx, check, change)
    check.raises(AssertionError, "shape incompatible expected (4, 3) vs saved (4, 5)", net.load_parameters, path)
    check.equal(net[0].weight.data().asnumpy(), np.ones((4, 3)), "weight afterwards")


def _halves(mx):
    def change(arrays):
        for name in arrays:
            arrays[name] = kit.array(mx, arrays[name].asnumpy(), dtype="float16")
    return change


@case("GLUON-PARAMS-011")
def dtype_of_the_file_differs(mx, check):
    path = _saved(mx, check, _halves(mx))
    net = initialised(_dense(mx))
    check.raises(AssertionError, "dtype incompatible expected", "float32", "vs saved", "float16",
                 net.load_parameters, path)
    check.equal(net[0].weight.data().asnumpy(), np.ones((4, 3)), "weight afterwards")


@case("GLUON-PARAMS-011", samples={"current": {"source": "current", "dtype": "float32"},
                                   "saved": {"source": "saved", "dtype": "float16"}})
def dtype_is_cast_on_demand(mx, check, source, dtype):
    net = initialised(_dense(mx))
    net.load_parameters(_saved(mx, check, _halves(mx)), cast_dtype=True, dtype_source=source)
    check.dtype(net[0].weight.data(), dtype, "dtype of the weight")
    check.equal(net[0].weight.data().asnumpy(), np.full((4, 3), 2.0), "weight")


@case("GLUON-PARAMS-011")
def unknown_source_of_the_dtype(mx, check):
    net = initialised(_dense(mx))
    check.raises(AssertionError,
                 lambda: net.load_parameters(_saved(mx, check, _halves(mx)), cast_dtype=True, dtype_source="foo"))
    check.dtype(net[0].weight.data(), "float32", "dtype of the weight afterwards")


@case("GLUON-PARAMS-012")
def loading_settles_an_open_shape(mx, check):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(4))
    net.load_parameters(_saved(mx, check))
    check.equal(tuple(net[0].weight.shape), (4, 3), "shape of the weight")
    check.equal(net(ones(mx, (1, 3))), [[7] * 4], "output: 3 * 2 + 1")


@case("GLUON-PARAMS-012")
def fresh_net_goes_where_it_is_loaded(mx, check):
    net = _dense(mx)
    net.load_parameters(_saved(mx, check), ctx=[mx.cpu(0), mx.cpu(1)])
    check.equal(_tools.parameter_devices(net[0].weight), ["cpu(0)", "cpu(1)"], "devices of the weight")
    for device in (mx.cpu(0), mx.cpu(1)):
        check.equal(net(ones(mx, (1, 3), device)), [[7] * 4], "output on %s" % device)


@case("GLUON-PARAMS-012")
def net_that_lives_elsewhere_stays(mx, check):
    net = initialised(_dense(mx), ctx=mx.cpu(0))
    check.raises(AssertionError, "because it was previous initialized on",
                 lambda: net.load_parameters(_saved(mx, check), ctx=[mx.cpu(0), mx.cpu(1)]))
    check.equal(_tools.parameter_devices(net[0].weight), ["cpu(0)"], "devices of the weight")
    check.equal(net[0].weight.data().asnumpy(), np.ones((4, 3)), "weight afterwards")


@case("GLUON-PARAMS-013")
def not_initialised_cannot_be_saved(mx, check):
    net, path = _dense(mx), check.path("x.params")
    check.raises(RuntimeError, "has not been initialized", net.save_parameters, path)
    initialised(net).save_parameters(path)
    check.equal(sorted(_tools.load(mx, path)), ["0.bias", "0.weight"], "names in the file once it is initialised")


@case("GLUON-PARAMS-013")
def deferred_cannot_be_saved(mx, check):
    net, path = mx.gluon.nn.Dense(4), check.path("x.params")
    net.initialize()
    check.raises(_tools.deferred_error(mx), net.save_parameters, path)
    net(ones(mx, (1, 3)))
    net.save_parameters(path)
    check.equal(sorted(_tools.load(mx, path)), ["bias", "weight"], "names in the file after the first call")


@case("GLUON-PARAMS-014")
def missing_file_is_named(mx, check):
    net = initialised(_dense(mx))
    path = check.path("there_is_no_such_file.params")
    check.raises((mx.base.MXNetError, ValueError, OSError), "No such file or directory",
                 "there_is_no_such_file.params", net.load_parameters, path)
    check.equal(net[0].weight.data().asnumpy(), np.ones((4, 3)), "weight afterwards")


@case("GLUON-PARAMS-015")
def exported_file_is_read(mx, check):
    net = _tools.filled(mx, _tools.network(mx), check)
    net.hybridize()
    x = kit.array(mx, [[1.0, -2.0, 3.0]])
    want = net(x).asnumpy()
    net.export(check.path("m"))
    other = mx.gluon.nn.HybridSequential()
    for layer in (mx.gluon.nn.Dense(4, in_units=3), mx.gluon.nn.BatchNorm(in_channels=4),
                  mx.gluon.nn.Dense(2, in_units=4)):
        other.add(layer)
    other.load_parameters(check.path("m-0000.params"))
    check.equal(other(x).asnumpy(), want, "output of the net that has loaded the export")
