"""The loss scaler: arguments, order of calls, overflow, several devices and trainers, the releases' interface."""

from __future__ import annotations

import math

import numpy as np
import pytest

import refengine as mx
from refengine import amp, autograd, nd
from refengine.amp import LossScaler
from refengine.gluon import Parameter, Trainer


def parameter(values, ctx=None, dtype='float32'):
    made = Parameter('w', shape=(len(values),), dtype=dtype)
    made.initialize(mx.init.One(), ctx=ctx or mx.cpu())
    set_gradient(made, values)
    return made


def set_gradient(made, values):
    """Write a gradient into every replica, as backward would."""
    for data, gradient in zip(made.list_data(), made.list_grad()):
        gradient[:] = nd.array(values)
        data._fresh_grad = True


@pytest.mark.parametrize(('arguments', 'error', 'text'), [
    ({'init_scale': 0}, ValueError, 'init_scale'), ({'scale_init': -1}, ValueError, 'scale_init'),
    ({'init_scale': math.nan}, ValueError, 'init_scale'), ({'scale_init': math.inf}, ValueError, 'scale_init'),
    ({'init_scale': 2, 'scale_init': 2}, TypeError, 'which mean the same'),
    ({'scale_period': 0}, ValueError, 'scale_period'), ({'scale_period': 1.5}, TypeError, 'scale_period'),
    ({'scale_period': True}, TypeError, 'scale_period'), ({'scale_factor': 1}, ValueError, 'scale_factor'),
    ({'backoff_factor': 1}, ValueError, 'backoff_factor'), ({'backoff_factor': 0}, ValueError, 'backoff_factor'),
    ({'init_scale': 2, 'min_scale': 4}, ValueError, 'min_scale'),
    ({'init_scale': 8, 'max_scale': 4}, ValueError, 'max_scale'),
    ({'min_scale': 8, 'max_scale': 4}, ValueError, 'min_scale'), ({'max_scale': math.nan}, ValueError, 'min_scale'),
    ({'max_scale': math.inf}, ValueError, 'max_scale'), ({'scale_factor': math.inf}, ValueError, 'scale_factor'),
    ({'scale_factor': math.nan}, ValueError, 'scale_factor'), ({'min_scale': math.nan}, ValueError, 'min_scale'),
])
def test_arguments_are_checked(arguments, error, text):
    with pytest.raises(error, match=text):
        LossScaler(**arguments)


def test_the_documented_sequence_of_scales():
    scaler = LossScaler(init_scale=8, scale_period=2)
    scales = []
    for gradient in (1, 1, 1, math.inf, 1, math.nan):
        scaler.unscale_and_clip([parameter([gradient])])
        scaler.update()
        scales.append(scaler.loss_scale)
    assert scales == [8, 16, 16, 8, 8, 4]


def test_the_scale_keeps_its_bounds():
    scaler = LossScaler(init_scale=4, scale_period=1, max_scale=8)
    for gradient, expected in ((1, 8), (1, 8), (math.inf, 4), (math.inf, 2), (math.inf, 1), (math.inf, 1)):
        scaler.unscale_and_clip([parameter([gradient])])
        scaler.update()
        assert scaler.loss_scale == expected


def test_a_fixed_scale_still_skips():
    scaler = LossScaler(init_scale=1, dynamic=False)
    w = parameter([math.inf])
    trainer = Trainer([w], 'sgd')
    assert scaler.unscale(trainer) is False
    trainer.step(1)
    scaler.update()
    assert w.data().asscalar() == 1
    assert scaler.loss_scale == 1


def test_scale_keeps_form_and_dtype():
    scaler = LossScaler(init_scale=4)
    first, (second,) = scaler.scale([nd.ones(1), (nd.ones(1, dtype='float64'),)])
    assert first.asscalar() == second.asscalar() == 4
    assert second.dtype == np.float64
    with pytest.raises(TypeError, match='NDArray'):
        scaler.scale(3)


