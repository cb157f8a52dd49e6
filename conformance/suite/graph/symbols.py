"""GRAPH-SYM: making symbols, their names, attributes, composition, executors."""

import copy

from conformance.case import case
from conformance.suite.gluon import _tools as blocks
from conformance.suite.graph import _tools
from conformance.suite.ndarray._tools import through_pickle


@case("GRAPH-SYM-001")
def arguments_and_outputs(mx, check):
    layer = _tools.layer(mx)
    check.equal(layer.list_arguments(), ["a", "fc_weight", "fc_bias"], "arguments of FullyConnected")
    check.equal(layer.list_outputs(), ["fc_output"], "outputs")
    check.equal(layer.list_auxiliary_states(), [], "states")
    norm = mx.sym.BatchNorm(mx.sym.exp(layer), name="bn")
    check.equal(norm.list_arguments(), ["a", "fc_weight", "fc_bias", "bn_gamma", "bn_beta"], "arguments of BatchNorm")
    check.equal(norm.list_auxiliary_states(), ["bn_moving_mean", "bn_moving_var"], "states of BatchNorm")
    check.equal(norm.list_outputs(), ["bn_output"], "outputs of BatchNorm")


@case("GRAPH-SYM-001")
def arguments_come_depth_first(mx, check):
    a, b, c = (mx.sym.var(name) for name in "abc")
    check.equal(((c + a) * b).list_arguments(), ["c", "a", "b"], "arguments of (c + a) * b")
    check.equal((b * (c + a)).list_arguments(), ["b", "c", "a"], "arguments of b * (c + a)")


@case("GRAPH-SYM-002")
def missing_inputs_become_variables(mx, check):
    a = mx.sym.var("a")
    check.equal(mx.sym.FullyConnected(a, num_hidden=2, no_bias=True, name="q").list_arguments(), ["a", "q_weight"],
                "arguments without a bias")
    given = mx.sym.FullyConnected(a, weight=mx.sym.var("w"), num_hidden=2, name="q")
    check.equal(given.list_arguments(), ["a", "w", "q_bias"], "arguments with a weight that was given")
    check.equal(mx.sym.Convolution(a, kernel=(1, 1), num_filter=2, name="c").list_arguments(),
                ["a", "c_weight", "c_bias"], "arguments of a convolution")


@case("GRAPH-SYM-003")
def automatic_names(mx, check):
    a = mx.sym.var("a")
    with mx.name.NameManager():
        names = [mx.sym.FullyConnected(a, num_hidden=2).name for _ in range(2)] + [mx.sym.exp(a).name]
    check.equal(names, ["fullyconnected0", "fullyconnected1", "exp0"], "names counted per operator")
    with mx.name.Prefix("pp_"):
        check.equal(mx.sym.FullyConnected(a, num_hidden=2).name, "pp_fullyconnected0", "name with a prefix")
        check.equal(mx.sym.exp(a, name="own").name, "pp_own", "given name with a prefix")
    check.equal(mx.sym.exp(a, name="own").name, "own", "given name")


BAD = {
    "required": {"fragments": ("Required parameter num_hidden",), "call": lambda mx, a: mx.sym.FullyConnected(a)},
    "unknown": {"fragments": ("foo",), "call": lambda mx, a: mx.sym.FullyConnected(a, num_hidden=2, foo=1)},
    "value": {"fragments": ("Invalid Input: 'foo', valid values are",),
              "call": lambda mx, a: mx.sym.Activation(a, act_type="foo")},
}


@case("GRAPH-SYM-004", samples=BAD)
def parameters_are_checked_at_once(mx, check, call, fragments):
    a = mx.sym.var("a")
    check.raises(mx.base.MXNetError, *(fragments + (call, mx, a)))
    check.equal(mx.sym.FullyConnected(a, num_hidden=2, name="q").list_outputs(), ["q_output"], "a right one afterwards")


@case("GRAPH-SYM-004")
def array_is_no_input_of_a_symbol(mx, check):
    check.raises((AssertionError, TypeError), "Symbol", mx.sym.exp, mx.nd.array([2.0]))
    check.equal(mx.sym.exp(mx.sym.var("a"), name="e").list_outputs(), ["e_output"], "a right one afterwards")


def _pair(mx):
    x = mx.sym.var("x")
    return mx.sym.Group([mx.sym.exp(x, name="e"), mx.sym.square(x, name="s")])


