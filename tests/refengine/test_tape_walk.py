"""The walk back on graphs of all forms against derivatives that are followed forward, in double precision."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from refengine import MXNetError, autograd, nd, tape, tape_walk


class Dual:
    """A value with its derivatives by every variable: differentiation that knows nothing of a tape."""

    def __init__(self, value, parts):
        self.value, self.parts = value, parts

    def combined(self, value, own, other=None, its=None):
        parts = {k: own * v for k, v in self.parts.items()}
        for k, v in (other.parts if other is not None else {}).items():
            parts[k] = parts.get(k, 0) + its * v
        return Dual(value, parts)


def _step(random, arrays, duals):
    """One random operation on arrays and on duals alike."""
    i, j = random.integers(len(arrays), size=2)
    a, b, p, q = arrays[i], arrays[j], duals[i], duals[j]
    kind = random.integers(8)
    if kind == 0:
        return a + b, p.combined(p.value + q.value, 1.0, q, 1.0)
    if kind == 1:
        return a * b, p.combined(p.value * q.value, q.value, q, p.value)
    if kind == 2:
        return a - b, p.combined(p.value - q.value, 1.0, q, -1.0)
    if kind == 3:
        return nd.tanh(a), p.combined(np.tanh(p.value), 1 - np.tanh(p.value) ** 2)
    if kind == 4:
        return a * 0.5, p.combined(p.value * 0.5, 0.5)
    if kind == 5:
        return 1 - a, p.combined(1 - p.value, -1.0)
    if kind == 6:       # several outputs, of which one is used
        return nd.split(nd.concat(a, b, dim=0), num_outputs=2, axis=0)[1], q
    return a / (b * b + 2), p.combined(p.value / (q.value ** 2 + 2), 1 / (q.value ** 2 + 2), q,
                                       -2 * q.value * p.value / (q.value ** 2 + 2) ** 2)


@pytest.mark.parametrize('seed', range(40))
@pytest.mark.parametrize('create_graph', [False, True])
def test_random_graphs(seed, create_graph):
    random = np.random.default_rng(seed)
    values = [random.uniform(-1, 1, 3) for _ in range(3)]
    variables = [nd.array(v, dtype='float64') for v in values]
    for index, variable in enumerate(variables):
        variable.attach_grad('null' if index == 2 and seed % 3 == 0 else 'write')
    duals = [Dual(v, {i: np.ones(3)}) for i, v in enumerate(values)]
    arrays = list(variables)
    with autograd.record():
        for _ in range(int(random.integers(1, 14))):
            array, dual = _step(random, arrays, duals)
            arrays.append(array)
            duals.append(dual)
        heads = [arrays[-1], arrays[int(random.integers(3, len(arrays)))]] if len(arrays) > 4 else [arrays[-1]]
        heads = list({id(h): h for h in heads}.values())
        picked = [next(i for i, a in enumerate(arrays) if a is h) for h in heads]
        expected = {k: sum(duals[i].parts.get(k, 0) for i in picked) for k in range(3)}
        reached = [k for k in range(3) if any(k in duals[i].parts for i in picked)
                   and variables[k].grad_req == 'write']
        if not reached:
            return
        if create_graph:
            found = autograd.grad(heads, [variables[k] for k in reached], create_graph=True)
        else:
            autograd.backward(heads)
            found = [variables[k].grad for k in reached]
    for k, gradient in zip(reached, found):
        np.testing.assert_allclose(gradient.asnumpy(), expected[k], rtol=1e-9, atol=1e-12)


def test_a_chain_and_its_branching_end():
    x = nd.array([0.3])
    x.attach_grad()
    with autograd.record():
        a = x * 2
        y = a * a
        for _ in range(5):
            y = y * y + 1
            y = nd.tanh(y)
    nodes, leaves, chain = tape_walk.reachable([y._node])
    assert len(nodes) == len({id(n) for n in nodes})
    assert [n.sequence for n in nodes] == sorted((n.sequence for n in nodes), reverse=True)
    assert leaves == [x._node]
    assert chain
    with autograd.record():
        z = nd.tanh(x * 2 + nd.exp(x))
    nodes, leaves, chain = tape_walk.reachable([z._node])
    assert not chain
    assert [n.op.name for n in nodes][:2] == ['tanh', 'broadcast_add']
    assert leaves == [x._node]


def test_a_freed_part_is_found_in_chains_and_branches():
    for both in (False, True):
        x = nd.ones(2)
        x.attach_grad()
        with autograd.record():
            parts = nd.split(x * 1, num_outputs=2, axis=0)
            freed = parts[0] * 3
            later = nd.exp(parts[1]) + (nd.exp(freed) if both else 0)
        freed.backward()
        with pytest.raises(MXNetError, match='freed by an earlier backward'):
            later.backward()


def test_threads_add_and_record_side_by_side():
    """Small operations share one quiet state of numpy; another thread in it must not disturb them."""
    wrong = []

    def work(number):
        x = nd.array([float(number), 3e38])
        x.attach_grad()
        for _ in range(300):
            with autograd.record():
                y = (x + x) * x
            y.backward()
            if y.asnumpy()[0] != 2.0 * number * number or x.grad.asnumpy()[0] != 4.0 * number:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert not tape.recorders


def test_an_overflow_does_not_warn_and_numpy_still_does():
    x = nd.array([3e38])
    assert (x + x).asnumpy()[0] == (x * 2.0).asnumpy()[0] == (1e39 * x).asnumpy()[0] == np.inf
    with pytest.warns(RuntimeWarning, match='overflow'):
        np.float32(3e38) + np.float32(3e38)


def test_recording_is_seen_where_and_when_it_is():
    assert not tape.recorders
    with autograd.record():
        assert len(tape.recorders) == 1
        with autograd.pause():
            assert not tape.recorders
            with autograd.record(train_mode=False):
                assert autograd.is_recording()
                assert not autograd.is_training()
        seen = []
        thread = threading.Thread(target=lambda: seen.append(autograd.is_recording()))
        thread.start()
        thread.join()
        assert seen == [False]
    assert not tape.recorders


def test_a_function_is_differentiated_twice():
    class Cube(autograd.Function):
        def forward(self, x):
            self.save_for_backward(x)
            return x * x * x

        def backward(self, dy):
            x, = self.saved_tensors
            return dy * 3 * x * x

    x = nd.array([2.0, -1.0])
    x.attach_grad()
    with autograd.record():
        slope = autograd.grad(Cube()(x), x, create_graph=True)
    slope.backward()
    assert slope.asnumpy().tolist() == [12, 3]
    assert x.grad.asnumpy().tolist() == [12, -6]
