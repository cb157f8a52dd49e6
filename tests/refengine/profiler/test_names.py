"""Traces and tables carry the names that a user of Apache MXNet 1.9.1 looks for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine import samples
from refengine.op import operators, registry
from refengine.ops.binary import zero_gradient
from refengine.profiler import names
from tests.refengine import releases

QUIET = ("_ones", "_zeros")


def counts_of(profiler: Any) -> dict[str, dict[str, int]]:
    found = json.loads(profiler.dumps(format="json", reset=True))["Time"]
    return {category: {name: row["Count"] for name, row in rows.items() if name not in QUIET}
            for category, rows in found.items()}  # fmt: skip


class Watch:
    """What stands in the table for a block of code."""

    def __init__(self, profiler: Any) -> None:
        self.profiler = profiler

    def __enter__(self) -> dict[str, int]:
        self.profiler.set_config(aggregate_stats=True)
        self.profiler.dumps(reset=True)
        self.profiler.set_state("run")
        self.found: dict[str, int] = {}
        return self.found

    def __exit__(self, *error: Any) -> None:
        self.profiler.set_state("stop")
        self.calls = counts_of(self.profiler)
        self.found.update(self.calls.pop("operator", {}))


TRAINING = """
net = mx.gluon.nn.HybridSequential()
net.add(mx.gluon.nn.Conv2D(4, 3, activation="relu"), mx.gluon.nn.BatchNorm(), mx.gluon.nn.MaxPool2D(),
        mx.gluon.nn.Flatten(), mx.gluon.nn.Dense(8, activation="tanh"), mx.gluon.nn.Dropout(0.3), mx.gluon.nn.Dense(3))
net.initialize()
if hybrid:
    net.hybridize()
trainer = mx.gluon.Trainer(net.collect_params(), "adam")
loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
x, y = mx.nd.random.uniform(shape=(4, 1, 12, 12)), mx.nd.array([0, 1, 2, 1])
def step():
    with mx.autograd.record():
        error = loss(net(x), y)
    error.backward()
    trainer.step(4)
    mx.nd.waitall()
step()
step()
"""
#: What 1.9.1 shows for one step, but for the copies and the housekeeping of its engine and for the sign of the loss,
#: which is a product with -1 there.
STEP = {
    "Convolution": 1, "Activation": 2, "BatchNorm": 1, "Pooling": 1, "Flatten": 1, "FullyConnected": 2, "Dropout": 1,
    "log_softmax": 1, "pick": 1, "mean": 1, "_backward_Convolution": 1, "_backward_Activation": 2,
    "_backward_BatchNorm": 1, "_backward_Pooling": 1, "_backward_copy": 1, "_backward_FullyConnected": 2,
    "_backward_Dropout": 1, "_backward_log_softmax": 1, "_backward_pick": 1, "_backward_mean": 1, "adam_update": 8,
}  # fmt: skip
OWN = {"negative", "_mul_scalar", "_backward_mul_scalar", "SetValueOp", "DeleteVariable", "WaitForVar",
       "_zeros_without_dtype", "ResourceParallelRandomSetSeed"}  # fmt: skip


@pytest.mark.parametrize("hybrid", [False, True])
def test_a_step_of_training(profiler: Any, hybrid: bool) -> None:
    space = {"mx": mx, "hybrid": hybrid}
    exec(TRAINING, space)
    with (watch := Watch(profiler)) as found:
        space["step"]()
    assert {name: count for name, count in found.items() if name not in OWN} == STEP
    calls = watch.calls["MXNET_C_API"]
    assert calls["MXAutogradBackwardEx"] == 1
    assert calls.get("MXInvokeCachedOpEx", 0) == (1 if hybrid else 0), "the way back is no call of its own"


@pytest.mark.needs_mxnet
def test_the_release_shows_a_step_alike(tmp_path: Path) -> None:
    (tmp_path / "training.py").write_text(TRAINING)
    source = """
mx.profiler.set_config(profile_all=True, aggregate_stats=True)
tables = []
for hybrid in (False, True):
    exec(open('training.py').read())
    mx.profiler.set_state('run')
    step()
    mx.profiler.set_state('stop')
    tables.append(mx.profiler.dumps(format='json', reset=True))
