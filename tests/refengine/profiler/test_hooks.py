"""The engine is changed only while a profile runs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine import dispatch, engine
from refengine.graph.plan import Plan
from refengine.kvstore import reduce
from refengine.ndarray import NDArray, arithmetic, creation
from refengine.op import registry


def state() -> dict[str, Any]:
    """Everything that a profile changes, by identity."""
    found: dict[str, Any] = {f"{name}.forward": op.forward for name, op in registry.items()}
    found.update({f"{name}.kernels": id(op.kernels) for name, op in registry.items()})
    found.update({f"NDArray.{name}": value for name, value in vars(NDArray).items()})
    for owner, names in ((arithmetic, ["_SMALL"]), (creation, ["_filled"]), (engine, ["waitall"]),
                         (reduce, ["add_up", "write"]), (Plan, ["forward", "backward"])):  # fmt: skip
        found.update({f"{owner.__name__}.{name}": getattr(owner, name) for name in names})
    return found


def counts(profiler: Any) -> dict[str, int]:
    found = json.loads(profiler.dumps(format="json"))["Time"].get("operator", {})
    return {name: row["Count"] for name, row in found.items()}


def test_a_stopped_profiler_costs_nothing(profiler: Any) -> None:
    """Not even a test of a flag is left: every function is the very same object as before."""
    before = state()
    profiler.set_config(profile_all=True, aggregate_stats=True)
    profiler.set_state("run")
    running = state()
    assert running["dot.forward"] is not before["dot.forward"]
    assert running["NDArray._data"] is not before["NDArray._data"]
    (mx.nd.ones((2,)) + 1).asnumpy()
    profiler.pause()
    assert state() == before
    profiler.resume()
    assert state() != before
    profiler.set_state("stop")
    assert state() == before
    assert not set(vars(dispatch.raw(np))) - {"_xp"} or all(
        f.func is not running["dot.forward"] for n, f in vars(dispatch.raw(np)).items() if n != "_xp")  # fmt: skip


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("broadcast_add", lambda a: a + a),
        ("_plus_scalar", lambda a: a + 1),
        ("_rdiv_scalar", lambda a: 1 / a),
        ("broadcast_mul", lambda a: a.__imul__(a)),
        ("_minus_scalar", lambda a: a.__isub__(1)),
        ("sum", lambda a: a.sum()),
        ("_ones", lambda a: mx.nd.ones((2,))),
        ("negative", lambda a: -a),
    ],
)
def test_short_ways_are_seen(profiler: Any, name: str, use: Any) -> None:
    a = mx.nd.array([1.0, 2.0])
    profiler.set_config(aggregate_stats=True)
    profiler.set_state("run")
    use(a)
    profiler.set_state("stop")
    assert counts(profiler) == {name: 1}


@pytest.mark.parametrize("flags", [None, {}, {"static_alloc": True}])
def test_results_do_not_change(profiler: Any, flags: dict[str, bool] | None) -> None:
    def train() -> list[Any]:
        mx.random.seed(1)
        net = mx.gluon.nn.HybridSequential()
        net.add(mx.gluon.nn.Dense(8, activation="relu", in_units=6), mx.gluon.nn.Dense(2, in_units=8))
        net.initialize(mx.init.Xavier())
        if flags is not None:
            net.hybridize(**flags)
        trainer = mx.gluon.Trainer(net.collect_params(), "adam")
        x = mx.nd.array(np.arange(24).reshape(4, 6) / 24)
        losses = []
        for _ in range(4):
            with mx.autograd.record():
                loss = (net(x) ** 2).mean()
            loss.backward()
            trainer.step(1)
            losses.append(loss.asscalar())
        return losses

    plain = train()
    profiler.set_config(profile_all=True, aggregate_stats=True)
    profiler.set_state("run")
    profiled = train()
    profiler.set_state("stop")
    assert profiled == plain
    assert train() == plain


def test_a_profile_of_a_graph_that_ran_before(profiler: Any) -> None:
    net = mx.gluon.nn.Dense(3, activation="relu", in_units=4)
    net.initialize()
    net.hybridize(static_alloc=True)
    x = mx.nd.ones((2, 4))
    expected = [net(x).asnumpy() for _ in range(3)][-1]
    profiler.set_config(aggregate_stats=True)
    profiler.set_state("run")
    for _ in range(2):
        np.testing.assert_array_equal(net(x).asnumpy(), expected)
    profiler.set_state("stop")
    assert counts(profiler) == {"FullyConnected": 2, "Activation": 2}
    np.testing.assert_array_equal(net(x).asnumpy(), expected)
    assert counts(profiler) == {"FullyConnected": 2, "Activation": 2}


def test_memory_rises_and_falls(profiler: Any) -> None:
    profiler.set_config(aggregate_stats=True)
    profiler.set_state("run")
    kept = mx.nd.ones((100, 100))
    view = kept[:50]
    other = mx.nd.ones((250, 1000), ctx=mx.cpu(1))
    del kept
    del view
    del other
    profiler.set_state("stop")
    found = json.loads(profiler.dumps(format="json"))["Memory"]["Device Storage"]
    for device, kilobytes in (("cpu/0", 40.0), ("cpu/1", 1000.0)):
        row = found[f"Memory: {device}"]
        assert row["Count"] == 2, "views use no memory"
        assert row["Max"] - row["Min"] == pytest.approx(kilobytes)


def test_failures_are_no_operators(profiler: Any) -> None:
    profiler.set_config(aggregate_stats=True)
    profiler.set_state("run")
    with pytest.raises(mx.MXNetError):
        mx.nd.dot(mx.nd.ones((2, 3)), mx.nd.ones((2, 3)))
    mx.nd.exp(mx.nd.ones((2,)))
    profiler.set_state("stop")
    assert "dot" not in counts(profiler)
    assert counts(profiler)["exp"] == 1


def test_kinds_of_operators(profiler: Any) -> None:
    x = mx.sym.var("x")
    bound = mx.sym.exp(x).bind(mx.cpu(), {"x": mx.nd.ones((2,))})
    profiler.set_config(aggregate_stats=True, profile_imperative=False)
    profiler.set_state("run")
    mx.nd.log(mx.nd.ones((2,)))
    bound.forward()
    profiler.set_state("stop")
    assert counts(profiler) == {"exp": 1}
    profiler.set_config(aggregate_stats=True, profile_symbolic=False)
    profiler.dumps(reset=True)
    profiler.set_state("run")
    mx.nd.log(mx.nd.ones((2,)))
    bound.forward()
    profiler.set_state("stop")
    assert counts(profiler) == {"_ones": 1, "log": 1}
