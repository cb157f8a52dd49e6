"""Errors that operators raise late end the way back through a graph as they end it without one."""

from __future__ import annotations

import pytest

import refengine as mx
from refengine import autograd, gluon, nd

REFUSED = 'dot only supports float32/float64 for CPU'


@pytest.mark.parametrize('hybridized', [False, True])
def test_layers(hybridized: bool) -> None:
    net = gluon.nn.Dense(2, in_units=3)
    net.cast('float16')
    net.initialize()
    net.hybridize(hybridized)
    with autograd.record():
        y = net(nd.ones((2, 3), dtype='float16'))
    with pytest.raises(mx.MXNetError, match=REFUSED):
        y.backward()


def test_executors() -> None:
    layer = mx.sym.FullyConnected(mx.sym.var('x'), num_hidden=2, name='f')
    executor = layer.simple_bind(mx.cpu(), x=(2, 3), type_dict={'x': 'float16'})
    executor.forward(is_train=True)
    with pytest.raises(mx.MXNetError, match=REFUSED):
        executor.backward([nd.ones((2, 2), dtype='float16')])
