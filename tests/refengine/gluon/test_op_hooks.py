"""Callbacks that hear of every operator of a compiled block."""

from __future__ import annotations

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, gluon, nd


def network():
    net = gluon.nn.HybridSequential(prefix='n_')
    with net.name_scope():
        net.add(gluon.nn.Dense(3, in_units=2, activation='relu'), gluon.nn.BatchNorm(in_channels=3),
                gluon.nn.Dense(1, in_units=3))
    net.initialize(mx.init.Xavier())
    return net


OUTPUTS = [('n_dense0_fwd_output', 'FullyConnected'), ('n_dense0_relu_fwd_output', 'Activation'),
           ('n_batchnorm0_fwd_output', 'BatchNorm'), ('n_dense1_fwd_output', 'FullyConnected')]


@pytest.fixture
def heard():
    return []


def noting(heard):
    return lambda name, operator, array: heard.append((name, operator, array.asnumpy()))


X = nd.array(np.random.RandomState(0).randn(4, 2))


def test_outputs_have_the_names_of_the_release(heard):
    net = network()
    net.register_op_hook(noting(heard))
    eager = net(X).asnumpy()
    assert heard == []
    net.hybridize()
    for _ in range(2):
        heard.clear()
        result = net(X).asnumpy()
        assert [entry[:2] for entry in heard] == OUTPUTS
        np.testing.assert_array_equal(heard[-1][2], result)
        np.testing.assert_array_equal(result, eager)


def test_inputs_too(heard):
    net = network()
    net.hybridize()
    net.register_op_hook(noting(heard), monitor_all=True)
    net(X)
    names = [name for name, _, _ in heard]
    assert names[:4] == ['n_dense0_fwd_data', 'n_dense0_fwd_weight', 'n_dense0_fwd_bias', 'n_dense0_fwd_output']
    np.testing.assert_array_equal(heard[0][2], X.asnumpy())
    np.testing.assert_array_equal(heard[1][2], net[0].weight.data().asnumpy())


def test_learning_is_the_same(heard):
    gradients = []
    for watched in (False, True):
        mx.random.seed(1)
        np.random.seed(1)
        net = network()
        net.hybridize()
        if watched:
            net.register_op_hook(noting(heard))
        with autograd.record():
            loss = (net(X) ** 2).sum()
        loss.backward()
        gradients.append([p.grad().asnumpy() for p in net.collect_params().values() if p.grad_req != 'null']
                         + [net[1].running_mean.data().asnumpy()])
    for plain, other in zip(*gradients, strict=True):
        np.testing.assert_array_equal(plain, other)
    assert [entry[:2] for entry in heard] == OUTPUTS


def test_blocks_pass_it_on(heard):
    class Plain(gluon.Block):
        def __init__(self):
            super().__init__()
            self.inner = network()

        def forward(self, x):
            return self.inner(x)

    net = Plain()
    net.hybridize()
    net.register_op_hook(noting(heard))
    net(X)
    assert [entry[:2] for entry in heard] == OUTPUTS


def test_not_callable():
    for block in (gluon.Block(), network()):
        with pytest.raises(TypeError, match='a hook must be callable, got 3'):
            block.register_op_hook(3)
