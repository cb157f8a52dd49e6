"""GRAPH-DAG and GRAPH-STATIC: what a graph is made of, in which order it runs, what is known before it runs."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.gluon import _tools as blocks
from conformance.suite.graph import _tools
from conformance.suite.graph._tools import marked


@case("GRAPH-DAG-001")
def nodes_and_edges(mx, check):
    x = mx.sym.var("x")
    e = mx.sym.exp(x)
    graph = e * mx.sym.sin(x) + e
    nodes = _tools.nodes(graph)
    check.equal(sorted(node["op"] for node in nodes), ["elemwise_add", "elemwise_mul", "exp", "null", "sin"],
                "operators of the nodes")
    for number, node in enumerate(nodes):
        check.that(all(source < number for source in _tools.sources(node)), "node %d reads earlier nodes only" % number,
                   "sources below %d" % number, str(node))
    check.equal(graph.list_outputs(), [nodes[-1]["name"] + "_output"], "outputs of the graph")


@case("GRAPH-DAG-002")
def value_used_twice_is_one_node(mx, check):
    a, b = mx.sym.var("a"), mx.sym.var("b")
    nodes = _tools.nodes((a + b) - a)
    check.equal([node["op"] for node in nodes], ["null", "null", "elemwise_add", "elemwise_sub"], "operators")
    check.equal([node["name"] for node in nodes][:2], ["a", "b"], "names of the variables")
    check.equal([_tools.sources(node) for node in nodes[2:]], [[0, 1], [2, 0]], "what the operators read")


@case("GRAPH-DAG-003")
def order_of_execution(mx, check):
    a, b = mx.sym.var("a"), mx.sym.var("b")
    graph = (a + b) * a
    for left, right, want in ((2.0, 3.0, 10.0), (-1.0, 4.0, -3.0)):
        check.equal(_tools.evaluate(mx, graph, a=[left], b=[right]), [[want]], "result of the graph")
        x, y = kit.array(mx, [left]), kit.array(mx, [right])
        check.equal((x + y) * x, [want], "result of the lines")


@case("GRAPH-DAG-004", needs=["symbol"])
def gradients_of_a_bound_graph(mx, check):
    a, b = mx.sym.var("a"), mx.sym.var("b")
    gradients = _tools.numbers(mx, a=[0.0], b=[0.0])
    executor = _tools.bind(mx, (a + b) * a, _tools.numbers(mx, a=[2.0], b=[3.0]), gradients)
    executor.forward(is_train=True)
    check.equal(executor.outputs[0], [10], "output")
    executor.backward([mx.nd.array([1.0])])
    check.equal([gradients["a"], gradients["b"]], [[7], [2]], "gradients")


@case("GRAPH-DAG-004")
def gradients_of_recorded_lines(mx, check):
    a, b = marked(mx, [2.0]), marked(mx, [3.0])
    with mx.autograd.record():
        out = (a + b) * a
    out.backward()
    check.equal([a.grad, b.grad], [[7], [2]], "gradients")


@case("GRAPH-STATIC-001")
def symbol_has_no_value(mx, check):
    graph = mx.sym.exp(mx.sym.var("x")) + 1
    check.raises(mx.base.NotImplementedForSymbol,
                 "Function asnumpy is not implemented for Symbol and only available in NDArray", graph.asnumpy)
    check.raises(AttributeError, "shape", lambda: graph.shape)
    check.equal(graph.list_arguments(), ["x"], "arguments")
    check.close(_tools.evaluate(mx, graph, x=[0.0])[0], [2.0], "value once data is fed")


@case("GRAPH-STATIC-002", needs=["symbol"])
def executor_runs_many_times(mx, check):
    x = mx.sym.var("x")
    executor = _tools.bind(mx, x * x + 1, _tools.numbers(mx, x=[1.0, 2.0]))
    check.equal(executor.forward()[0].asnumpy(), np.array([2.0, 5.0]), "first result")
    for values, want in (([3.0, 4.0], [10, 17]), ([0.0, -1.0], [1, 2])):
        check.equal(executor.forward(x=mx.nd.array(values))[0].asnumpy(), np.array(want), "later result")


@case("GRAPH-STATIC-002")
def hybridized_block_runs_many_times(mx, check):
    net, runs = blocks.counted(mx, lambda block, F, x: x * x + 1)
    net.hybridize()
    for values, want in (([1.0, 2.0], [2, 5]), ([3.0, 4.0], [10, 17]), ([0.0, -1.0], [1, 2])):
        check.equal(net(kit.array(mx, values)), want, "result")
    check.equal(len(runs), 1, "runs of the Python code")


@case("GRAPH-STATIC-008")
def shapes_are_inferred(mx, check):
    arguments, outputs, states = _tools.layer(mx).infer_shape(a=(2, 3))
    check.equal([tuple(shape) for shape in arguments], [(2, 3), (4, 3), (4,)], "shapes of the arguments")
    check.equal([tuple(shape) for shape in outputs], [(2, 4)], "shapes of the outputs")
    check.equal(list(states), [], "shapes of the states")


@case("GRAPH-STATIC-008")
def inconsistent_shapes_are_found(mx, check):
    layer = _tools.layer(mx)
    message = str(check.raises(mx.base.MXNetError, "Shape inconsistent",
                               lambda: layer.infer_shape(a=(2, 3), fc_weight=(4, 7))))
    check.contains(message.replace(" ", ""), "Provided=[4,7],inferredshape=(4,3)", doing="message")
    check.contains(message, "fc", doing="message")
    message = str(check.raises(mx.base.MXNetError, "zz", lambda: layer.infer_shape(zz=(2, 3))))
    check.contains(message, "fc_weight", "fc_bias", doing="message")
    check.equal([tuple(shape) for shape in layer.infer_shape(a=(2, 3))[1]], [(2, 4)], "shape of the output afterwards")


@case("GRAPH-STATIC-008")
def too_little_is_known(mx, check):
    layer = _tools.layer(mx)
    with check.warns(UserWarning, "Cannot decide shape"):
        found = layer.infer_shape()
    check.equal(tuple(found), (None, None, None), "shapes")


@case("GRAPH-STATIC-009", samples={"half": {"dtype": "float16"}, "double": {"dtype": "float64"}})
def types_are_inferred(mx, check, dtype):
    arguments, outputs, states = _tools.layer(mx).infer_type(a=dtype)
    check.equal([np.dtype(kind).name for kind in arguments], [dtype] * 3, "dtypes of the arguments")
    check.equal([np.dtype(kind).name for kind in outputs], [dtype], "dtypes of the outputs")
    check.equal(list(states), [], "dtypes of the states")