def test_order_errors():
    scaler, w = LossScaler(), parameter([1.0])
    trainer = Trainer([w], 'sgd')
    with pytest.raises(RuntimeError, match='No inf checks were recorded prior to update'):
        scaler.update()
    scaler.unscale(trainer)
    with pytest.raises(RuntimeError, match='already been called'):
        scaler.unscale(trainer)
    with pytest.raises(RuntimeError, match='already been called'):
        scaler.unscale_and_clip([w])
    trainer.step(1)
    with pytest.raises(RuntimeError, match=r'after step\(\)'):
        scaler.unscale(trainer)
    scaler.update()
    assert scaler.unscale(trainer) is True
    with pytest.raises(TypeError, match='Gluon Trainer or an optimizer'):
        scaler.unscale(3)


def test_step_unscales_by_itself():
    scaler, w = LossScaler(init_scale=4), parameter([8.0])
    trainer = Trainer([w], 'sgd', {'learning_rate': 1.0})
    assert scaler.step(trainer, 2) is True
    assert w.data().asscalar() == 0
    scaler.update()
    set_gradient(w, [math.nan])
    assert scaler.step(trainer) is False
    assert w.data().asscalar() == 0
    scaler.update()
    assert scaler.loss_scale == 2


@pytest.mark.parametrize('on_kvstore', [False, True])
def test_an_overflow_on_one_device_skips_all(on_kvstore):
    contexts = [mx.cpu(0), mx.cpu(1)]
    w = parameter([1.0], contexts)
    trainer = Trainer([w], 'sgd', {'learning_rate': 1.0, 'momentum': 0.9}, update_on_kvstore=on_kvstore)
    scaler = LossScaler(init_scale=4)
    w.list_grad()[1][:] = math.inf
    assert scaler.unscale(trainer) is False
    assert w.list_grad()[0].asscalar() == 0.25
    trainer.step(1)
    scaler.update()
    assert [a.asscalar() for a in w.list_data()] == [1, 1]
    assert trainer.optimizer.num_update == 0
    set_gradient(w, [4.0])
    scaler._loss_scale = 4.0
    assert scaler.unscale(trainer) is True
    trainer.step(1)
    assert [a.asscalar() for a in w.list_data()] == [-1, -1]


def test_several_trainers_skip_on_their_own():
    first, second = parameter([math.inf]), parameter([4.0])
    trainers = [Trainer([w], 'sgd', {'learning_rate': 1.0}) for w in (first, second)]
    scaler = LossScaler(init_scale=4)
    assert [scaler.unscale(t) for t in trainers] == [False, True]
    for trainer in trainers:
        trainer.step(1)
    scaler.update()
    assert (first.data().asscalar(), second.data().asscalar(), scaler.loss_scale) == (1, 0, 2)


def test_clipping_counts_each_parameter_once():
    contexts = [mx.cpu(0), mx.cpu(1)]
    first, second = parameter([3.0], contexts), parameter([4.0], contexts)
    frozen = parameter([5.0])
    frozen.grad_req = 'null'
    scaler = LossScaler(init_scale=1)
    assert scaler.unscale_and_clip({'a': first, 'b': second, 'c': frozen}, clip=1.0) is True
    for made, expected in ((first, 0.6), (second, 0.8)):
        assert [g.asscalar() for g in made.list_grad()] == pytest.approx([expected] * 2)


def test_float16_goes_through_float32():
    w = parameter([60000.0], dtype='float16')
    assert LossScaler(init_scale=1024).unscale_and_clip([w]) is True
    assert w.grad().asscalar() == np.float16(58.59375)


def test_large_finite_gradients_are_no_overflow():
    w = parameter([3e38] * 4)
    assert LossScaler(init_scale=1).unscale_and_clip([w]) is True