@case("GRAPH-SYM-005")
def group_joins_outputs(mx, check):
    group = _pair(mx)
    check.equal(len(group), 2, "number of outputs")
    check.equal(group.list_outputs(), ["e_output", "s_output"], "outputs")
    check.equal(group[1].list_outputs(), ["s_output"], "output with index 1")
    check.equal(group["s_output"].list_outputs(), ["s_output"], "output by name")
    values = _tools.evaluate(mx, group, x=[0.0, 3.0])
    check.close(values[0], [1.0, 20.085537], "first output")
    check.equal(values[1], [0, 9], "second output")
    check.equal(_tools.evaluate(mx, group[1], x=[3.0]), [[9]], "value of the second output alone")


@case("GRAPH-SYM-005")
def output_that_is_not_there(mx, check):
    group = _pair(mx)
    check.raises(IndexError, lambda: group[5])
    check.raises(ValueError, "Cannot find output that matches name", "nope", lambda: group["nope"])
    check.equal(len(group), 2, "number of outputs afterwards")


@case("GRAPH-SYM-006")
def internals_of_a_layer(mx, check):
    inner = mx.sym.exp(_tools.layer(mx), name="e").get_internals()
    check.equal(inner.list_outputs(), ["a", "fc_weight", "fc_bias", "fc_output", "e_output"], "outputs of every node")
    cut = inner["fc_output"]
    check.equal((cut.list_outputs(), cut.list_arguments()), (["fc_output"], ["a", "fc_weight", "fc_bias"]),
                "outputs and arguments of a part")
    check.equal(inner["fc_weight"].list_arguments(), ["fc_weight"], "arguments of a variable")
    check.equal(_tools.evaluate(mx, cut, a=[[1.0, 2.0]], fc_weight=[[1.0, 1.0]] * 4, fc_bias=[0.0] * 4), [[[3] * 4]],
                "value of the part")


@case("GRAPH-SYM-006")
def internals_of_an_exported_net(mx, check):
    net = blocks.filled(mx, blocks.network(mx), check)
    net.hybridize()
    net(blocks.ones(mx, (1, 3)))
    net.export(check.path("m"))
    names = mx.sym.load(check.path("m-symbol.json")).get_internals().list_outputs()
    check.equal(names[0], "data", "first of the nodes")
    # 1.x also lists the hidden outputs of BatchNorm.
    outputs = [name for name in names if name.endswith("_output")]
    check.equal(len(outputs), 3, "outputs of the three layers")
    check.equal(names[-1], outputs[-1], "last of the nodes")


@case("GRAPH-SYM-007")
def call_replaces_variables(mx, check):
    x = mx.sym.var("x")
    composed = (x + 1)(x=mx.sym.square(mx.sym.var("c")))
    check.equal(composed.list_arguments(), ["c"], "arguments")
    check.equal(_tools.evaluate(mx, composed, c=[3.0]), [[10]], "value of c * c + 1")


@case("GRAPH-SYM-007")
def unknown_variable_is_named(mx, check):
    graph = mx.sym.var("x") + 1
    check.raises(mx.base.MXNetError, "zz", lambda: graph(zz=mx.sym.var("c")))
    check.equal(graph.list_arguments(), ["x"], "arguments afterwards")


@case("GRAPH-SYM-008")
def attributes_of_a_scope(mx, check):
    x = mx.sym.var("x")
    with mx.AttrScope(ctx_group="dev1"):
        inside = mx.sym.exp(x)
    check.equal(inside.attr("ctx_group"), "dev1", "attribute of a node made in the scope")
    check.same(inside.attr("nope"), None, "attribute that is not there")
    check.same(x.attr("ctx_group"), None, "attribute of a node made before")
    check.same(mx.sym.exp(x).attr("ctx_group"), None, "attribute of a node made afterwards")
    check.equal(mx.sym.var("k", attr={"color": "red"}).attr("color"), "red", "attribute that was given")


@case("GRAPH-SYM-008")
def attributes_are_strings(mx, check):
    check.raises(ValueError, "Attributes need to be string", lambda: mx.AttrScope(foo=3))
    check.raises(ValueError, lambda: mx.sym.var("k", attr={"color": 1}))
    check.same(mx.sym.var("k").attr("foo"), None, "attribute of a later node")


HIDDEN = {
    "lr_mult": ({"lr_mult": 2.0}, "2.0"), "wd_mult": ({"wd_mult": 0.5}, "0.5"), "shape": ({"shape": (1, 2)}, "(1, 2)"),
    "dtype": ({"dtype": "float16"}, "2"),
}


@case("GRAPH-SYM-009", samples={name: {"name": name, "options": options, "want": want}
                                for name, (options, want) in HIDDEN.items()})
