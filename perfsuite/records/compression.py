"""Gradient compression: the same exchange between two devices with and without the 2-bit codec, and the codec alone.

Bytes are those of the float32 gradient of one device, per call. The ratio (32 bits to 2) and the error (largest
difference between what the receiver gets and the exact sum, before the residual makes up for it) are reported as facts.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.20 only.
"""

import numpy as np

from conformance.suite import kit
from perfsuite.record import Workload, WrongResult, record

THRESHOLD = 0.5
SIZES = {"1M": {"elements": 1 << 20}, "4M": {"elements": 1 << 22}}
QUICK = {"64K": {"elements": 1 << 16}}
QUICK.update(SIZES)


def gradient_bytes(elements):
    """Bytes of one device's float32 gradient."""
    return 4 * elements


def gradient(elements):
    """Normally distributed values around the threshold, so that all three codes occur."""
    return np.random.RandomState(3).standard_normal(elements).astype("float32") * 0.4


def quantized(values):
    """What one device sends: the threshold with the sign of the value where the value reaches it, else zero."""
    return np.where(values >= THRESHOLD, THRESHOLD, np.where(values <= -THRESHOLD, -THRESHOLD, 0)).astype("float32")


def exchange(mx, elements, compressed):
    """A store of two devices, its gradients and targets, and the function that exchanges them once."""
    store = mx.kv.create("device")
    if compressed:
        store.set_gradient_compression({"type": "2bit", "threshold": THRESHOLD})
    contexts = kit.devices(mx, 2)
    values = gradient(elements)
    sent = [kit.array(mx, values, ctx) for ctx in contexts]
    received = [kit.array(mx, np.zeros(elements), ctx) for ctx in contexts]
    store.init("w", kit.array(mx, np.zeros(elements)))

    def call():
        store.push("w", sent)
        store.pull("w", received)
        for array in received:
            array.wait_to_read()

    return call, received, values


def exchange_workload(mx, elements, compressed):
    """The exchange as a workload; its check looks at a fresh store, since the residual remembers earlier calls."""
    call, _, values = exchange(mx, elements, compressed)
    want = 2 * (quantized(values) if compressed else values)

    def verify():
        fresh, received, _ = exchange(mx, elements, compressed)
        fresh()
        for array in received:
            if not np.allclose(array.asnumpy(), want, rtol=1e-6, atol=1e-6):
                raise WrongResult("exchange of %d elements: expected %r, got %r" % (
                    elements, want[:4], array.asnumpy()[:4]))

    facts = {"bits per value": 2 if compressed else 32, "ratio": 16 if compressed else 1,
             "largest error": float(np.abs(want - 2 * values).max())}
    return Workload(call, verify, facts)


@record("compression", "byte", gradient_bytes, QUICK, "64K")
def exchange_plain(mx, elements):
    """Push from and pull to two devices through the device store, uncompressed."""
    return exchange_workload(mx, elements, False)


@record("compression", "byte", gradient_bytes, QUICK, "64K")
def exchange_2bit(mx, elements):
    """Push from and pull to two devices through the device store, with 2-bit compression."""
    return exchange_workload(mx, elements, True)
