"""Graphs made at random: whatever the passes do to them, results and gradients are those of eager execution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine import storage
from refengine.graph import fusion

SHAPE = (3, 8, 32, 24)
UNARY = ('relu', 'tanh', 'sigmoid', 'square', 'negative', 'abs', 'sin', 'softsign', 'BlockGrad', 'identity')
BINARY = ('elemwise_add', 'elemwise_mul', 'broadcast_maximum', 'elemwise_sub')


class Random(mx.gluon.HybridBlock):
    """A graph of some forty calls; every value may be read any number of times, also as another view of its memory."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = seed
        with self.name_scope():
            self.weight = self.params.get('weight', shape=(8, 8, 3, 3), init=mx.init.Uniform(0.1))
            self.vector = self.params.get('vector', shape=(8,), init=mx.init.Uniform(1))
            for name in ('gamma', 'beta', 'mean', 'var'):
                start = 'ones' if name in ('gamma', 'var') else 'zeros'
                req = 'null' if name in ('mean', 'var') else 'write'
                setattr(self, name, self.params.get(name, shape=(8,), init=start, grad_req=req))

    def hybrid_forward(self, F: Any, x: Any, y: Any, weight: Any, vector: Any, gamma: Any, beta: Any, mean: Any,
                       var: Any) -> Any:
        random = np.random.default_rng(self._seed)
        values = [x, y]

        def pick() -> Any:
            return values[int(random.integers(max(0, len(values) - 4), len(values)))]

        for _ in range(40):
            kind = random.integers(0, 14)
            a = pick()
            if kind < 4:
                a = getattr(F, random.choice(UNARY))(a)
            elif kind < 7:
                a = getattr(F, random.choice(BINARY))(a, pick())
            elif kind == 7:
                a = a * 0.7 + 0.1
            elif kind == 8:
                a = F.Convolution(a, weight, kernel=(3, 3), pad=(1, 1), num_filter=8, no_bias=True)
            elif kind == 9:
                a = F.BatchNorm(a, gamma, beta, mean, var, fix_gamma=False)
            elif kind == 10:
                a = F.reshape(F.tanh(F.Flatten(a)) if random.integers(2) else F.Flatten(a), shape=SHAPE)
            elif kind == 11:
                a = F.broadcast_add(a, F.reshape(vector, shape=(1, 8, 1, 1)))
            elif kind == 12:
                a = F.broadcast_sub(a, F.mean(a, axis=1, keepdims=True))
            else:
                a = F.transpose(F.relu(F.transpose(a, axes=(0, 2, 3, 1))), axes=(0, 3, 1, 2))
            values.append(F.clip(a, a_min=-3, a_max=3) if random.integers(3) == 0 else a)
        if random.integers(2):
            return values[-1], F.Flatten(values[-2])
        return F.Activation(values[-1] + values[-3], act_type='tanh'), values[-2]


@pytest.mark.parametrize('static', [False, True])
@pytest.mark.parametrize('seed', range(8))
def test_random_graphs(seed: int, static: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion, 'LEAST', 0)
    monkeypatch.setattr(storage, 'LARGE', 1024)
    net = Random(seed)
    mx.random.seed(seed)
    net.initialize()
    random = np.random.default_rng(seed)
    data = [random.uniform(-1, 1, SHAPE).astype('float32') for _ in range(2)]
    if seed % 2:        # channels last in memory
        data = [np.ascontiguousarray(d.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2) for d in data]
    inputs = [mx.nd.zeros(SHAPE) for _ in data]
    for array, values in zip(inputs, data, strict=True):
        array._data = values
        array.attach_grad()
    states = {name: p.data().copy() for name, p in net.collect_params().items()}

    def run(train: bool) -> list[np.ndarray]:
        for name, parameter in net.collect_params().items():
            parameter.set_data(states[name])
        plain = [r.asnumpy() for r in net(*inputs)]
        with mx.autograd.record(train_mode=train):
            results = net(*inputs)
        mx.autograd.backward(list(results))
        return [*plain, *[r.asnumpy() for r in results], *[a.grad.asnumpy() for a in inputs],
                *[p.grad().asnumpy() for p in net.collect_params().values() if p.grad_req != 'null'],
                *[p.data().asnumpy() for p in net.collect_params().values()]]

    want = {train: run(train) for train in (True, False)}
    net.hybridize(static_alloc=static)
    for _ in range(3):
        for train in (True, False):
            for place, (a, b) in enumerate(zip(run(train), want[train], strict=True)):
                np.testing.assert_array_equal(a, b, err_msg=f'{place}')
