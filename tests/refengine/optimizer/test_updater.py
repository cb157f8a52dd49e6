"""The updater, and the flat way that updates many weights in one go."""

from __future__ import annotations

import numpy as np
import pytest

import refengine as mx
from refengine.optimizer import flat

SHAPES = ((3, 4), (5,), (2, 3, 2), (1,), (70, 1000))  # the last one is too large to share a buffer
ELEMENTWISE = sorted(name for name, cls in mx.optimizer.Optimizer.opt_registry.items() if cls in flat._elementwise)


def arrays(seed, dtype="float32", shapes=SHAPES):
    source = np.random.default_rng(seed)
    return [mx.nd.array(source.normal(size=shape), dtype=dtype) for shape in shapes]


def train(optimizer, flat_way, steps=4, dtype="float32", indices=None, change=None):
    """Weights and states after some updates; without the flat way every weight is updated by itself."""
    updater = mx.optimizer.get_updater(optimizer)
    weights = arrays(0, dtype)
    grads = [mx.nd.zeros(w.shape, dtype=dtype) for w in weights]
    if not flat_way:
        optimizer.update = optimizer.update  # an attribute of the object: seen as a hook
    for step in range(steps):
        for grad, new in zip(grads, arrays(step + 1, dtype)):
            grad[:] = new
        if change is not None:
            change(step, optimizer)
        chosen = list(range(len(weights))) if indices is None else indices[step]
        updater(chosen, [grads[i] for i in chosen], [weights[i] for i in chosen])
    return weights, updater


def plans(updater):
    """The updates that were prepared."""
    return list(updater._plans._plans.values())


def leaves(state):
    if state is None:
        return []
    if isinstance(state, (tuple, list)):
        return [leaf for part in state for leaf in leaves(part)]
    return [state]


def assert_same(one, other):
    weights, updater = one
    for a, b in zip(weights, other[0]):
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())
    for index, state in updater.states.items():
        for a, b in zip(leaves(state), leaves(other[1].states[index])):
            np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())
    assert updater.optimizer._all_index_update_counts == other[1].optimizer._all_index_update_counts
    assert updater.optimizer.num_update == other[1].optimizer.num_update


def test_the_flat_way_is_open_to_these():
    assert {"sgd", "nag", "adam", "adamw", "adagrad", "rmsprop", "ftml", "nadam"} <= set(ELEMENTWISE)
    assert not {"lars", "lamb", "lans", "groupadagrad", "lbsgd", "sgld", "test"} & set(ELEMENTWISE)


@pytest.mark.parametrize("name", ELEMENTWISE)
@pytest.mark.parametrize("options", [{}, {"wd": 0.1, "clip_gradient": 0.5, "rescale_grad": 0.5}])
def test_the_flat_way_changes_nothing(name, options):
    def make():
        return mx.optimizer.create(name, learning_rate=0.1, **options)

    fast = train(make(), True)
    assert [len(plan.segments) for plan in plans(fast[1])] == [2]
    assert_same(fast, train(make(), False))


@pytest.mark.parametrize("name", ["sgd", "adam", "nag"])
def test_the_flat_way_in_half_precision(name):
    def make():
        return mx.optimizer.create(name, learning_rate=0.1, multi_precision=True)

    fast = train(make(), True, dtype="float16")
    assert len(plans(fast[1])) == 1
    assert_same(fast, train(make(), False, dtype="float16"))


@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_the_flat_way_with_rates_of_their_own(name):
    class Param:
        def __init__(self, rate, decay):
            self.lr_mult, self.wd_mult = rate, decay

    def make():
        params = {0: Param(1.0, 1.0), 1: Param(0.5, 1.0), 2: Param(0.5, 1.0), 4: Param(2.0, 0.0)}
        schedule = mx.lr_scheduler.FactorScheduler(1, 0.5, base_lr=0.1)
        return mx.optimizer.create(name, lr_scheduler=schedule, wd=0.1, param_dict=params)

    def change(step, optimizer):
        optimizer.param_dict[1].lr_mult = step

    assert_same(train(make(), True, change=change), train(make(), False, change=change))


