"""Dispatch: small operations, where the engine's own cost is nearly all of the time.

Each call repeats the operation and waits once at its end, so that engines which work ahead are not charged a wait for
every single operation.

Runs in the engine's interpreter: Python 3.8, standard library and numpy >= 1.17 only.
"""

import numpy as np

from conformance.suite import kit
from perfsuite.record import Workload, WrongResult, record

REPEATS = 200
SIZES = {"8": {"elements": 8}}


def repeats(elements):
    """Operations per call."""
    return REPEATS


def expect(got, want):
    """Raise WrongResult unless the array holds the wanted numbers."""
    if not np.allclose(got.asnumpy(), want):
        raise WrongResult("expected %r, got %r" % (want, got.asnumpy()))


def operands(mx, elements):
    """Two small float32 arrays and their numpy originals."""
    a, b = np.arange(elements, dtype="float32"), np.linspace(1, 2, elements).astype("float32")
    return kit.array(mx, a), kit.array(mx, b), a, b


@record("dispatch", "call", repeats, SIZES, "8")
def small_add(mx, elements):
    """``a + b`` of 8 floats."""
    x, y, a, b = operands(mx, elements)

    def call():
        for _ in range(REPEATS):
            z = x + y
        z.wait_to_read()

    return Workload(call, lambda: expect(x + y, a + b))


@record("dispatch", "call", repeats, SIZES, "8")
def small_chain_backward(mx, elements):
    """Ten multiplications under record and their backward pass; counted as one call per chain."""
    x, y, _, b = operands(mx, elements)
    x.attach_grad()

    def chain():
        with mx.autograd.record():
            z = x
            for _ in range(10):
                z = z * y
        z.backward()

    def call():
        for _ in range(REPEATS):
            chain()
        x.grad.wait_to_read()

    def verify():
        chain()
        expect(x.grad, b.astype("float64") ** 10)

    return Workload(call, verify)


@record("dispatch", "call", repeats, SIZES, "8")
def small_record_backward(mx, elements):
    """One addition under record and its backward pass; counted as one call for the three of them."""
    x, y, _, _ = operands(mx, elements)
    x.attach_grad()

    def step():
        with mx.autograd.record():
            z = x + y
        z.backward()

    def call():
        for _ in range(REPEATS):
            step()
        x.grad.wait_to_read()

    def verify():
        step()
        expect(x.grad, np.ones(elements))

    return Workload(call, verify)
