"""Copy bandwidth: between engine arrays, out to numpy, in from numpy and from a list.

A byte of the payload is counted once, though a copy reads it once and writes it once.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.20 only.
"""

import numpy as np

from conformance.suite import kit
from perfsuite.record import Workload, WrongResult, record

SIZES = {"64KB": {"kilobytes": 64}, "1MB": {"kilobytes": 1024}, "64MB": {"kilobytes": 65536}}
LIST_SIZES = {"64KB": {"kilobytes": 64}, "400KB": {"kilobytes": 400}}


def bytes_of(kilobytes):
    """Payload bytes of one call."""
    return kilobytes * 1024


def payload(kilobytes):
    """A float32 vector of that many kilobytes, all values different near the start."""
    return (np.arange(kilobytes * 256) % 65521).astype("float32")


def expect(got, want):
    """Raise WrongResult unless both are equal, elementwise."""
    if got.shape != want.shape or not np.array_equal(got, want):
        raise WrongResult("a copy differs from its source: expected %r, got %r" % (want[:4], got[:4]))


@record("bandwidth", "byte", bytes_of, SIZES, "1MB")
def copyto(mx, kilobytes):
    """``source.copyto(target)`` between two existing arrays on one device."""
    values = payload(kilobytes)
    source, target = kit.array(mx, values), kit.array(mx, values * 0)

    def call():
        source.copyto(target)
        target.wait_to_read()

    def verify():
        target[:] = 0
        call()
        expect(target.asnumpy(), values)

    return Workload(call, verify)


@record("bandwidth", "byte", bytes_of, SIZES, "1MB")
def copy(mx, kilobytes):
    """``source.copy()`` into a new array."""
    values = payload(kilobytes)
    source = kit.array(mx, values)
    return Workload(lambda: source.copy().wait_to_read(), lambda: expect(source.copy().asnumpy(), values))


@record("bandwidth", "byte", bytes_of, SIZES, "1MB")
def asnumpy(mx, kilobytes):
    """``source.asnumpy()``: an engine array out to a new numpy array."""
    values = payload(kilobytes)
    source = kit.array(mx, values)
    return Workload(source.asnumpy, lambda: expect(source.asnumpy(), values))


@record("bandwidth", "byte", bytes_of, SIZES, "1MB")
def array_from_numpy(mx, kilobytes):
    """``nd.array(numpy array)``: a numpy array in to a new engine array."""
    values = payload(kilobytes)
    return Workload(lambda: mx.nd.array(values).wait_to_read(), lambda: expect(mx.nd.array(values).asnumpy(), values))


@record("bandwidth", "byte", bytes_of, LIST_SIZES, "64KB")
def array_from_list(mx, kilobytes):
    """``nd.array(list of floats)``: a Python list in; the bytes are those of the float32 result."""
    values = payload(kilobytes)
    items = values.tolist()
    return Workload(lambda: mx.nd.array(items).wait_to_read(), lambda: expect(mx.nd.array(items).asnumpy(), values))
