"""Planned blocks: nothing overlaps that lives at the same time, and kernels write where the plan says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine import dispatch
from refengine.graph.code import Seen
from refengine.graph.places import Places, overwritable, place, takes_out
from refengine.graph.program import Program, Step
from refengine.op import registry
from refengine.samples import Sample, every

nn = mx.gluon.nn
ADD, RESHAPE, RELU = registry['elemwise_add'], registry['reshape'], registry['relu']


def seen_all(count: int, shape: tuple[int, ...] = (4, 8)) -> dict[int, Seen]:
    """Arrays of one shape in all slots."""
    return {slot: Seen(np.zeros(shape, np.float32)) for slot in range(count)}


def test_the_smallest_gap_that_fits() -> None:
    spans = {0: (0, 9), 1: (0, 2), 2: (0, 9), 3: (0, 1), 4: (0, 9), 5: (3, 4)}
    sizes = {0: 640, 1: 512, 2: 448, 3: 384, 4: 320, 5: 256}
    offsets = place(spans, sizes)
    assert [offsets[s] for s in range(5)] == [0, 640, 1152, 1600, 1984]
    assert offsets[5] == 1600           # where 3 was, not in the larger gap that 1 left


def test_random_lives_never_overlap() -> None:
    random = np.random.default_rng(0)
    for _ in range(50):
        first = random.integers(0, 40, 30)
        spans = {i: (int(f), int(f + n)) for i, (f, n) in enumerate(zip(first, random.integers(0, 12, 30)))}
        sizes = {i: int(n) * 64 for i, n in enumerate(random.integers(1, 50, 30))}
        offsets = place(spans, sizes)
        for a in spans:
            for b in range(a):
                if spans[a][0] <= spans[b][1] and spans[b][0] <= spans[a][1]:
                    assert offsets[a] >= offsets[b] + sizes[b] or offsets[b] >= offsets[a] + sizes[a]


def test_a_view_keeps_the_memory_of_its_operand() -> None:
    steps = [Step(ADD, 'a', {}, (0, 1), (2,)), Step(RESHAPE, 'v', {}, (2,), (3,)), Step(ADD, 'b', {}, (0, 1), (4,)),
             Step(ADD, 'c', {}, (3, 4), (5,)), Step(ADD, 'd', {}, (5, 0), (6,))]
    seen = seen_all(7)
    seen[3].alias = 2
    found = Places(Program([], 7, [0, 1], steps, [6]), seen, {6}, {0, 1}, planned=True)
    assert found.copies == set()
    assert found.buffers[2] != found.buffers[4]         # 2 lives on in the view 3
    assert found.spans[2] == (0, 4)                     # and in what is written over it
    assert found.over == {5: 3}                         # the result of all is no place that is used again


def test_nothing_is_written_over_what_a_view_shows() -> None:
    steps = [Step(ADD, 'a', {}, (0, 1), (2,)), Step(RESHAPE, 'v', {}, (2,), (3,)), Step(RELU, 'r', {}, (2,), (4,)),
             Step(ADD, 'c', {}, (3, 4), (5,))]
    seen = seen_all(6)
    seen[3].alias = 2
    found = Places(Program([], 6, [0, 1], steps, [5]), seen, {5}, {0, 1}, planned=True)
    assert 4 not in found.over
    assert found.buffers[4] != found.buffers[2]


@pytest.mark.parametrize('kept', [set(), {2}])
def test_views_of_inputs(kept: set[int]) -> None:
    steps = [Step(RESHAPE, 'v', {}, (0,), (2,)), Step(ADD, 'a', {}, (2, 1), (3,)), Step(RESHAPE, 'h', {}, (0,), (4,))]
    seen = seen_all(5)
    seen[2].alias = seen[4].alias = 0
    found = Places(Program([], 5, [0, 1], steps, [3, 4]), seen, {3, 4, *kept}, {0, 1}, planned=True)
    assert found.copies == {4, *kept}       # results and what backward reads must not change with the input


def residual() -> Any:
    """A small network with everything that a planned graph has."""
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, padding=1), nn.BatchNorm(), nn.Activation('relu'), nn.MaxPool2D(2), nn.Conv2D(16, 3),
            nn.BatchNorm(), nn.Activation('relu'), nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(10))
    net.initialize(mx.init.Xavier())
    return net


@pytest.mark.parametrize('fusion', ['0', '1'])
def test_whole_networks(fusion: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('MXNET_USE_FUSION', fusion)
    x = mx.nd.array(np.random.default_rng(0).uniform(-1, 1, (4, 3, 24, 24)))
    net = residual()

    def step() -> list[np.ndarray]:
        with mx.autograd.record():
            result = net(x)
            loss = mx.nd.softmax_cross_entropy(result, mx.nd.array([1, 2, 3, 4]))
        loss.backward()
        return [net(x).asnumpy(), result.asnumpy(), *[p.grad().asnumpy() for p in net.collect_params().values()
                                                      if p.grad_req != 'null']]

    states = {name: p.data().copy() for name, p in net.collect_params().items() if net(x) is not None}
    want = step()
    net.hybridize(static_alloc=True)
    for _ in range(3):
        for name, p in net.collect_params().items():
            p.set_data(states[name])
        assert all(a.tobytes() == b.tobytes() for a, b in zip(step(), want, strict=True))
    (trace,) = net._cache.traces.values()
    plans = list(trace.graph.plans.values())
    compiled = [c for p in plans for c in (p._plain, p._recorded, *[b._compiled for b in p._backwards.values()])
                if c is not None]
    assert len(compiled) == 3
    for one in compiled:
        found = one.places
        assert found.buffers
        items = [(*found.spans[s], found.buffers[s], found.buffers[s] + found.sizes[s]) for s in found.spans]
        assert not [1 for i, a in enumerate(items) for b in items[:i]
                    if a[0] <= b[1] and b[0] <= a[1] and a[2] < b[3] and b[2] < a[3]]
        buffers = one.buffers()
        one.spare(buffers)
        assert one.buffers() is buffers
        assert all(b.ctypes.data % 64 == 0 for b in buffers)


def test_recorded_runs_have_buffers_of_their_own() -> None:
    net = residual()
    net.hybridize(static_alloc=True)
    x, y = (mx.nd.array(np.random.default_rng(s).uniform(-1, 1, (4, 3, 24, 24))) for s in (0, 1))
    for a in (x, y):
        a.attach_grad()

    def gradients(order: str) -> list[np.ndarray]:
        with mx.autograd.record(train_mode=False):
            first, second = net(x).sum(), net(y).sum()
        for one in (first, second) if order == 'forward' else (second, first):
            one.backward()
        return [x.grad.asnumpy(), y.grad.asnumpy()]

    want = gradients('forward')
    for _ in range(3):
        for order in ('forward', 'backward'):
            assert all(np.array_equal(a, b) for a, b in zip(gradients(order), want))


# ---- kernels that write into a given array --------------------------------------------------------------------------

GIVEN = [s for s in every() if takes_out(s.operator) and not s.operator.source]
LARGE: dict[str, tuple[tuple[tuple[int, ...], ...], dict[str, Any]]] = {
    'Convolution': (((2, 6, 9, 9), (8, 6, 3, 3), (8,)), {'kernel': (3, 3), 'num_filter': 8}),
    'FullyConnected': (((5, 6), (8, 6), (8,)), {'num_hidden': 8}),
    'BatchNorm': (((2, 6, 9, 9), (6,), (6,), (6,), (6,)), {}),
    'Pooling': (((2, 6, 9, 9),), {'kernel': (3, 3), 'stride': (2, 2)}),
    'Activation': (((2, 6, 9, 9),), {'act_type': 'relu'}),
    'softmax': (((5, 70),), {}),
    'log_softmax': (((5, 70),), {}),
    'elemwise_add': (((5, 70), (5, 70)), {}),
    'dot': (((5, 70), (70, 3)), {}),
    '_relu_backward': (((5, 70), (5, 70)), {}),
    '_conv_backward_data': (((2, 8, 9, 9), (8, 6, 3, 3)), {'kernel': (3, 3), 'pad': (1, 1),
                                                             'data_shape': (2, 6, 9, 9)}),
    '_batch_norm_backward': (((2, 6, 9, 9), (2, 6, 9, 9), (6,), (6,), (6,)), {'axis': 1, 'eps': 1e-3}),
}


def called(op: Any, arrays: Any, params: dict[str, Any], **more: Any) -> list[Any]:
    """All results of a body."""
    more.update({'rng': np.random.default_rng(7)} if 'rng' in op.injected else {})
    token = dispatch._error_state.set(dispatch._ignored)
    try:
        result = op.forward(np, *arrays, **params, **more)
    finally:
        dispatch._error_state.reset(token)
    return list(result) if isinstance(result, tuple | list) else [result]


def check(op: Any, arrays: list[np.ndarray], params: dict[str, Any]) -> Any:
    """The results with and without a given array are the same, also when that array is an operand."""
    want = called(op, [a.copy() for a in arrays], params)
    seen = Seen(want[0])
    out = seen.empty()
    found = called(op, [a.copy() for a in arrays], params, out=out)
    assert all(np.array_equal(a, b, equal_nan=a.dtype.kind == 'f') for a, b in zip(found, want, strict=True))
    step = Step(op, op.name, params, range(len(arrays)), range(len(arrays), len(arrays) + len(want)))
    for position in overwritable(step):
        operands = [a.copy() for a in arrays]
        if Seen(operands[position]).like(seen):
            over = called(op, operands, params, out=operands[position])
            assert all(np.array_equal(a, b, equal_nan=a.dtype.kind == 'f') for a, b in zip(over, want, strict=True))
    for position in range(len(arrays)):         # and what is no place for it is not taken
        operands = [a.copy() for a in arrays]
        if position not in overwritable(step) and Seen(operands[position]).like(seen) and op.name in LARGE:
            spared = called(op, operands, params, out=operands[position])
            assert np.array_equal(spared[0], want[0])
    return found[0] is out


@pytest.mark.parametrize('sample', GIVEN, ids=lambda s: s.name)
def test_results_in_a_given_array(sample: Sample) -> None:
    op = sample.operator
    check(op, sample.arrays, op.parse(sample.params))


@pytest.mark.parametrize('name', LARGE)
def test_the_array_is_taken(name: str) -> None:
    op = registry[name]
    shapes, params = LARGE[name]
    random = np.random.default_rng(0)
    arrays = [random.uniform(0.5, 1.5, s).astype('float32') for s in shapes]
    assert check(op, arrays, op.parse(params))
    if len(shapes[0]) == 4:
        turned = [np.ascontiguousarray(a.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2) if a.shape == shapes[0] else a
                  for a in arrays]
        assert check(op, turned, op.parse(params))
    half = [a.astype('float16') if i == 0 or name in ('Convolution', 'FullyConnected', 'elemwise_add') else a
            for i, a in enumerate(arrays)]
    if name not in ('dot', '_relu_backward', '_conv_backward_data', '_batch_norm_backward'):
        check(op, half, op.parse(params))