print('[%s]' % ','.join(tables))
"""
    for table in json.loads(releases.run("mxnet-1.9.1", source, tmp_path)):
        assert table["Time"]["MXNET_C_API"]["MXAutogradBackwardEx"]["Count"] == 1
        assert {name: row["Count"] for name, row in table["Time"]["operator"].items() if name not in OWN} == STEP


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("_backward_broadcast_mul", lambda x: x * mx.nd.ones((4, 2))), ("_backward_broadcast_add", lambda x: x + x),
        ("_copy", lambda x: x + 1), ("negative", lambda x: 1 - x), ("_backward_mul_scalar", lambda x: x * 2),
        ("_backward_power_scalar", lambda x: x**2), ("elemwise_mul", lambda x: x.exp()), ("transpose", lambda x: x.T),
        ("_backward_slice", lambda x: x[1]), ("_backward_reshape", lambda x: x.reshape(8)),
        ("_backward_linear_reg_out", lambda x: mx.nd.LinearRegressionOutput(x, mx.nd.ones((4, 2)))),
        ("_backward_SoftmaxOutput", lambda x: mx.nd.SoftmaxOutput(x, mx.nd.ones(4))),
        ("_backward_gather_nd", lambda x: x[mx.nd.array([0, 2])]), ("_backward_cast", lambda x: x.astype("float64")),
        ("_contrib_backward_quadratic", lambda x: mx.nd.contrib.quadratic(x, a=1, b=1, c=1)),
        ("_backward_where", lambda x: mx.nd.where(mx.nd.ones((4, 2)), x, x * 0)), ("zeros_like", lambda x: x.floor()),
    ],
)  # fmt: skip
def test_the_gradient_of_an_operator(profiler: Any, name: str, use: Any) -> None:
    x = mx.nd.array(np.arange(8).reshape(4, 2) + 1.0)
    x.attach_grad()
    with mx.autograd.record():
        y = use(x)
    with Watch(profiler) as found:
        y.backward()
    assert found.pop(name) == 1
    assert set(found) <= {names.SUM, "_backward_mul_scalar"}


def test_sums_of_gradients(profiler: Any) -> None:
    x = mx.nd.ones((4, 2))
    x.attach_grad()
    for use, sums in ((lambda: x + x, 1), (lambda: x * x + x, 2), (lambda: x * 2, 0)):
        with mx.autograd.record():
            y = use()
        with Watch(profiler) as found:
            y.backward()
        assert found.get(names.SUM, 0) == sums
    net = mx.gluon.nn.HybridLambda(lambda F, x: x * x + x)
    net.hybridize()
    for _ in range(3):
        with mx.autograd.record():
            y = net(x)
        with Watch(profiler) as found:
            y.backward()
        assert found == {"_copy": 1, "_backward_mul": 1, names.SUM: 2}


def test_gradients_that_are_differentiated_again(profiler: Any) -> None:
    x = mx.nd.array([1.0, 2.0])
    x.attach_grad()
    with Watch(profiler) as found, mx.autograd.record():
        y = x.sin()
        (first,) = mx.autograd.grad(y, [x], create_graph=True)
    assert found == {"sin": 1, "_backward_sin": 1}
    with Watch(profiler) as found:
        first.backward()
    assert "_backward_broadcast_mul" in found
    np.testing.assert_allclose(x.grad.asnumpy(), -np.sin([1, 2]), rtol=1e-6)


def test_an_executor(profiler: Any) -> None:
    bound = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=2, name="fc").simple_bind(mx.cpu(), x=(2, 3))
    with (watch := Watch(profiler)) as found:
        bound.forward(is_train=True)
        bound.backward(mx.nd.ones((2, 2)))
    assert found == {"FullyConnected": 1, "_backward_FullyConnected": 1}
    calls = watch.calls["MXNET_C_API"]
    assert (calls["MXExecutorForward"], calls["MXExecutorBackwardEx"]) == (1, 1)
    assert "MXInvokeCachedOpEx" not in calls


# ---- updates -------------------------------------------------------------------------------------------------------

UPDATES = [
    ("sgd", {}, {"sgd_update": 3}), ("sgd", {"momentum": 0.9}, {"sgd_mom_update": 3}),
    ("sgd", {"aggregate_num": 4}, {"multi_sgd_update": 1}),
    ("sgd", {"aggregate_num": 2, "momentum": 0.9}, {"multi_sgd_mom_update": 2}),
    ("sgd", {"multi_precision": True}, {"mp_sgd_update": 3}),
    ("sgd", {"multi_precision": True, "aggregate_num": 4}, {"multi_mp_sgd_update": 1}),
    ("sgd", {"multi_precision": True, "aggregate_num": 4, "momentum": 0.9}, {"multi_mp_sgd_mom_update": 1}),
    ("nag", {"momentum": 0.9}, {"nag_mom_update": 3}), ("nag", {"momentum": 0}, {"sgd_update": 3}),
    ("nag", {"momentum": 0.9, "multi_precision": True}, {"mp_nag_mom_update": 3}), ("adam", {}, {"adam_update": 3}),
    ("adam", {"multi_precision": True}, {"adam_update": 3, "Cast": 6}), ("ftml", {}, {"ftml_update": 3}),
    ("ftrl", {}, {"ftrl_update": 3}), ("rmsprop", {}, {"rmsprop_update": 3}),
    ("rmsprop", {"centered": True}, {"rmspropalex_update": 3}), ("signum", {"momentum": 0.9}, {"signum_update": 3}),
    ("signum", {"momentum": 0}, {"signsgd_update": 3}), ("lamb", {}, {"_multi_lamb_update": 1}),
    ("lamb", {"multi_precision": True}, {"_multi_mp_lamb_update": 1}), ("lans", {}, {"_multi_lans_update": 1}),
    ("lans", {"multi_precision": True}, {"_multi_mp_lans_update": 1}), ("adamw", {}, {"_multi_adamw_update": 1}),
    ("adabelief", {}, {"_multi_adabelief_update": 1}), ("lars", {"momentum": 0.9}, {"sgd_mom_update": 3}),
    ("lars", {"multi_precision": True, "momentum": 0.9}, {"mp_sgd_mom_update": 3}),
    ("groupadagrad", {}, {"_contrib_group_adagrad_update": 3}), ("lbsgd", {}, {"sgd_update": 3}),
]  # fmt: skip


def update(name: str, settings: dict[str, Any]) -> Any:
    """A function that updates three weights, and that was called twice."""
    half = np.float16 if settings.get("multi_precision") else np.float32
    weights, grads = ([mx.nd.ones((3, 2), dtype=half) for _ in range(3)] for _ in range(2))
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, learning_rate=0.1, **settings))

    def run() -> list[Any]:
        updater([0, 1, 2], grads, weights)
        return [w.asnumpy().tolist() for w in weights]

    run()
    run()
    return run


@pytest.mark.parametrize(("name", "settings", "expected"), UPDATES)
def test_updates(profiler: Any, name: str, settings: dict[str, Any], expected: dict[str, int]) -> None:
    plain, profiled = update(name, settings), update(name, settings)
    with (watch := Watch(profiler)) as found:
        result = profiled()
    assert found == expected
    assert watch.calls["MXNET_C_API"]["MXImperativeInvokeEx"] == sum(expected.values())
    assert result == plain(), "what is timed is the same"
    assert profiled() == plain(), "and so is what follows"


def test_every_rule_of_an_optimizer_has_a_name(profiler: Any) -> None:
    for name in mx.optimizer.Optimizer.opt_registry:
        run = update(name, {})
        with Watch(profiler) as found:
            run()
        assert any(shown.endswith("_update") for shown in found), (name, found)


def test_an_optimizer_of_the_program_is_shown_step_by_step(profiler: Any) -> None:
    class Own(mx.optimizer.SGD):
        def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
            for w, g in zip(weight, grad, strict=True) if isinstance(weight, list) else [(weight, grad)]:
                w -= self.lr * mx.nd.sign(g)

    updater = mx.optimizer.get_updater(Own(learning_rate=0.1))
    weight, grad = mx.nd.ones(3), mx.nd.ones(3)
    updater(0, grad, weight)
    with Watch(profiler) as found:
        updater(0, grad, weight)
    assert found == {"sign": 1, "_mul_scalar": 1, "broadcast_sub": 1}


def test_updates_in_a_store(profiler: Any) -> None:
    store = mx.kv.create("local")
    weight = mx.nd.ones(3)
    store.init(0, weight)
    store.set_optimizer(mx.optimizer.Adam())
    with Watch(profiler) as found:
        store.push(0, [weight, weight])
        store.pull(0, out=weight)
    assert (found["KVStoreReduce"], found["adam_update"]) == (1, 1)


# ---- the program's own operators -----------------------------------------------------------------------------------

class Twice(mx.operator.CustomOp):
    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        self.assign(out_data[0], req[0], mx.nd.exp(in_data[0]) * 2)

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        self.assign(in_grad[0], req[0], mx.nd.sin(out_grad[0]) * 2)


@mx.operator.register("shown_twice")
class TwiceProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx: Any, shapes: Any, dtypes: Any) -> Twice:
        return Twice()


class Thrice(mx.autograd.Function):
    def forward(self, x: Any) -> Any:
        return mx.nd.exp(x) * 3

    def backward(self, dy: Any) -> Any:
        return mx.nd.sin(dy) * 3


@pytest.mark.parametrize("hybrid", [False, True])
def test_a_custom_operator(profiler: Any, hybrid: bool) -> None:
    net = mx.gluon.nn.HybridLambda(lambda F, x: F.Custom(x, op_type="shown_twice") + 1)
    if hybrid:
        net.hybridize()
    x = mx.nd.ones(3)
    x.attach_grad()
    with (watch := Watch(profiler)) as found:
        with mx.autograd.record():
            y = net(x)
        y.backward()
    assert found == {"_plus_scalar": 1, "_copy": 1}
    own = watch.calls["Custom Operator"]
    assert {name: own[name] for name in own if "python" not in name} == {
        "shown_twice::exp": 1, "shown_twice::_mul_scalar": 1,
        "_backward_shown_twice::sin": 1, "_backward_shown_twice::_mul_scalar": 1}  # fmt: skip
    assert {"shown_twice::pure_python", "_backward_shown_twice::pure_python"} <= set(own)


def test_a_function(profiler: Any) -> None:
    x = mx.nd.ones(3)
    x.attach_grad()
    with (watch := Watch(profiler)) as found:
        with mx.autograd.record():
            y = Thrice()(x)
        y.backward()
    assert found == {"exp": 1, "_mul_scalar": 1, "_backward_CustomFunction": 1}
    assert {"::sin", "::_mul_scalar", "::pure_python"} == set(watch.calls["Custom Operator"])


# ---- the table of names --------------------------------------------------------------------------------------------

def test_the_table_names_operators_that_there_are() -> None:
    for name in (*names.FORWARD, *names.BACKWARD, *names.PARTS):
        assert name in registry, name
        assert registry[name].name == name, "the table goes by main names"
    for name, shown in names.BACKWARD.items():
        assert names.backward(name) == shown.format(name, plain=name.removeprefix("_contrib_"))
        assert names.backward(name) != "_backward_" + name.lstrip("_"), f"{name}: this is the rule, no exception"


CRASHES = ("_contrib_ModulatedDeformableConvolution",)
"""Calls that end the process of the release."""

OBSERVED = """
import json
def function(name):
    for prefix, module in (('_contrib_', mx.nd.contrib), ('_linalg_', mx.nd.linalg), ('_image_', mx.nd.image)):
        if name.startswith(prefix) and hasattr(module, name[len(prefix):]):
            return getattr(module, name[len(prefix):])
    return getattr(mx.nd, name, None) or getattr(mx.nd._internal, name, None)
