"""Train a multilayer perceptron or a small convolutional network on scikit-learn's handwritten digits.

The very same file runs on Apache MXNet and on refengine:

    conform exec --engine refengine    examples/digits/train.py --model cnn
    conform exec --engine mxnet-1.9.1  examples/digits/train.py --model cnn

It prints one JSON object: the test accuracy, and the loss of the first steps (the initial weights come from numpy, so
that two engines start alike).
"""

import argparse
import json

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon
from mxnet.gluon import nn


def load_digits(path):
    """1797 images of 8x8 pixels in [0, 1] and their labels: 1500 to train on, 297 to test on."""
    if path:
        with np.load(path) as stored:
            images, labels = stored["images"], stored["labels"]
    else:
        try:
            from sklearn.datasets import load_digits as load
        except ImportError:
            raise SystemExit("the digits come from scikit-learn: install it, or give --data FILE.npz") from None

        digits = load()
        images, labels = digits.images, digits.target
    images = (images / 16.0).astype("float32").reshape(-1, 1, 8, 8)
    order = np.random.RandomState(0).permutation(len(images))
    images, labels = images[order], labels[order].astype("float32")
    return (images[:1500], labels[:1500]), (images[1500:], labels[1500:])


def build(model):
    """The network, not yet initialised."""
    net = nn.HybridSequential()
    if model == "mlp":
        net.add(nn.Flatten(), nn.Dense(128, activation="relu"), nn.Dense(64, activation="relu"), nn.Dense(10))
    else:
        net.add(
            nn.Conv2D(16, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(2, 2),
            nn.Conv2D(32, 3, padding=1, activation="relu"), nn.MaxPool2D(2, 2),
            nn.Flatten(), nn.Dense(64, activation="relu"), nn.Dense(10),
        )
    return net


def start_alike(net, sample):
    """Initialise, and set every weight from numpy by He's rule, in the order of the layers."""
    net.initialize()
    net(sample)
    random = np.random.RandomState(1)
    for parameter in net.collect_params().values():
        if len(parameter.shape) > 1:
            scale = np.sqrt(2.0 / np.prod(parameter.shape[1:]))
            parameter.set_data(mx.nd.array(random.standard_normal(parameter.shape) * scale))


def train(net, images, labels, epochs, batch_size, optimizer):
    """Train with gluon's DataLoader and Trainer; return the mean loss of every step."""
    dataset = gluon.data.ArrayDataset(images, labels)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": 0.05 if optimizer == "sgd" else 0.002})
    losses = []
    for epoch in range(epochs):
        order = np.random.RandomState(epoch).permutation(len(images))
        loader = gluon.data.DataLoader(dataset, batch_size, sampler=[int(i) for i in order])
        for x, y in loader:
            with autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            trainer.step(x.shape[0])
            losses.append(float(loss.mean().asscalar()))
    return losses


def accuracy(net, images, labels):
    """The share of images that the network labels right."""
    metric = mx.metric.Accuracy()
    metric.update([mx.nd.array(labels)], [net(mx.nd.array(images))])
    return metric.get()[1]


def main():
    """Train, test, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", choices=["mlp", "cnn"], default="mlp")
    parser.add_argument("--optimizer", choices=["sgd", "adam"], default="sgd")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--hybridize", action="store_true")
    parser.add_argument("--data", help="an .npz file with images and labels, instead of scikit-learn's copy")
    options = parser.parse_args()

    mx.random.seed(0)
    (images, labels), (test_images, test_labels) = load_digits(options.data)
    net = build(options.model)
    start_alike(net, mx.nd.array(images[:2]))
    if options.hybridize:
        net.hybridize()
    losses = train(net, images, labels, options.epochs, options.batch_size, options.optimizer)
    print(json.dumps({
        "engine": mx.__name__, "version": mx.__version__, "model": options.model,
        "accuracy": accuracy(net, test_images, test_labels), "first_losses": losses[:20], "last_loss": losses[-1],
    }))


if __name__ == "__main__":
    main()
