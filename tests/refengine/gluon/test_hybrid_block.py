"""HybridBlocks: what they may be called with, and shapes that are worked out at the first call."""

from __future__ import annotations

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, gluon, nd
from refengine.gluon import nn


class Own(gluon.HybridBlock):
    """A parameter of partly unknown shape, used by one operator."""

    def __init__(self, operator, shape=(0, 3)):
        super().__init__()
        self.operator = operator
        with self.name_scope():
            self.weight = self.params.get('weight', shape=shape, allow_deferred_init=True)

    def hybrid_forward(self, F, x, weight):
        return self.operator(F, x, weight)


def test_name_space_and_arguments():
    seen = []

    class Look(gluon.HybridBlock):
        def hybrid_forward(self, F, x, y=None):
            seen.append((F, x, y))
            return x

    x, y = nd.ones(1), nd.zeros(1)
    Look()(x, y)
    assert seen == [(nd, x, y)]
    with pytest.raises(TypeError, match='unexpected keyword argument'):
        Look()(x, y=y)


@pytest.mark.parametrize('value', [3.0, np.ones((1, 3)), 'abc', None])
def test_an_array_is_needed(value):
    net = nn.Dense(1)
    net.initialize()
    with pytest.raises(ValueError, match='there must be one NDArray'):
        net(value)