def shown():
    table = json.loads(mx.profiler.dumps(reset=True, format='json'))['Time']
    return sorted(table.get('operator', {}))
mx.profiler.set_config(profile_symbolic=False, profile_memory=False, profile_api=False, aggregate_stats=True)
found = {}
for number, (name, given) in enumerate(json.load(open('samples.json'))):
    arrays, params = given
    arrays = [mx.nd.array(a) for a in arrays]
    for a in arrays:
        a.attach_grad()
    try:
        mx.nd.waitall()
        shown()
        mx.profiler.set_state('run')
        with mx.autograd.record():
            y = function(name)(*arrays, **{k: tuple(v) if isinstance(v, list) else v for k, v in params.items()})
        mx.nd.waitall()
        mx.profiler.set_state('stop')
        before = shown()
        mx.profiler.set_state('run')
        mx.autograd.backward(y if isinstance(y, (list, tuple)) else [y])
        mx.nd.waitall()
        mx.profiler.set_state('stop')
        found[name] = [before, shown()]
    except Exception:
        mx.profiler.set_state('stop')
print(json.dumps(found))
"""


@pytest.mark.needs_mxnet
def test_the_names_are_those_of_the_release(tmp_path: Path) -> None:
    """A sample of each operator goes through the profiler of 1.9.1."""
    chosen = []
    for op in operators():
        found = next(iter(samples.of(op)), None)
        if found is not None and op.name not in CRASHES and (op.grad is not None or op.name in names.FORWARD):
            chosen.append((op.name, ([a.tolist() for a in found.arrays], found.params)))
    (tmp_path / "samples.json").write_text(json.dumps(chosen, default=str))
    observed = json.loads(releases.run("mxnet-1.9.1", OBSERVED, tmp_path))
    assert len(observed) > 180
    wrong = {}
    for name, (before, after) in observed.items():
        if names.forward(name) not in before:
            wrong[name] = (names.forward(name), before)
        if registry[name].grad not in (None, zero_gradient) and name not in names.PARTS and (
                set(after) - {"SetValueOp", "DeleteVariable"} and names.backward(name) not in after):  # fmt: skip
            wrong[name] = (names.backward(name), after)
    assert not wrong