@pytest.mark.parametrize("name", ["adam", "nadam"])
def test_the_flat_way_with_changing_sets_of_weights(name):
    sets = [[0, 1, 2, 3, 4], [1, 3], [0, 1, 2, 3, 4], [1, 3], [2, 0], [1, 3], [0, 1, 2, 3, 4], [2, 0]]

    def make():
        return mx.optimizer.create(name, learning_rate=0.1)

    fast = train(make(), True, len(sets), indices=sets)
    assert len(plans(fast[1])) == 3
    assert_same(fast, train(make(), False, len(sets), indices=sets))


def test_new_arrays_are_not_prepared_for():
    updater = mx.optimizer.get_updater(mx.optimizer.create("sgd", learning_rate=1.0))
    weights = arrays(0)
    for step in range(4):
        updater(list(range(5)), arrays(step), weights)
    assert plans(updater) == []
    for subset in ([0], [1], [2], [3], [4], [0, 1], [1, 2]):
        for _ in range(3):
            updater(subset, [w * 0 for w in weights[:len(subset)]], weights[:len(subset)])
    assert len(updater._plans._seen) <= updater._plans.LIMIT


def test_schedules_of_ones_own_are_asked_for_every_weight():
    asked = []

    def schedule(count):
        asked.append(count)
        return 0.1

    train(mx.optimizer.create("sgd", lr_scheduler=schedule), True, steps=3)
    assert asked == [1] * 5 + [2] * 5 + [3] * 5


def test_views_of_a_weight_stay_views():
    updater = mx.optimizer.get_updater(mx.optimizer.create("sgd", learning_rate=1.0))
    weights, grads = arrays(0, shapes=[(4, 2), (3,)]), [mx.nd.ones((4, 2)), mx.nd.ones((3,))]
    weights[0].attach_grad()
    row, same, grad = weights[0][1:2], weights[0].detach(), grads[1].reshape((3, 1))
    for _ in range(3):
        updater([0, 1], grads, weights)
        np.testing.assert_array_equal(row.asnumpy(), weights[0].asnumpy()[1:2])
        np.testing.assert_array_equal(same.asnumpy(), weights[0].asnumpy())
    row[:] = 7
    assert weights[0].asnumpy()[1].tolist() == [7, 7]
    grad[:] = 0
    before = weights[1].asnumpy()
    updater([0, 1], grads, weights)
    np.testing.assert_array_equal(weights[1].asnumpy(), before)


def test_a_recorded_graph_keeps_its_values():
    weight = mx.nd.ones((3,))
    weight.attach_grad()
    other = mx.nd.ones((3,))
    updater = mx.optimizer.get_updater(mx.optimizer.create("sgd", learning_rate=1.0))
    with mx.autograd.record():
        loss = (weight * weight).sum()
    for _ in range(2):
        updater([0, 1], [mx.nd.ones((3,)), mx.nd.ones((3,))], [weight, other])
    loss.backward()
    assert weight.asnumpy().tolist() == [-1, -1, -1]


@pytest.mark.parametrize("where", ["class", "object"])
@pytest.mark.parametrize("name", ["update_multi_precision", "update", "fused_step", "_update_one"])
def test_replaced_methods_are_called(monkeypatch, name, where):
    optimizer = mx.optimizer.create("sgd", learning_rate=0.1)
    updater = mx.optimizer.get_updater(optimizer)
    weights = arrays(0)
    grads = arrays(1)
    for _ in range(3):
        updater(list(range(5)), grads, weights)
    assert len(plans(updater)) == 1
    seen = []
    original = getattr(mx.optimizer.SGD, name)

    def watch(self, index, *args):
        seen.extend(index if isinstance(index, list) else [index])
        return original(self, index, *args)

    if where == "class":
        monkeypatch.setattr(mx.optimizer.SGD, name, watch)
    else:
        monkeypatch.setattr(optimizer, name, lambda *args: watch(optimizer, *args))
    updater(list(range(5)), grads, weights)
    assert seen == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("size", "wanted"), [
    (1, [0, 1, 2, 3, 4]), (2, [[0, 1], [2, 3], [4]]), (4, [[0, 1, 2, 3], [4]]), (float("inf"), [[0, 1, 2, 3, 4]])])
