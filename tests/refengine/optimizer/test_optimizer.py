"""What all optimizers share: registry, arguments, rates, multipliers, counters, errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import refengine as mx
from refengine.optimizer import Optimizer

NAMES = sorted(Optimizer.opt_registry)


@pytest.fixture
def registry():
    kept = dict(Optimizer.opt_registry)
    yield Optimizer.opt_registry
    Optimizer.opt_registry.clear()
    Optimizer.opt_registry.update(kept)


@pytest.mark.parametrize("name", NAMES)
def test_common_arguments(name):
    for options in ({"learning_rate": 0.5}, {"wd": 0.1}, {"clip_gradient": 1.0}, {"rescale_grad": 0.5},
                    {"multi_precision": True}, {"begin_num_update": 3}, {"use_fused_step": False},
                    {"lr_scheduler": mx.lr_scheduler.PolyScheduler(3)}, {"aggregate_num": 2}):
        made = mx.optimizer.create(name.upper(), **options)
        for key, value in options.items():
            if key != "learning_rate" and not (key == "aggregate_num" and name in ("adamw", "adabelief")):
                assert getattr(made, key) == value
    made = mx.optimizer.create(name)
    assert (made.wd, made.rescale_grad, made.clip_gradient, made.multi_precision) == (0.0, 1.0, None, False)
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        mx.optimizer.create(name, foo=1)


@pytest.mark.parametrize(("name", "rate"), [
    ("sgd", 0.1), ("nag", 0.1), ("adam", 0.001), ("adadelta", 1.0), ("ftml", 0.0025), ("test", 0.01), ("lars", 0.1)])
def test_default_rates(name, rate):
    assert mx.optimizer.create(name).learning_rate == rate
    assert mx.optimizer.create(name, learning_rate=None).learning_rate == 0.01


@pytest.mark.parametrize("name", NAMES)
def test_a_scheduler_alone_keeps_its_rate(name, capsys):
    schedule = mx.lr_scheduler.FactorScheduler(100, 0.5, base_lr=0.5)
    assert mx.optimizer.create(name, lr_scheduler=schedule).learning_rate == 0.5
    assert capsys.readouterr().out == ""


def test_an_explicit_rate_overwrites_that_of_the_scheduler(capsys):
    schedule = mx.lr_scheduler.FactorScheduler(100, 0.5, base_lr=0.5)
    assert mx.optimizer.create("sgd", learning_rate=0.25, lr_scheduler=schedule).learning_rate == 0.25
    assert "``lr_scheduler`` has been overwritten by ``learning_rate``" in capsys.readouterr().out
    with pytest.raises(UserWarning, match="LRScheduler of the optimizer has already been defined"):
        mx.optimizer.create("sgd", lr_scheduler=schedule).set_learning_rate(1.0)


def test_registering(registry):
    class Mine(Optimizer):
        pass

    mx.optimizer.register(Mine)
    assert type(mx.optimizer.create("MINE")) is Mine

    class SGD(Optimizer):
        pass

    with pytest.warns(UserWarning, match="New optimizer .*SGD is overriding existing optimizer .*SGD"):
        mx.optimizer.register(SGD)
    with pytest.raises(ValueError, match="Cannot find optimizer foo"):
        mx.optimizer.create("foo")
    with pytest.raises(AttributeError, match="lower"):
        mx.optimizer.create(None)


def test_optimizers_of_ones_own():
    class Old(Optimizer):
        def update(self, index, weight, grad, state):
            assert not isinstance(index, list)
            weight -= self.lr * self.rescale_grad * grad

    class New(Optimizer):
        def step(self, indices, weights, grads, states):
            for weight, grad in zip(weights, grads):
                weight -= self.lr * self.rescale_grad * grad

    for cls in (Old, New):
        updater = mx.optimizer.get_updater(cls(learning_rate=0.5, rescale_grad=0.5))
        weights = [mx.nd.ones((2,)), mx.nd.ones((3,))]
        updater([0, 1], [w * 4 for w in weights], weights)
        assert [w.asnumpy().tolist() for w in weights] == [[0.0, 0.0], [0.0, 0.0, 0.0]]


def test_the_base_class_is_abstract():
    base = Optimizer()
    assert base.create_state(0, mx.nd.ones((1,))) is None
    for call in (base.update, base.step, base.fused_step):
        with pytest.raises(NotImplementedError):
            call([0], [mx.nd.ones((1,))], [mx.nd.ones((1,))], [None])


@pytest.mark.parametrize("name", ["adadelta", "adamax", "dcasgd", "nadam", "sgld", "test"])
def test_no_fused_form(name):
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, use_fused_step=True))
    for index in (0, [0]):
        with pytest.raises(NotImplementedError):
            updater(index, *([mx.nd.ones((2,))], [mx.nd.ones((2,))]) if index else (mx.nd.ones((2,)),) * 2)


@pytest.mark.parametrize(("name", "old", "new"), [
    ("adagrad", "eps", "epsilon"), ("groupadagrad", "eps", "epsilon"), ("lars", "eps", "epsilon"),
    ("rmsprop", "gamma1", "rho"), ("rmsprop", "gamma2", "momentum")])
def test_old_names_of_arguments(name, old, new):
    with pytest.warns(DeprecationWarning, match=f"parameter '{old}' is deprecated"):
        made = mx.optimizer.create(name, **{old: 0.375})
    assert getattr(made, new) == 0.375


def test_lazy_updates_have_conditions():
    for name in ("sgd", "adam", "lars"):
        assert mx.optimizer.create(name).lazy_update is False
        with pytest.raises(AssertionError):
            mx.optimizer.create(name, lazy_update=True, use_fused_step=False)
    for name in ("sgd", "lars"):
        with pytest.raises(AssertionError):
            mx.optimizer.create(name, lazy_update=True, multi_precision=True)


@pytest.mark.parametrize(("value", "sizes"), [
    (None, {"sgd": 1, "lars": 1, "lamb": 4, "lans": 4, "adamw": 4, "adabelief": 4, "adam": 1}),
    ("2", {"sgd": 2, "lars": 2, "lamb": 2, "lans": 2, "adamw": 2, "adabelief": 2, "adam": 1}),
    ("100", {"sgd": 100, "lars": 100, "lamb": 45, "lans": 45, "adamw": 50, "adabelief": 50, "adam": 1})])
def test_aggregation_sizes(monkeypatch, value, sizes):
    if value is None:
        monkeypatch.delenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", raising=False)
    else:
        monkeypatch.setenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", value)
    assert {name: mx.optimizer.create(name).aggregate_num for name in sizes} == sizes
    assert mx.optimizer.create("sgd", aggregate_num=3).aggregate_num == 3


@pytest.mark.parametrize("size", [46, float("inf")])
def test_lamb_takes_45_weights_at_a_time(size):
    with pytest.raises(AssertionError, match="only supports aggregate_num <= 45"):
        mx.optimizer.create("lamb", aggregate_num=size)


def test_multipliers():
    class Param:
        lr_mult, wd_mult = 2.0, 3.0

    made = mx.optimizer.create("sgd", learning_rate=0.5, wd=0.25, param_dict={0: Param()},
                               param_idx2name={2: "c_weight", 3: "c_bias", 4: "c_gamma"})
    made.set_lr_mult({0: 10.0, 1: 4.0, "c_weight": 8.0})
    assert [made._get_lr(i) for i in range(4)] == [1.0, 2.0, 4.0, 0.5]
    assert [made._get_wd(i) for i in range(5)] == [0.75, 0.25, 0.25, 0.0, 0.25]
    made.set_wd_mult({"c_bias": 2.0})
    assert made._get_wd(3) == 0.5
    with pytest.raises(AssertionError, match="param_idx2name should be a dict of param indexes to names"):
        mx.optimizer.create("sgd", param_idx2name=[1])


def test_counters():
    made = mx.optimizer.create("sgd", begin_num_update=10)
    made._update_count([0, 1])
    made._update_count(0)
    assert (made._index_update_count, made.num_update) == ({0: 12, 1: 11}, 12)
    made._set_current_context(1)
    made._update_count(0)
    assert made._all_index_update_counts == {0: {0: 12, 1: 11}, 1: {0: 11}}


def test_pickling_drops_the_parameters():
    made = mx.optimizer.create("adam", beta1=0.5, param_dict={0: object()})
    made._update_count(0)
    again = pickle.loads(pickle.dumps(made))
    assert again.param_dict == {}
    assert (again.beta1, again.num_update, again._index_update_count) == (0.5, 1, {0: 1})
    again._update_count(0)
    assert again._all_index_update_counts == {0: {0: 2}}


def test_half_precision_warns():
    for name, text in (("adam", "of the optimizer"), ("sgd", "of the SGD optimizer"), ("nag", "of the NAG optimizer")):
        with pytest.warns(UserWarning, match=f"Accumulating with float16 .* multi_precision=True option {text}"):
            mx.optimizer.create(name).create_state_multi_precision(0, mx.nd.ones((2,), dtype="float16"))


@pytest.mark.parametrize("name", ["rmsprop", "adagrad", "ftrl", "adadelta", "adamw", "adabelief"])
@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.filterwarnings("ignore:Accumulating with float16")
def test_states_in_float32_refuse_other_weights(name, dtype):
    weight = mx.nd.ones((2,), dtype=dtype)
    with pytest.raises(mx.MXNetError, match="Incompatible attr"):
        mx.optimizer.get_updater(mx.optimizer.create(name))(0, weight * 1, weight)
    np.testing.assert_array_equal(weight.asnumpy(), [1, 1])


def test_arrays_that_do_not_fit():
    updater = mx.optimizer.get_updater(mx.optimizer.create("sgd"))
    with pytest.raises(mx.MXNetError, match=r"expected \[2\], got \[3\]"):
        updater(0, mx.nd.ones((3,)), mx.nd.ones((2,)))
    with pytest.raises(mx.MXNetError, match="expected float32, got float64"):
        updater(0, mx.nd.ones((2,), dtype="float64"), mx.nd.ones((2,)))


def test_group_adagrad_is_for_matrices_without_decay():
    with pytest.raises(AssertionError, match="Weight decay is not supported for GroupAdaGrad"):
        mx.optimizer.get_updater(mx.optimizer.create("groupadagrad", wd=0.5))(0, mx.nd.ones((2, 2)), mx.nd.ones((2, 2)))
    with pytest.raises(AssertionError, match="two-dimensional"):
        mx.optimizer.get_updater(mx.optimizer.create("groupadagrad"))(0, mx.nd.ones((2,)), mx.nd.ones((2,)))


@pytest.mark.parametrize(("name", "moves"), [
    ("sgd", True), ("nag", True), ("adam", True), ("ftml", True), ("lamb", True), ("rmsprop", True), ("lars", True),
    ("adadelta", False), ("adagrad", False), ("adamax", False), ("dcasgd", False), ("nadam", False)])
def test_clipping_to_zero(name, moves):
    weight = mx.nd.ones((2,))
    mx.optimizer.get_updater(mx.optimizer.create(name, learning_rate=0.1, clip_gradient=0))(0, weight * 4, weight)
    assert (weight.asnumpy() != 1).all() == moves
