"""Layers: how they describe themselves, what they make, and small networks that learn."""

from __future__ import annotations

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, gluon, nd
from refengine.gluon import nn

REPR = [
    (lambda: nn.Dense(3), 'Dense(None -> 3, linear)'),
    (lambda: nn.Dense(3, activation='relu', in_units=2), 'Dense(2 -> 3, Activation(relu))'),
    (lambda: nn.Dropout(0.3, axes=(1,)), 'Dropout(p = 0.3, axes=(1,))'),
    (lambda: nn.BatchNorm(in_channels=3, axis=2), 'BatchNorm(axis=2, eps=1e-05, momentum=0.9, fix_gamma=False, '
                                                  'use_global_stats=False, in_channels=3)'),
    (lambda: nn.BatchNorm(), 'BatchNorm(axis=1, eps=1e-05, momentum=0.9, fix_gamma=False, use_global_stats=False, '
                             'in_channels=None)'),
    (lambda: nn.InstanceNorm(), 'InstanceNorm(eps=1e-05, axis=1, center=True, scale=False, in_channels=0)'),
    (lambda: nn.LayerNorm(in_channels=4), 'LayerNorm(eps=1e-05, axis=-1, center=True, scale=True, in_channels=4)'),
    (lambda: nn.GroupNorm(2), 'GroupNorm(eps=1e-05, num_groups=2, center=True, scale=True)'),
    (lambda: nn.Embedding(3, 4), 'Embedding(3 -> 4, float32)'),
    (lambda: nn.Flatten(), 'Flatten'), (lambda: nn.Activation('relu'), 'Activation(relu)'),
    (lambda: nn.LeakyReLU(0.1), 'LeakyReLU(0.1)'),
    (lambda: nn.Conv1D(2, 3), 'Conv1D(None -> 2, kernel_size=(3,), stride=(1,))'),
    (lambda: nn.Conv2D(2, 3, padding=1, groups=2, in_channels=4, dilation=2, strides=2, activation='relu',
                       use_bias=False),
     'Conv2D(2 -> 2, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), dilation=(2, 2), groups=2, bias=False, '
     'Activation(relu))'),
    (lambda: nn.Conv3D(2, 3), 'Conv3D(None -> 2, kernel_size=(3, 3, 3), stride=(1, 1, 1))'),
    (lambda: nn.MaxPool1D(), 'MaxPool1D(size=(2,), stride=(2,), padding=(0,), ceil_mode=False, global_pool=False, '
                             'pool_type=max, layout=NCW)'),
    (lambda: nn.AvgPool2D(3, 2, 1, True), 'AvgPool2D(size=(3, 3), stride=(2, 2), padding=(1, 1), ceil_mode=True, '
                                          'global_pool=False, pool_type=avg, layout=NCHW)'),
    (lambda: nn.GlobalAvgPool2D(), 'GlobalAvgPool2D(size=(1, 1), stride=(1, 1), padding=(0, 0), ceil_mode=True, '
                                   'global_pool=True, pool_type=avg, layout=NCHW)'),
]


@pytest.mark.parametrize(('make', 'text'), REPR)
def test_repr(make, text):
    assert repr(make()) == text


@pytest.mark.parametrize(('make', 'shape', 'expected'), [
    (lambda: nn.Conv1D(4, 3, strides=2, padding=1), (2, 3, 8), (2, 4, 4)),
    (lambda: nn.Conv3D(4, (1, 2, 3)), (1, 2, 4, 4, 4), (1, 4, 4, 3, 2)),
    (lambda: nn.Conv1DTranspose(4, 3, strides=2, output_padding=1), (2, 3, 4), (2, 4, 10)),
    (lambda: nn.Conv2DTranspose(4, 4, strides=2, padding=1), (1, 3, 5, 6), (1, 4, 10, 12)),
    (lambda: nn.Conv3DTranspose(2, 2), (1, 3, 2, 2, 2), (1, 2, 3, 3, 3)),
    (lambda: nn.MaxPool1D(3, 2), (1, 2, 8), (1, 2, 3)), (lambda: nn.MaxPool1D(3, 2, ceil_mode=True), (1, 2, 8), (1, 2,
                                                                                                                 4)),
    (lambda: nn.MaxPool2D(), (1, 2, 4, 6), (1, 2, 2, 3)), (lambda: nn.MaxPool3D(), (1, 2, 4, 4, 4), (1, 2, 2, 2, 2)),
    (lambda: nn.AvgPool1D(), (1, 2, 4), (1, 2, 2)), (lambda: nn.AvgPool3D(), (1, 2, 4, 4, 4), (1, 2, 2, 2, 2)),
    (lambda: nn.GlobalMaxPool1D(), (1, 2, 4), (1, 2, 1)), (lambda: nn.GlobalMaxPool2D(), (1, 2, 4, 3), (1, 2, 1, 1)),
    (lambda: nn.GlobalMaxPool3D(), (1, 2, 4, 3, 2), (1, 2, 1, 1, 1)), (lambda: nn.GlobalAvgPool1D(), (1, 2, 4), (1, 2,
                                                                                                                 1)),
    (lambda: nn.GlobalAvgPool3D(), (1, 2, 4, 3, 2), (1, 2, 1, 1, 1)),
    (lambda: nn.ReflectionPad2D(1), (1, 2, 3, 3), (1, 2, 5, 5)), (lambda: nn.Embedding(5, 3), (2, 4), (2, 4, 3)),
    (lambda: nn.Flatten(), (2, 3, 4), (2, 12)), (lambda: nn.GroupNorm(2), (2, 4, 3), (2, 4, 3)),
    (lambda: nn.PReLU(in_channels=3), (2, 3, 4), (2, 3, 4)), (lambda: nn.BatchNormReLU(), (2, 3), (2, 3)),
])
def test_shapes_and_gradients(make, shape, expected):
    """Every layer runs, has the shape of the release, and gives all its parameters a gradient."""
    layer = make()
    layer.initialize()
    x = nd.array(np.random.default_rng(0).uniform(0, 2, shape))
    with autograd.record():
        out = layer(x)
        squares = out * out
    assert out.shape == expected
    learnt = [p for p in layer.collect_params().values() if p.grad_req != 'null']
    if learnt:
        squares.backward()
        for parameter in learnt:
            assert parameter.data()._fresh_grad