def test_nested_arguments():
    class Nested(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return x[0], [x[1][0], (x[1][0],)]

    a, b = nd.ones(1), nd.zeros(1)
    first, (second, (third,)) = Nested()([a, [b]])
    assert (first, second, third) == (a, b, b)


def test_no_forward():
    for kind in (gluon.Block, gluon.HybridBlock):
        with pytest.raises(NotImplementedError):
            kind()(nd.ones(1))


def test_empty_sequences_return_their_input():
    for kind in (nn.Sequential, nn.HybridSequential):
        x = nd.ones(2)
        assert kind()(x) is x


def test_hybridize_options():
    net = nn.Dense(1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        net.hybridize(foo=True)
    net.initialize()
    net.hybridize(static_shape=True)
    with pytest.raises(mx.MXNetError, match='static_alloc must be True when static_shape is True'):
        net(nd.ones((1, 2)))
    net.hybridize(static_alloc=True, static_shape=True)
    assert net(nd.ones((1, 2))).shape == (1, 1)


class TestDeferred:
    @pytest.mark.parametrize(('layer', 'shape', 'weight'), [
        (lambda: nn.Dense(5), (2, 7), (5, 7)), (lambda: nn.Dense(5), (2, 3, 4), (5, 12)),
        (lambda: nn.Dense(5, flatten=False), (2, 3, 4), (5, 4)), (lambda: nn.Conv1D(4, 3), (2, 3, 8), (4, 3, 3)),
        (lambda: nn.Conv2D(4, 3, groups=2), (2, 6, 8, 8), (4, 3, 3, 3)),
        (lambda: nn.Conv2D(4, 3, layout='NHWC'), (2, 8, 8, 3), (4, 3, 3, 3)),
        (lambda: nn.Conv3D(2, 2), (1, 3, 4, 4, 4), (2, 3, 2, 2, 2)),
        (lambda: nn.Conv2DTranspose(4, 3), (2, 3, 8, 8), (3, 4, 3, 3))])
    def test_weights(self, layer, shape, weight):
        net = layer()
        net.initialize()
        with pytest.raises(gluon.DeferredInitializationError):
            net.weight.data()
        net(nd.ones(shape))
        assert net.weight.data().shape == weight

    @pytest.mark.parametrize(('layer', 'shape', 'size'), [
        (lambda: nn.BatchNorm(), (2, 3, 4), 3), (lambda: nn.BatchNorm(axis=-1), (2, 3, 4), 4),
        (lambda: nn.LayerNorm(), (2, 3, 4), 4), (lambda: nn.LayerNorm(axis=1), (2, 3, 4), 3),
        (lambda: nn.InstanceNorm(), (2, 3, 4), 3), (lambda: nn.InstanceNorm(axis=2), (2, 3, 4), 4)])
    def test_vectors(self, layer, shape, size):
        net = layer()
        net.initialize()
        net(nd.ones(shape))
        assert net.gamma.shape == net.beta.shape == (size,)

    def test_never_initialised(self):
        with pytest.raises(RuntimeError, match='has not been initialized'):
            nn.Dense(1)(nd.ones((1, 1)))

    def test_infer_shape_changes_nothing_else(self):
        net = nn.HybridSequential()
        with net.name_scope():
            net.add(nn.Dense(4, activation='relu'), nn.BatchNorm(), nn.Dropout(0.5), nn.Dense(3))
        called = []
        net.register_forward_hook(lambda *args: called.append(1))
        with autograd.record():
            net.infer_shape(nd.ones((2, 7)))
        assert (net[0].weight.shape, net[1].gamma.shape, net[3].weight.shape) == ((4, 7), (4,), (3, 4))
        assert not called
        with pytest.raises(RuntimeError, match='has not been initialized'):
            net[0].weight.data()
        net.initialize()
        net[1].running_mean.data()[:] = 5
        net.infer_shape(nd.ones((2, 7)))
        assert net[1].running_mean.data().asnumpy().tolist() == [5] * 4

    @pytest.mark.parametrize('operator', [
        lambda F, x, w: F.elemwise_add(x, w), lambda F, x, w: x + w, lambda F, x, w: 2 * (w * x),
        lambda F, x, w: w - x, lambda F, x, w: F.FullyConnected(F.relu(x), weight=w, num_hidden=2, no_bias=True)])
    def test_own_parameters(self, operator):
        net = Own(operator, (2, 0))
        net.initialize()
        net(nd.ones((2, 3)))
        assert net.weight.shape == (2, 3)

    @pytest.mark.parametrize('operator', [
        lambda F, x, w: F.dot(x, w), lambda F, x, w: F.broadcast_add(x, w), lambda F, x, w: x])
    def test_operators_that_cannot_tell(self, operator):
        net = Own(operator)
        net.initialize()
        with pytest.raises(ValueError, match='Deferred initialization failed because shape cannot be inferred'):
            net(nd.ones((2, 3)))
        assert net.weight.shape == (0, 3)

    def test_errors_of_the_first_call(self):
        net = nn.Conv2D(4, 3)
        net.initialize()
        with pytest.raises(ValueError, match='shape cannot be inferred.*Input data should be 4D'):
            net(nd.ones((1, 3, 8)))
        net(nd.ones((1, 3, 8, 8)))
        with pytest.raises(mx.MXNetError, match=r'Provided = \[4,3,3,3\], inferred shape=\(4,5,3,3\)'):
            net(nd.ones((1, 5, 8, 8)))

    def test_forward_style(self):
        class Plain(gluon.HybridBlock):
            def __init__(self):
                super().__init__()
                self.weight = gluon.Parameter('weight', shape=(2, 0), allow_deferred_init=True)

            def forward(self, x):
                return nd.dot(x, self.weight.data(x.context).T)

        class Inferring(Plain):
            def infer_shape(self, x):
                self.weight.shape = (2, x.shape[1])

        net = Plain()
        net.initialize()
        with pytest.raises(RuntimeError, match='Plain has parameters with unknown shape. You need to either specify '
                                               'the '
                                               'shape in __init__ or implement Plain.infer_shape'):
            net(nd.ones((1, 3)))
        net = Inferring()
        net.initialize()
        assert net(nd.ones((1, 3))).shape == (1, 2)
        outer = nn.HybridSequential()
        outer.add(Inferring(), nn.Dense(4))
        outer.infer_shape(nd.ones((5, 3)))
        assert (outer[0].weight.shape, outer[1].weight.shape) == ((2, 3), (4, 2))

    def test_children_of_blocks_with_own_parameters(self):
        class Mixed(gluon.HybridBlock):
            def __init__(self):
                super().__init__()
                with self.name_scope():
                    self.dense = nn.Dense(4)
                    self.weight = self.params.get('weight', shape=(3, 0), allow_deferred_init=True)
                    self.norm = nn.BatchNorm()

            def hybrid_forward(self, F, x, weight):
                return self.norm(F.FullyConnected(self.dense(x), weight, no_bias=True, num_hidden=3))

        net = Mixed()
        net.initialize()
        assert net(nd.ones((2, 5))).shape == (2, 3)
        assert (net.dense.weight.shape, net.weight.shape, net.norm.gamma.shape) == ((4, 5), (3, 4), (3,))


def test_parameters_of_the_context_of_the_input():
    net = nn.Dense(2, in_units=2)
    net.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    assert net(nd.ones((1, 2), ctx=mx.cpu(1))).context == mx.cpu(1)
    with pytest.raises(RuntimeError, match=r'was not initialized on context cpu\(2\)'):
        net(nd.ones((1, 2), ctx=mx.cpu(2)))
