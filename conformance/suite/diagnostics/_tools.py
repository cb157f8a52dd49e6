"""What the cases of diagnosis share.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import importlib

import numpy as np


def on_absent_gpu(mx, shape):
    """A float32 array on gpu(0) whose memory is never taken, so that it can be made where there is no gpu."""
    module = importlib.import_module(mx.__name__ + ".ndarray.ndarray")
    return mx.nd.NDArray(module._new_alloc_handle(shape, mx.gpu(0), True, np.float32))