def test_activations():
    x = np.array([-2, -0.5, 0.0, 1.5])
    erf = np.array([-0.9544997, -0.3829249, 0.0, 0.8663856])
    for layer, expected in (
            (nn.Activation('softsign'), x / (1 + np.abs(x))), (nn.LeakyReLU(0.1), np.where(x > 0, x, 0.1 * x)),
            (nn.ELU(0.5), np.where(x > 0, x, 0.5 * np.expm1(x))), (nn.Swish(2.0), x / (1 + np.exp(-2 * x))),
            (nn.SiLU(), x / (1 + np.exp(-x))), (nn.GELU(), 0.5 * x * (1 + erf)),
            (nn.SELU(), 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)))):
        np.testing.assert_allclose(layer(nd.array(x)).asnumpy(), expected, rtol=1e-5, atol=1e-6)
    prelu = nn.PReLU()
    prelu.initialize()
    np.testing.assert_allclose(prelu(nd.array(x)).asnumpy(), np.where(x > 0, x, 0.25 * x))
    with pytest.raises(AssertionError, match='must be no less than 0'):
        nn.LeakyReLU(-1)


def test_fixed_parameters_of_norms():
    layer = nn.BatchNorm(scale=False, center=False, in_channels=2)
    assert [p.grad_req for p in layer.collect_params().values()] == ['null'] * 4
    layer = nn.InstanceNorm(in_channels=2)
    assert (layer.gamma.grad_req, layer.beta.grad_req) == ('null', 'write')


def test_concurrent():
    for kind, container in ((gluon.contrib.nn.Concurrent, nn.Dense), (gluon.contrib.nn.HybridConcurrent, nn.Dense)):
        net = kind(axis=1)
        net.add(container(2), gluon.contrib.nn.Identity(), container(3))
        net.initialize()
        x = nd.ones((2, 4))
        out = net(x)
        assert out.shape == (2, 9)
        assert (out.asnumpy()[:, 2:6] == 1).all()


def test_reflection():
    x = nd.array(np.arange(4.0).reshape(1, 1, 2, 2))
    assert nn.ReflectionPad2D(1)(x).asnumpy()[0, 0].tolist() == [[3, 2, 3, 2], [1, 0, 1, 0], [3, 2, 3, 2], [1, 0, 1, 0]]


def test_wrong_arguments():
    with pytest.raises(AssertionError, match='layout'):
        nn.Conv2D(1, 1, layout='NCW')
    with pytest.raises(AssertionError, match='kernel_size must be a number or a list of 2 ints'):
        nn.Conv2D(1, (1, 2, 3))
    with pytest.raises(AssertionError, match='pool_size must be a number or a list of 1 ints'):
        nn.MaxPool1D((1, 2))


@pytest.mark.parametrize('hybridize', [False, True])
def test_a_small_network_learns(hybridize):
    """Two classes that one convolution can tell apart, from both memory orders of the images."""
    mx.random.seed(1)
    np.random.seed(1)
    random = np.random.default_rng(0)
    images = random.normal(size=(64, 1, 8, 8)).astype('float32') * 0.3
    labels = random.integers(0, 2, 64)
    images[labels == 1, :, 2:6, 3:5] += 1
    images[labels == 0, :, 3:5, 2:6] += 1
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, padding=1), nn.BatchNorm(), nn.Activation('relu'), nn.MaxPool2D(), nn.Conv2D(8, 3),
            nn.Activation('relu'), nn.GlobalAvgPool2D(), nn.Dense(2))
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize()
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    x, y = nd.array(images), nd.array(labels)
    losses = []
    for _ in range(40):
        with autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        for parameter in net.collect_params().values():
            if parameter.grad_req != 'null':
                parameter.data()[:] -= 0.3 * parameter.grad() / 64
        losses.append(loss.mean().asscalar())
    assert losses[-1] < 0.3 * losses[0]
    assert (net(x).asnumpy().argmax(axis=1) == labels).mean() > 0.9
