"""GRAPH-OPATTR: attributes that are computed for every node of an operator when a graph is built."""

import contextlib
import warnings

from conformance.case import case
from conformance.suite.graph import _tools


@contextlib.contextmanager
def _registered(mx, operator, attribute, function):
    """Register a function for the block."""
    mx.optimizer.register_op_attr(operator, attribute)(function)
    try:
        yield
    finally:
        mx.optimizer.unregister_op_attr(operator, attribute)


def _convolution(mx, **options):
    return mx.sym.Convolution(mx.sym.var("x"), kernel=(1, 1), num_filter=2, name="c", **options)


@case("GRAPH-OPATTR-001")
def computed_for_every_node_of_an_operator(mx, check):
    seen = []

    def target(parameters):
        seen.append(parameters)
        return "default"

    with _registered(mx, "Convolution", "target", target):
        node = _convolution(mx)
        check.equal(node.attr("target"), "default", "attribute of a convolution")
        check.same(mx.sym.exp(node).attr("target"), None, "attribute of another operator")
        listed = next(entry for entry in _tools.nodes(node) if entry["name"] == "c")
        check.equal(listed["attrs"].get("__target__"), "default", "attribute in the file")
    check.that(len(seen) >= 1, "the function is called", "at least once", str(len(seen)))
    check.equal((seen[0]["num_filter"], seen[0]["kernel"]), ("2", "(1, 1)"), "parameters that the function gets")


@case("GRAPH-OPATTR-001")
def decorator_gives_the_function(mx, check):
    def target(parameters):
        return "default"

    with _registered(mx, "Convolution", "target", target):
        check.same(mx.optimizer.register_op_attr("Convolution", "other")(target), target, "what the decorator gives")
        check.equal(_convolution(mx).attr("other"), "default", "attribute")
        mx.optimizer.unregister_op_attr("Convolution", "other")


@case("GRAPH-OPATTR-002")
def wrong_registrations(mx, check):
    register = mx.optimizer.register_op_attr
    check.raises(ValueError, "no_such_operator",
                 lambda: register("no_such_operator", "target")(lambda parameters: "x"))
    check.raises(ValueError, lambda: register("Convolution", "not an identifier")(lambda parameters: "x"))
    check.raises(TypeError, lambda: register("Convolution", "target")("no function"))
    check.raises(KeyError, lambda: mx.optimizer.unregister_op_attr("Convolution", "target"))


@case("GRAPH-OPATTR-002", needs=["symbol"])
def value_that_is_no_string(mx, check):
    with _registered(mx, "Convolution", "target", lambda parameters: 3):
        check.raises(TypeError, "Attributes need to be string", _convolution, mx)
    check.same(_convolution(mx).attr("target"), None, "attribute of a node made afterwards")


@case("GRAPH-OPATTR-003", needs=["symbol"])
def given_attribute_wins(mx, check):
    with _registered(mx, "Convolution", "target", lambda parameters: "default"):
        check.equal(_convolution(mx, attr={"target": "given"}).attr("target"), "given", "attribute that was given")
        with mx.AttrScope(target="scope"):
            check.equal(_convolution(mx).attr("target"), "scope", "attribute of a scope")


@case("GRAPH-OPATTR-003", needs=["symbol"])
def second_registration_replaces_the_first(mx, check):
    with _registered(mx, "Convolution", "target", lambda parameters: "first"):
        with check.warns(UserWarning, "Convolution", "target"):
            mx.optimizer.register_op_attr("Convolution", "target")(lambda parameters: "second")
        check.equal(_convolution(mx).attr("target"), "second", "attribute")


@case("GRAPH-OPATTR-004", needs=["symbol"])
def results_stay_the_same(mx, check):
    values = {"x": [[[[1.0, 2.0]]]], "c_weight": [[[[3.0]]], [[[-1.0]]]], "c_bias": [0.5, 0.0]}
    want = [[[[3.5, 6.5]], [[-1.0, -2.0]]]]
    check.equal(_tools.evaluate(mx, _convolution(mx), **values)[0], want, "output without a registration")
    with _registered(mx, "Convolution", "target", lambda parameters: "cudnn"):
        node = _convolution(mx)
        check.equal(node.attr("target"), "cudnn", "attribute")
        check.equal(_tools.evaluate(mx, node, **values)[0], want, "output with a registration")


@case("GRAPH-OPATTR-005")
def names_of_features(mx, check):
    features = mx.runtime.Features()
    names = mx.libinfo()
    for name in ("CUDNN", "OPENMP", "CUDA"):
        check.equal(name.lower() in names, bool(features.is_enabled(name)), "%s is among the features" % name.lower())
    check.that(all(name == name.lower() for name in names), "the names are in lower case", "lower case", str(names))
    check.isinstance(mx.libinfo.__version__, str, "version of the module")
    check.isinstance(mx.libinfo.find_lib_path(), list, "paths of the library")


@case("GRAPH-OPATTR-006", needs=["symbol"])
def registration_is_undone(mx, check):
    mx.optimizer.register_op_attr("Convolution", "target")(lambda parameters: "default")
    before = _convolution(mx)
    mx.optimizer.unregister_op_attr("Convolution", "target")
    check.equal(before.attr("target"), "default", "attribute of a node built before")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check.same(_convolution(mx).attr("target"), None, "attribute of a node built afterwards")
    check.raises(KeyError, lambda: mx.optimizer.unregister_op_attr("Convolution", "target"))
