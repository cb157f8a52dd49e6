"""Building blocks shared by the cases; they hide only how the releases spell the same thing.

MXNet 2.0 starts in numpy array mode, where gluon takes and gives ``mx.np`` arrays; 1.x has ``mx.nd`` arrays only.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import contextlib
import time

import numpy as np


def numpy_mode(mx):
    """True if gluon works on ``mx.np`` arrays in this engine now."""
    util = getattr(mx, "util", None)
    return bool(util is not None and hasattr(util, "is_np_array") and util.is_np_array())


@contextlib.contextmanager
def legacy_mode(mx):
    """Work on ``mx.nd`` arrays in the block, also in an engine that starts in numpy array mode."""
    if not numpy_mode(mx):
        yield
        return
    mx.npx.reset_np()
    try:
        yield
    finally:
        mx.npx.set_np()


def array(mx, values, ctx=None, dtype="float32"):
    """An engine array of the kind that gluon works on."""
    values = np.asarray(values, dtype=dtype)
    if numpy_mode(mx):
        return mx.np.array(values, dtype=dtype, ctx=ctx or mx.cpu(0))
    return mx.nd.array(values, dtype=dtype, ctx=ctx or mx.cpu(0))


def device_of(array_):
    """The device (1.x: context) of an engine array."""
    return getattr(array_, "device", None) or array_.ctx


def devices(mx, count):
    """A list of *count* CPU devices."""
    return [mx.cpu(i) for i in range(count)]


def parameter(mx, name="x", value=0.0, shape=(1,), ctx=None, dtype="float32", **options):
    """An initialised dense gluon Parameter filled with *value*, on one device or a list of them."""
    made = mx.gluon.Parameter(name, shape=shape, dtype=dtype, **options)
    made.initialize(init=mx.init.Constant(value), ctx=ctx if ctx is not None else mx.cpu(0))
    return made


def backward(mx, *pairs):
    """One backward pass that writes the given gradients.

    pairs: ``(parameter, gradient)``; the gradient is a number for every element of every replica, or a list with one
    number (or array) per replica; None in the list leaves that replica out.
    """
    losses = []
    with mx.autograd.record():
        for parameter_, gradient in pairs:
            replicas = parameter_.list_data()
            gradients = gradient if isinstance(gradient, list) else [gradient] * len(replicas)
            for replica, wanted in zip(replicas, gradients):
                if wanted is None:
                    continue
                factor = np.broadcast_to(np.asarray(wanted, dtype=str(np.dtype(replica.dtype))), replica.shape)
                losses.append((replica * array(mx, factor, device_of(replica), str(np.dtype(replica.dtype)))).sum())
    mx.autograd.backward(losses)


def value(parameter_, device=0):
    """The value of a replica as a float if it has one element or all are equal, else as a numpy array."""
    data = parameter_.list_data()[device].asnumpy()
    flat = data.reshape(-1)
    if flat.size and np.all(flat == flat[0]):
        return float(flat[0])
    return data


def values(parameter_):
    """The values of all replicas, as :func:`value` gives them."""
    return [value(parameter_, device) for device in range(len(parameter_.list_data()))]


def gradient(parameter_, device=0):
    """The gradient of a replica as a numpy array."""
    return parameter_.list_grad()[device].asnumpy()


def trainer(mx, parameters, optimizer="sgd", options=None, **keywords):
    """A gluon Trainer; the default is plain SGD with learning rate 1."""
    return mx.gluon.Trainer(parameters, optimizer, {"learning_rate": 1.0} if options is None else options, **keywords)


def kvstore_of(trainer_):
    """The store that the trainer works with, or None."""
    return trainer_._kvstore


def update_on_kvstore(trainer_):
    """The decision the trainer took: True, False, or None where there is no store."""
    return trainer_._update_on_kvstore


def times_as_long(slow, fast, enough, calls=1, rounds=40):
    """How many times as long one function takes as another one, by the shortest time of each, in wall-clock time.

    The two take turns, since another process may disturb for a while; after five turns the first ratio that is *enough*
    is taken. calls: how often a function is called in its turn.
    """
    shortest = [float("inf"), float("inf")]
    for turn in range(rounds):
        for which, function in enumerate((slow, fast)):
            begun = time.perf_counter()
            for _ in range(calls):
                function()
            shortest[which] = min(shortest[which], time.perf_counter() - begun)
        if turn >= 4 and shortest[0] >= enough * shortest[1]:
            break
    return shortest[0] / shortest[1]
