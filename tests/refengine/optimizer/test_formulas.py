"""Every optimizer follows its formula, on one weight, on many, in float16 and on blocks of a large weight."""

from __future__ import annotations

import numpy as np
import pytest

import refengine as mx
from refengine.ops import update_rules
from refengine.optimizer import apply
from tests.refengine.optimizer import formulas

RATE = 0.1
CASES = list(formulas.cases())


def label(case):
    name, options, common = case
    return "-".join([name, *(f"{key}={value}" for key, value in options.items()), common])


def make(name, options, common, **further):
    scalars = formulas.COMMON[common]
    return mx.optimizer.create(name, learning_rate=RATE, wd=scalars["wd"], rescale_grad=scalars["rescale"],
                               clip_gradient=scalars["clip"], **options, **further)


def data(seed, shape, count):
    source = np.random.default_rng(seed)
    return source.normal(size=shape) + 0.1, [source.normal(size=shape) for _ in range(count)]


@pytest.mark.parametrize("case", CASES, ids=label)
def test_three_updates_follow_the_formula(case):
    name, options, common = case
    start, gradients = data(1, (3, 4), 3)
    updater = mx.optimizer.get_updater(make(name, options, common))
    weight = mx.nd.array(start)
    for gradient, wanted in zip(gradients, formulas.follow(name, options, common, start, gradients, RATE)):
        given = mx.nd.array(gradient)
        updater(0, given, weight)
        np.testing.assert_allclose(weight.asnumpy(), wanted, rtol=2e-5, atol=1e-5)
        np.testing.assert_array_equal(given.asnumpy(), np.asarray(gradient, "float32"))


def smooth(case):
    """Whether rounding the gradient to float16 moves the weight only a little: signs and thresholds do not."""
    name, _, common = case
    return (common == "all" or name == "groupadagrad") and name not in ("signum", "ftrl")


@pytest.mark.parametrize("case", [c for c in CASES if smooth(c)], ids=label)
def test_float16_weights_are_updated_through_float32_copies(case):
    name, options, common = case
    start, gradients = data(2, (3, 4), 2)
    start, gradients = start.astype("float16"), [g.astype("float16") for g in gradients]
    updater = mx.optimizer.get_updater(make(name, options, common, multi_precision=True))
    weight = mx.nd.array(start, dtype="float16")
    for gradient, wanted in zip(gradients, formulas.follow(name, options, common, start, gradients, RATE)):
        updater(0, mx.nd.array(gradient, dtype="float16"), weight)
        master = updater.states[0][0]
        assert master.dtype == np.float32
        np.testing.assert_allclose(master.asnumpy(), wanted, rtol=2e-5, atol=2e-5)
        np.testing.assert_array_equal(weight.asnumpy(), master.asnumpy().astype("float16"))


@pytest.mark.parametrize("name", ["sgd", "nag", "adam", "adamw", "rmsprop", "ftml"])
def test_blocks_do_not_show(name, monkeypatch):
    monkeypatch.setattr(apply, "BLOCK", 7)
    monkeypatch.setattr(apply, "_local", type(apply._local)())
    start, gradients = data(3, (5, 5), 2)
    updater = mx.optimizer.get_updater(make(name, {}, "all"))
    weight = mx.nd.array(start)
    for gradient, wanted in zip(gradients, formulas.follow(name, {}, "all", start, gradients, RATE)):
        updater(0, mx.nd.array(gradient), weight)
        np.testing.assert_allclose(weight.asnumpy(), wanted, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["sgd", "adam", "lamb", "groupadagrad"])
def test_weights_of_any_layout(name):
    start, gradients = data(4, (4, 6), 2)
    updater = mx.optimizer.get_updater(make(name, {}, "plain"))
    weight = mx.nd.array(start)
    weight._data = np.asfortranarray(weight._data)
    for gradient, wanted in zip(gradients, formulas.follow(name, {}, "plain", start, gradients, RATE)):
        updater(0, mx.nd.array(gradient), weight)
        np.testing.assert_allclose(weight.asnumpy(), wanted, rtol=2e-5, atol=1e-5)


def test_float64_weights_are_computed_in_float64():
    start, gradients = data(5, (10,), 4)
    updater = mx.optimizer.get_updater(make("adam", {}, "all"))
    weight = mx.nd.array(start, dtype="float64")
    for gradient, wanted in zip(gradients, formulas.follow("adam", {}, "all", start, gradients, RATE)):
        updater(0, mx.nd.array(gradient, dtype="float64"), weight)
        np.testing.assert_allclose(weight.asnumpy(), wanted, rtol=1e-12)


