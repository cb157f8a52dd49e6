"""Derivatives of compiled graphs of any order: those of eager execution, with the same random numbers."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, gluon, nd
from refengine.gluon import nn
from refengine.graph.cached import CachedGraph
from refengine.graph.program import build
from refengine.samples import Sample, every
from tests.refengine import gradients
from tests.refengine.graph.test_every_operator import as_symbol

SAMPLES = [s for s in every() if s.operator.name != 'Custom']
BY_OPERATOR = [list(group) for _, group in groupby(SAMPLES, key=lambda s: s.operator.name)]


def _double(*shape: int, seed: int = 0) -> Any:
    return nd.array(np.random.default_rng(seed).normal(size=shape), dtype='float64')


def _close(found: list[Any], expected: list[Any]) -> None:
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize('group', BY_OPERATOR, ids=lambda g: g[0].operator.name)
def test_every_operator(group: list[Sample]) -> None:
    """The third derivative of a graph of one call, step by step at first and compiled later."""
    for sample in group:
        graph = CachedGraph(build(as_symbol(sample.operator, len(sample.arrays), sample.params)._entries))
        program = gradients.Program(sample.operator, sample.index, sample.arrays, sample.differentiated,
                                    sample.symmetric, {'what': sample.name}, graph)
        values = [a.astype('float64') for a in sample.arrays]
        expected = gradients.derivative(sample, values, 3)
        for _ in range(2):
            _close(gradients.derivative(program, values, 3), expected)


# ---- random numbers ------------------------------------------------------------------------------------------------

def _network(**flags: Any) -> nn.HybridSequential:
    mx.random.seed(3)
    net = nn.HybridSequential()
    net.add(nn.Dense(6, in_units=4, activation='tanh'), nn.Dropout(0.5), nn.BatchNorm(in_channels=6),
            nn.Dense(5, in_units=6, activation='sigmoid'), nn.Dropout(0.3, axes=(1,)), nn.Dense(2, in_units=5))
    net.cast('float64')
    net.initialize(mx.init.Xavier())
    if flags:
        net.hybridize(**flags)
    return net


def _three_orders(net: Any, x: Any, seed: int) -> list[Any]:
    """Results and derivatives; another call of the network comes in between and draws other numbers."""
    x.attach_grad()
    mx.random.seed(seed)
    with autograd.record():
        y = net(x)
        first = autograd.grad((y * y).sum(), x, create_graph=True)
        other = net(x * 2)
        second = autograd.grad((first * first).sum(), x, create_graph=True)
        total = (second * second).sum() + other.sum()
    total.backward()
    return [a.asnumpy() for a in (y, first, other, second, x.grad)]


@pytest.mark.parametrize('flags', [{'active': True}, {'static_alloc': True},
                                   {'static_alloc': True, 'static_shape': True}], ids=str)
def test_one_draw_serves_all_orders(flags: dict[str, Any]) -> None:
    plain, compiled = _network(), _network(**flags)
    for seed in range(4):       # step by step, then compiled, in buffers that are used again
        x = _double(3, 4, seed=seed)
        expected = _three_orders(plain, x, seed)
        _close(_three_orders(compiled, x, seed), expected)
        assert np.abs(expected[3]).max() > 1e-3


def test_noise_that_the_graph_makes_is_the_same_in_all_orders() -> None:
    class Noisy(gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return F.exp(F.broadcast_mul(x, F.random.normal(shape=(1, 3), dtype='float64')))

    net = Noisy()
    net.hybridize()
    x = _double(2, 3)
    x.attach_grad()
    for _ in range(3):
        with autograd.record():
            y = net(x)
            first = autograd.grad(y, x, create_graph=True)
            second = autograd.grad(first, x, create_graph=True)
        second.backward()
        noise = np.log(y.asnumpy()) / x.asnumpy()
        _close([first.asnumpy(), second.asnumpy(), x.grad.asnumpy()], [y.asnumpy() * noise ** n for n in (1, 2, 3)])


def test_nothing_runs_twice() -> None:
    """Neither the generator nor a moving average notices that derivatives are differentiated."""
    net = nn.HybridSequential()
    net.add(nn.Dropout(0.5), nn.Dense(2, in_units=3))
    net.initialize()
    net.hybridize()
    x = nd.ones((2, 3))
    x.attach_grad()
    following = []
    for again in (False, True, True):
        mx.random.seed(5)
        with autograd.record():
            y = net(x)
            total = (autograd.grad((y * y).sum(), x, create_graph=True) ** 2).sum() if again else y.sum()
        total.backward()
        following.append(nd.random.uniform(shape=(3,)).asnumpy().tolist())
    assert following[0] == following[1] == following[2]


# ---- loops, branches, operators of the program ---------------------------------------------------------------------

class _Loops(gluon.HybridBlock):
    """A loop, a loop with a condition or a branch, between other calls."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._way = getattr(self, '_' + kind)

    def hybrid_forward(self, F: Any, x: Any, w: Any) -> Any:
        return self._way(F, F.tanh(F.broadcast_mul(x, w)), w)

    def _foreach(self, F: Any, y: Any, w: Any) -> Any:
        def body(item: Any, state: Any) -> Any:
            item = F.Dropout(item * state * w, p=0.5, mode='always')
            return item + F.sin(state), F.tanh(item) + state

        out, last = F.contrib.foreach(body, y, F.sum(y, axis=0))
        return F.sum(out * out) + F.sum(last)

    def _while_loop(self, F: Any, y: Any, w: Any) -> Any:
        def step(i: Any, state: Any) -> Any:
            state = F.broadcast_mul(state, w)
            return state, [i + 1, F.tanh(state) + state]

        out, last = F.contrib.while_loop(lambda i, state: i < 3, step, [F.zeros((1,), dtype='float64'), y],
                                         max_iterations=3)
        return F.sum(F.sin(out)) + F.sum(last[1])

    def _cond(self, F: Any, y: Any, w: Any) -> Any:
        return F.sum(F.contrib.cond(F.sum(y) < 100, lambda: F.sin(F.broadcast_mul(y, w)) * y, lambda: y))


