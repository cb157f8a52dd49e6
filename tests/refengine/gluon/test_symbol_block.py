"""Exports and SymbolBlock, between refengine and the releases too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, gluon
from refengine.gluon import nn
from tests.refengine.releases import RELEASES, run


def network() -> nn.HybridSequential:
    """Dense, BatchNorm, Dense under fixed names."""
    net = nn.HybridSequential(prefix='net_')
    with net.name_scope():
        net.add(nn.Dense(4), nn.BatchNorm(), nn.Dense(2))
    net.initialize(mx.init.Uniform(0.3))
    return net


X = mx.nd.array(np.random.RandomState(0).rand(2, 3))


@pytest.fixture
def exported(tmp_path: Path) -> tuple[str, str, Any]:
    """Two files and the result of the network behind them."""
    net = network()
    net.hybridize()
    result = net(X).asnumpy()
    return (*net.export(f'{tmp_path}/m'), result)


def test_export_needs_a_call(tmp_path: Path) -> None:
    net = network()
    for _ in range(2):
        with pytest.raises(RuntimeError, match='Please first call block.hybridize'):
            net.export(f'{tmp_path}/m')
        net.hybridize()


def test_names(tmp_path: Path) -> None:
    net = network()
    net.hybridize()
    net(X)
    for epoch, name in ((0, 'm-0000.params'), (7, 'm-0007.params'), (12345, 'm-12345.params')):
        net.export(f'{tmp_path}/m', epoch)
        assert (tmp_path / name).exists()
    assert set(mx.nd.load(f'{tmp_path}/m-0000.params')) == {
        'arg:net_dense0_weight', 'arg:net_dense0_bias', 'arg:net_batchnorm0_gamma', 'arg:net_batchnorm0_beta',
        'aux:net_batchnorm0_running_mean', 'aux:net_batchnorm0_running_var', 'arg:net_dense1_weight',
        'arg:net_dense1_bias'}
    nodes = json.loads((tmp_path / 'm-symbol.json').read_text())['nodes']
    assert nodes[0] == {'op': 'null', 'name': 'data', 'inputs': []}
    weight = next(n for n in nodes if n['name'] == 'net_dense0_weight')
    assert weight['attrs'] == {'__dtype__': '0', '__lr_mult__': '1.0', '__shape__': '(4, 0)', '__storage_type__': '0',
                               '__wd_mult__': '1.0'}
    dense = next(n for n in nodes if n['op'] == 'FullyConnected')
    assert dense['attrs'] == {'flatten': 'True', 'no_bias': 'False', 'num_hidden': '4'}
    symbol, arrays = net.export(None)
    assert symbol.list_arguments()[0] == 'data'
    assert len(arrays) == 8


def test_imports(exported: Any) -> None:
    symbol, params, result = exported
    block = gluon.SymbolBlock.imports(symbol, 'data', params, ctx=mx.cpu(1))
    assert block.collect_params().list_ctx() == [mx.cpu(1)]
    assert np.array_equal(block(X.as_in_context(mx.cpu(1))).asnumpy(), result)


def test_what_imports_refuses(exported: Any, tmp_path: Path) -> None:
    symbol, params, _ = exported
    with pytest.raises(AssertionError, match="Parameter 'data' is missing"):
        gluon.SymbolBlock.imports(symbol, ['foo'], params)
    arrays = dict(mx.nd.load(params))
    lacking = {k: v for k, v in arrays.items() if k != 'arg:net_dense0_weight'}
    mx.nd.save(f'{tmp_path}/lacking', lacking)
    with pytest.raises(AssertionError, match='is missing in'):
        gluon.SymbolBlock.imports(symbol, ['data'], f'{tmp_path}/lacking')
    block = gluon.SymbolBlock.imports(symbol, ['data'], f'{tmp_path}/lacking', allow_missing=True)
    with pytest.raises(RuntimeError, match='has not been initialized'):
        block(X)
    mx.nd.save(f'{tmp_path}/extra', {**arrays, 'arg:more': mx.nd.ones(1)})
    with pytest.raises((AssertionError, ValueError), match='is not present in'):
        gluon.SymbolBlock.imports(symbol, ['data'], f'{tmp_path}/extra')
    gluon.SymbolBlock.imports(symbol, ['data'], f'{tmp_path}/extra', ignore_extra=True)(X)
    mx.nd.save(f'{tmp_path}/shape', {**arrays, 'arg:net_dense0_weight': mx.nd.ones((9, 3))})
    with pytest.raises(AssertionError, match='shape|Shape'):
        gluon.SymbolBlock.imports(symbol, ['data'], f'{tmp_path}/shape')
    with pytest.raises(mx.MXNetError, match='No such file or directory'):
        gluon.SymbolBlock.imports(f'{tmp_path}/none.json', ['data'])


def test_imports_without_parameters(exported: Any) -> None:
    block = gluon.SymbolBlock.imports(exported[0], ['data'])
    with pytest.raises(RuntimeError, match='has not been initialized'):
        block(X)
    block.initialize()
    assert block(X).shape == (2, 2)


def test_inside_other_blocks(exported: Any) -> None:
    symbol, params, result = exported

    class Plain(gluon.HybridBlock):
        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, x: Any) -> Any:
            return self.inner(x) * 2

    for outer in (nn.HybridSequential(), Plain(gluon.SymbolBlock.imports(symbol, 'data', params))):
        if isinstance(outer, nn.HybridSequential):
            outer.add(gluon.SymbolBlock.imports(symbol, 'data', params))
            outer.add(nn.HybridLambda(lambda F, x: x * 2))
        eager = outer(X).asnumpy()
        outer.hybridize()
        assert np.array_equal(eager, result * 2)
        for _ in range(2):
            assert np.array_equal(outer(X).asnumpy(), eager)


def test_training_goes_on(exported: Any) -> None:
    block = gluon.SymbolBlock.imports(exported[0], 'data', exported[1])
    trainer = gluon.Trainer(block.collect_params(), 'sgd', {'learning_rate': 0.1})
    losses = []
    for _ in range(5):
        with autograd.record():
            loss = (block(X) ** 2).sum()
        loss.backward()
        trainer.step(2)
        losses.append(loss.asscalar())
    assert losses[-1] < losses[0]


class Recurrent(gluon.HybridBlock):
    """An LSTM and a layer on top."""

    def __init__(self) -> None:
        super().__init__(prefix='r_')
        with self.name_scope():
            self.lstm = gluon.rnn.LSTM(8, 2)
            self.dense = nn.Dense(3)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.dense(self.lstm(x))


def lenet() -> nn.HybridSequential:
    """A small convolutional network."""
    net = nn.HybridSequential()
    net.add(nn.Conv2D(6, 5, activation='relu'), nn.MaxPool2D(2, 2), nn.Conv2D(8, 3), nn.BatchNorm(),
            nn.Activation('relu'), nn.AvgPool2D(2, 2), nn.Flatten(), nn.Dense(20, activation='tanh'), nn.Dropout(0.5),
            nn.LayerNorm(), nn.Dense(10))
    return net


def trained(net: Any, x: Any) -> Any:
    """The prediction after three steps."""
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.001})
    for _ in range(3):
        with autograd.record():
            loss = (net(x) ** 2).sum()
        loss.backward()
        trainer.step(x.shape[0])
    return net(x).asnumpy()


_IMPORT = '''
array = mx.np.array if mx.__version__.startswith('2') else mx.nd.array
if mx.__version__.startswith('2'):
    mx.npx.set_np()
block = mx.gluon.SymbolBlock.imports('m-symbol.json', ['data'], 'm-0000.params')
np.save('found.npy', block(array(np.load('x.npy'))).asnumpy())
'''

_EXPORT = '''
from mxnet import autograd, gluon
from mxnet.gluon import nn
two = mx.__version__.startswith('2')
if two:
    mx.npx.set_np()
array = mx.np.array if two else mx.nd.array
if KIND == 'lenet':
    net = nn.HybridSequential()
    net.add(nn.Conv2D(6, 5, activation='relu'), nn.MaxPool2D(2, 2), nn.Conv2D(8, 3), nn.BatchNorm(),
            nn.Activation('relu'), nn.AvgPool2D(2, 2), nn.Flatten(), nn.Dense(20, activation='tanh'), nn.Dropout(.5),
            nn.LayerNorm(), nn.Dense(10))
elif KIND == 'resnet':
    net = gluon.model_zoo.vision.resnet18_v1(classes=10)
elif KIND == 'lstm':
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.lstm, self.dense = gluon.rnn.LSTM(8, 2), nn.Dense(3)
        def hybrid_forward(self, F, x):
            return self.dense(self.lstm(x))
    class Net2(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.lstm, self.dense = gluon.rnn.LSTM(8, 2), nn.Dense(3)
        def forward(self, x):
            return self.dense(self.lstm(x))
    if two:
        net = Net2()
    else:
        net = Net()
else:
    net = nn.HybridSequential()
    net.add(nn.Dense(16, activation='relu'), nn.Dense(8, activation='sigmoid'), nn.Dense(3))
net.initialize(mx.init.Uniform(.1))
net.hybridize()
x = array(np.random.RandomState(0).rand(*SHAPE).astype('float32'))
trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': .001})
for _ in range(3):
    with autograd.record():
        loss = (net(x) ** 2).sum()
    loss.backward()
    trainer.step(SHAPE[0])
np.save('x.npy', x.asnumpy())
np.save('y.npy', net(x).asnumpy())
net.export('m')
'''

SHAPES = {'mlp': (4, 7), 'lenet': (4, 1, 20, 20), 'lstm': (5, 2, 4), 'resnet': (2, 3, 32, 32)}


def _close(a: Any, b: Any) -> bool:
    return bool(np.abs(a - b).max() <= 1e-5 * max(1.0, float(np.abs(b).max())))


@pytest.mark.needs_mxnet
@pytest.mark.parametrize('kind', SHAPES)
@pytest.mark.parametrize('engine', RELEASES)
def test_models_of_the_releases(engine: str, kind: str, tmp_path: Path) -> None:
    run(engine, f'KIND, SHAPE = {kind!r}, {SHAPES[kind]}\n{_EXPORT}', tmp_path)
    block = gluon.SymbolBlock.imports(f'{tmp_path}/m-symbol.json', 'data', f'{tmp_path}/m-0000.params')
    x = mx.nd.array(np.load(tmp_path / 'x.npy'))
    for _ in range(2):
        assert _close(block(x).asnumpy(), np.load(tmp_path / 'y.npy'))


@pytest.mark.needs_mxnet
@pytest.mark.parametrize(('engine', 'kind'), [(e, k) for e in RELEASES for k in ('mlp', 'lenet', 'lstm')
                                              if (e, k) != ('mxnet-2.0.0b1', 'lstm')])
def test_models_for_the_releases(engine: str, kind: str, tmp_path: Path) -> None:
    """2.0 reads the unknown batch size in the states of an exported LSTM, its own release's too, as zero rows."""
    if kind == 'mlp':
        net: Any = nn.HybridSequential()
        net.add(nn.Dense(16, activation='relu'), nn.Dense(8, activation='sigmoid'), nn.Dense(3))
    else:
        net = lenet() if kind == 'lenet' else Recurrent()
    net.initialize(mx.init.Uniform(0.1))
    net.hybridize()
    x = mx.nd.array(np.random.RandomState(0).rand(*SHAPES[kind]))
    result = trained(net, x)
    net.export(f'{tmp_path}/m')
    np.save(tmp_path / 'x.npy', x.asnumpy())
    run(engine, _IMPORT, tmp_path)
    assert _close(np.load(tmp_path / 'found.npy'), result)
