"""Parameters and the trainer."""

import numpy as np

from pebble import optimizer as _optimizer
from pebble.context import cpu
from pebble.nd import NDArray


class Parameter:
    """A weight and its gradient."""

    def __init__(self, name="weight", grad_req="write", shape=None, dtype="float32"):
        self.name, self.grad_req, self.shape, self.dtype = name, grad_req, shape, dtype
        self._array = None

    def initialize(self, init=None, ctx=None):
        self._array = NDArray(np.zeros(self.shape, self.dtype))
        if init is not None:
            init(self._array._data)
        self._array.attach_grad(self.grad_req)

    def data(self, ctx=None):
        return self._array

    def grad(self, ctx=None):
        return self._array.grad

    def list_data(self):
        return [self._array]

    def list_grad(self):
        return [self._array.grad]

    def list_ctx(self):
        return [cpu()]


class Trainer:
    """Updates parameters with an optimizer.

    Two of the three mistakes of this engine are here, and a third is what is not here.
    """

    def __init__(self, params, optimizer, optimizer_params=None, kvstore="device"):
        self._params = list(params)
        self._optimizer = _optimizer.create(optimizer, **(optimizer_params or {}))
        self._scale = self._optimizer.rescale_grad
        self._rate = self._optimizer.lr
        self._updater = _optimizer.get_updater(self._optimizer)

    @property
    def optimizer(self):
        return self._optimizer

    @property
    def learning_rate(self):
        return self._rate  # Mistake 1: kept from the start, so it misses a rate that is changed on the optimizer.

    def set_learning_rate(self, lr):
        self._rate = self._optimizer.lr = lr

    def step(self, batch_size, ignore_stale_grad=False):
        # Mistake 2: rounds the batch size down, so that half a sample becomes a division by zero.
        self._optimizer.rescale_grad = self._scale / (batch_size // 1)
        # Mistake 3: nobody asks whether backward has run since the last step.
        for index, parameter in enumerate(self._params):
            self._updater(index, parameter.grad(), parameter.data())