@pytest.mark.parametrize('kind', ['foreach', 'while_loop', 'cond'])
def test_loops_and_branches(kind: str) -> None:
    found = []
    for hybrid in (False, True):
        net = _Loops(kind)
        if hybrid:
            net.hybridize()
        x, w = _double(3, 2, seed=1) * 0.5, _double(2, seed=2) * 0.5
        for array in (x, w):
            array.attach_grad()
        mx.random.seed(5)
        with autograd.record():
            y = net(x, w)
            first = autograd.grad(y, [x, w], create_graph=True)
            second = autograd.grad(sum((g ** 2).sum() for g in first), [x, w], create_graph=True)
            total = sum((g ** 2).sum() for g in second)
        total.backward()
        found.append([a.asnumpy() for a in (y, *first, *second, x.grad, w.grad)])
    _close(*found)
    assert min(np.abs(a).max() for a in found[0]) > 1e-3


class _Cube(mx.operator.CustomOp):
    def forward(self, is_train: Any, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        self.assign(out_data[0], req[0], in_data[0] ** 3)

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        self.assign(in_grad[0], req[0], out_grad[0] * 3 * in_data[0] ** 2)


@mx.operator.register('higher_cube')
class _CubeProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx: Any, shapes: Any, dtypes: Any) -> Any:
        return _Cube()


def test_an_operator_of_the_program_is_differentiated_once_as_outside_of_a_graph() -> None:
    class Cubes(gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return F.Custom(x * 2, op_type='higher_cube')

    net = Cubes()
    net.hybridize()
    x = nd.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        first = autograd.grad(net(x), x, create_graph=True)
        total = (first * first).sum()
    assert first.asnumpy().tolist() == [24, 96]
    with pytest.raises(mx.MXNetError, match='_backward_Custom is non-differentiable'):
        total.backward()
