"""Shapes of recurrent layers from the shape of the data alone."""

from __future__ import annotations

from typing import Any

import pytest

import refengine as mx
from refengine import gluon

SIZES = {'LSTM': 4, 'GRU': 3, 'RNN': 1}
var = mx.sym.var


@pytest.mark.parametrize(('mode', 'total'), [('lstm', 736), ('gru', 552), ('rnn_tanh', 184)])
def test_the_operator(mode: str, total: int) -> None:
    graph = mx.sym.RNN(var('data'), mode=mode, state_size=4, num_layers=2, bidirectional=True, name='r',
                       state_outputs=True)
    states = [(4, 2, 4)] * (2 if mode == 'lstm' else 1)
    assert graph.infer_shape(data=(5, 2, 3)) == ([(5, 2, 3), (total,), *states], [(5, 2, 8), *states], [])
    assert graph.simple_bind(mx.cpu(), data=(5, 2, 3)).arg_dict['r_parameters'].shape == (total,)


@pytest.mark.parametrize(('data', 'parameters', 'state', 'out'), [
    ((5, 2, 0), (), (4, 2, 4), (5, 2, 8)), ((0, 2, 3), (736,), (4, 2, 4), (0, 2, 8)),
    ((5, 0, 3), (736,), (4, 0, 4), (5, 0, 8))])
def test_what_follows_from_some_dimensions(data: Any, parameters: Any, state: Any, out: Any) -> None:
    graph = mx.sym.RNN(var('data'), mode='lstm', state_size=4, num_layers=2, bidirectional=True, state_outputs=True)
    assert graph.infer_shape_partial(data=data) == ([data, parameters, state, state], [out, state, state], [])


def test_projections_and_lengths() -> None:
    graph = mx.sym.RNN(var('data'), mode='lstm', state_size=4, num_layers=1, projection_size=2)
    assert graph.infer_shape(data=(5, 2, 3))[0] == [(5, 2, 3), (120,), (1, 2, 2), (1, 2, 4)]
    graph = mx.sym.RNN(var('data'), mode='gru', state_size=4, num_layers=1, use_sequence_length=True)
    assert graph.infer_shape(data=(5, 2, 3))[0] == [(5, 2, 3), (108,), (1, 2, 4), (2,)]


@pytest.mark.parametrize('layout', ['TNC', 'NTC'])
@pytest.mark.parametrize(('layers', 'bidirectional'), [(1, False), (2, False), (1, True), (2, True)])
@pytest.mark.parametrize('kind', SIZES)
def test_joined_parameters_of_layers(kind: str, layers: int, bidirectional: bool, layout: str) -> None:
    net = getattr(gluon.rnn, kind)(4, num_layers=layers, bidirectional=bidirectional, layout=layout, prefix='n_')
    graph, gates = net(var('data')), SIZES[kind] * 4
    arguments, (out,), _ = graph.infer_shape(data=(5, 2, 3))
    assert out == (5, 2, 8 if bidirectional else 4)
    shapes = dict(zip(graph.list_arguments(), arguments, strict=True))
    for layer in range(layers):
        width = 3 if layer == 0 else 8 if bidirectional else 4
        for side in 'lr' if bidirectional else 'l':
            start = f'n_{side}{layer}_'
            assert [shapes[start + word] for word in ('i2h_weight', 'h2h_weight', 'i2h_bias', 'h2h_bias')] == [
                (gates, width), (gates, 4), (gates,), (gates,)]
    executor = graph.simple_bind(mx.cpu(), data=(5, 2, 3))
    assert executor.forward()[0].shape == out


def test_joined_parameters_inside_a_network() -> None:
    net = gluon.nn.HybridSequential(prefix='')
    net.add(gluon.nn.Embedding(10, 6), gluon.rnn.LSTM(4, num_layers=2), gluon.nn.Dense(7, flatten=False))
    graph = net(var('data'))
    arguments, outputs, _ = graph.infer_shape(data=(5, 2))
    assert outputs == [(5, 2, 7)]
    shapes = dict(zip(graph.list_arguments(), arguments, strict=True))
    assert next(shape for name, shape in shapes.items() if name.endswith('l0_i2h_weight')) == (16, 6)


def test_joined_lengths() -> None:
    a, b = mx.sym.reshape(var('a'), shape=(-1,)), mx.sym.reshape(var('b', shape=(0, 5)), shape=(-1,))
    total = mx.sym.Concat(a, b, dim=0) + var('total', shape=(16,))
    assert total.infer_shape_partial(a=(2, 3))[0][1] == (2, 5)
    assert total.infer_shape_partial()[0][:2] == [(), (0, 5)]
