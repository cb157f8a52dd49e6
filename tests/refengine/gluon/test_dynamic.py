"""DynamicHybridBlock (rules GLUON-DYNBLOCK)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine import autograd
from refengine.gluon import HybridBlock, nn


class Counting(nn.DynamicHybridBlock):
    """A layer that counts its forward passes."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.dense = nn.Dense(3)

    def forward(self, x: Any) -> Any:
        self.count += 1
        return self.dense(x)


def counting() -> Counting:
    """One that is ready."""
    net = Counting()
    net.initialize()
    net(mx.nd.ones((2, 4)))
    net.hybridize()
    net.count = 0
    return net


def test_container() -> None:
    net = nn.DynamicHybridBlock()
    assert isinstance(net, HybridBlock)
    assert net(mx.nd.ones(2)).shape == (2,)
    net.add(nn.Dense(4), nn.Dense(2))
    net.initialize()
    assert net.hybridize(static_alloc=True) is None
    assert (net(mx.nd.ones((3, 5))).shape, len(net), net[1]._units) == ((3, 2), 2, 2)


def test_branches_follow_the_data() -> None:
    class Turn(nn.DynamicHybridBlock):
        def forward(self, x: Any) -> Any:
            return x if x.sum() > 0 else -x

    net = Turn()
    net.hybridize()
    assert net(mx.nd.array([1, 2])).asnumpy().tolist() == [1, 2]
    assert net(mx.nd.array([-1, -2])).asnumpy().tolist() == [1, 2]
    assert net.cache_info().fallbacks == 2
    with pytest.raises(RuntimeError, match='dynamic'):
        net.export('nowhere')


def test_one_trace_per_signature() -> None:
    net = counting()
    x = mx.nd.ones((2, 4))
    net(x)
    net(x)
    assert net.count == 1
    net(mx.nd.ones((3, 4)))
    assert net.count == 2
    with autograd.record():
        net(x)
    assert net.count == 3
    assert net.cache_info()[:4] == (1, 3, 0, 3)


def test_the_cache_is_bounded() -> None:
    net = counting()
    for rows in range(1, 10):
        net(mx.nd.ones((rows, 4)))
    assert net.cache_info().currsize == 8
    net(mx.nd.ones((1, 4)))
    assert net.count == 10
    with pytest.raises(ValueError, match='max_cached_graphs'):
        net.hybridize(max_cached_graphs=0)


def test_switched_off() -> None:
    net = counting()
    net.hybridize(active=False)
    for _ in range(3):
        net(mx.nd.ones((2, 4)))
    assert net.count == 3


def test_gradients_and_files(tmp_path: Any) -> None:
    net = counting()
    x = mx.nd.array(np.random.RandomState(0).rand(2, 4))
    found = []
    for active in (False, True, True):
        net.hybridize(active)
        for _ in range(2):
            with autograd.record():
                y = net(x)
            y.backward()
        found.append((y.asnumpy(), net.dense.weight.grad().asnumpy().copy()))
    assert all(np.array_equal(a, b) for other in found[1:] for a, b in zip(other, found[0]))
    files = net.export(f'{tmp_path}/m')
    again = mx.gluon.SymbolBlock.imports(files[0], 'data', files[1])
    assert np.array_equal(again(x).asnumpy(), found[0][0])