def variable_carries(mx, check, name, options, want):
    check.equal(mx.sym.var("w", **options).attr("__%s__" % name), want, "__%s__" % name)
    check.same(mx.sym.var("w").attr("__%s__" % name), None, "__%s__ of a variable without" % name)


@case("GRAPH-SYM-009")
def variable_carries_its_initializer(mx, check):
    check.equal(mx.sym.var("w", init=mx.init.Constant(2.5)).attr("__init__"), '["constant", {"value": 2.5}]',
                "__init__")


@case("GRAPH-SYM-010", samples={"operators": {"variables": False}, "variables": {"variables": True}})
def same_name_twice_is_noticed(mx, check, variables):
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            if variables:
                found = (mx.sym.var("z") + mx.sym.var("z")).list_arguments()
            else:
                x = mx.sym.var("x")
                found = mx.sym.Group([mx.sym.exp(x, name="q"), mx.sym.sin(x, name="q")]).list_outputs()
        except (ValueError, mx.base.MXNetError) as error:
            check.contains(str(error), "z" if variables else "q", doing="message")
            return
    check.that(bool(caught), "two nodes of the same name are refused or warned about", "an error or a warning",
               str(found))


def _product(mx):
    a, b = mx.sym.var("a"), mx.sym.var("b")
    return (a + b) * a


@case("GRAPH-SYM-011")
def simple_bind_makes_its_arrays(mx, check):
    executor = _product(mx).simple_bind(mx.cpu(), a=(1,), b=(1,))
    executor.copy_params_from({"a": mx.nd.array([2.0]), "b": mx.nd.array([3.0])})
    check.equal(executor.forward(is_train=True)[0], [10], "output")
    executor.backward([mx.nd.array([1.0])])
    check.equal([executor.grad_dict["a"], executor.grad_dict["b"]], [[7], [2]], "gradients")


@case("GRAPH-SYM-011")
def grad_req_of_a_bound_graph(mx, check):
    graph = _product(mx)
    without = graph.simple_bind(mx.cpu(), grad_req="null", a=(1,), b=(1,))
    check.equal(without.grad_dict, {"a": None, "b": None}, "gradients with grad_req null")
    check.raises(RuntimeError, lambda: graph.simple_bind(mx.cpu(), grad_req="foo", a=(1,), b=(1,)))


@case("GRAPH-SYM-011")
def bind_wants_every_array(mx, check):
    graph = _product(mx)
    check.raises(ValueError, "key `b` is missing in `args`", lambda: graph.bind(mx.cpu(), {"a": mx.nd.array([2.0])}))
    executor = graph.bind(mx.cpu(), {"a": mx.nd.array([2.0]), "b": mx.nd.array([3.0])})
    check.equal(executor.forward()[0], [10], "output with both")


@case("GRAPH-SYM-012")
def pickled_and_copied(mx, check):
    layer = _tools.layer(mx)
    check.equal(through_pickle(mx, layer).tojson(), layer.tojson(), "graph that was pickled and restored")
    for copied in (copy.copy(layer), copy.deepcopy(layer)):
        check.equal(copied.list_arguments(), ["a", "fc_weight", "fc_bias"], "arguments of a copy")
        check.not_same(copied, layer, "copy")
    check.equal(copy.deepcopy(layer).tojson(), layer.tojson(), "graph of a deep copy")


@case("GRAPH-SYM-013")
def several_outputs_are_no_single_input(mx, check):
    parts = mx.sym.split(mx.sym.var("x"), num_outputs=2)
    check.raises((mx.base.MXNetError, IndexError, ValueError, TypeError), mx.sym.exp, parts)
    check.equal(_tools.evaluate(mx, mx.sym.square(parts[1]), x=[[1.0, 2.0], [3.0, 4.0]]), [[[4], [16]]],
                "value of one of the outputs")


@case("GRAPH-SYM-014")
def summary_of_a_graph(mx, check):
    with check.printed() as out:
        mx.viz.print_summary(_tools.layer(mx), shape={"a": (2, 3)})
    text = out.getvalue()
    check.contains(text, "Layer (type)", "Param #", "fc(FullyConnected)", "Total params: 16", doing="what is printed")


@case("GRAPH-SYM-014", needs=("plot",))
def drawing_of_a_graph(mx, check):
    drawn = mx.viz.plot_network(mx.sym.exp(_tools.layer(mx), name="last"), shape={"a": (2, 3)})
    check.contains(drawn.source, "digraph", "fc", "last", doing="source of the drawing")
