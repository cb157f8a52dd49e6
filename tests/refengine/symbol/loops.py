"""Graphs with loops and branches that an engine saves and another one loads: ``python loops.py ENGINE TASK FOLDER``.

Runs in the interpreter of either engine.
"""

import importlib
import sys

import numpy as np

random = np.random.RandomState(3)
INPUTS = {
    "foreach": {"x": random.randn(4, 2, 3), "s": random.randn(2, 3), "w": random.randn(3, 3)},
    "while_loop": {"i": np.zeros(1), "s": random.randn(1), "w": np.full(1, 0.4)},
    "cond": {"x": random.randn(2, 2), "s": random.randn(2, 2), "w": random.randn(2, 2)},
    "nested": {"x": random.randn(3, 1), "s": np.zeros(1), "w": random.randn(1)},
}


def graphs(mx):
    """The graphs by name."""
    x, s, w, i = (mx.sym.var(name) for name in "xswi")
    loop = mx.sym.contrib
    double = x * 2

    def step(item, states):
        dense = mx.sym.FullyConnected(item, w, num_hidden=3, no_bias=True)
        moved = mx.sym.broadcast_add(dense + states[0], (w * 3).sum() + double.sum())
        return [moved, item], [item * 2 + states[0], states[1]]

    found = {}
    outs, last = loop.foreach(step, x, [s, w])
    found["foreach"] = mx.sym.Group([*outs, *last])
    outs, last = loop.while_loop(lambda i, s: i * w.sum() < 5, lambda i, s: ([s + i], [i + 1, s + w]), [i, s], 10)
    found["while_loop"] = mx.sym.Group([*outs, *last])
    twice = w * 2
    found["cond"] = mx.sym.Group(loop.cond((x * w).sum() < 5, lambda: [x + twice, x], lambda: [x * s, s]))

    def inner(item, state):
        outs, last = loop.while_loop(lambda i, s: i < 3, lambda i, s: ([s + i], [i + 1, s + w + item]),
                                     [state, state * 2], 4)
        return outs, last[0]

    outs, last = loop.foreach(inner, x, s)
    found["nested"] = mx.sym.Group([*outs, last])
    return found


def net(mx):
    """A block with a loop over a cell and a branch."""

    class Net(mx.gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.dense = mx.gluon.nn.Dense(3, flatten=False, in_units=5)
                self.norm = mx.gluon.nn.BatchNorm(in_channels=3)
                self.cell = mx.gluon.rnn.GRUCell(3, input_size=3)

        def hybrid_forward(self, F, x, state):
            def step(item, held):
                features = self.norm(self.dense(item))
                out, new = self.cell(features, [held])
                return out + features, new[0]

            outs, last = F.contrib.foreach(step, x, state)
            return outs, F.contrib.cond(F.sum(last) > 0, lambda: last * 2, lambda: last - 1)

    return Net(prefix="net_")


def run(mx, graph, name):
    """The outputs of a graph as numpy arrays."""
    return [out.asnumpy() for out in graph.eval(**{k: mx.nd.array(v) for k, v in INPUTS[name].items()})]


def given_by(mx, graph, name):
    """What a graph gives, by name and place; nothing of the nested one."""
    return {} if name == "nested" else {f"{name}.{place}": out for place, out in enumerate(run(mx, graph, name))}


def save_graphs(mx, folder):
    """Save the graphs, and give what they give.

    The releases cannot infer the shapes of a loop inside a loop; they save that graph all the same.
    """
    results = {}
    for name, graph in graphs(mx).items():
        graph.save(f"{folder}/{name}.json")
        results.update(given_by(mx, graph, name))
    np.savez(f"{folder}/results.npz", **results)
    return results


def load_graphs(mx, folder):
    """Load them and compute the same."""
    results = {}
    for name in INPUTS:
        results.update(given_by(mx, mx.sym.load(f"{folder}/{name}.json"), name))
    np.savez(f"{folder}/loaded.npz", **results)
    return results


def save(mx, folder):
    """Save the graphs and a block with weights, and what they give."""
    results = save_graphs(mx, folder)
    block = net(mx)
    block.initialize(mx.init.Xavier())
    block.hybridize()
    x, state = mx.nd.array(random.randn(4, 2, 5)), mx.nd.array(random.randn(2, 3))
    outputs = block(x, state)
    block.export(f"{folder}/net")
    results.update(x=x.asnumpy(), state=state.asnumpy())
    for place, out in enumerate(outputs):
        results[f"net.{place}"] = out.asnumpy()
    np.savez(f"{folder}/results.npz", **results)


def load(mx, folder):
    """Load what ``save`` left and compute the same."""
    given = np.load(f"{folder}/results.npz")
    results = load_graphs(mx, folder)
    block = mx.gluon.SymbolBlock.imports(f"{folder}/net-symbol.json", ["data0", "data1"],
                                         f"{folder}/net-0000.params")
    for place, out in enumerate(block(mx.nd.array(given["x"]), mx.nd.array(given["state"]))):
        results[f"net.{place}"] = out.asnumpy()
    np.savez(f"{folder}/loaded.npz", **results)


if __name__ == "__main__":
    engine = importlib.import_module(sys.argv[1])
    if engine.__version__.startswith("2"):
        engine.npx.reset_np()
    tasks = {"save": save, "load": load, "save_graphs": save_graphs, "load_graphs": load_graphs}
    tasks[sys.argv[2]](engine, sys.argv[3])
