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
    names = [name for name, _, _ in heard]
    assert [name for name in names if name.endswith('_output')] == [name for name, _ in OUTPUTS]
    assert names[-2:] == ['n_dense0_fwd_backward_1', 'n_dense0_fwd_backward_2']


class Mixed(gluon.HybridBlock):
    """Operators of several outputs, and a value that two operators read."""

    def __init__(self):
        super().__init__(prefix='net_')
        with self.name_scope():
            self.dense = gluon.nn.Dense(3, in_units=2, prefix='d_')
            self.norm = gluon.nn.BatchNorm(in_channels=3, prefix='bn_')
            self.drop = gluon.nn.Dropout(0.5, prefix='do_')

    def hybrid_forward(self, F, x):
        found = self.drop(self.norm(self.dense(x)))
        return F.concat(*F.split(found, num_outputs=3, axis=1), dim=1) * 2 + found


TEXT = """d_fwd_data d_fwd_weight d_fwd_bias d_fwd_output
    bn_fwd_data bn_fwd_gamma bn_fwd_beta bn_fwd_moving_mean bn_fwd_moving_var bn_fwd_output bn_fwd_mean bn_fwd_var
    do_fwd_data do_fwd_output do_fwd_mask split0_data split0_output0 split0_output1 split0_output2
    concat0_arg0 concat0_arg1 concat0_arg2 concat0_output _mulscalar0_input0 _mulscalar0_0
    _plus0_lhs _plus0_rhs _plus0_output"""
FORTH = TEXT.split()
BACK = [('_mulscalar0_backward_0', '_backward_mul_scalar'), *((f'concat0_backward_{i}', '_backward_Concat')
                                                             for i in range(3)),
        ('split0_backward_data', '_backward_SliceChannel'), ('do_fwd_backward_0', '_backward_Dropout'),
        *((f'bn_fwd_backward_{i}', '_backward_BatchNorm') for i in range(3)),
        *((f'd_fwd_backward_{i}', '_backward_FullyConnected') for i in range(3))]


@pytest.mark.parametrize('flags', [{}, {'static_alloc': True}])
@pytest.mark.parametrize('monitor_all', [False, True])
def test_names_on_the_way_forth_and_back_are_those_of_the_release(heard, monitor_all, flags):
    """As MXNet 1.9.1 reports them, but for the sums of gradients, which are no operators here."""
    net = Mixed()
    net.initialize()
    net.hybridize(**flags)
    net.register_op_hook(noting(heard), monitor_all=monitor_all)
    x = nd.array([[1, 2], [3, 5]])
    x.attach_grad()
    with autograd.record():
        loss = net(x)
    outputs = [name for name in FORTH if name.rsplit('_', 1)[1] in ('output', 'mean', 'var', 'mask', 'output0',
                                                                    'output1', 'output2', '0')
               and name != 'bn_fwd_moving_mean' and name != 'bn_fwd_moving_var']
    assert [name for name, _, _ in heard] == ['net_' + name for name in (FORTH if monitor_all else outputs)]
    heard.clear()
    loss.backward()
    assert [entry[:2] for entry in heard] == [('net_' + name, operator) for name, operator in BACK]
    found = {name: value for name, _, value in heard}
    np.testing.assert_array_equal(found['net_d_fwd_backward_0'], x.grad.asnumpy())
    np.testing.assert_array_equal(found['net_d_fwd_backward_1'], net.dense.weight.grad().asnumpy())
    np.testing.assert_array_equal(found['net_bn_fwd_backward_1'], net.norm.gamma.grad().asnumpy())


def test_gradients_that_nobody_wants_are_not_reported(heard):
    net = network()
    net.collect_params('.*dense0.*').setattr('grad_req', 'null')
    net.hybridize()
    net.register_op_hook(noting(heard))
    with autograd.record():
        loss = net(X)
    loss.backward()
    back = [name for name, _, _ in heard if '_backward_' in name]
    assert {f'n_dense1_fwd_backward_{i}' for i in range(3)} <= set(back)
    assert not [name for name in back if name.startswith('n_dense0_')]


def test_second_gradients_pass_the_hook(heard):
    net = gluon.nn.Dense(1, in_units=2, prefix='d_')
    net.initialize()
    net.hybridize()
    net.register_op_hook(noting(heard))
    x = nd.array([[1, 2]])
    x.attach_grad()
    with autograd.record():
        first = autograd.grad(net(x) ** 2, [x], create_graph=True, retain_graph=True)[0]
        (first * first).sum().backward()
    weight = net.weight.data().asnumpy()
    y = (weight @ x.asnumpy().T).item()
    np.testing.assert_allclose(x.grad.asnumpy(), 8 * y * (weight @ weight.T) * weight, rtol=1e-5)
    assert ('d_fwd_backward_0', '_backward_FullyConnected') in [entry[:2] for entry in heard]


def test_loops(heard):
    class Sums(gluon.HybridBlock):
        def hybrid_forward(self, F, x, s):
            return F.contrib.foreach(lambda item, held: (item + held, item + held), x, s)[0]

    net = Sums(prefix='s_')
    net.hybridize()
    net.register_op_hook(noting(heard))
    x = nd.array([[1.], [2.], [3.]])
    x.attach_grad()
    with autograd.record():
        y = net(x, nd.zeros(1))
    y.backward()
    assert y.asnumpy().ravel().tolist() == [1, 3, 6]
    assert x.grad.asnumpy().ravel().tolist() == [3, 2, 1]
    assert [entry[:2] for entry in heard] == [('s__foreach0_0', '_foreach'), ('s__foreach0_1', '_foreach')]


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
