"""GRAPH-FUSE and GRAPH-CLAIM: fused operators, bulk execution, a graph that runs without its class."""

import json
import warnings

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.gluon import _tools as blocks
from conformance.suite.gluon._tools import ones
from conformance.suite.graph import _tools


def _network(mx, check):
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    for layer in (nn.Conv2D(4, 3, in_channels=2), nn.BatchNorm(in_channels=4), nn.Activation("relu"),
                  nn.Dense(3, in_units=64)):
        net.add(layer)
    return blocks.filled(mx, net, check, ones(mx, (1, 2, 6, 6)))


@case("GRAPH-FUSE-001")
def traced_network_gives_the_same(mx, check):
    net = _network(mx, check)
    x = kit.array(mx, np.random.RandomState(5).uniform(-1, 1, (2, 2, 6, 6)))
    want = net(x).asnumpy()
    net.hybridize(static_alloc=True, static_shape=True)
    for _ in range(2):
        check.close(net(x).asnumpy(), want, "hybridized output", rtol=1e-5, atol=1e-5 * np.abs(want).max())
    check.that(bool(np.abs(want).max() > 0.1), "there is something to compare", "outputs above 0.1", str(want))


@case("GRAPH-FUSE-001", needs=["symbol"])
def bound_graph_with_and_without_a_backend(mx, check):
    random = np.random.RandomState(6)
    shapes = {"x": (2, 2, 6, 6), "c_weight": (4, 2, 3, 3), "c_bias": (4,), "bn_gamma": (4,), "bn_beta": (4,)}
    values = {name: random.uniform(-1, 1, shape) for name, shape in shapes.items()}
    graph = mx.sym.Convolution(mx.sym.var("x"), kernel=(3, 3), num_filter=4, name="c")
    graph = mx.sym.relu(mx.sym.BatchNorm(graph, fix_gamma=False, name="bn"))
    outputs = []
    for backend in (None, "NONE"):
        with check.environment(MXNET_SUBGRAPH_BACKEND=backend):
            states = _tools.numbers(mx, bn_moving_mean=[0.1, -0.1, 0.2, 0.0], bn_moving_var=[0.5, 1.0, 2.0, 1.5])
            executor = _tools.bind(mx, graph, _tools.numbers(mx, **values), aux_states=states)
            outputs.append(executor.forward()[0].asnumpy())
    check.close(outputs[0], outputs[1], "output with the default backend", rtol=1e-5, atol=1e-5)
    largest = outputs[1].max()
    check.that(bool(largest > 0.1), "there is something to compare", "an output above 0.1", str(largest))


@case("GRAPH-FUSE-002")
def unknown_backend_is_noticed(mx, check):
    net = blocks.initialised(mx.gluon.nn.Dense(2, in_units=3))
    x = ones(mx, (1, 3))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            net.optimize_for(x, backend="nosuch")
            message = " ".join(str(item.message) for item in caught)
        except Exception as error:  # noqa: BLE001 - any refusal will do, as long as it names the backend
            message = str(error)
    check.contains(message, "nosuch", doing="error or warning about the backend")
    check.equal(net(x), [[3, 3]], "output afterwards")


@case("GRAPH-FUSE-003")
def size_of_a_bulk(mx, check):
    first = mx.engine.set_bulk_size(10)
    try:
        check.equal(mx.engine.set_bulk_size(15), 10, "size before the second call")
        x = mx.nd.ones((2,))
        with mx.engine.bulk(20):
            for _ in range(5):
                x += 1
        check.equal(x, [6, 6], "five increments of 1 within a bulk")
        check.equal(mx.engine.set_bulk_size(first), 15, "size after the bulk")
    finally:
        mx.engine.set_bulk_size(first)


_RUN = """
import json
block = mx.gluon.SymbolBlock.imports({graph!r}, ["data"], {parameters!r})
module = mx.np if {numpy} else mx.nd
print("OUTPUT " + json.dumps(block(module.array({data}, dtype="float32")).asnumpy().tolist()))
"""


@case("GRAPH-CLAIM-001", timeout=90)
def exported_graph_runs_in_another_process(mx, check):
    def body(block, F, x, w):
        return (F.broadcast_mul(x, w) if hasattr(F, "broadcast_mul") else x * w) + block.inner(x)

    net = blocks.hybrid(mx, body, parameters={"w": {"shape": (3,)}},
                        children={"inner": mx.gluon.nn.Dense(3, in_units=3)})
    blocks.filled(mx, net, check)
    data = [[1.0, -2.0, 3.0], [0.5, 0.25, -1.0]]
    net.hybridize()
    want = net(kit.array(mx, data)).asnumpy()
    net.export(check.path("m"))
    status, out, err = check.python(_RUN.format(
        graph=check.path("m-symbol.json"), parameters=check.path("m-0000.params"), numpy=kit.numpy_mode(mx), data=data))
    lines = [line for line in out.splitlines() if line.startswith("OUTPUT ")]
    check.equal((status, len(lines)), (0, 1), "exit status of the other process and its lines (%s)" % err[-300:])
    check.close(np.asarray(json.loads(lines[0][len("OUTPUT "):]), "float32"), want, "its output", rtol=1e-6, atol=1e-6)
