"""The way back through recurrent layers in place gives what the recorded one gives."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from refengine import autograd, nd
from refengine.ops._rnn_cells import layout

KINDS: list[tuple[str, dict[str, Any]]] = [
    ('lstm', {}), ('gru', {}), ('rnn_tanh', {}), ('rnn_relu', {}), ('lstm', {'projection_size': 2}),
    ('lstm', {'lstm_state_clip_min': -0.2, 'lstm_state_clip_max': 0.2})]


def inputs(mode: str, layers: int, directions: int, extra: dict[str, Any]) -> list[Any]:
    rng = np.random.default_rng(5)
    out = extra.get('projection_size', 3)
    total = layout(mode, 2, 3, layers, directions, extra.get('projection_size'))[1]
    shapes = [(5, 4, 2), (total,), (layers * directions, 4, out)] + [(layers * directions, 4, 3)] * (mode == 'lstm')
    return [nd.array(rng.normal(size=shape) * 0.5, dtype='float64') for shape in shapes]


@pytest.mark.parametrize('lengths', [False, True])
@pytest.mark.parametrize(('layers', 'bidirectional'), [(1, False), (2, True)])
@pytest.mark.parametrize(('mode', 'extra'), KINDS)
def test_in_place_and_recorded(mode: str, extra: dict[str, Any], layers: int, bidirectional: bool,
                               lengths: bool) -> None:
    arrays = inputs(mode, layers, 2 if bidirectional else 1, extra)
    more = [nd.array([5, 3, 1, 4], dtype='int32')] if lengths else []
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        outputs = nd.RNN(*arrays, *more, mode=mode, state_size=3, num_layers=layers, bidirectional=bidirectional,
                         state_outputs=True, use_sequence_length=lengths, **extra)
        loss = (outputs[0] ** 3).sum() + sum((state * state).sum() for state in outputs[1:])
    recorded = autograd.grad(loss, arrays, create_graph=True, retain_graph=True)
    for _ in range(2):      # what was kept is not written over
        loss.backward(retain_graph=True)
        for array, gradient in zip(arrays, recorded, strict=True):
            assert np.abs(gradient.asnumpy()).max() > 1e-6
            assert np.allclose(array.grad.asnumpy(), gradient.asnumpy(), rtol=1e-9, atol=1e-11)


def test_half_precision_is_computed_in_single_precision() -> None:
    arrays = inputs('gru', 1, 1, {})
    found = []
    for kind in ('float64', 'float16'):
        given = [a.astype(kind) for a in arrays]
        for array in given:
            array.attach_grad()
        with autograd.record():
            y = nd.RNN(*given, mode='gru', state_size=3, num_layers=1)
        y.backward()
        assert y.dtype == given[0].grad.dtype == np.dtype(kind)
        found.append([a.grad.asnumpy().astype('float64') for a in given])
    for wide, narrow in zip(*found, strict=True):
        assert np.abs(wide - narrow).max() < 0.02


def test_a_step_costs_a_few_calls() -> None:
    """Back in place is many times faster than back through the recorded cells."""
    size = 16
    x = nd.array(np.random.default_rng(0).normal(size=(30, 4, size)))
    vector = nd.zeros(layout('lstm', size, size, 1, 1, None)[1])
    states = [nd.zeros((1, 4, size))] * 2
    x.attach_grad()

    def seconds(create_graph: bool) -> float:
        best = float('inf')
        for _ in range(4):
            with autograd.record():
                y = nd.RNN(x, vector, *states, mode='lstm', state_size=size, num_layers=1).sum()
            start = time.process_time()
            autograd.grad(y, [x], create_graph=create_graph)
            best = min(best, time.process_time() - start)
        return best

    assert seconds(False) < 0.5 * seconds(True)
