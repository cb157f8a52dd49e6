"""GRAPH-JSON: the file that a graph is written to."""

import json

from conformance.case import case
from conformance.suite import kit
from conformance.suite.gluon import _tools as blocks
from conformance.suite.graph import _tools


def _exported(mx, check):
    """The graph file of an exported Dense(4) of 3, as JSON values, and the block."""
    net = blocks.initialised(mx.gluon.nn.Dense(4, in_units=3))
    net.weight.lr_mult = 2.0
    net.hybridize()
    net(blocks.ones(mx, (1, 3)))
    net.export(check.path("m"))
    with open(check.path("m-symbol.json")) as file:
        return json.load(file), net


@case("GRAPH-JSON-001")
def keys_of_the_file(mx, check):
    graph, _ = _exported(mx, check)
    check.equal(sorted(graph), ["arg_nodes", "attrs", "heads", "node_row_ptr", "nodes"], "keys")
    version = graph["attrs"]["mxnet_version"]
    check.equal(version[0], "int", "kind of the version")
    major, minor, patch = (int("".join(c for c in part if c.isdigit()) or 0)
                           for part in (mx.__version__.replace("beta", ".").split("+")[0].split(".") + ["0"])[:3])
    check.equal(version[1], 10000 * major + 100 * minor + patch, "version, as that of the engine")
    check.equal(graph["heads"], [[3, 0, 0]], "heads")
    check.equal(graph["arg_nodes"], [0, 1, 2], "nodes that are arguments")


@case("GRAPH-JSON-001")
def keys_of_a_symbol(mx, check):
    graph = json.loads(_tools.layer(mx).tojson())
    check.equal(sorted(graph), ["arg_nodes", "attrs", "heads", "node_row_ptr", "nodes"], "keys")
    check.equal((graph["arg_nodes"], graph["heads"]), ([0, 1, 2], [[3, 0, 0]]), "arguments and heads")


@case("GRAPH-JSON-002")
def keys_of_a_node(mx, check):
    graph, _ = _exported(mx, check)
    for node in graph["nodes"]:
        check.that(set(node) <= {"op", "name", "attrs", "inputs"} and {"op", "name", "inputs"} <= set(node),
                   "keys of a node", "op, name, inputs and maybe attrs", str(sorted(node)))
        check.that(all(isinstance(value, str) for value in node.get("attrs", {}).values()),
                   "attribute values are strings", "strings", str(node.get("attrs")))
    check.equal([node["op"] for node in graph["nodes"]], ["null", "null", "null", "FullyConnected"]
                if graph["nodes"][3]["op"] == "FullyConnected" else
                ["null", "null", "null", "_npx_fully_connected"], "operators")
    layer = graph["nodes"][3]
    check.equal(layer["inputs"], [[0, 0, 0], [1, 0, 0], [2, 0, 0]], "what the layer reads")
    check.equal(layer["attrs"]["num_hidden"], "4", "num_hidden")
    check.that(layer["attrs"]["no_bias"] in ("False", "0"), "no_bias is false as text", "False or 0",
               layer["attrs"]["no_bias"])
    check.that(layer["attrs"]["flatten"] in ("True", "1"), "flatten is true as text", "True or 1",
               layer["attrs"]["flatten"])


@case("GRAPH-JSON-002")
def number_is_written_as_text(mx, check):
    nodes = _tools.nodes(mx.sym.var("x") * 3)
    check.equal((nodes[0]["op"], nodes[0]["name"], nodes[0]["inputs"]), ("null", "x", []), "variable")
    scalar = nodes[1]["attrs"]["scalar"]
    check.isinstance(scalar, str, "kind of the factor")
    check.equal(float(scalar), 3.0, "factor")
    check.equal(nodes[1]["inputs"], [[0, 0, 0]], "what the product reads")


@case("GRAPH-JSON-003")
def running_count_of_outputs(mx, check):
    parts = mx.sym.split(mx.sym.var("x"), num_outputs=2)
    graph = json.loads((parts[0] + parts[1]).tojson())
    check.equal(graph["node_row_ptr"], [0, 1, 3, 4], "node_row_ptr")
    check.equal([entry[:2] for entry in graph["nodes"][2]["inputs"]], [[1, 0], [1, 1]], "what the sum reads")
    check.equal(json.loads(_tools.layer(mx).tojson())["node_row_ptr"], [0, 1, 2, 3, 4], "with one output each")


@case("GRAPH-JSON-004")
def text_is_read_back(mx, check):
    graph = mx.sym.BatchNorm(mx.sym.exp(_tools.layer(mx)), name="bn")
    again = _tools.from_json(mx, graph.tojson())
    check.equal(again.tojson(), graph.tojson(), "graph that was read back")
    check.equal(again.list_auxiliary_states(), ["bn_moving_mean", "bn_moving_var"], "states")
    small = _tools.from_json(mx, (mx.sym.square(mx.sym.var("x")) + 1).tojson())
    check.equal(_tools.evaluate(mx, small, x=[3.0]), [[10]], "value of x * x + 1")


@case("GRAPH-JSON-004")
def file_is_read_back(mx, check):
    layer, path = _tools.layer(mx), check.path("layer.json")
    layer.save(path)
    again = mx.sym.load(path)
    check.equal(again.list_arguments(), ["a", "fc_weight", "fc_bias"], "arguments")
    check.equal(again.tojson(), layer.tojson(), "graph that was read back")


BROKEN = {
    "empty": {"make": lambda text: "{}", "fragments": ("Missing field",)},
    "no_json": {"make": lambda text: "garbage", "fragments": ("Expect", "'{'")},
    "unknown_operator": {"make": lambda text: text.replace("FullyConnected", "no_such_op"),
                         "fragments": ("Operator no_such_op is not registered",)},
}


@case("GRAPH-JSON-005", samples=BROKEN)
def broken_text_is_refused(mx, check, make, fragments):
    text = _tools.layer(mx).tojson()
    check.raises(mx.base.MXNetError, *(fragments + (_tools.from_json, mx, make(text))))
    check.equal(_tools.from_json(mx, text).list_outputs(), ["fc_output"], "outputs of a right one")


@case("GRAPH-JSON-005")
def neither_text_nor_file(mx, check):
    check.raises(TypeError, "string", _tools.from_json, mx, 3)
    check.raises(mx.base.MXNetError, "No such file or directory", mx.sym.load, check.path("nothing.json"))


@case("GRAPH-JSON-006")
def parameters_carry_their_properties(mx, check):
    graph, net = _exported(mx, check)
    weights = [node for node in graph["nodes"] if node["op"] == "null" and node["name"].endswith("weight")]
    check.equal(len(weights), 1, "number of weights")
    attributes = weights[0]["attrs"]
    check.equal({name: attributes.get(name) for name in
                 ("__shape__", "__dtype__", "__storage_type__", "__lr_mult__", "__wd_mult__")},
                {"__shape__": "(4, 3)", "__dtype__": "0", "__storage_type__": "0", "__lr_mult__": "2.0",
                 "__wd_mult__": "1.0"}, "properties of the weight")
    biases = [node for node in graph["nodes"] if node["op"] == "null" and node["name"].endswith("bias")]
    check.contains(biases[0]["attrs"].get("__init__", ""), "zeros", doing="__init__ of the bias, which has one set")
    check.equal(tuple(net.weight.shape), (4, 3), "shape of the weight")
    check.equal(net(kit.array(mx, [[1.0, 1.0, 1.0]])).shape, (1, 4), "shape of the output")
