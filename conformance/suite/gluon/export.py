"""GLUON-EXPORT: writing a traced block as a graph file and a parameter file, and reading both back."""

import json
import os

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.gluon import _tools
from conformance.suite.gluon._tools import initialised, ones


def _dense(mx):
    net = mx.gluon.nn.Dense(2, in_units=3)
    net.initialize()
    net.weight.set_data(kit.array(mx, [[1.0, 2.0, 3.0], [-1.0, 0.5, 4.0]]))
    net.bias.set_data(kit.array(mx, [0.25, -0.5]))
    return net


WANT = [[14.25, 11.5]]  # of the input 1, 2, 3


def _input(mx):
    return kit.array(mx, [[1.0, 2.0, 3.0]])


def _exported(mx, check, net=None):
    """The graph file and the parameter file of an exported net."""
    net = _dense(mx) if net is None else net
    net.hybridize()
    net(_input(mx))
    net.export(check.path("m"))
    return check.path("m-symbol.json"), check.path("m-0000.params")


def _key(mx, net, name):
    """The name of a parameter in the exported file of a single layer."""
    return "arg:" + (name if _tools.forward_style(mx) else getattr(net, name).name)


@case("GLUON-EXPORT-001")
def before_hybridize_and_before_a_call(mx, check):
    net = _dense(mx)
    message = "Please first call block.hybridize() and then run forward with this block at least once"
    check.raises(RuntimeError, message, net.export, check.path("m"))
    net.hybridize()
    check.raises(RuntimeError, message, net.export, check.path("m"))
    check.that(not os.path.exists(check.path("m-symbol.json")), "no file is written")
    net(_input(mx))
    net.export(check.path("m"))
    check.that(os.path.exists(check.path("m-symbol.json")), "a file is written after a call")


@case("GLUON-EXPORT-002", samples={
    "default": {"options": {}, "name": "m-0000.params"}, "seven": {"options": {"epoch": 7}, "name": "m-0007.params"},
    "long": {"options": {"epoch": 12345}, "name": "m-12345.params"}})
def names_of_the_files(mx, check, options, name):
    net = _dense(mx)
    net.hybridize()
    net(_input(mx))
    net.export(check.path("m"), **options)
    check.equal(sorted(os.listdir(os.path.dirname(check.path("m")))), sorted([name, "m-symbol.json"]), "files")


@case("GLUON-EXPORT-003")
def keys_of_the_parameters(mx, check):
    net = _tools.filled(mx, _tools.network(mx), check)
    _, path = _exported(mx, check, net)
    saved = _tools.load(mx, path)
    parameters = net.collect_params()
    want = {("aux:" if "running" in name else "arg:") + name: parameters[name] for name in parameters}
    check.equal(sorted(saved), sorted(want), "names in the file")
    for name in sorted(want):
        check.equal(saved[name].asnumpy(), want[name].data().asnumpy(), name)


@case("GLUON-EXPORT-004")
def single_input_is_called_data(mx, check):
    graph, _ = _exported(mx, check)
    with open(graph) as file:
        first = json.load(file)["nodes"][0]
    check.equal((first["op"], first["name"]), ("null", "data"), "operator and name of the first node")


@case("GLUON-EXPORT-005", samples={"list": {"names": ["data"]}, "text": {"names": "data"}})
def imported_block_gives_the_same(mx, check, names):
    graph, path = _exported(mx, check)
    block = mx.gluon.SymbolBlock.imports(graph, names, path)
    check.equal(block(_input(mx)), WANT, "output")


@case("GLUON-EXPORT-005")
def imported_network_gives_the_same(mx, check):
    net = _tools.filled(mx, _tools.network(mx), check)
    graph, path = _exported(mx, check, net)
    block = mx.gluon.SymbolBlock.imports(graph, ["data"], path)
    x = kit.array(mx, check.random().uniform(-1, 1, (5, 3)))
    check.equal(block(x).asnumpy(), net(x).asnumpy(), "output for five samples")
    check.equal(len(list(block.collect_params())), 8, "number of parameters")


