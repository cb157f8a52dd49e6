"""The networks whose memory is planned and measured, built from an engine's own gluon layers and model zoo.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.20 only.
"""

from typing import Any, Dict

import numpy as np

from conformance.suite import kit

#: Tokens of a sentence, and how many different ones there are, for the recurrent model.
STEPS, WORDS, WIDTH = 35, 1000, 200


class Model(object):
    """One network: how it is built, the shape of one sample and of one label, the number of classes, and batches.

    ``batch`` keeps its intermediate values large against the resolution of what is measured; ``quick_batch`` is None
    for networks that are no part of a quick run.
    """

    def __init__(self, title, build, sample, classes, batch, quick_batch=None, label=()):
        self.title, self.build, self.sample, self.classes = title, build, sample, classes
        self.batch, self.quick_batch, self.label = batch, quick_batch, label

    def shapes(self, batch):
        """The shapes of data and labels."""
        return {"data": (batch,) + self.sample, "label": (batch,) + self.label}

    def arrays(self, mx, batch):
        """Data and labels as arrays of the engine: random images, or random tokens for the recurrent model."""
        random = np.random.RandomState(5)
        shapes = self.shapes(batch)
        tokens = self.label == self.sample
        data = random.randint(0, WORDS, shapes["data"]) if tokens else random.standard_normal(shapes["data"])
        return kit.array(mx, data), kit.array(mx, random.randint(0, self.classes, shapes["label"]))


def forward_as(mx, function):
    """A hybrid block's method for ``function(self, F, *arrays)``, under the name that the engine traces."""
    if kit.numpy_mode(mx):
        return {"forward": lambda self, *arrays: function(self, mx.npx, *arrays)}
    return {"hybrid_forward": lambda self, F, *arrays: function(self, F, *arrays)}


def hybrid_block(mx, name, children, function):
    """A hybrid block with children by name, whose forward pass is ``function(self, F, *arrays)``."""
    block = type(name, (mx.gluon.HybridBlock,), forward_as(mx, function))()
    for key, child in children.items():
        setattr(block, key, child)
    return block


def sequence(mx, *layers):
    """Layers one after the other."""
    net = mx.gluon.nn.HybridSequential()
    net.add(*layers)
    return net


def mlp(mx):
    """Eight equal layers with ReLU, and a last one for ten classes."""
    nn = mx.gluon.nn
    inputs = [784] + 7 * [1024]
    hidden = [nn.Dense(1024, in_units=width, activation="relu") for width in inputs]
    return sequence(mx, *(hidden + [nn.Dense(10, in_units=1024)]))


def lenet(mx):
    """Two convolutions with tanh and max pooling, and two layers, on images of 28 x 28."""
    nn = mx.gluon.nn
    return sequence(
        mx, nn.Conv2D(20, 5, in_channels=1, activation="tanh"), nn.MaxPool2D(2, 2),
        nn.Conv2D(50, 5, in_channels=20, activation="tanh"), nn.MaxPool2D(2, 2), nn.Flatten(),
        nn.Dense(500, in_units=800, activation="tanh"), nn.Dense(10, in_units=500))


def zoo(name):
    """A builder of a network of the engine's model zoo, for its thousand classes."""
    return lambda mx: getattr(mx.gluon.model_zoo.vision, name)()


def lstm(mx):
    """A language model: embedding, two LSTM cells unrolled over a sentence, and a layer over all words.

    The cells are unrolled since inside the fused operator nothing is the planner's.
    """
    rnn, nn = mx.gluon.rnn, mx.gluon.nn
    cells = rnn.HybridSequentialRNNCell()
    for _ in range(2):
        cells.add(rnn.LSTMCell(WIDTH, input_size=WIDTH))

    def run(self, F, tokens):
        states, _ = self.cells.unroll(STEPS, self.embedding(tokens), layout="NTC", merge_outputs=True)
        return self.words(states)

    return hybrid_block(mx, "LanguageModel", {
        "embedding": nn.Embedding(WORDS, WIDTH), "cells": cells,
        "words": nn.Dense(WORDS, flatten=False, in_units=WIDTH)}, run)


IMAGE = (3, 224, 224)

MODELS: Dict[str, Any] = {
    "mlp": Model("MLP", mlp, (784,), 10, 512, quick_batch=128),
    "lenet": Model("LeNet", lenet, (1, 28, 28), 10, 512, quick_batch=64),
    "resnet18": Model("ResNet-18", zoo("resnet18_v1"), IMAGE, 1000, 8),
    "resnet50": Model("ResNet-50", zoo("resnet50_v1"), IMAGE, 1000, 8),
    "vgg11": Model("VGG-11", zoo("vgg11"), IMAGE, 1000, 8),
    "lstm": Model("LSTM", lstm, (STEPS,), WORDS, 32, label=(STEPS,)),
}


def with_loss(mx, net):
    """The network and its softmax cross entropy as one block of data and label: one graph for a training step."""
    return hybrid_block(mx, "Training", {"net": net, "loss": mx.gluon.loss.SoftmaxCrossEntropyLoss()},
                        lambda self, F, data, label: self.loss(self.net(data), label))


def initialized(mx, model, batch):
    """The network with all its parameters made, which no forward pass has run through yet."""
    net = model.build(mx)
    net.infer_shape(kit.array(mx, np.zeros(model.shapes(batch)["data"])))
    net.initialize(mx.init.Xavier())
    mx.nd.waitall()
    return net
