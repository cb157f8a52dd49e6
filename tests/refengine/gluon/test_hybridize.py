"""hybridize: traces, caches, structure, results; what a trace must refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, gluon
from refengine.base import NotImplementedForSymbol
from refengine.gluon import nn

X = mx.nd.array([1.0, 2.0])


def block(function: Callable[..., Any], style: str = 'hybrid_forward', **flags: Any) -> Any:
    """A hybridized block with a forward pass in the style of 1.x or 2.0; ``traced`` counts its runs."""
    class Written(gluon.HybridBlock):
        traced = 0

        def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:
            self.traced += 1
            return function(F, x, *args)

    class Plain(gluon.HybridBlock):
        traced = 0

        def forward(self, x: Any, *args: Any) -> Any:
            self.traced += 1
            return function(mx.nd, x, *args)

    made = Written() if style == 'hybrid_forward' else Plain()
    made.hybridize(**flags)
    return made


BOTH = pytest.mark.parametrize('style', ['hybrid_forward', 'forward'])


def convolutional() -> nn.HybridSequential:
    """A small network of all kinds of layers."""
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, padding=1), nn.BatchNorm(), nn.Activation('relu'), nn.MaxPool2D(), nn.Dropout(0.3),
            nn.Dense(16, activation='tanh'), nn.LayerNorm(), nn.Dense(10))
    return net


def train(**flags: Any) -> tuple[list[Any], list[Any]]:
    """Losses, last predictions and parameters of a short training run."""
    mx.random.seed(3)
    net = convolutional()
    net.initialize(mx.init.Xavier())
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    x = mx.nd.array(np.random.RandomState(1).rand(4, 3, 8, 8))
    y = mx.nd.array([1, 2, 3, 4])
    net(x)
    if flags.pop('hybridized', True):
        net.hybridize(**flags)
        loss.hybridize(**flags)
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
    mx.random.seed(5)
    results = []
    for _ in range(4):
        with autograd.record():
            value = loss(net(x), y)
        value.backward()
        trainer.step(4)
        results.append(value.asnumpy())
    return [*results, net(x).asnumpy()], [p.data().asnumpy() for p in net.collect_params().values()]


@pytest.mark.parametrize('flags', [{}, {'static_alloc': True}, {'static_alloc': True, 'static_shape': True},
                                   {'inline_limit': 0}, {'forward_bulk_size': 1, 'backward_bulk_size': 1}], ids=str)
def test_training_is_that_of_eager_execution_bit_for_bit(flags: dict[str, Any]) -> None:
    expected, parameters = train(hybridized=False)
    found, others = train(**flags)
    assert all(np.array_equal(a, b) for a, b in zip(expected, found))
    assert all(np.array_equal(a, b) for a, b in zip(parameters, others))


class TestTraces:
    def test_symbols_once_arrays_always(self) -> None:
        seen = []
        net = block(lambda F, x: seen.append((F.__name__, type(x).__name__)) or x * 2)
        assert seen == []
        net(X)
        net(X)
        assert seen == [('refengine.symbol', 'Symbol')]
        net.hybridize(active=False)
        net(X)
        net(X)
        assert seen[1:] == [('refengine.ndarray', 'NDArray')] * 2

    @BOTH
    def test_one_trace_for_all_shapes_types_and_modes(self, style: str) -> None:
        net = block(lambda F, x: F.exp(x) * 2, style)
        for shape, dtype in (((2,), 'float32'), ((3, 4), 'float32'), ((5,), 'float64')):
            assert net(mx.nd.ones(shape, dtype=dtype)).shape == shape
        with autograd.record():
            net(X)
        assert net.traced == 1

    @BOTH
    def test_what_discards_a_trace(self, style: str) -> None:
        net = block(lambda F, x: x * net.traced, style)
        assert [net(X).asnumpy()[0] for _ in range(3)] == [1, 1, 1]
        net.hybridize()
        assert [net(X).asnumpy()[0] for _ in range(2)] == [2, 2]
        net.register_child(nn.Activation('relu'))
        assert net(X).asnumpy()[0] == 3

    def test_a_child_that_is_added(self) -> None:
        net = nn.HybridSequential()
        net.add(nn.Dense(3))
        net.initialize()
        net.hybridize()
        assert net(mx.nd.ones((2, 4))).shape == (2, 3)
        net.add(nn.Dense(5))
        net[1].initialize()
        assert net(mx.nd.ones((2, 4))).shape == (2, 5)

    @BOTH
    def test_the_mode_is_not_frozen(self, style: str) -> None:
        net = block(lambda F, x: x * 2 if autograd.is_training() else x * 3, style)
        assert net(X).asnumpy().tolist() == [3, 6]
        with autograd.record():
            assert net(X).asnumpy().tolist() == [2, 4]
        assert net(X).asnumpy().tolist() == [3, 6]

    def test_shapes_of_plain_blocks_are_not_frozen(self) -> None:
        net = block(lambda F, x: x * x.shape[0] + len(x), 'forward')
        assert net(mx.nd.ones(2)).asnumpy().tolist() == [4, 4]
        assert net(mx.nd.ones(3)).asnumpy().tolist() == [6, 6, 6]

    def test_a_change_that_parameters_refuse(self) -> None:
        net = nn.Conv2D(4, 3)
        net.initialize()
        net.hybridize()
        net(mx.nd.ones((1, 3, 8, 8)))
        with pytest.raises(mx.MXNetError, match=r'Provided = \[4,3,3,3\], inferred shape=\(4,4,3,3\)'):
            net(mx.nd.ones((1, 4, 8, 8)))
        with pytest.raises(mx.MXNetError, match='Input data should be 4D'):
            net(mx.nd.ones((1, 3)))

    @BOTH
    def test_results_do_not_share_memory(self, style: str) -> None:
        net = block(lambda F, x: F.relu(x * 3) + 0, style, static_alloc=True)
        for _ in range(3):
            a = net(X)
            b = net(X * 2)
            assert (a.asnumpy().tolist(), b.asnumpy().tolist()) == ([3, 6], [6, 12])

    def test_two_recorded_calls_before_backward(self) -> None:
        net = block(lambda F, x: F.exp(F.sin(x) * x), static_alloc=True)
        x = mx.nd.array([0.5, 1.0])
        for _ in range(3):
            x.attach_grad()
            with autograd.record():
                both = net(x) + net(x * 2)
            both.backward()
            found = x.grad.asnumpy()
            with autograd.record():
                both = mx.nd.exp(mx.nd.sin(x) * x) + mx.nd.exp(mx.nd.sin(x * 2) * (x * 2))
            both.backward()
            assert np.allclose(found, x.grad.asnumpy(), rtol=1e-6)

    @BOTH
    def test_second_gradients(self, style: str) -> None:
        net = block(lambda F, x: F.exp(x) * x * x, style)
        found = []
        for function in (net, lambda x: mx.nd.exp(x) * x * x):
            x = mx.nd.array([1.0, 2.0])
            x.attach_grad()
            with autograd.record():
                first = autograd.grad(function(x), x, create_graph=True, retain_graph=True)[0]
                total = (first * first).sum()
            total.backward()
            found.append(x.grad.asnumpy())
        assert np.array_equal(*found)


class TestStructure:
    @BOTH
    def test_nested_results_come_back_as_lists(self, style: str) -> None:
        result = block(lambda F, x: (x, [x * 2, (x + 1,)]), style)(X)
        assert type(result) is list
        assert [result[0].asnumpy().tolist(), result[1][0].asnumpy().tolist(), result[1][1][0].asnumpy().tolist()] == [
            [1, 2], [2, 4], [2, 3]]

    @BOTH
    def test_the_first_call_fixes_the_arguments(self, style: str) -> None:
        net = block(lambda F, x, *args: x * 1, style)
        net(X)
        with pytest.raises(ValueError, match='does not match the cached version'):
            net(X, X)

    @BOTH
    def test_only_arrays_may_be_returned(self, style: str) -> None:
        with pytest.raises(ValueError, match='must be .nested. list of Symbol or NDArray, but got 3'):
            block(lambda F, x: (x, 3), style)(X)

    @BOTH
    def test_one_device(self, style: str) -> None:
        with pytest.raises(ValueError, match='Find multiple contexts in the input'):
            block(lambda F, x, y: x + y, style)(X, mx.nd.ones(2, ctx=mx.cpu(1)))

    @pytest.mark.parametrize('value', [3.0, np.ones(3), 'abc'], ids=type)
    def test_an_array_is_needed(self, value: Any) -> None:
        with pytest.raises(ValueError, match='there must be one NDArray'):
            block(lambda F, x: x)(value)

    def test_flags(self) -> None:
        net = block(lambda F, x: x * 2, static_shape=True)
        with pytest.raises(mx.MXNetError, match='static_alloc must be True when static_shape is True'):
            net(X)
        with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
            net.hybridize(foo=True)

    def test_empty_container(self) -> None:
        net = nn.HybridSequential()
        net.hybridize()
        assert net(X).shape == (2,)

    def test_a_block_in_a_graph_of_symbols(self) -> None:
        dense = nn.Dense(2, in_units=3, prefix='d_')
        assert dense(mx.sym.var('x')).list_arguments() == ['x', 'd_weight', 'd_bias']


class TestTraps:
    """Rules GRAPH-STATIC-004 and GLUON-HYBRID-018 to -021: an error, or the result of eager execution."""

    def test_branches(self) -> None:
        with pytest.raises(NotImplementedForSymbol, match='__bool__'):
            block(lambda F, x: x if x.sum() > 0 else -x)(X)
        with pytest.raises(mx.MXNetError, match='looks at the value'):
            block(lambda F, x: x if x.sum() > 0 else -x, 'forward')(X)

    @pytest.mark.parametrize('function', [lambda F, x: x[0], lambda F, x: x * len(x), lambda F, x: x * x.shape[0]])
    def test_indexing_and_length(self, function: Callable[..., Any]) -> None:
        with pytest.raises((mx.MXNetError, AttributeError)):
            block(function)(X)
        expected = function(mx.nd, X).asnumpy()
        assert np.array_equal(block(function, 'forward')(X).asnumpy(), expected)

    @BOTH
    def test_writes_and_values(self, style: str) -> None:
        def assign(F: Any, x: Any) -> Any:
            x[:] = 0
            return x

        def add(F: Any, x: Any) -> Any:
            x += 1
            return x

        for function in (assign, add, lambda F, x: F.array(x.asnumpy())):
            with pytest.raises((mx.MXNetError, TypeError, AttributeError)):
                block(function, style)(X)
        assert X.asnumpy().tolist() == [1, 2]

    def test_a_result_that_no_operator_made(self) -> None:
        with pytest.raises(mx.MXNetError, match='must have a deferred compute history'):
            block(lambda F, x: F.ones((2,)), 'forward')(X)


class TestPlainStyle:
    def test_parameters_and_constants(self) -> None:
        fixed = mx.nd.array([10.0, 20.0])

        class Net(gluon.HybridBlock):
            def __init__(self) -> None:
                super().__init__()
                self.dense = nn.Dense(2)
                self.scale = gluon.Parameter('scale', shape=(2,), init='ones')

            def forward(self, x: Any) -> Any:
                return self.dense(x) * self.scale.data() + fixed

        net = Net()
        net.initialize()
        eager = net(mx.nd.ones((1, 3)))
        net.hybridize()
        for _ in range(3):
            with autograd.record():
                out = net(mx.nd.ones((1, 3)))
            out.backward()
            assert np.array_equal(out.asnumpy(), eager.asnumpy())
        assert net.scale.grad().asnumpy() == pytest.approx((eager - fixed).asnumpy()[0], abs=1e-5)

    def test_functions_of_the_program_stay_eager(self) -> None:
        class Double(autograd.Function):
            def forward(self, x: Any) -> Any:
                return x * 2

            def backward(self, dy: Any) -> Any:
                return dy * 200

        net = block(lambda F, x: Double()(x) * 1, 'forward')
        x = mx.nd.array([3.0])
        x.attach_grad()
        for _ in range(2):
            with autograd.record():
                y = net(x)
            y.backward()
            assert (y.asscalar(), x.grad.asscalar()) == (6, 200)


@pytest.mark.parametrize('make', [
    gluon.loss.L2Loss, gluon.loss.L1Loss, gluon.loss.SigmoidBCELoss, gluon.loss.KLDivLoss, gluon.loss.HuberLoss,
    gluon.loss.HingeLoss, gluon.loss.SquaredHingeLoss, gluon.loss.LogisticLoss, gluon.loss.PoissonNLLLoss],
    ids=lambda c: c.__name__)
def test_losses(make: Any) -> None:
    rng = np.random.RandomState(0)
    a, b = (mx.nd.array(rng.rand(4, 3)) for _ in range(2))
    a.attach_grad()
    found = []
    for hybridized in (False, True, True):
        loss = make()
        loss.hybridize(hybridized)
        for _ in range(2):
            with autograd.record():
                value = loss(a, b)
            value.backward()
        found.append((value.asnumpy(), a.grad.asnumpy().copy()))
    for value, gradient in found[1:]:
        assert np.array_equal(value, found[0][0])
        assert np.array_equal(gradient, found[0][1])


@pytest.mark.parametrize('key', [0, slice(1, 3), (slice(None), 1), (Ellipsis, -1), (None, slice(None, None, 2)),
                                 (slice(None), slice(1, None), 0), (1, None, Ellipsis)], ids=str)
def test_basic_indexing_in_a_trace(key: Any, tmp_path: Any) -> None:
    """It holds for other lengths of the axes, and files can name it."""
    net = block(lambda F, x: x[key] * 1, 'forward')
    for rows in (3, 4, 5):
        x = mx.nd.array(np.random.RandomState(rows).rand(rows, 3, 2))
        x.attach_grad()
        for _ in range(2):
            with autograd.record():
                y = net(x)
            y.backward()
            assert np.array_equal(y.asnumpy(), x.asnumpy()[key])
            expected = np.zeros(x.shape, 'float32')
            expected[key] += 1
            assert np.array_equal(x.grad.asnumpy(), expected)
    assert net.traced == 1
    files = net.export(f'{tmp_path}/m')
    assert np.array_equal(gluon.SymbolBlock.imports(files[0], 'data', files[1])(x).asnumpy(), x.asnumpy()[key])
