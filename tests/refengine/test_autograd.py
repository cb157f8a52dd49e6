"""The tape: what is kept, what is freed, threads, lazy gradients, second derivatives."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

from refengine import MXNetError, autograd, nd, op, tape


def variable(*values):
    x = nd.array(values)
    x.attach_grad()
    return x


def test_backward_frees_what_was_kept():
    x = variable(1.0, 2.0)
    with autograd.record():
        y = nd.exp(x * x)
    kept = y._node
    y.backward()
    assert not kept.alive
    assert (kept.inputs, kept.outputs, kept.parents) == ((), (), ())
    with pytest.raises(MXNetError, match='not in a computational graph'):
        y.backward()


def test_a_partly_freed_graph_is_refused():
    """A gradient that lacks the share of a freed part would be silently wrong."""
    x, w = variable(1.0), variable(2.0)
    with autograd.record():
        y = x * 2
        z = y * w
    y.backward()
    with pytest.raises(MXNetError, match='freed by an earlier backward'):
        z.backward()


def test_an_unused_graph_holds_no_memory():
    gc.collect()
    gc.disable()
    try:
        x = variable(1.0)
        with autograd.record():
            y = nd.exp(x)
        node = y._node
        probe = weakref.ref(node.outputs[0])
        del y, node
        assert probe() is None      # without a collection: the tape has no cycles
    finally:
        gc.enable()


def test_a_long_chain_is_walked_and_dropped_without_recursion():
    x = variable(1.0)
    with autograd.record():
        y = x
        for _ in range(50000):
            y = y + 1
    y.backward()
    assert x.grad.asscalar() == 1
    with autograd.record():
        y = x
        for _ in range(50000):
            y = y + 1
    del y


@pytest.mark.inline_engine
def test_each_gradient_is_computed_once(monkeypatch):
    calls = []
    sine = op.get('sin')
    original = sine.grad
    monkeypatch.setattr(sine, 'grad', lambda *args: calls.append(1) or original(*args))
    x = variable(0.5)
    with autograd.record():
        y = nd.sin(x)
        z = y * y + y * 3 + y
    z.backward()
    assert calls == [1]


@pytest.mark.inline_engine
def test_a_lazy_gradient_is_computed_only_for_those_who_want_it(monkeypatch):
    asked = []
    product = op.get('elemwise_mul')

    def lazy(F, ograds, inputs, outputs, params):
        return (lambda: asked.append('lhs') or ograds[0] * inputs[1],
                lambda: asked.append('rhs') or ograds[0] * inputs[0])

    monkeypatch.setattr(product, 'grad', lazy)
    x, constant, still = variable(3.0), nd.array([2.0]), nd.array([5.0])
    still.attach_grad('null')
    with autograd.record():
        y = nd.elemwise_mul(x, constant) + nd.elemwise_mul(x, still)
    y.backward()
    assert asked == ['lhs', 'lhs']
    assert x.grad.asscalar() == 7


def test_a_shared_output_gradient_is_not_overwritten():
    """The gradient of a sum is handed to both operands: adding to one of them must not change the other."""
    a, b = variable(1.0, 1.0), variable(2.0, 2.0)
    with autograd.record():
        s = a + b
        y = s * 2 + a * 3
    y.backward()
    assert a.grad.asnumpy().tolist() == [5, 5]
    assert b.grad.asnumpy().tolist() == [2, 2]


def test_gradient_buffers_keep_their_identity():
    buffer = nd.zeros(2)
    raw = buffer._data
    x = nd.ones(2)
    autograd.mark_variables([x], [buffer])
    for _ in range(2):
        with autograd.record():
            y = x * 3
        y.backward()
    assert x._grad is buffer
    assert buffer._data is raw
    assert raw.tolist() == [3, 3]


@pytest.mark.inline_engine
def test_gradients_go_into_views_of_a_flat_buffer():
    flat = np.zeros(5, 'float32')
    first, second = nd.NDArray(flat[:2]), nd.NDArray(flat[2:])
    x, w = nd.ones(2), nd.ones(3)
    autograd.mark_variables([x, w], [first, second], ['write', 'add'])
    for _ in range(2):
        with autograd.record():
            y = (x * 2).sum() + (w * 3).sum()
        y.backward()
    assert flat.tolist() == [2, 2, 6, 6, 6]


def test_freshness_is_set_by_backward_and_can_be_cleared():
    x, unused = variable(1.0), variable(1.0)
    assert not x._fresh_grad
    with autograd.record():
        y = x * 2
    assert not x._fresh_grad
    y.backward()
    assert x._fresh_grad
    assert not unused._fresh_grad
    x._fresh_grad = False
    assert not x._fresh_grad


def test_threads_record_independently():
    errors = []

    def work(k):
        for _ in range(50):
            x = variable(float(k))
            if autograd.is_recording():
                errors.append('recording leaked into a thread')
            with autograd.record():
                y = x * x * x
            y.backward()
            if x.grad.asscalar() != 3 * k * k:
                errors.append((k, x.grad.asscalar()))

    with autograd.record():
        threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert errors == []


def test_third_derivative():
    x = variable(2.0)
    with autograd.record():
        y = x * x * x * x
        first = autograd.grad(y, x, create_graph=True, retain_graph=True)
        second = autograd.grad(first, x, create_graph=True, retain_graph=True)
    second.backward()
    assert first.asscalar() == 32
    assert second.asscalar() == 48
    assert x.grad.asscalar() == 48


@pytest.mark.inline_engine
def test_recording_state_survives_an_error_in_backward(monkeypatch):
    monkeypatch.setattr(op.get('sin'), 'grad', lambda *args: 1 / 0)
    x = variable(1.0)
    with autograd.record():
        y = nd.sin(x)
        with pytest.raises(MXNetError, match='division by zero'):
            y.backward()
        assert (autograd.is_recording(), autograd.is_training()) == (True, True)
    assert not tape.state.recording


def test_a_refused_write_leaves_the_array():
    x = variable(1.0, 2.0)
    for write in (lambda: x.__iadd__(1), lambda: x.__setitem__(0, 5), lambda: nd.sqrt(x, out=x),
                  lambda: nd.zeros(2).copyto(x)):
        with autograd.record(), pytest.raises(MXNetError, match='already in a computational graph'):
            write()
    assert x.asnumpy().tolist() == [1, 2]