@case("GLUON-EXPORT-006")
def wrong_name_of_the_input(mx, check):
    graph, path = _exported(mx, check)
    check.raises(AssertionError, "'data' is missing", mx.gluon.SymbolBlock.imports, graph, ["foo"], path)


def _changed(mx, path, change):
    arrays = dict(_tools.load(mx, path))
    change(arrays)
    _tools.save(mx, path, arrays)


@case("GLUON-EXPORT-006")
def missing_parameter(mx, check):
    net = _dense(mx)
    graph, path = _exported(mx, check, net)
    key = _key(mx, net, "weight")
    _changed(mx, path, lambda arrays: arrays.pop(key))
    check.raises(AssertionError, "is missing in", mx.gluon.SymbolBlock.imports, graph, ["data"], path)
    block = mx.gluon.SymbolBlock.imports(graph, ["data"], path, allow_missing=True)
    check.raises(RuntimeError, "has not been initialized", block, _input(mx))


@case("GLUON-EXPORT-006")
def extra_parameter(mx, check):
    graph, path = _exported(mx, check)

    def change(arrays):
        arrays["arg:stranger"] = ones(mx, (2,))

    _changed(mx, path, change)
    check.raises((AssertionError, ValueError), "stranger", "is not present in",
                 mx.gluon.SymbolBlock.imports, graph, ["data"], path)
    block = mx.gluon.SymbolBlock.imports(graph, ["data"], path, ignore_extra=True)
    check.equal(block(_input(mx)), WANT, "output when the extra parameter is ignored")


@case("GLUON-EXPORT-007")
def wrong_shape_of_a_parameter(mx, check):
    net = _dense(mx)
    graph, path = _exported(mx, check, net)
    key = _key(mx, net, "weight")

    def change(arrays):
        arrays[key] = ones(mx, (9, 3))

    _changed(mx, path, change)
    check.raises((AssertionError, ValueError, mx.base.MXNetError), "shape",
                 mx.gluon.SymbolBlock.imports, graph, ["data"], path)


@case("GLUON-EXPORT-008")
def without_a_parameter_file(mx, check):
    graph, _ = _exported(mx, check)
    block = mx.gluon.SymbolBlock.imports(graph, ["data"])
    check.raises(RuntimeError, "has not been initialized", block, _input(mx))
    initialised(block)
    check.equal(block(_input(mx)), [[7, 7]], "output with every parameter 1")


@case("GLUON-EXPORT-009")
def imported_on_another_device(mx, check):
    graph, path = _exported(mx, check)
    block = mx.gluon.SymbolBlock.imports(graph, ["data"], path, ctx=mx.cpu(1))
    for name, parameter in sorted(block.collect_params().items()):
        check.equal(_tools.parameter_devices(parameter), ["cpu(1)"], "devices of %s" % name)
    out = block(kit.array(mx, [[1.0, 2.0, 3.0]], mx.cpu(1)))
    check.equal(str(kit.device_of(out)), "cpu(1)", "device of the output")
    check.equal(out, WANT, "output")


@case("GLUON-EXPORT-009")
def missing_graph_file(mx, check):
    check.raises(mx.base.MXNetError, "No such file or directory",
                 mx.gluon.SymbolBlock.imports, check.path("nothing.json"), ["data"])


@case("GLUON-EXPORT-010")
def imported_block_in_a_hybridized_one(mx, check):
    graph, path = _exported(mx, check)
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.SymbolBlock.imports(graph, ["data"], path))
    net.add(mx.gluon.nn.HybridLambda("relu"))
    net.hybridize()
    for sign in (1.0, -1.0):
        want = np.maximum(np.array([[14.25, 11.5]]) if sign > 0 else np.array([[-13.75, -12.5]]), 0.0)
        check.equal(net(kit.array(mx, sign * np.array([[1.0, 2.0, 3.0]]))), want.tolist(), "output")