def test_sgld_adds_noise_of_the_size_of_the_rate():
    mx.random.seed(3)
    updater = mx.optimizer.get_updater(mx.optimizer.SGLD(learning_rate=0.04, wd=0.5, rescale_grad=0.5))
    weight = mx.nd.ones((200000,)) * 2
    updater(0, mx.nd.ones((200000,)) * 3, weight)
    values = weight.asnumpy()
    assert values.mean() == pytest.approx(1.95, abs=3e-3)
    assert values.std() == pytest.approx(0.2, abs=3e-3)


@pytest.mark.parametrize(("strategy", "wanted"), [
    ("linear", [0, 1.5 * 1.5, 0, 2 * 1.5]), ("power2", [0, 1.25 * 1.5, 0, 2 * 1.5]),
    ("sqrt", [0, (1 + 0.5 ** 0.5) * 1.5, 0, 2 * 1.5]), ("none", [0, 1.5, 0, 2 * 1.5])])
def test_lbsgd_grows_its_rate(strategy, wanted):
    optimizer = mx.optimizer.create("lbsgd", learning_rate=1.0, batch_scale=2, warmup_epochs=2, updates_per_epoch=2,
                                    warmup_strategy=strategy)
    updater, weight, moved = mx.optimizer.get_updater(optimizer), mx.nd.zeros((1,)), []
    for gradient in (1.0, 2.0, 1.0, 2.0):
        before = float(weight.asscalar())
        updater(0, mx.nd.array([gradient]), weight)
        moved.append(before - float(weight.asscalar()))
    assert moved == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(("weight", "gradient", "wd", "wanted"), [
    (3.0, 4.0, 0.1, 0.313795), (0.0, 1.0, 0.0, 0.001), (10.0, 0.01, 0.0, 0.1), (2.0, 0.0, 0.1, 0.063246)])
def test_lbsgd_scales_by_norms(weight, gradient, wd, wanted):
    optimizer = mx.optimizer.create("lbsgd", learning_rate=0.1, wd=wd, warmup_strategy="lars")
    array = mx.nd.array([weight])
    mx.optimizer.get_updater(optimizer)(0, mx.nd.array([gradient]), array)
    assert weight - float(array.asscalar()) == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("aggregated", [False, True])
def test_lars_corrects_momentum_by_the_change_of_the_rate(aggregated):
    schedule = mx.lr_scheduler.FactorScheduler(1, 0.5, base_lr=0.4)
    optimizer = mx.optimizer.create("lars", momentum=0.9, eta=1.0, lr_scheduler=schedule, epsilon=0.0,
                                    aggregate_num=4 if aggregated else 1)
    updater = mx.optimizer.get_updater(optimizer)
    weights = [mx.nd.array([3.0, 4.0]), mx.nd.array([3.0, 4.0])]
    for wanted in ([1.8, 2.4], [0.9, 1.2], [0.405, 0.54]):
        updater([0, 1], [mx.nd.array([6.0, 8.0])] * 2, weights)
        for weight in weights:
            np.testing.assert_allclose(weight.asnumpy(), wanted, rtol=1e-5)


def test_lars_leaves_some_names_alone():
    names = {0: "a_weight", 1: "a_bias", 2: "a_gamma", 3: "a_beta"}
    updater = mx.optimizer.get_updater(mx.optimizer.create("lars", learning_rate=0.1, param_idx2name=names))
    weights = [mx.nd.array([3.0, 4.0]) for _ in names]
    updater(list(names), [mx.nd.array([6.0, 8.0])] * 4, weights)
    np.testing.assert_allclose(weights[0].asnumpy(), [2.9997, 3.9996], rtol=1e-6)
    for weight in weights[1:]:
        np.testing.assert_allclose(weight.asnumpy(), [2.4, 3.2], rtol=1e-6)


def test_zero_gradients_do_no_harm():
    for name in ("adamax", "lans", "lamb", "lars", "adagrad", "rmsprop"):
        weight = mx.nd.array([1.0, -2.0])
        mx.optimizer.get_updater(mx.optimizer.create(name, learning_rate=0.1))(0, mx.nd.zeros((2,)), weight)
        np.testing.assert_array_equal(weight.asnumpy(), [1.0, -2.0], err_msg=name)


def test_a_kernel_comes_before_the_rule(monkeypatch):
    seen = []

    def kernel(w, g, states, scalars):
        seen.append((w.shape, scalars[0]))
        w -= 1
        return len(seen) < 2

    monkeypatch.setitem(update_rules.kernels, update_rules.sgd, kernel)
    weight = mx.nd.ones((2, 3))
    updater = mx.optimizer.get_updater(mx.optimizer.create("sgd", learning_rate=0.5))
    updater(0, mx.nd.ones((2, 3)), weight)
    assert weight.asnumpy().tolist() == [[0.0] * 3] * 2
    updater(0, mx.nd.ones((2, 3)), weight)
    assert weight.asnumpy().tolist() == [[-1.5] * 3] * 2
    assert seen == [((6,), 0.5)] * 2
