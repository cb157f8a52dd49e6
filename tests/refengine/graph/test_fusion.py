"""Chains of elementwise steps: one step, no arrays in between, the bits of eager execution, and less time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine import storage
from refengine.graph import blockwise, fusion
from refengine.graph.blockwise import Chain, elementwise
from refengine.graph.code import Seen
from refengine.graph.fusion import movable
from refengine.graph.program import Step
from refengine.op import operators, registry

LARGE = (3, 7, 61, 1021)         # 5 MB of float32, in no number of blocks


class Net(mx.gluon.HybridBlock):
    """A function as a block."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def hybrid_forward(self, F: Any, x: Any, *rest: Any) -> Any:
        return self._function(F, x, *rest)


def gelu(F: Any, x: Any) -> Any:
    """Seven elementwise operators behind one another."""
    return 0.5 * x * (1 + F.tanh(0.797 * (x + 0.045 * x * x * x)))


def array(shape: tuple[int, ...], seed: int = 0, dtype: str = 'float32', last: bool = False) -> Any:
    """Numbers of both signs, with the special ones among them; ``last`` keeps channels last in memory."""
    data = np.random.default_rng(seed).uniform(-2, 2, shape).astype(dtype)
    data.flat[::97] = 0.0
    data.flat[1::97] = -0.0
    data.flat[2::997] = np.nan
    data.flat[3::997] = np.inf
    data.flat[4::997] = -np.inf
    result = mx.nd.array(data, dtype=dtype)
    if last:
        result._data = np.ascontiguousarray(data.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    return result


def run(net: Any, arrays: list[Any], times: int = 1) -> list[Any]:
    """Results and gradients after some runs."""
    for a in arrays:
        a.attach_grad()
    for _ in range(times):
        result = net(*arrays)
        with mx.autograd.record():
            recorded = net(*arrays)
        recorded.backward()
    return [result.asnumpy(), recorded.asnumpy(), *[a.grad.asnumpy() for a in arrays]]


def equal(a: Any, b: Any) -> bool:
    """Equal bit for bit, but for the sign of NaN: numpy's own depends on the place in the array."""
    bits = f'u{a.itemsize}'
    return a.dtype == b.dtype and a.shape == b.shape and bool(
        ((a.view(bits) == b.view(bits)) | (np.isnan(a) & np.isnan(b))).all())


def same(first: list[Any], second: list[Any]) -> bool:
    """Equal arrays in both lists."""
    return all(equal(a, b) for a, b in zip(first, second, strict=True))


def compiled(net: Any) -> Any:
    """The compiled program of the last plan in inference."""
    (trace,) = net._cache.traces.values()
    return next(p for p in trace.graph.plans.values() if p._plain is not None)._plain


def backwards(net: Any) -> list[Any]:
    """The compiled ways back."""
    (trace,) = net._cache.traces.values()
    return [b._compiled for p in trace.graph.plans.values() for b in p._backwards.values() if b._compiled is not None]


@pytest.mark.parametrize('static', [False, True])
def test_a_chain_is_one_step(static: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    x = array(LARGE)
    want = run(Net(gelu), [x])
    net = Net(gelu)
    net.hybridize(static_alloc=static)
    assert same(run(net, [x], 3), want)
    assert [step.op.name for step in compiled(net).program.steps] == ['chain']
    (back,) = backwards(net)
    chained = len(back.program.steps)
    monkeypatch.setenv('MXNET_USE_FUSION', '0')
    plain = Net(gelu)
    plain.hybridize(static_alloc=static)
    assert same(run(plain, [x], 3), want)
    assert len(compiled(plain).program.steps) == 9
    (back,) = backwards(plain)
    assert chained <= len(back.program.steps) / 4


def test_small_arrays_are_left_alone() -> None:
    net = Net(gelu)
    net.hybridize()
    run(net, [array((4, 5))], 2)
    assert len(compiled(net).program.steps) == 9


def test_no_array_between_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    x = array((1 << 21,))

    def peak(fused: str) -> int:
        monkeypatch.setenv('MXNET_USE_FUSION', fused)
        net = Net(lambda F, x: F.sigmoid(x * 2) * F.exp(x) + F.sqrt(F.abs(x)))
        net.hybridize()
        for _ in range(2):
            net(x).wait_to_read()
        storage.peak_bytes(reset=True)
        start = storage.used_bytes()
        net(x)
        return storage.peak_bytes() - start

    size = x.size * 4
    assert size <= peak('1') <= size + 8 * 4 * blockwise.BLOCK
    assert peak('0') >= 2 * size


@pytest.mark.parametrize(('dtype', 'last'), [('float32', False), ('float64', False), ('float32', True)])
def test_bits_are_those_of_eager_execution(dtype: str, last: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion, 'LEAST', 0)
    def function(F: Any, x: Any, y: Any, z: Any) -> Any:
        a = F.relu(x * 2 + y)
        b = F.broadcast_maximum(a - z, 3 / (y * y + 1)) * F.erf(x)
        return F.where(x > y, a, b) * F.Activation(b, act_type='softrelu') - F.clip(a, a_min=-1, a_max=0.5)

    arrays = [array((3, 7, 61, 101), seed, dtype, last) for seed in range(3)]
    want = run(Net(function), arrays)
    for static in (False, True):
        net = Net(function)
        net.hybridize(static_alloc=static)
        assert same(run(net, arrays, 3), want)
        assert any(isinstance(step.op, Chain) for step in compiled(net).program.steps)


FUSED = [op for op in operators() if elementwise(op) and op.name not in ('where', '_relu_backward')]


@pytest.mark.parametrize('op', FUSED, ids=lambda op: op.name)
def test_every_elementwise_operator_in_blocks(op: Any) -> None:
    count = len(op.inputs)
    numbers = [np.random.default_rng(seed).uniform(0.1, 0.9, 70001).astype('float32') for seed in range(count)]
    params = op.parse({'act_type': 'tanh'} if op.name == 'Activation' else
                      {'a_min': 0.2, 'a_max': 0.7} if op.name == 'clip' else {'scalar': 0.3} if 'scalar' in op.params
                      else {})
    steps = [Step(op, op.name, params, range(count), [count]),
             Step(registry['_plus_scalar'], 'more', {'scalar': 1.0}, [count], [count + 1])]
    with np.errstate(all='ignore'):
        first = op.forward(np, *numbers, **params)
    values = [*numbers, first, first + np.float32(1)]
    chain = Chain(steps, [count, count + 1], {slot: Seen(v) for slot, v in enumerate(values)},
                  lambda step: lambda *a, **k: step.op.forward(np, *a, **step.params, **k))
    with np.errstate(all='ignore'):
        found = chain.forward(np, *numbers)
    assert same(list(found), [first, values[-1]])
    for index in (0, 1):
        for position in chain.may_overwrite(index):
            operands = [n.copy() for n in numbers]
            out = [None, None]
            out[index] = operands[position]
            with np.errstate(all='ignore'):
                again = chain.forward(np, *operands, out=out)
            assert again[index] is operands[position]
            assert same(list(again), [first, values[-1]])


def test_steps_move_only_where_nobody_notices() -> None:
    add, write = registry['elemwise_add'], registry['_advance_running']
    chain = [Step(add, 'a', {}, (0, 1), (4,)), Step(add, 'b', {}, (4, 2), (5,))]
    between = {'reads the result': Step(add, 'r', {}, (4, 1), (6,)),
               'reads something else': Step(add, 'o', {}, (2, 3), (6,)),
               'writes into an operand': Step(write, 'w', {}, (0, 3), (6,)),
               'writes elsewhere': Step(write, 'e', {}, (3, 1), (6,))}
    found = {name: movable([chain[0], step, chain[1]], {0, 2}) for name, step in between.items()}
    assert found == {'reads the result': False, 'reads something else': True, 'writes into an operand': False,
                     'writes elsewhere': True}


def test_arrays_in_another_order_are_taken_step_by_step() -> None:
    x = np.random.default_rng(0).uniform(-1, 1, (64, 512)).astype('float32')
    steps = [Step(registry['_mul_scalar'], 'm', {'scalar': 2.0}, [0], [1]), Step(registry['relu'], 'r', {}, [1], [2])]
    chain = Chain(steps, [2], {slot: Seen(x) for slot in range(3)},
                  lambda step: lambda *a, **k: step.op.forward(np, *a, **step.params, **k))
    turned = x.T.copy().T
    np.testing.assert_array_equal(chain.forward(np, turned), np.maximum(x * 2, 0))


def test_blocks_take_less_time() -> None:
    x = mx.nd.array(np.random.default_rng(0).uniform(-1, 1, 1 << 23).astype('float32'))
    fused, eager = Net(gelu), Net(gelu)
    fused.hybridize()
    times: dict[Any, list[float]] = {fused: [], eager: []}
    for turn in range(7):
        for net, found in times.items():
            start = time.process_time()
            net(x).wait_to_read()
            if turn > 1:
                found.append(time.process_time() - start)
    assert min(times[fused]) < 0.85 * min(times[eager])