def test_state_goes_round():
    scaler = LossScaler(init_scale=8, scale_period=3)
    scaler.unscale_and_clip([parameter([1.0])])
    scaler.update()
    other = LossScaler()
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict()
    with pytest.raises(RuntimeError, match='empty'):
        other.load_state_dict({})
    broken = scaler.state_dict()
    del broken['loss_scale']
    with pytest.raises(KeyError, match='loss_scale'):
        other.load_state_dict(broken)


def test_scaled_and_unscaled_iterations_may_alternate(monkeypatch):
    monkeypatch.setattr(amp.amp, '_amp_initialized', True)
    w = parameter([0.0])
    trainer = Trainer([w], 'sgd', {'learning_rate': 1.0})
    amp.init_trainer(trainer)

    def iteration(scaled, unscale=False):
        with autograd.record():
            loss = (w.data() * 3).sum()
            if scaled:
                with amp.scale_loss(loss, trainer) as loss:
                    pass
        loss.backward()
        if unscale:
            amp.unscale(trainer)
            amp.unscale(trainer)
            assert w.grad().asscalar() == 3
        before = w.data().asscalar()
        trainer.step(1)
        return before - w.data().asscalar()

    assert [iteration(True), iteration(False), iteration(True, True), iteration(False)] == [3, 3, 3, 3]
    amp.init_trainer(trainer)
    assert [iteration(True), iteration(False)] == [3, 3]
    with autograd.record(), amp.scale_loss(w.data().sum(), trainer) as loss:
        pass
    loss.backward()
    with pytest.raises(RuntimeError, match='already scaled'):
        LossScaler().unscale(trainer)


def test_what_the_releases_have():
    scaler, good, bad = LossScaler(), parameter([1.0]), parameter([math.nan])
    assert scaler.has_overflow([good, bad]) is True
    assert scaler.loss_scale == 2 ** 16
    assert scaler.has_overflow([good]) is False
    assert scaler.loss_scale == 2 ** 15
    for _ in range(40):
        scaler.has_overflow([bad])
    assert scaler.loss_scale < 1
    with pytest.raises(IndexError):
        scaler.has_overflow([])


def test_the_scale_of_a_trainer(monkeypatch):
    monkeypatch.setattr(amp.amp, '_amp_initialized', True)
    trainer = Trainer([parameter([1.0])], 'sgd')
    with pytest.raises(AttributeError, match='amp_loss_scale'):
        _ = trainer.amp_loss_scale
    amp.init_trainer(trainer)
    assert trainer.amp_loss_scale == 2 ** 16


@pytest.mark.parametrize(('key', 'value'), [
    ('loss_scale', math.nan), ('loss_scale', 'x'), ('loss_scale', 0), ('scale_factor', 0.5), ('backoff_factor', 2),
    ('scale_period', 1.5), ('max_scale', 4), ('min_scale', math.nan), ('good_steps', -1),
])
def test_a_wrong_state_changes_nothing(key, value):
    scaler = LossScaler(init_scale=8, scale_period=3)
    before = scaler.state_dict()
    with pytest.raises((ValueError, TypeError)):
        scaler.load_state_dict({**before, 'scale_factor': 4.0, 'min_scale': 2.0, key: value})
    assert scaler.state_dict() == before


def test_a_state_below_the_lower_bound_is_one_of_the_releases_interface():
    scaler = LossScaler(init_scale=1)
    for _ in range(2):
        scaler.has_overflow([parameter([math.inf])])
    state = scaler.state_dict()
    assert state['loss_scale'] < state['min_scale']
    scaler.load_state_dict(state)
    assert scaler.loss_scale == state['loss_scale']


@pytest.mark.parametrize('limit', [0, -1.0, math.nan])
def test_a_limit_that_is_none_changes_no_gradient(limit):
    own = parameter([8.0])
    scaler = LossScaler(init_scale=4)
    with pytest.raises(ValueError, match='clip must be above 0'):
        scaler.unscale_and_clip([own], clip=limit)
    assert own.grad().asnumpy().tolist() == [8]
    assert scaler.unscale_and_clip([own], clip=math.inf)
    assert own.grad().asnumpy().tolist() == [2]
