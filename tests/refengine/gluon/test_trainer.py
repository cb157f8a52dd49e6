"""The Trainer: what it takes, which store it chooses, how it steps, what it saves."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import refengine as mx
from refengine import gluon
from refengine.gluon import store_decision


def parameter(name="x", value=0.0, shape=(1,), devices=1, **options):
    made = gluon.Parameter(name, shape=shape, **options)
    made.initialize(mx.init.Constant(value), ctx=[mx.cpu(i) for i in range(devices)])
    return made


def backward(*pairs):
    losses = []
    with mx.autograd.record():
        for param, gradients in pairs:
            replicas = param.list_data()
            gradients = gradients if isinstance(gradients, (list, tuple)) else [gradients] * len(replicas)
            losses += [(d * g).sum() for d, g in zip(replicas, gradients) if g is not None]
    mx.autograd.backward(losses)


def values(param):
    return [float(d.asnumpy().reshape(-1)[0]) for d in param.list_data()]


def sgd(params, **options):
    rate = options.pop("learning_rate", 1.0)
    keys = ("momentum", "wd", "aggregate_num", "rescale_grad", "clip_gradient", "multi_precision")
    given = {key: options.pop(key) for key in keys if key in options}
    return gluon.Trainer(params, "sgd", {"learning_rate": rate, **given}, **options)


MODES = [{"devices": 1}, {"devices": 2, "update_on_kvstore": True}, {"devices": 2, "update_on_kvstore": False},
         {"devices": 2, "kvstore": None}, {"devices": 3, "kvstore": "local"}]


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_step(mode):
    mode = dict(mode)
    devices = mode.pop("devices")
    x, y = parameter(devices=devices), parameter("y", 1.0, (2, 3), devices, wd_mult=0.0)
    trainer = sgd([x, y], momentum=0.5, wd=0.1, **mode)
    for _ in range(3):
        backward((x, 1.0), (y, 2.0))
        assert trainer.step(devices) is None
    single = mode.get("kvstore", "device") is None
    gradient = 1.0 / devices if single else 1.0
    wanted_x, wanted_y, mx_, my = 0.0, 1.0, 0.0, 0.0
    for _ in range(3):
        mx_ = 0.5 * mx_ - (gradient + 0.1 * wanted_x)
        my = 0.5 * my - 2 * gradient
        wanted_x, wanted_y = wanted_x + mx_, wanted_y + my
    assert values(x) == pytest.approx([wanted_x] * devices, rel=1e-5)
    assert values(y) == pytest.approx([wanted_y] * devices, rel=1e-5)


@pytest.mark.parametrize("mode", [{"update_on_kvstore": True}, {"update_on_kvstore": False}, {}], ids=str)
def test_a_parameter_given_twice_is_one(mode):
    a, b = parameter("a", devices=2), parameter("b", devices=2, lr_mult=0.0)
    trainer = sgd([a, a, b], **mode)
    assert trainer.optimizer.param_dict == {0: a, 1: b}
    backward((a, 1.0), (b, 1.0))
    trainer.step(1)
    assert (values(a), values(b)) == ([-2.0, -2.0], [0.0, 0.0])


def test_parameters_of_one_name_stay_apart():
    a, b = parameter("same"), parameter("same")
    trainer = sgd([a, b])
    backward((a, 1.0), (b, 2.0))
    trainer.step(1)
    assert (values(a), values(b)) == ([-1.0], [-2.0])


@pytest.mark.parametrize(("params", "text"), [
    (lambda a: {a}, "got <class 'set'>"), (lambda a: a, "got <class '.*Parameter'>"), (lambda a: None, "NoneType"),
    (lambda a: "ab", "got <class 'str'>"), (lambda a: {"a": a}.values(), "dict_values"),
    (lambda a: [a, 1], "got list of <class 'int'>"), (lambda a: {"a": 1}, "got list of <class 'int'>"),
    (lambda a: [("a", a)], "got list of <class 'tuple'>"), (lambda a: [], "at least one"),
    (lambda a: {}, "at least one")])
def test_wrong_parameters(params, text):
    with pytest.raises(ValueError, match=f"First argument must be a list or dict of Parameters.*{text}"):
        sgd(params(parameter()))


def test_order_of_a_dict():
    a, b = parameter("a"), parameter("b")
    assert sgd({"z": a, "m": b}).optimizer.param_dict == {0: b, 1: a}
    with pytest.raises(TypeError, match="'<' not supported"):
        sgd({"a": a, 1: b})


def test_other_contexts():
    b = gluon.Parameter("b", shape=(1,))
    b.initialize(ctx=mx.cpu(1))
    with pytest.raises(AssertionError, match="All Parameters must be initialized on the same set of contexts, but "
                                             r"Parameter b is initialized on \[cpu\(1\)\]"):
        sgd([parameter("a"), b])


@pytest.mark.parametrize(("arguments", "error", "text"), [
    (("sgd", [("learning_rate", 0.1)]), TypeError, "must be a mapping"),
    (("sgd", {"param_dict": {}}), TypeError, "multiple values for keyword argument"),
    (("sgd", {"foo": 1}), TypeError, "unexpected keyword argument 'foo'"),
    (("foo",), ValueError, "Cannot find optimizer"),
    ((None,), AttributeError, "lower"), ((mx.optimizer.SGD,), AttributeError, "lower"),
    ((mx.optimizer.SGD(), {"wd": 1.0}), AssertionError, "optimizer_params must be None if optimizer is an instance")])
def test_wrong_optimizers(arguments, error, text):
    with pytest.raises(error, match=text):
        gluon.Trainer([parameter()], *arguments)


def test_deferred_parameters_come_first():
    net = gluon.nn.Dense(2)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    for call in (lambda: trainer.step(1), lambda: trainer.save_states("unused")):
        with pytest.raises(gluon.DeferredInitializationError, match="initialization was deferred"):
            call()
    assert not trainer._kv_initialized


# ---- stale gradients and overflows -------------------------------------------------------------------------------

@pytest.mark.parametrize("mode", [{}, {"devices": 2}, {"devices": 2, "update_on_kvstore": False}], ids=str)
def test_a_stale_gradient_changes_nothing(mode):
    mode = dict(mode)
    devices = mode.pop("devices", 1)
    a, b = parameter("a", 1.0, devices=devices), parameter("b", 1.0, devices=devices)
    trainer = sgd([a, b], wd=0.1, momentum=0.5, **mode)
    backward((a, 1.0))
    with pytest.raises(UserWarning, match=r"Gradient of Parameter `b` on context cpu\(0\) has not been updated by "
                                          r"backward since last `step`.*call step with ignore_stale_grad=True"):
        trainer.step(1)
    assert (values(a), values(b)) == ([1.0] * devices, [1.0] * devices)
    assert trainer.optimizer.num_update == 0
    if trainer._kvstore is not None and trainer._update_on_kvstore:
        assert trainer._kvstore._updater.states == {}
        backward((a, 1.0), (b, 1.0))
        trainer.step(1)
        assert values(a) == pytest.approx([1.0 - devices - 0.1] * devices)


def test_freshness():
    a, b = parameter("a"), parameter("b")
    trainer = sgd([a, b])
    backward((a, 1.0))
    trainer.step(1, ignore_stale_grad=True)
    assert (values(a), values(b)) == ([-1.0], [0.0])
    for call in (lambda: trainer.step(1), lambda: trainer.update(1)):
        with pytest.raises(UserWarning, match="Parameter `a`"):
            call()
    trainer.step(1, True)
    assert values(a) == [-1.0]


class Scaler:
    overflow = True

    def has_overflow(self, params):
        return self.overflow


@pytest.mark.parametrize("mode", [{}, {"devices": 2}, {"devices": 2, "update_on_kvstore": False}], ids=str)
def test_an_overflow_skips_the_step_everywhere(mode):
    mode = dict(mode)
    devices = mode.pop("devices", 1)
    x = parameter(devices=devices)
    trainer = sgd([x], momentum=0.5, **mode)
    trainer._amp_loss_scaler = Scaler()
    backward((x, 1.0))
    trainer.step(1)
    assert values(x) == [0.0] * devices
    assert trainer.optimizer.num_update == 0
    trainer._amp_loss_scaler.overflow = False
    backward((x, 1.0))
    trainer.step(1)
    assert values(x) == [-float(devices)] * devices


def test_step_in_a_recording():
    x = parameter()
    trainer = sgd([x])
    with mx.autograd.record():
        loss = (x.data() * 2).sum()
        loss.backward()
        with pytest.raises(mx.MXNetError, match="Assigning to NDArrays that are already in a computational graph"):
            trainer.step(1)
    assert values(x) == [0.0]


# ---- which store -------------------------------------------------------------------------------------------------

class Store(mx.kvstore.KVStoreBase):
    def __init__(self, kind="custom", optimizer=True):
        self.kind, self.optimizer = kind, optimizer

    @property
    def type(self):
        return self.kind

    def is_capable(self, capability):
        return self.optimizer


class Native(mx.kvstore.KVStore):
    """A native store of another type, as a distributed one would be."""


def decide(kvstore="device", wanted=None, devices=2, weight=False, grad=False, sizes=(1,)):
    request = store_decision.Request(kvstore, wanted, devices, weight, grad)
    decision = store_decision.decide(request, sizes)
    return decision.kvstore is not None, decision.distributed, decision.update_on_kvstore


@pytest.mark.parametrize(("arguments", "wanted"), [
    ({}, (True, False, True)), ({"wanted": False}, (True, False, False)), ({"wanted": "yes"}, (True, False, "yes")),
    ({"devices": 1}, (False, False, None)), ({"devices": 1, "wanted": False}, (False, False, None)),
    ({"devices": 1, "kvstore": "foo"}, (False, False, None)), ({"kvstore": None}, (False, False, None)),
    ({"kvstore": Store()}, (True, False, True)), ({"kvstore": Store(optimizer=False)}, (True, False, False)),
    ({"kvstore": Store("mydist")}, (True, True, True)), ({"kvstore": Store("mydist_async")}, (True, True, True)),
    ({"kvstore": Store("mydist_async", False)}, (True, True, False)),
    ({"kvstore": "local", "sizes": [3, 16777216]}, (True, False, True)),
    ({"kvstore": "local", "sizes": [3, 16777217]}, (True, False, False)),
    ({"kvstore": "LOCAL", "sizes": [16777217]}, (True, False, True)),
    ({"kvstore": "local", "sizes": [16777217], "wanted": True}, (True, False, True)),
    ({"grad": True}, (True, False, False)), ({"grad": True, "wanted": True}, (True, False, True)),
    ({"grad": True, "devices": 1, "wanted": True}, (False, False, None)),
    ({"grad": True, "kvstore": Native("dist_sync")}, (True, True, True)),
    ({"weight": True}, (True, False, True)), ({"weight": True, "devices": 1}, (True, False, True)),
    ({"weight": True, "grad": True, "kvstore": Native("dist_sync")}, (True, True, True))])
def test_decisions(arguments, wanted):
    assert decide(**arguments) == wanted


@pytest.mark.parametrize(("arguments", "error", "text"), [
    ({"kvstore": 5}, TypeError, "kvstore must be KVStore, str or None"),
    ({"kvstore": 5, "devices": 1}, TypeError, "kvstore must be KVStore, str or None"),
    ({"devices": 1, "wanted": True}, ValueError, "Cannot set update_on_kvstore=True without a kvstore"),
    ({"kvstore": None, "wanted": True}, ValueError, "Cannot set update_on_kvstore=True without a kvstore"),
    ({"kvstore": "teststore", "wanted": True}, ValueError, "Please set update_on_kvstore=False when training with"),
    ({"kvstore": Store("mydist_async"), "wanted": False}, ValueError, "when training in async mode"),
    ({"kvstore": Store(), "grad": True}, ValueError, "for multi-device training with sparse gradients"),
    ({"kvstore": Native("dist_sync"), "grad": True, "wanted": False}, ValueError,
     "Cannot set update_on_kvstore=False on dist kvstore when sparse gradients are present"),
    ({"weight": True, "wanted": False}, ValueError, "when sparse weights are present"),
    ({"weight": True, "kvstore": None}, TypeError, "The type must be KVStore or str"),
    ({"weight": True, "kvstore": Store()}, TypeError, "KVStore with row_sparse parameters"),
    ({"weight": True, "kvstore": "teststore"}, AssertionError, "KVStore with sparse weight requires optimizer support"),
    ({"kvstore": "dist_sync", "devices": 1}, mx.MXNetError, '"dist"')])
def test_contradictions(arguments, error, text):
    with pytest.raises(error, match=text):
        decide(**arguments)


@pytest.mark.parametrize(("value", "wanted"), [("0", False), ("1", True), ("2", True), ("-1", True)])
def test_the_environment_decides_where_nothing_is_said(monkeypatch, value, wanted):
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", value)
    assert decide()[2] is wanted
    assert decide(wanted=not wanted)[2] is not wanted
    assert decide(grad=True)[2] is False
    assert decide(weight=True)[2] is True


def test_a_number_is_expected_in_the_environment(monkeypatch):
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", "abc")
    with pytest.raises(ValueError, match="invalid literal for int"):
        decide(devices=1)


def test_errors_of_the_store_come_back():
    x = parameter(devices=2)
    trainer = sgd([x], kvstore="teststore", update_on_kvstore=True)
    for _ in range(2):
        backward((x, 1.0))
        with pytest.raises(ValueError, match="Please set update_on_kvstore=False"):
            trainer.step(4)
        assert not trainer._kv_initialized
    assert trainer.optimizer.rescale_grad == 0.25


def test_aggregation_and_the_store():
    x = parameter(devices=2)
    assert sgd([x], aggregate_num=2)._kvstore_params["update_on_kvstore"] is False
    with pytest.raises(ValueError, match=r"Cannot set update_on_kvstore=True when optimizer\.aggregate_num > 1"):
        sgd([x], aggregate_num=2, update_on_kvstore=True)


def test_a_distributed_store_is_never_reset():
    x = parameter()
    trainer = sgd([x], kvstore=Native("dist_sync"))
    backward((x, 1.0))
    trainer.step(1)
    assert (trainer._distributed, trainer._update_on_kvstore, values(x)) == (True, True, [-1.0])
    with pytest.raises(RuntimeError, match="Cannot reset distributed KVStore"):
        x.set_data(mx.nd.zeros((1,)))
    backward((x, 1.0))
    with pytest.raises(UserWarning, match="Possible change in the `batch_size` from previous `step` detected"):
        trainer.step(2)
    assert values(x) == [-1.0]


def test_compression():
    x = parameter(devices=2)
    trainer = sgd([x], compression_params={"type": "2bit", "threshold": 0.5})
    seen = []
    for gradient in (0.3, 0.3, 0.9, -2.0):
        backward((x, gradient))
        trainer.step(1)
        seen.append(values(x)[0])
    assert seen == [0.0, -1.0, -2.0, -1.0]


# ---- states ------------------------------------------------------------------------------------------------------

STATE_MODES = [{"devices": 1}, {"devices": 2, "update_on_kvstore": True}, {"devices": 2, "update_on_kvstore": False}]


def momentum_trainer(mode, **options):
    mode = dict(mode)
    x = parameter(devices=mode.pop("devices"))
    return x, sgd([x], **{"momentum": 0.5, **options}, **mode)


@pytest.mark.parametrize("save", STATE_MODES, ids=str)
@pytest.mark.parametrize("load", STATE_MODES, ids=str)
def test_states_go_from_any_trainer_to_any(save, load, tmp_path):
    name = str(tmp_path / "states")
    x, trainer = momentum_trainer(save)
    for _ in range(2):
        backward((x, 1.0 / len(values(x))))
        trainer.step(1)
    trainer.save_states(name)
    assert isinstance(pickle.loads((tmp_path / "states").read_bytes()), tuple)
    y, other = momentum_trainer(load, learning_rate=0.001, momentum=0.0, wd=0.3)
    backward((y, 1.0))
    other.step(1)
    other.load_states(name)
    y.set_data(mx.nd.array([-2.5]))
    if other._kvstore is None and other._update_on_kvstore is None and len(values(y)) > 1:
        other.load_states(name)  # set_data drops a store that updates weights, and the states on it
    backward((y, 2.0 / len(values(y))))
    other.step(2)
    assert values(y) == pytest.approx([-4.25] * len(values(y)))
    assert (other.optimizer.num_update, other.learning_rate) == (3, 1.0)
    assert other.optimizer.param_dict == {0: y}
    if other._on_kvstore():
        assert other.optimizer is other._kvstore._updater.optimizer
    else:
        assert all(updater.optimizer is other.optimizer for updater in other._updaters)


def test_files_that_are_no_states(tmp_path):
    _, trainer = momentum_trainer({"devices": 1})
    (tmp_path / "bad").write_bytes(b"garbage")
    with pytest.raises(pickle.UnpicklingError):
        trainer.load_states(str(tmp_path / "bad"))
    with pytest.raises(FileNotFoundError):
        trainer.load_states(str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError):
        trainer.save_states(str(tmp_path / "none" / "states"))
    assert trainer.optimizer.momentum == 0.5


def test_training_a_network_in_both_ways_gives_the_same():
    def train(**options):
        mx.random.seed(1)
        np.random.seed(1)
        net = gluon.nn.Sequential()
        net.add(gluon.nn.Dense(8, in_units=4, activation="relu"), gluon.nn.Dense(3, in_units=8))
        net.initialize(mx.init.Xavier())
        trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1})
        if options.get("watched"):
            trainer.optimizer.update = trainer.optimizer.update
        source = np.random.default_rng(0)
        for _ in range(5):
            data = mx.nd.array(source.normal(size=(6, 4)))
            with mx.autograd.record():
                loss = (net(data) ** 2).sum()
            loss.backward()
            trainer.step(6)
        return bool(trainer._updaters[0]._plans._plans), [p.data().asnumpy() for p in net.collect_params().values()]

    (fast, one), (slow, other) = train(), train(watched=True)
    assert (fast, slow) == (True, False)
    for a, b in zip(one, other):
        np.testing.assert_array_equal(a, b)