def test_aggregation(monkeypatch, size, wanted):
    optimizer = mx.optimizer.create("sgd", learning_rate=0.1, aggregate_num=size)
    seen = []
    original = optimizer.update_multi_precision
    monkeypatch.setattr(optimizer, "update_multi_precision",
                        lambda index, *args: seen.append(index) or original(index, *args))
    updater = mx.optimizer.get_updater(optimizer)
    assert updater.aggregate_updates == (size > 1)
    updater(list(range(5)), arrays(1), arrays(0))
    assert seen == wanted


@pytest.mark.parametrize(("size", "wanted"), [(4, [[0, 2], [1]]), (float("inf"), [[0, 1, 2]])])
@pytest.mark.filterwarnings("ignore:Accumulating with float16")
def test_aggregation_by_dtype(monkeypatch, size, wanted):
    optimizer = mx.optimizer.create("sgd", learning_rate=0.5, aggregate_num=size, multi_precision=True)
    seen = []
    original = optimizer.update
    monkeypatch.setattr(optimizer, "update", lambda index, *args: seen.append(index) or original(index, *args))
    weights = [mx.nd.ones((2,), dtype=d) for d in ("float32", "float16", "float32")]
    mx.optimizer.get_updater(optimizer)([0, 1, 2], [w * 1 for w in weights], weights)
    assert seen == wanted
    assert [w.asnumpy().tolist() for w in weights] == [[0.5, 0.5]] * 3


@pytest.mark.parametrize("count", [60, 61, 130])
def test_any_number_of_weights(count):
    weights = [mx.nd.ones((2,)) for _ in range(count)]
    optimizer = mx.optimizer.create("sgd", learning_rate=0.5, aggregate_num=float("inf"))
    mx.optimizer.get_updater(optimizer)(list(range(count)), [w * 1 for w in weights], weights)
    assert all(w.asnumpy().tolist() == [0.5, 0.5] for w in weights)


def test_states_are_made_at_the_first_use():
    updater = mx.optimizer.get_updater(mx.optimizer.create("sgd", learning_rate=1.0, momentum=0.5))
    weight, grad = mx.nd.ones((2,)), mx.nd.ones((2,))
    updater(b"k", grad, weight)
    assert updater.states["k"].asnumpy().tolist() == [-1, -1]
    updater([b"k", "l"], [grad, grad], [weight, weight])
    assert sorted(updater.states) == ["k", "l"]
    assert weight.asnumpy().tolist() == [-2.5, -2.5]


def test_loaded_states_move_to_the_device_of_the_weight():
    updater = mx.optimizer.get_updater(mx.optimizer.create("adam"))
    weight = mx.nd.ones((2,), ctx=mx.cpu(1))
    updater(0, weight * 1, weight)
    updater.set_states(updater.get_states())
    assert updater.states_synced == {0: False}
    assert [s.context for s in updater.states[0]] == [mx.cpu(0)] * 2
    updater(0, weight * 1, weight)
    assert updater.states_synced == {0: True}
    assert [s.context for s in updater.states[0]] == [mx.cpu(1)] * 2


def test_failed_gradients_pass_their_error_on():
    updater = mx.optimizer.get_updater(mx.optimizer.create("sgd"))
    weight = mx.nd.ones((2, 2))
    bad = mx.nd.random.normal(0, -1, shape=(2, 2))
    updater(0, bad, weight)
    with pytest.raises(mx.MXNetError):
        weight.wait_to_read()


def test_updating_a_recorded_weight_is_an_error():
    weight = mx.nd.ones((2,))
    weight.attach_grad()
    updater = mx.optimizer.get_updater(mx.optimizer.create("sgd"))
    for index, grad, target in ((0, mx.nd.ones((2,)), weight), ([0], [mx.nd.ones((2,))], [weight])):
        with mx.autograd.record():
            _ = weight * 2
            with pytest.raises(mx.MXNetError, match="Assigning to NDArrays that are already in a computational graph"):
                updater(index, grad, target)
    assert weight.asnumpy().tolist() == [1, 1]
