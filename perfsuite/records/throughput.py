"""Training throughput over batch sizes: a multilayer perceptron and a small convolutional network, SGD, one device.

One call is a whole step: forward, loss, backward, update, and reading the loss back.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.20 only.
"""

import numpy as np

from conformance.suite import kit
from perfsuite.record import Workload, WrongResult, record
from perfsuite.records import _reference

LEARNING_RATE = 0.05
CHECK_BATCH = 8
CHECK_STEPS = 3

#: name -> (input shape of a sample, [(layer, parameter shapes)]): what both the engine and the check build.
MODELS = {
    "mlp": ((784,), [
        ("dense", [(256, 784), (256,)]), ("relu", []),
        ("dense", [(128, 256), (128,)]), ("relu", []),
        ("dense", [(10, 128), (10,)])]),
    "cnn": ((1, 28, 28), [
        ("convolution", [(20, 1, 5, 5), (20,)]), ("relu", []), ("max_pool", []),
        ("convolution", [(50, 20, 5, 5), (50,)]), ("relu", []), ("max_pool", []),
        ("dense", [(500, 800), (500,)]), ("relu", []),
        ("dense", [(10, 500), (10,)])]),
}

SIZES = {"b%d%s" % (batch, "_hybrid" if hybrid else ""): {"batch": batch, "hybrid": hybrid}
         for batch in (16, 64, 256) for hybrid in (False, True)}


def initial_parameters(model):
    """He-scaled random weights and zero biases, the same for every engine: one list of float32 arrays per layer."""
    random = np.random.RandomState(7)
    made = []
    for _, shapes in MODELS[model][1]:
        made.append([
            (random.standard_normal(shape) * np.sqrt(2.0 / np.prod(shape[1:]))).astype("float32")
            if len(shape) > 1 else np.zeros(shape, "float32") for shape in shapes])
    return made


def batch_of(model, batch):
    """Random images and labels: float32 array (batch, ...) and integer labels (batch,)."""
    random = np.random.RandomState(11)
    return (random.standard_normal((batch,) + MODELS[model][0]).astype("float32"), random.randint(0, 10, batch))


def expected_losses(model, batch, steps):
    """Mean loss of the first steps by the independent arithmetic."""
    parameters = [[w.astype("float64") for w in layer] for layer in initial_parameters(model)]
    images, labels = batch_of(model, batch)
    layers = [name for name, _ in MODELS[model][1]]
    return _reference.train(layers, parameters, images, labels, steps, LEARNING_RATE)


def check_losses(got, model, batch):
    """Raise WrongResult unless the losses follow the independent arithmetic."""
    want = expected_losses(model, batch, len(got))
    if not np.allclose(got, want, rtol=2e-4, atol=1e-6):
        raise WrongResult("%s training, batch %d: expected losses %s, got %s" % (model, batch, want, got))


def build_net(mx, model, hybrid):
    """The network in gluon, with the initial parameters."""
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    makers = {
        "dense": lambda shapes: nn.Dense(shapes[0][0], in_units=shapes[0][1]),
        "convolution": lambda shapes: nn.Conv2D(shapes[0][0], shapes[0][2:], in_channels=shapes[0][1]),
        "relu": lambda shapes: nn.Activation("relu"),
        "max_pool": lambda shapes: nn.MaxPool2D(2, 2),
    }
    layers = [makers[name](shapes) for name, shapes in MODELS[model][1]]
    net.add(*layers)
    net.initialize()
    for layer, weights in zip(layers, initial_parameters(model)):
        if weights:
            layer.weight.set_data(kit.array(mx, weights[0]))
            layer.bias.set_data(kit.array(mx, weights[1]))
    if hybrid:
        net.hybridize(static_alloc=True, static_shape=True)
    return net


def training_step(mx, model, batch, hybrid):
    """A function that does one training step and returns the mean loss as a float."""
    net = build_net(mx, model, hybrid)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": LEARNING_RATE})
    images, labels = batch_of(model, batch)
    x, y = kit.array(mx, images), kit.array(mx, labels)

    def step():
        with mx.autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(batch)
        return loss.mean().asnumpy().item()

    return step


def workload(mx, model, batch, hybrid):
    """The timed step and its check: the first losses of a fresh network, on a small batch."""

    def verify():
        step = training_step(mx, model, CHECK_BATCH, hybrid)
        check_losses([step() for _ in range(CHECK_STEPS)], model, CHECK_BATCH)

    return Workload(training_step(mx, model, batch, hybrid), verify)


@record("throughput", "sample", lambda batch, hybrid: batch, SIZES, "b16")
def mlp_training(mx, batch, hybrid):
    """One SGD step of a 784-256-128-10 perceptron with ReLU and softmax cross entropy."""
    return workload(mx, "mlp", batch, hybrid)


@record("throughput", "sample", lambda batch, hybrid: batch, SIZES, "b16")
def cnn_training(mx, batch, hybrid):
    """One SGD step of a small convolutional network (5x5x20, 5x5x50, 500, 10) on 28x28 images."""
    return workload(mx, "cnn", batch, hybrid)
