"""Recomputation: less is kept between forward and backward, and nothing else changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine.graph.memory import plan
from refengine.graph.mirror import DEPTH, recompute
from refengine.graph.program import Program, Step
from refengine.op import registry


def chain(*names: str) -> Program:
    """Operators one after the other on slot 0, and one more that makes the result."""
    steps = [Step(registry[name], name, {}, [number], [number + 1]) for number, name in enumerate((*names, 'negative'))]
    return Program(['x'], len(steps) + 1, [0], steps, [len(steps)])


def readers(slots: list[int], first: int) -> Program:
    """A way back whose steps each read one slot of the forward run."""
    steps = [Step(registry['negative'], 'negative', {}, [slot], [first + number]) for number, slot in enumerate(slots)]
    return Program([], first + len(slots), [], steps, [first + len(slots) - 1])


def repeats(program: Program) -> list[str]:
    """The names of the steps."""
    return [step.name for step in program.steps]


def test_values_are_made_again_right_before_they_are_read() -> None:
    forward = chain('softmax', 'tanh', 'sigmoid', 'relu')
    back, sources = recompute(forward, readers([4, 3, 1], 6), lambda slot: True)
    assert repeats(back) == ['tanh', 'sigmoid', 'relu', 'negative', 'negative', 'negative']
    assert sorted(sources.values()) == [2, 3, 4]
    read = {slot for step in back.steps for slot in step.inputs if slot is not None and slot <= 4}
    assert read == {1}


def test_what_costs_much_is_kept() -> None:
    back, sources = recompute(chain('softmax', 'softmax'), readers([2, 1], 4), lambda slot: True)
    assert sources == {}
    assert repeats(back) == ['negative', 'negative']


def test_a_value_that_would_need_another_one_kept_stays() -> None:
    """The input of the relu is not read: keeping that instead would save nothing."""
    _, sources = recompute(chain('softmax', 'relu'), readers([2], 4), lambda slot: True)
    assert sources == {}


def test_no_long_runs() -> None:
    forward = chain(*['tanh'] * 12)
    _, sources = recompute(forward, readers(list(range(12, 0, -1)), 14), lambda slot: True)
    kept = set(range(1, 13)) - set(sources.values())
    assert kept == {5, 10}
    assert DEPTH == 4


def test_shared_memory_and_results_stay() -> None:
    forward = chain('softmax', 'tanh', 'sigmoid')
    assert list(recompute(forward, readers([3, 2, 1], 5), lambda slot: slot != 2)[1].values()) == [3]
    back = readers([3, 4, 1], 5)
    assert recompute(forward, Program([], 8, [], back.steps, [3]), lambda slot: True)[1] == {}


def convolutions(static: bool) -> Any:
    """Convolutions whose results are normalised, with and without a factor of their own."""
    made = mx.gluon.nn.HybridSequential()
    made.add(mx.gluon.nn.HybridLambda(lambda F, x: F.reshape(x, shape=(4, 2, 2, 2))))
    for scale in (True, False, True):
        made.add(mx.gluon.nn.Conv2D(4, 3, padding=1, use_bias=False), mx.gluon.nn.BatchNorm(scale=scale),
                 mx.gluon.nn.Activation('relu'))
    made.initialize(mx.init.Xavier())
    made.hybridize(static_alloc=static)
    made(mx.nd.zeros((4, 8)))
    return made


def net(static: bool) -> Any:
    """Layers with several activations each, random numbers in between."""
    made = mx.gluon.nn.HybridSequential()
    for number in range(3):
        made.add(mx.gluon.nn.Dense(8, in_units=8))
        for name in ('tanh', 'sigmoid', 'relu'):
            made.add(mx.gluon.nn.Activation(name))
        if number == 1:
            made.add(mx.gluon.nn.Dropout(0.4), mx.gluon.nn.BatchNorm(in_channels=8))
    made.initialize(mx.init.Xavier())
    made.hybridize(static_alloc=static)
    return made


def results(made: Any, calls: int = 4) -> list[np.ndarray]:
    mx.random.seed(7)
    found = []
    for number in range(calls):
        x = mx.nd.array(np.sin(np.arange(32) + number).reshape(4, 8))
        if number > 1:          # another way back
            x.attach_grad()
        with mx.autograd.record():
            y = (made(x) ** 2).sum()
        y.backward()
        found += [y.asnumpy(), *(p.grad().asnumpy() for p in made.collect_params().values() if p.grad_req != 'null')]
        if number > 1:
            found.append(x.grad.asnumpy())
    return found


@pytest.mark.parametrize('make', [net, convolutions])
@pytest.mark.parametrize('static', [False, True])
def test_results_are_the_same_bit_for_bit(make: Any, static: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    mx.random.seed(1)
    made = make(static)
    states = {name: p.data().copy() for name, p in made.collect_params().items()}
    expected = results(made)
    for name, p in made.collect_params().items():
        p.set_data(states[name])
    monkeypatch.setenv('MXNET_BACKWARD_DO_MIRROR', '1')
    made.hybridize(static_alloc=static)
    for one, other in zip(results(made), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def activations(layers: int) -> Any:
    x = mx.sym.var('x')
    for number in range(layers):
        x = mx.sym.FullyConnected(x, num_hidden=64, name=f'f{number}')
        for name in ('tanh', 'sigmoid', 'tanh'):
            x = getattr(mx.sym, name)(x)
    return x


def test_normalised_values_are_made_again() -> None:
    x = mx.sym.var('x')
    for number in range(6):
        x = mx.sym.Convolution(x, num_filter=4, kernel=(3, 3), pad=(1, 1), no_bias=True, name=f'c{number}')
        x = mx.sym.Activation(mx.sym.BatchNorm(x, name=f'b{number}'), act_type='relu')
    plain, mirrored = (plan(x, {'x': (2, 4, 16, 16)}, train=True, mirror=word) for word in (False, True))
    assert mirrored.planned_bytes <= 0.75 * plain.planned_bytes
    assert sum(step.op.name == 'BatchNorm_again' for step in mirrored.program.steps) == 5


def test_plans_shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = {'x': (64, 64)}
    plain = plan(activations(8), shapes, train=True)
    mirrored = plan(activations(8), shapes, train=True, mirror=True)
    assert mirrored.planned_bytes <= 0.6 * plain.planned_bytes
    executor = activations(8).simple_bind(mx.cpu(), x=(4096, 64))

    def allocated() -> int:
        return int(next(text for text in executor.debug_str().splitlines() if text.endswith('MB allocated')).split()[1])

    before = allocated()
    monkeypatch.setenv('MXNET_BACKWARD_DO_MIRROR', '1')
    assert allocated() <= 0.6 * before


@pytest.mark.parametrize('name', ['relu', 'tanh', 'softsign', 'exp'])
def test_a_plan_never_grows(name: str) -> None:
    x = mx.sym.var('x')
    for number in range(6):
        x = getattr(mx.sym, name)(mx.sym.FullyConnected(x, num_hidden=64, name=f'f{number}'))
    shapes = {'x': (64, 64)}
    mirrored, plain = (plan(x, shapes, train=True, mirror=word).planned_bytes for word in (True, False))
    assert mirrored <= plain
