"""Four models, trained a few steps: the same source for every engine (Python 3.8, numpy 1.17).

Run it with an engine's Python as ``python models.py MODULE save FOLDER`` or ``... load FOLDER``: ``save`` trains and
writes parameters, export, input and output of each model; ``load`` reads what another engine has written and writes
what its own network, and the imported graph, make of it.
"""

import importlib
import os
import sys

import numpy as np

NAMES = ('mlp', 'lenet', 'resnet18', 'lstm')


def make(mx, name):
    """A model whose shapes are still unknown, and the shape of its input."""
    nn = mx.gluon.nn
    net = nn.HybridSequential(prefix=name + '_')
    if name == 'mlp':
        with net.name_scope():
            net.add(nn.Dense(16, activation='relu'), nn.Dropout(0.2), nn.BatchNorm(), nn.Dense(5))
        return net, (8, 12)
    if name == 'lenet':
        with net.name_scope():
            net.add(nn.Conv2D(6, 5, activation='tanh'), nn.MaxPool2D(2, 2), nn.Conv2D(16, 5, activation='tanh'),
                    nn.MaxPool2D(2, 2), nn.Dense(32, activation='tanh'), nn.Dense(5))
        return net, (4, 1, 28, 28)
    if name == 'resnet18':
        return mx.gluon.model_zoo.vision.resnet18_v1(classes=5, thumbnail=True, prefix='resnet18_'), (2, 3, 16, 16)
    with net.name_scope():
        net.add(nn.Embedding(20, 8), mx.gluon.rnn.LSTM(6, num_layers=2, bidirectional=True, layout='NTC'), nn.Dense(5))
    return net, (4, 7)


def trained(mx, name, steps=3):
    """The model after a few steps, and an input that it has not seen."""
    random = np.random.RandomState(sum(map(ord, name)))
    np.random.seed(1)
    mx.random.seed(1)
    net, shape = make(mx, name)
    net.initialize(mx.init.Xavier())
    net.hybridize()

    def batch():
        if name == 'lstm':
            return mx.nd.array(random.randint(0, 20, shape))
        return mx.nd.array(random.uniform(-1, 1, shape))

    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.05, 'momentum': 0.9})
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    for _ in range(steps):
        x, label = batch(), mx.nd.array(random.randint(0, 5, shape[0]))
        with mx.autograd.record():
            each = loss(net(x), label)
        each.backward()
        trainer.step(shape[0])
    return net, batch()


def save(mx, folder):
    """Train all models and write them."""
    for name in NAMES:
        net, x = trained(mx, name)
        y = net(x).asnumpy()
        path = os.path.join(folder, name)
        net.save_parameters(path + '.params')
        net.export(path)
        np.savez(path + '.npz', x=x.asnumpy(), y=y)


def load(mx, folder):
    """Read all models, call them, write what came out."""
    results = {}
    for name in NAMES:
        path = os.path.join(folder, name)
        x = mx.nd.array(np.load(path + '.npz')['x'])
        net, _ = make(mx, name)
        net.load_parameters(path + '.params')
        results[name + '-parameters'] = net(x).asnumpy()
        graph = mx.gluon.SymbolBlock.imports(path + '-symbol.json', ['data'], path + '-0000.params')
        results[name + '-graph'] = graph(x).asnumpy()
    np.savez(os.path.join(folder, 'loaded.npz'), **results)


if __name__ == '__main__':
    import warnings

    warnings.simplefilter('ignore')
    engine = importlib.import_module(sys.argv[1])
    if engine.__version__.startswith('2'):
        engine.npx.reset_np()
    {'save': save, 'load': load}[sys.argv[2]](engine, sys.argv[3])
