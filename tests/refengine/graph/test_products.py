"""What follows a product of matrices is done in its buffer, with eager execution's bits; folding, only on request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine import storage
from refengine.graph import memory
from refengine.graph.products import Product
from refengine.op import registry

nn = mx.gluon.nn

BLOCKS: dict[str, tuple[Callable[[], list[Any]], tuple[int, ...]]] = {
    'conv bn relu': (lambda: [nn.Conv2D(8, 3, padding=1), nn.BatchNorm(), nn.Activation('relu')], (2, 6, 20, 30)),
    'conv bn without bias': (lambda: [nn.Conv2D(8, 3, strides=2, use_bias=False), nn.BatchNorm(scale=False)],
                             (2, 6, 21, 20)),
    'conv tanh': (lambda: [nn.Conv2D(40, 5, activation='tanh')], (3, 1, 28, 28)),
    'few pixels': (lambda: [nn.Conv2D(300, 3), nn.BatchNorm(center=False), nn.LeakyReLU(0.1)], (1, 8, 5, 5)),
    'groups': (lambda: [nn.Conv2D(8, 3, groups=2), nn.BatchNorm(), nn.Activation('sigmoid')], (2, 6, 20, 30)),
    'one channel per group': (lambda: [nn.Conv2D(6, 3, groups=6), nn.BatchNorm(), nn.Activation('relu')],
                              (2, 6, 20, 30)),
    'channels last': (lambda: [nn.Conv2D(8, 3, layout='NHWC'), nn.BatchNorm(axis=3), nn.Activation('relu')],
                      (2, 20, 30, 6)),
    'one axis': (lambda: [nn.Conv1D(8, 9), nn.BatchNorm(), nn.Activation('relu')], (2, 64, 2000)),
    'three axes': (lambda: [nn.Conv3D(8, 2), nn.BatchNorm(), nn.Activation('relu')], (1, 6, 8, 9, 10)),
    'pointwise after conv': (lambda: [nn.Conv2D(8, 3), nn.Conv2D(12, 1), nn.BatchNorm(), nn.Activation('relu')],
                             (2, 6, 20, 30)),
    'dense bn relu': (lambda: [nn.Dense(300), nn.BatchNorm(), nn.Activation('relu')], (70, 40)),
    'dense of rows': (lambda: [nn.Dense(70, flatten=False), nn.BatchNorm(axis=2), nn.Activation('relu')], (5, 30, 40)),
}


class Residual(mx.gluon.HybridBlock):
    """relu(x + BatchNorm(Convolution(x))), as in ResNet."""

    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.body = nn.HybridSequential()
            self.body.add(nn.Conv2D(6, 3, padding=1), nn.BatchNorm(), nn.Activation('relu'),
                          nn.Conv2D(6, 3, padding=1), nn.BatchNorm())

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.Activation(x + self.body(x), act_type='relu')


def prepared(layers: list[Any], shape: tuple[int, ...]) -> tuple[Any, Any, Any]:
    """A block with parameters that all matter, its input and its result."""
    mx.random.seed(4)
    random = np.random.default_rng(2)
    net = nn.HybridSequential()
    net.add(*layers)
    net.initialize(mx.init.Uniform(0.5))
    x = mx.nd.array(random.uniform(-1, 1, shape).astype('float32'))
    net(x)
    for name, parameter in net.collect_params().items():
        if not name.endswith('weight'):
            parameter.set_data(mx.nd.array(random.uniform(0.5, 1.5, parameter.shape)))
    return net, x, net(x).asnumpy()


def products(net: Any) -> list[Product]:
    """The products of the compiled plan in inference, and how many steps there are beside them."""
    (trace,) = net._cache.traces.values()
    plan = next(p for p in trace.graph.plans.values() if p._plain is not None)
    return [step.op for step in plan._plain.program.steps if isinstance(step.op, Product)]


def steps(net: Any) -> list[str]:
    """The names of the compiled steps in inference."""
    (trace,) = net._cache.traces.values()
    return [s.op.name for p in trace.graph.plans.values() if p._plain is not None for s in p._plain.program.steps]


@pytest.mark.parametrize('static', [False, True])
@pytest.mark.parametrize('name', BLOCKS)
def test_bits_are_those_of_eager_execution(name: str, static: bool) -> None:
    make, shape = BLOCKS[name]
    net, x, want = prepared(make(), shape)
    net.hybridize(static_alloc=static)
    for _ in range(3):
        assert net(x).asnumpy().tobytes() == want.tobytes()
    assert len(steps(net)) == (2 if name == 'pointwise after conv' else 1)
    assert len(products(net)) == 1


@pytest.mark.parametrize('name', ['conv bn relu', 'channels last', 'dense bn relu'])
def test_bits_are_those_of_eager_execution_far_from_zero(name: str) -> None:
    """There BatchNorm subtracts the mean first, so that no digits are lost in a difference of large products."""
    make, shape = BLOCKS[name]
    net, x, _ = prepared(make(), shape)
    for key, parameter in net.collect_params().items():
        if key.endswith('running_mean') or '_bias' in key:
            parameter.set_data(mx.nd.full(parameter.shape, 1e4))
    want = net(x).asnumpy()
    net.hybridize()
    assert net(x).asnumpy().tobytes() == want.tobytes()
    assert len(products(net)) == 1


@pytest.mark.parametrize('static', [False, True])
def test_the_sum_of_a_residual_block(static: bool) -> None:
    net, x, want = prepared([nn.Conv2D(6, 3), Residual(), Residual()], (2, 3, 24, 32))
    net.hybridize(static_alloc=static)
    for _ in range(3):
        assert net(x).asnumpy().tobytes() == want.tobytes()
    inner, outer = 'Convolution+BatchNorm+Activation', 'Convolution+BatchNorm+elemwise_add+Activation'
    assert steps(net) == ['Convolution', inner, outer, inner, outer]


def test_without_fusion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('MXNET_USE_FUSION', '0')
    net, x, want = prepared(*_first())
    net.hybridize()
    for _ in range(3):
        assert net(x).asnumpy().tobytes() == want.tobytes()
    assert steps(net) == ['Convolution', 'BatchNorm', 'Activation']


def _first() -> tuple[list[Any], tuple[int, ...]]:
    make, shape = BLOCKS['conv bn relu']
    return make(), shape


def test_the_result_is_the_buffer_of_the_convolution(monkeypatch: pytest.MonkeyPatch) -> None:
    net, x, _ = prepared(*_first())
    net.hybridize()
    net(x)
    net(x)
    (product,) = products(net)
    given = []
    function = product._function

    def watched(*arrays: Any, out: Any, post: Any) -> Any:
        result = function(*arrays, out=out, post=post)
        given.append((out, result))
        return result

    monkeypatch.setattr(product, '_function', watched)
    result = net(x)
    ((out, found),) = given
    assert found is out
    assert result._data is out


@pytest.mark.parametrize('what', ['needed twice', 'trained', 'another axis'])
def test_values_that_others_need_stay(what: str) -> None:
    class Net(mx.gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.conv, self.norm = nn.Conv2D(6, 3), nn.BatchNorm(axis=2 if what == 'another axis' else 1)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            y = self.conv(x)
            return self.norm(y) * y if what == 'needed twice' else self.norm(y)

    net, x, want = prepared([Net()], (2, 3, 12, 12))
    net.hybridize()
    for _ in range(3):
        if what == 'trained':
            with mx.autograd.train_mode():
                net(x)
        else:
            assert net(x).asnumpy().tobytes() == want.tobytes()
    assert 'BatchNorm' in steps(net)
    assert products(net) == []


# ---- folding --------------------------------------------------------------------------------------------------------

TOLERANCE = 1e-5
"""Of the largest number of the result: what folding may change."""


@pytest.fixture(params=['conv bn relu', 'conv bn without bias', 'groups', 'channels last', 'one channel per group',
                        'dense bn relu'])
def folded(request: pytest.FixtureRequest) -> tuple[Any, Any, Any]:
    """A block that runs with folded weights, its input and the result without."""
    make, shape = BLOCKS[request.param]
    net, x, want = prepared(make(), shape)
    net.optimize_for(x, backend='MKLDNN', static_alloc=True)
    for _ in range(2):
        net(x)
    return net, x, want


def close(found: Any, want: Any) -> bool:
    """Equal within the tolerance of folding."""
    return float(np.abs(found - want).max()) <= TOLERANCE * float(np.abs(want).max())


def test_folding(folded: tuple[Any, Any, Any]) -> None:
    net, x, want = folded
    assert close(net(x).asnumpy(), want)
    (product,) = products(net)
    before = product._folded
    assert before is not None
    net(x)
    assert product._folded is before


WRITES: dict[str, Callable[[Any], None]] = {
    'set_data': lambda p: p.set_data(p.data() * 1.5),
    'slice': lambda p: p.data().__setitem__(slice(0, 1), 2.25),
    'in place': lambda p: p.data().__imul__(1.25),
    'operator': lambda p: mx.nd.sgd_update(p.data(), mx.nd.ones(p.shape), lr=0.25, out=p.data()),
    'shared memory': lambda p: p.data()._data.reshape(-1).__setitem__(-1, 3.5),
}


@pytest.mark.parametrize('how', WRITES)
def test_folding_is_never_stale(folded: tuple[Any, Any, Any], how: str) -> None:
    net, x, want = folded
    (product,) = products(net)
    for name, parameter in net.collect_params().items():
        if name.endswith('gamma') and product._fixed_gamma:
            continue
        before = product._folded
        WRITES[how](parameter)
        found = net(x).asnumpy()
        assert product._folded is not before, name
        eager = x
        for layer in net:
            layer.hybridize(False)
            eager = layer(eager)
        assert close(found, eager.asnumpy()), name
        assert not close(eager.asnumpy(), want) or 'bias' in name or 'mean' in name
        want = eager.asnumpy()


def test_folding_is_off_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for backend, folds in ((None, False), ('NONE', False), ('MKLDNN', True), ('ONEDNN', True)):
        if backend is not None:
            monkeypatch.setenv('MXNET_SUBGRAPH_BACKEND', backend)
        net, x, want = prepared(*_first())
        net.hybridize()
        for _ in range(2):
            found = net(x).asnumpy()
        assert (products(net)[0]._folded is not None) is folds
        assert close(found, want)
        assert (found.tobytes() == want.tobytes()) is not folds


def test_training_is_not_folded() -> None:
    net, x, _ = prepared(*_first())
    other, _, _ = prepared(*_first())
    net.hybridize(backend='MKLDNN')
    for _ in range(3):
        results = []
        for block in (net, other):
            with mx.autograd.record():
                result = block(x)
            result.backward()
            results.append([result.asnumpy(), *[p.grad().asnumpy() for p in block.collect_params().values()
                                                if p.grad_req != 'null']])
        assert all(a.tobytes() == b.tobytes() for a, b in zip(*results, strict=True))


def test_names_of_back_ends() -> None:
    net, x, _ = prepared(*_first())
    with pytest.raises(mx.MXNetError, match="'nosuch'"):
        net.optimize_for(x, backend='nosuch')
    with pytest.raises(mx.MXNetError, match="'nosuch'"):
        net.hybridize(backend='nosuch')
    with pytest.raises(ValueError, match='backend'):
        net.optimize_for(x)
    with pytest.raises(mx.MXNetError, match="'nosuch'"):
        mx.sym.var('x').optimize_for('nosuch')


def test_a_bound_symbol_is_folded() -> None:
    graph = mx.sym.Convolution(mx.sym.var('x'), kernel=(3, 3), num_filter=4, name='c')
    graph = mx.sym.relu(mx.sym.BatchNorm(graph, fix_gamma=False, name='b'))
    outputs = []
    for symbol in (graph, graph.optimize_for('MKLDNN')):
        executor = symbol.simple_bind(mx.cpu(), x=(2, 3, 12, 12), grad_req='null')
        for number, array in enumerate([*executor.arg_arrays, *executor.aux_arrays]):
            array[:] = mx.nd.array(np.random.default_rng(number).uniform(0.2, 1, array.shape))
        for _ in range(2):
            (result,) = executor.forward()
        outputs.append(result.asnumpy())
    assert close(outputs[1], outputs[0])
    assert outputs[0].tobytes() != outputs[1].tobytes()


# ---- bodies ---------------------------------------------------------------------------------------------------------

def test_a_long_convolution_over_one_axis() -> None:
    random = np.random.default_rng(0)
    x, w, b = (random.uniform(-1, 1, s).astype('float32') for s in ((1, 64, 9000), (3, 64, 9), (3,)))
    found = mx.nd.Convolution(mx.nd.array(x), mx.nd.array(w), mx.nd.array(b), kernel=(9,), num_filter=3).asnumpy()
    want = sum(np.einsum('oc,ncx->nox', w[:, :, k], x[:, :, k:k + 8992]) for k in range(9)) + b[:, None]
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-4)


def test_relu_of_special_numbers() -> None:
    for dtype in ('float16', 'float32', 'float64'):
        x = np.random.default_rng(0).uniform(-1, 1, 70001).astype(dtype)
        x[::7], x[1::7], x[2::7], x[3::7] = 0, -0.0, np.nan, -np.inf
        found = registry['relu'].forward(np, x)
        want = np.maximum(x, x.dtype.type(0))
        bits = f'u{x.itemsize}'
        np.testing.assert_array_equal(found.view(bits), want.view(bits))


# ---- pooling --------------------------------------------------------------------------------------------------------

POOLED: dict[str, tuple[Callable[[], list[Any]], tuple[int, ...]]] = {
    'conv bn relu pool': (lambda: [nn.Conv2D(16, 3, padding=1), nn.BatchNorm(), nn.Activation('relu'),
                                   nn.MaxPool2D(3, 2, 1)], (7, 8, 64, 64)),
    'few channels': (lambda: [nn.Conv2D(16, 5, activation='tanh'), nn.AvgPool2D(2)], (40, 3, 40, 40)),
    'last part is smaller': (lambda: [nn.Conv2D(20, 5, activation='relu'), nn.MaxPool2D(2)], (50, 1, 28, 28)),
    'groups': (lambda: [nn.Conv2D(8, 3, groups=2), nn.BatchNorm(), nn.MaxPool2D(2)], (9, 16, 64, 64)),
    'channels last': (lambda: [nn.Conv2D(16, 3, layout='NHWC'), nn.BatchNorm(axis=3), nn.Activation('relu'),
                               nn.MaxPool2D(3, 2, layout='NHWC')], (5, 66, 64, 8)),
    'sums': (lambda: [nn.Conv2D(8, 3, padding=1), Beside(), nn.MaxPool2D(2)], (7, 8, 64, 64)),
}


class Beside(mx.gluon.HybridBlock):
    """relu(Convolution(x) + x)."""

    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.conv = nn.Conv2D(8, 3, padding=1)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.relu(self.conv(x) + x)


@pytest.mark.parametrize('static', [False, True])
@pytest.mark.parametrize('name', POOLED)
def test_pooling_of_some_images_at_a_time(name: str, static: bool) -> None:
    make, shape = POOLED[name]
    net, x, want = prepared(make(), shape)
    net.hybridize(static_alloc=static)
    for _ in range(3):
        assert net(x).asnumpy().tobytes() == want.tobytes()
    product = products(net)[-1]
    assert product.name.endswith('+Pooling')
    assert 0 < product._images < shape[0]


def test_pooling_with_folded_weights() -> None:
    make, shape = POOLED['conv bn relu pool']
    net, x, want = prepared(make(), shape)
    net.hybridize(backend='MKLDNN')
    for _ in range(3):
        assert close(net(x).asnumpy(), want)
    assert products(net)[0]._folded is not None


def test_pooling_that_is_not_done_in_parts() -> None:
    for layers in ([nn.Conv2D(16, 3), nn.GlobalMaxPool2D()], [nn.Conv2D(16, 1, in_channels=8), nn.MaxPool2D(2)]):
        net, x, want = prepared(layers, (7, 8, 64, 64))
        net.hybridize()
        for _ in range(3):
            assert net(x).asnumpy().tobytes() == want.tobytes()
        assert not any('Pooling' in product.name for product in products(net))


@pytest.mark.inline_engine
def test_the_product_is_never_there_as_a_whole() -> None:
    net, x, want = prepared([nn.Conv2D(32, 3, padding=1), nn.Activation('relu'), nn.MaxPool2D(4)], (16, 8, 64, 64))
    whole = 16 * 32 * 64 * 64 * 4

    def peak() -> int:
        for _ in range(2):
            net(x)
        storage.peak_bytes(reset=True)
        start = storage.used_bytes()
        net(x)
        return storage.peak_bytes() - start

    assert peak() > whole
    net.hybridize()
    assert peak() < 0.75 * whole
    assert net(x).asnumpy().tobytes() == want.tobytes()


def test_a_plan_is_what_a_run_uses() -> None:
    net = nn.HybridSequential()
    for filters in (8, 16, 32):
        net.add(nn.Conv2D(filters, 3, padding=1), nn.Activation('relu'), nn.Conv2D(filters, 3, padding=1),
                nn.BatchNorm(), nn.Activation('relu'), nn.MaxPool2D(2))
    net.add(nn.Dense(10))
    net.initialize()
    shape = (9, 8, 64, 64)
    found = memory.plan(net(mx.sym.var('data')), {'data': shape})
    net.hybridize(static_alloc=True)
    x = mx.nd.ones(shape)
    for _ in range(2):
        net(x)
    (trace,) = net._cache.traces.values()
    (plan,) = trace.graph.plans.values()
    scratch = max(op._seen.nbytes * op._images // shape[0] for op in products(net) if op._pool is not None)
    used = plan._plain.places.size
    assert used <= found.planned_bytes <= used + scratch
    assert found.saved >= 0.85
