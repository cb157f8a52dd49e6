"""The same workloads in PyTorch, as a baseline that many people know; imported without torch installed.

Runs in the baseline's interpreter: Python 3.8, standard library and numpy >= 1.20 only, torch handed in.
"""

import numpy as np

from perfsuite.record import Workload, baseline
from perfsuite.records import bandwidth, dispatch, throughput  # also registers what these are a baseline of


def training_step(torch, model, batch):
    """A function that does one training step and returns the mean loss as a float."""
    functional = torch.nn.functional
    parameters = [[torch.tensor(w, requires_grad=True) for w in layer]
                  for layer in throughput.initial_parameters(model)]
    layers = [name for name, _ in throughput.MODELS[model][1]]
    images, labels = throughput.batch_of(model, batch)
    x, y = torch.tensor(images), torch.tensor(labels)
    optimizer = torch.optim.SGD([w for layer in parameters for w in layer], lr=throughput.LEARNING_RATE)
    forward = {
        "dense": lambda value, weights: functional.linear(value.flatten(1), *weights),
        "convolution": lambda value, weights: functional.conv2d(value, *weights),
        "relu": lambda value, weights: functional.relu(value),
        "max_pool": lambda value, weights: functional.max_pool2d(value, 2),
    }

    def step():
        optimizer.zero_grad()
        value = x
        for name, weights in zip(layers, parameters):
            value = forward[name](value, weights)
        loss = functional.cross_entropy(value, y)
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return step


def training_workload(torch, model, batch):
    """The timed step and its check against the independent arithmetic."""

    def verify():
        step = training_step(torch, model, throughput.CHECK_BATCH)
        throughput.check_losses([step() for _ in range(throughput.CHECK_STEPS)], model, throughput.CHECK_BATCH)

    return Workload(training_step(torch, model, batch), verify)


@baseline("torch", "mlp_training")
def mlp_training(torch, batch, hybrid):
    """Eager PyTorch; the hybrid sizes are the same eager step."""
    return training_workload(torch, "mlp", batch)


@baseline("torch", "cnn_training")
def cnn_training(torch, batch, hybrid):
    """Eager PyTorch; the hybrid sizes are the same eager step."""
    return training_workload(torch, "cnn", batch)


@baseline("torch", "small_add")
def small_add(torch, elements):
    """``a + b`` of two small tensors."""
    a, b = np.arange(elements, dtype="float32"), np.linspace(1, 2, elements).astype("float32")
    x, y = torch.tensor(a), torch.tensor(b)

    def call():
        for _ in range(dispatch.REPEATS):
            x + y

    return Workload(call, lambda: bandwidth.expect((x + y).numpy(), a + b))


@baseline("torch", "small_chain_backward")
def small_chain_backward(torch, elements):
    """Ten multiplications with autograd and their backward pass."""
    a, b = np.arange(elements, dtype="float32"), np.linspace(1, 2, elements).astype("float32")
    x, y = torch.tensor(a, requires_grad=True), torch.tensor(b)

    def chain():
        x.grad = None
        z = x
        for _ in range(10):
            z = z * y
        z.sum().backward()

    def call():
        for _ in range(dispatch.REPEATS):
            chain()

    def verify():
        chain()
        np.testing.assert_allclose(x.grad.numpy(), b.astype("float64") ** 10, rtol=1e-5)

    return Workload(call, verify)


@baseline("torch", "small_record_backward")
def small_record_backward(torch, elements):
    """One addition with autograd and its backward pass."""
    a, b = np.arange(elements, dtype="float32"), np.linspace(1, 2, elements).astype("float32")
    x, y = torch.tensor(a, requires_grad=True), torch.tensor(b)
    ones = torch.ones(elements)

    def step():
        x.grad = None
        (x + y).backward(ones)

    def call():
        for _ in range(dispatch.REPEATS):
            step()

    def verify():
        step()
        np.testing.assert_array_equal(x.grad.numpy(), np.ones(elements))

    return Workload(call, verify)


@baseline("torch", "copyto")
def copyto(torch, kilobytes):
    """``target.copy_(source)``."""
    values = bandwidth.payload(kilobytes)
    source, target = torch.tensor(values), torch.zeros(len(values))

    def verify():
        target.zero_()
        target.copy_(source)
        bandwidth.expect(target.numpy(), values)

    return Workload(lambda: target.copy_(source), verify)


@baseline("torch", "copy")
def copy(torch, kilobytes):
    """``source.clone()``."""
    values = bandwidth.payload(kilobytes)
    source = torch.tensor(values)
    return Workload(source.clone, lambda: bandwidth.expect(source.clone().numpy(), values))


@baseline("torch", "asnumpy")
def asnumpy(torch, kilobytes):
    """``tensor.numpy().copy()``: a new numpy array, as asnumpy gives."""
    values = bandwidth.payload(kilobytes)
    source = torch.tensor(values)
    return Workload(lambda: source.numpy().copy(), lambda: bandwidth.expect(source.numpy().copy(), values))


@baseline("torch", "array_from_numpy")
def array_from_numpy(torch, kilobytes):
    """``torch.tensor(numpy array)``."""
    values = bandwidth.payload(kilobytes)
    return Workload(lambda: torch.tensor(values), lambda: bandwidth.expect(torch.tensor(values).numpy(), values))


@baseline("torch", "array_from_list")
def array_from_list(torch, kilobytes):
    """``torch.tensor(list of floats)``."""
    values = bandwidth.payload(kilobytes)
    items = values.tolist()
    return Workload(lambda: torch.tensor(items), lambda: bandwidth.expect(torch.tensor(items).numpy(), values))
