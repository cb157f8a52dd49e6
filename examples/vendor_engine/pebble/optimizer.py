"""Optimizers: stochastic gradient descent."""

import numpy as np


class SGD:
    """Gradient descent with momentum, weight decay, rescaling and clipping."""

    def __init__(self, learning_rate=0.01, momentum=0.0, wd=0.0, rescale_grad=1.0, clip_gradient=None):
        self.lr, self.momentum, self.wd = learning_rate, momentum, wd
        self.rescale_grad, self.clip_gradient = rescale_grad, clip_gradient

    def create_state(self, index, weight):
        return np.zeros_like(weight._data)

    def update(self, index, weight, gradient, state):
        change = gradient._data * self.rescale_grad
        if self.clip_gradient is not None:
            change = np.clip(change, -self.clip_gradient, self.clip_gradient)
        change = change + self.wd * weight._data
        state[...] = self.momentum * state - self.lr * change
        weight._data += state


class Updater:
    """Keeps the state of each weight."""

    def __init__(self, optimizer):
        self.optimizer, self.states = optimizer, {}

    def __call__(self, index, gradient, weight):
        if index not in self.states:
            self.states[index] = self.optimizer.create_state(index, weight)
        self.optimizer.update(index, weight, gradient, self.states[index])


def create(name, **options):
    """The optimizer of that name."""
    if name.lower() != "sgd":
        raise ValueError(f"Cannot find optimizer {name}")
    return SGD(**options)


def get_updater(optimizer):
    """An updater around an optimizer."""
    return Updater(optimizer)
