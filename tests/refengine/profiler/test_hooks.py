"""The engine is changed only while a profile runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import threading
from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, dispatch, engine, tape_backward, tape_walk
from refengine.graph import builder
from refengine.graph.plan import Plan
from refengine.kvstore import reduce
from refengine.ndarray import NDArray, arithmetic, creation, custom, ndarray  # noqa: F401 - Custom is made complete
from refengine.op import registry
from refengine.optimizer import Optimizer, apply
from refengine.optimizer.rule_optimizer import RuleOptimizer
from refengine.profiler.session import session
from refengine.symbol.executor import Executor


def state() -> dict[str, Any]:
    """Everything that a profile changes, by identity."""
    found: dict[str, Any] = {f"{name}.forward": op.forward for name, op in registry.items()}
    found.update({f"{name}.kernels": id(op.kernels) for name, op in registry.items()})
    for part in ("grad", "partials", "backward"):
        found.update({f"{name}.{part}": getattr(op, part) for name, op in registry.items()})
    found.update({f"NDArray.{name}": value for name, value in vars(NDArray).items()})
    for owner, names in ((arithmetic, ["_SMALL"]), (creation, ["_filled"]), (engine, ["waitall"]),
                         (reduce, ["add_up", "write"]), (Plan, ["forward", "backward"]),
                         (tape_walk, ["_hand_on", "add"]), (tape_backward, ["gradients"]), (ndarray, ["gradients"]),
                         (Executor, ["forward", "backward"]), (autograd._FunctionRecord, ["backward"]),
                         (builder, ["hand_on"]), (apply, ["apply"]), (RuleOptimizer, ["_update_all"]),
                         (Optimizer, ["update_multi_precision"])):  # fmt: skip
        found.update({f"{owner.__name__}.{name}": getattr(owner, name) for name in names})
    return found


b = mx.nd.zeros(2)


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
    assert running["dot.grad"] is not before["dot.grad"]
    assert {name for name in before if "." not in name} == set()
    changed = [name for name in before if running[name] is not before[name] and not name.startswith("NDArray.")]
    assert {name.rpartition(".")[2] for name in changed} >= {"gradients", "hand_on", "_hand_on", "apply", "_update_all"}
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
        ("CopyCPU2CPU", lambda a: a.copy()),
        ("CopyCPU2CPU", lambda a: a.as_in_context(mx.cpu(1))),
        ("CopyCPU2CPU", lambda a: a.copyto(b)),
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


def memory_of(profiler: Any, device: str = "cpu/0") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(profiler.dumps(format="json"))["Memory"]["Device Storage"][f"Memory: {device}"]
    return found


def test_memory_that_goes_waits_for_nobody(profiler: Any) -> None:
    """The garbage collector lets arrays go wherever it runs: on the thread that writes the trace, say."""
    profiler.set_config(aggregate_stats=True)
    profiler.set_state("run")
    kept = [mx.nd.ones((1000, 100)), mx.nd.ones((10, 10))]
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with session.lock:
            held.set()
            done.wait(30)

    holder, worker = threading.Thread(target=hold), threading.Thread(target=kept.clear)
    holder.start()
    held.wait(30)
    worker.start()
    worker.join(10)
    stuck = worker.is_alive()
    done.set()
    holder.join()
    worker.join()
    assert not stuck
    profiler.set_state("stop")
    row = memory_of(profiler)
    assert row["Count"] == 4, "what went meanwhile is counted afterwards"
    assert row["Max"] - row["Min"] == pytest.approx(400.4)


def test_memory_that_goes_between_two_profiles_is_in_neither(profiler: Any) -> None:
    profiler.set_config(aggregate_stats=True)
    profiler.set_state("run")
    kept = mx.nd.ones((1000, 100))
    profiler.set_state("stop")
    first = memory_of(profiler)
    del kept
    profiler.set_state("run")
    other = mx.nd.ones((1000, 100))
    profiler.set_state("stop")
    row = memory_of(profiler)
    assert row["Count"] == first["Count"] + 1
    assert row["Max"] == pytest.approx(first["Max"]), "the second one uses what the first one has left"
    del other


def child(code: str, **environment: str) -> None:
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False, timeout=60, capture_output=True,
                          text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
                                          **environment})  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_under_an_asynchronous_engine(profiler: Any) -> None:
    """A fork waits for the thread of the engine, which reports to the profile meanwhile."""
    child("""
        import os, signal, threading, warnings
        import refengine as mx
        warnings.simplefilter('ignore')
        signal.alarm(40)
        mx.profiler.set_config(profile_all=True, aggregate_stats=True)
        mx.profiler.set_state('run')
        x = mx.nd.ones(4)
        (x * 3).wait_to_read()
        stop = threading.Event()
        def feed():
            while not stop.is_set():
                (x * 3).wait_to_read()
        feeders = [threading.Thread(target=feed, daemon=True) for _ in range(2)]
        for feeder in feeders:
            feeder.start()
        codes = []
        for _ in range(8):
            forked = os.fork()
            if not forked:
                os._exit(0 if (x * 3).asnumpy().tolist() == [3] * 4 and mx.profiler.dumps() == '' else 1)
            codes.append(os.waitpid(forked, 0)[1])
        stop.set()
        for feeder in feeders:
            feeder.join(20)
        mx.profiler.set_state('stop')
        assert codes == [0] * 8, codes
        assert '_mul_scalar' in mx.profiler.dumps()
        mx.profiler.dump()
    """, MXNET_ENGINE_TYPE="ThreadedEnginePerDevice")  # fmt: skip


def test_a_profile_waits_for_no_result(profiler: Any) -> None:
    child("""
        import threading
        import refengine as mx
        from refengine import engine, lazy
        from refengine.threaded import Task
        mx.profiler.set_config(profile_all=True, aggregate_stats=True)
        mx.profiler.set_state('run')
        x = mx.nd.ones((3, 4))
        (x * 2).wait_to_read()
        gate = threading.Event()
        engine.queue.put(Task(lambda: gate.wait(20)))
        y = x * 2
        pending = lazy._read(y).__class__ is lazy.Pending and not lazy._read(y).task.done
        gate.set()
        assert pending
        mx.nd.waitall()
        mx.profiler.set_state('stop')
        assert 'Memory: cpu/0' in mx.profiler.dumps()
        mx.profiler.dump()
    """, MXNET_ENGINE_TYPE="ThreadedEngine")  # fmt: skip


def test_mixed_precision_that_begins_in_a_profile_stays(profiler: Any) -> None:
    """Who wraps an operator while it is timed finds it wrapped afterwards."""
    code = (
        "import numpy as np, refengine as mx\n"
        "from refengine import amp\n"
        "from refengine.op import registry\n"
        "from refengine.kernels import load; load()\n"
        "mx.profiler.set_config(profile_all=True, aggregate_stats=True)\n"
        "mx.profiler.set_state('run')\n"
        "amp.init()\n"
        "x, w = mx.nd.ones((8, 16)), mx.nd.ones((4, 16))\n"
        "w.attach_grad()\n"
        "def step():\n"
        "    with mx.autograd.record(): y = mx.nd.FullyConnected(x, w, no_bias=True, num_hidden=4)\n"
        "    y.backward()\n"
        "    return y.dtype, w.grad.asnumpy().tolist()\n"
        "during = step()\n"
        "mx.profiler.set_state('stop')\n"
        "size = len(mx.profiler.dumps())\n"
        "assert step() == during and during[0] is np.float16, during\n"
        "assert not registry['Convolution'].kernels\n"
        "assert len(mx.profiler.dumps()) == size, 'what runs later is not in the table'\n"
        "mx.profiler.dump()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, timeout=60, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)})  # fmt: skip
    assert done.returncode == 0, done.stderr


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
