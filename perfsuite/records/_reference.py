"""Independent numpy arithmetic for the training benchmarks: layers with their backward pass, in float64.

Plain and slow on purpose: it is what the engines' results are checked by.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.20 only.
"""

from typing import Any, Callable, Dict

import numpy as np


def dense(x, weight, bias):
    """``x @ weight.T + bias`` and its backward function: gradient -> (dx, [dweight, dbias])."""
    flat = x.reshape(len(x), -1)

    def back(g):
        return (g @ weight).reshape(x.shape), [g.T @ flat, g.sum(0)]

    return flat @ weight.T + bias, back


def relu(x):
    """The positive part, and its backward function."""
    return np.maximum(x, 0), lambda g: (g * (x > 0), [])


def convolution(x, weight, bias):
    """A valid convolution with stride 1 over NCHW, and its backward function."""
    kernel = weight.shape[2:]
    windows = np.lib.stride_tricks.sliding_window_view(x, kernel, axis=(2, 3))

    def back(g):
        dx = np.zeros_like(x)
        for i in range(kernel[0]):
            for j in range(kernel[1]):
                dx[:, :, i:i + g.shape[2], j:j + g.shape[3]] += np.einsum("nohw,oc->nchw", g, weight[:, :, i, j])
        return dx, [np.einsum("nohw,nchwij->ocij", g, windows), g.sum((0, 2, 3))]

    return np.einsum("nchwij,ocij->nohw", windows, weight) + bias[:, None, None], back


def max_pool(x):
    """Maximum over 2x2 blocks with stride 2 (even sizes), and its backward function (first maximum takes it)."""
    n, c, h, w = x.shape
    blocks = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, h // 2, w // 2, 4)
    winner = blocks.argmax(-1)

    def back(g):
        spread = np.zeros_like(blocks)
        np.put_along_axis(spread, winner[..., None], g[..., None], -1)
        return spread.reshape(n, c, h // 2, w // 2, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(x.shape), []

    return blocks.max(-1), back


def cross_entropy(scores, labels):
    """Softmax cross entropy per sample, and the gradient of their sum."""
    shifted = scores - scores.max(1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    gradient = np.exp(logs)
    gradient[np.arange(len(labels)), labels] -= 1
    return -logs[np.arange(len(labels)), labels], gradient


LAYERS: Dict[str, Callable[..., Any]] = {"dense": dense, "convolution": convolution, "relu": relu, "max_pool": max_pool}


def train(layers, parameters, x, labels, steps, learning_rate):
    """Plain SGD on the mean loss: return the mean loss of each step.

    layers: names from :data:`LAYERS`;  parameters: one list of float64 arrays per layer, changed in place.
    """
    losses = []
    for _ in range(steps):
        value, backs = x.astype("float64"), []
        for name, weights in zip(layers, parameters):
            value, back = LAYERS[name](value, *weights)
            backs.append(back)
        loss, gradient = cross_entropy(value, labels)
        losses.append(loss.mean())
        for weights, back in zip(reversed(parameters), reversed(backs)):
            gradient, changes = back(gradient)
            for weight, change in zip(weights, changes):
                weight -= learning_rate * change / len(x)
    return losses
