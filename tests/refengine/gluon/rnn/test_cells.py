"""What cells and layers say of themselves, how they are unrolled, what they refuse; compiled ones equal eager ones."""

from __future__ import annotations

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, gluon, nd
from refengine.gluon import contrib, rnn

X = nd.array(np.random.RandomState(0).randn(2, 3, 4))


def ready(cell):
    cell.initialize()
    return cell


def shapes(value):
    return [shapes(item) for item in value] if isinstance(value, list | tuple) else value.shape


@pytest.mark.parametrize(('make', 'text'), [
    (lambda: rnn.RNNCell(5), 'RNNCell(None -> 5, tanh)'), (lambda: rnn.LSTMCell(5, input_size=3), 'LSTMCell(3 -> 20)'),
    (lambda: rnn.GRUCell(5), 'GRUCell(None -> 15)'),
    (lambda: rnn.DropoutCell(0.3, axes=(1,)), 'DropoutCell(rate=0.3, axes=(1,))'),
    (lambda: rnn.ZoneoutCell(rnn.LSTMCell(5), 0.1, 0.2), 'ZoneoutCell(p_out=0.1, p_state=0.2, LSTMCell(None -> 20))'),
    (lambda: rnn.ResidualCell(rnn.GRUCell(5)), 'ResidualCell(GRUCell(None -> 15))'),
    (lambda: rnn.BidirectionalCell(rnn.GRUCell(5), rnn.GRUCell(5)),
     'BidirectionalCell(forward=GRUCell(None -> 15), backward=GRUCell(None -> 15))'),
    (lambda: contrib.rnn.LSTMPCell(5, 3), 'LSTMPCell(None -> 20 -> 3)'),
    (lambda: contrib.rnn.VariationalDropoutCell(rnn.GRUCell(5), 0.1, 0.2, 0.3),
     'VariationalDropoutCell(p_out = 0.3, p_state = 0.2)'),
    (lambda: contrib.rnn.Conv2DLSTMCell((3, 8, 8), 4, 3, 3), 'Conv2DLSTMCell(3 -> 16, tanh, NCHW)'),
    (lambda: contrib.rnn.Conv1DGRUCell((3, 8), 4, 3, 3), 'Conv1DGRUCell(3 -> 12, tanh, NCW)'),
    (lambda: rnn.RNN(5), 'RNN(None -> 5, TNC)'),
    (lambda: rnn.LSTM(5, 2, bidirectional=True, dropout=0.3, layout='NTC', input_size=3),
     'LSTM(3 -> 5, NTC, num_layers=2, dropout=0.3, bidirectional)'),
    (lambda: rnn.GRU(5), 'GRU(None -> 5, TNC)')])
def test_text(make, text):
    assert repr(make()) == text


def test_structural_names_of_layers_are_those_of_cells():
    """So that files of layers and of the stacks that they stand for can be exchanged."""
    layer = rnn.LSTM(5, 2, bidirectional=True, prefix='a_')
    names = list(layer._collect_params_with_prefix())
    assert names[:5] == ['_unfused.0.l_cell.i2h_weight', '_unfused.0.l_cell.h2h_weight', '_unfused.0.l_cell.i2h_bias',
                         '_unfused.0.l_cell.h2h_bias', '_unfused.0.r_cell.i2h_weight']
    assert next(iter(rnn.GRU(5)._collect_params_with_prefix())) == '_unfused.0.i2h_weight'
    assert list(layer.collect_params())[-1] == 'a_r1_h2h_bias'


@pytest.mark.parametrize('make', [lambda: rnn.LSTM(5, 2, bidirectional=True, layout='NTC'),
                                  lambda: rnn.GRU(5, 2, layout='NTC'), lambda: rnn.RNN(5, activation='tanh',
                                                                                       layout='NTC')])
def test_unfused(make):
    layer = ready(make())
    expected, last = layer(X, layer.begin_state(2))
    stack = layer._unfuse()
    outputs, states = stack.unroll(3, X, merge_outputs=True)
    np.testing.assert_allclose(outputs.asnumpy(), expected.asnumpy(), rtol=1e-5, atol=1e-6)
    assert sum(state.size for state in states) == sum(state.size for state in last)


@pytest.mark.parametrize('merge', [None, True, False])
@pytest.mark.parametrize('lengths', [None, [1, 3]])
@pytest.mark.parametrize('layout', ['NTC', 'TNC'])
@pytest.mark.parametrize('as_list', [False, True])
@pytest.mark.parametrize('make', [lambda: rnn.LSTMCell(5), lambda: rnn.BidirectionalCell(rnn.GRUCell(2),
                                                                                         rnn.RNNCell(3))])
def test_unrolling(make, merge, lengths, layout, as_list):
    inputs = [X[:, t] for t in range(3)] if as_list else X if layout == 'NTC' else nd.swapaxes(X, 0, 1)
    outputs, states = ready(make()).unroll(3, inputs, layout=layout, merge_outputs=merge,
                                           valid_length=None if lengths is None else nd.array(lengths))
    assert len(states) == 2
    if merge or (merge is None and lengths):
        assert outputs.shape == ((2, 3, 5) if layout == 'NTC' else (3, 2, 5))
    else:
        assert shapes(outputs) == [(2, 5)] * 3


class TestErrors:
    def test_wrong_lengths_and_layouts(self):
        cell = ready(rnn.LSTMCell(5))
        for length, inputs, layout in ((4, X, 'NTC'), (2, X, 'NTC'), (4, [X[:, 0]], 'NTC'), (3, X, 'NCT')):
            with pytest.raises(AssertionError, match=f'expected a sequence of {length} steps'):
                cell.unroll(length, inputs, layout=layout)
        with pytest.raises(AssertionError, match='layout must hold T'):
            cell.unroll(3, X, layout='XXC')
        with pytest.raises(AssertionError, match='inputs must be an NDArray, a Symbol'):
            cell.unroll(1, ['a'])

    def test_modified_cells(self):
        cell = ready(rnn.LSTMCell(5))
        rnn.ZoneoutCell(cell)
        with pytest.raises(AssertionError, match='After applying modifier cells'):
            cell.begin_state(2)
        with pytest.raises(AssertionError, match='is already modified. One cell cannot be modified twice'):
            rnn.ResidualCell(cell)

    def test_bidirectional_cells_have_no_steps(self):
        cell = rnn.BidirectionalCell(rnn.GRUCell(2), rnn.GRUCell(2))
        with pytest.raises(NotImplementedError, match='Bidirectional cannot be stepped. Please use unroll'):
            cell(X[:, 0], [])
        with pytest.raises(AssertionError, match="BidirectionalCell doesn't support zoneout since it doesn't support"):
            rnn.ZoneoutCell(cell)
        stack = rnn.SequentialRNNCell()
        stack.add(cell)
        with pytest.raises(AssertionError, match='cannot be stepped'):
            ready(stack)(X[:, 0], stack.begin_state(batch_size=2))
        with pytest.raises(AssertionError, match="doesn't support variational state dropout"):
            contrib.rnn.VariationalDropoutCell(stack, drop_states=0.5)

    def test_layers(self):
        with pytest.raises(AssertionError, match=r"Invalid layout NCT; must be one of \['TNC' or 'NTC'\]"):
            rnn.LSTM(5, layout='NCT')
        layer = ready(rnn.LSTM(5))
        with pytest.raises(ValueError, match=r'Invalid recurrent state shape. Expecting \(1, 3, 5\), got \(1, 4, 5\)'):
            layer(X, layer.begin_state(4))

    def test_convolutions(self):
        with pytest.raises(AssertionError, match=r'Only support odd number, get h2h_kernel= \(2, 2\)'):
            contrib.rnn.Conv2DLSTMCell((3, 8, 8), 4, 3, (2, 2))
        with pytest.raises(AssertionError, match='For 2D convolution, the convolution settings can only be'):
            contrib.rnn.Conv2DLSTMCell((3, 8, 8), 4, (3, 3, 3), 3)

    def test_dropout_rate(self):
        with pytest.raises(AssertionError, match='rate must be a number'):
            rnn.DropoutCell('a')


class TestRandomness:
    def test_variational_masks_hold_for_the_sequence(self):
        cell = ready(contrib.rnn.VariationalDropoutCell(
            rnn.RNNCell(64, 'relu', h2h_weight_initializer='zeros', i2h_bias_initializer='ones'), drop_outputs=0.5))
        with autograd.record():
            outputs, _ = cell.unroll(3, nd.zeros((1, 3, 8)), merge_outputs=True)
            again, _ = cell.unroll(3, nd.zeros((1, 3, 8)), merge_outputs=True)
        steps = outputs.asnumpy()[0]
        assert set(np.unique(steps)) == {0, 2}
        assert (steps == steps[0]).all()
        assert (outputs.asnumpy() != again.asnumpy()).any()

    def test_only_the_first_state_is_dropped(self):
        cell = ready(contrib.rnn.VariationalDropoutCell(rnn.LSTMCell(4), drop_states=0.999999))
        states = [nd.ones((2, 4)), nd.ones((2, 4))]
        with autograd.record():
            _, (_, memory) = cell(X[:, 0], states)
        cell.reset()
        free = cell.base_cell
        free._modified = False
        _, (_, expected) = free(X[:, 0], [nd.zeros((2, 4)), nd.ones((2, 4))])
        np.testing.assert_allclose(memory.asnumpy(), expected.asnumpy(), rtol=1e-6)

    def test_zoneout_keeps_old_values(self):
        cell = ready(rnn.ZoneoutCell(rnn.RNNCell(400, h2h_weight_initializer='zeros'), 0.5, 0.25))
        with autograd.record():
            outputs, states = cell.unroll(1, X[:, :1], begin_state=[nd.ones((2, 400)) * 7])
        assert 0.4 < (outputs[0].asnumpy() == 0).mean() < 0.6
        assert 0.15 < (states[0].asnumpy() == 7).mean() < 0.35
        assert not (cell.unroll(1, X[:, :1])[0][0].asnumpy() == 0).any()

    def test_dropout_between_layers(self):
        layer = ready(rnn.LSTM(5, 2, dropout=0.5))
        plain = layer(X).asnumpy()
        assert (plain == layer(X).asnumpy()).all()
        with autograd.record():
            assert (layer(X).asnumpy() != plain).any()


class InNet(gluon.HybridBlock):
    """A cell, unrolled, or a layer below a dense layer."""

    def __init__(self, part):
        super().__init__()
        with self.name_scope():
            self.part = part
            self.out = gluon.nn.Dense(3)

    def hybrid_forward(self, F, x):
        if isinstance(self.part, rnn.RecurrentCell):
            outputs, _ = self.part.unroll(3, x, merge_outputs=True)
        else:
            outputs = self.part(x)
        return self.out(outputs)


def stack():
    made = rnn.HybridSequentialRNNCell()
    made.add(rnn.LSTMCell(5))
    made.add(rnn.DropoutCell(0.5))
    made.add(rnn.ResidualCell(rnn.GRUCell(5)))
    return made


@pytest.mark.parametrize('make', [
    lambda: rnn.LSTMCell(5), lambda: rnn.GRUCell(5), stack, lambda: rnn.ZoneoutCell(rnn.LSTMCell(4), .1, .1),
    lambda: rnn.BidirectionalCell(rnn.RNNCell(4), rnn.GRUCell(4)), lambda: contrib.rnn.LSTMPCell(5, 3),
    lambda: rnn.LSTM(5, 2, bidirectional=True, layout='NTC'), lambda: rnn.GRU(5, layout='NTC')])
def test_compiled(make, tmp_path):
    """Eager, compiled and exported are the same; compiled from the start settles unknown shapes."""
    net = ready(InNet(make()))
    eager = net(X).asnumpy()
    net.hybridize()
    np.testing.assert_array_equal(net(X).asnumpy(), eager)
    paths = net.export(str(tmp_path / 'net'))
    loaded = gluon.SymbolBlock.imports(paths[0], ['data'], paths[1])
    np.testing.assert_array_equal(loaded(X).asnumpy(), eager)
    fresh = ready(InNet(make()))
    fresh.hybridize()
    assert fresh(X).shape == eager.shape


@pytest.mark.parametrize('make', [lambda: rnn.LSTM(5, 2), lambda: rnn.GRU(5), lambda: rnn.LSTM(5, projection_size=3)])
def test_compiled_layers_with_and_without_states(make):
    layer = ready(make())
    states = layer.begin_state(3)
    alone, (outputs, last) = layer(X), layer(X, states)
    layer.hybridize()
    for _ in range(2):
        np.testing.assert_array_equal(layer(X).asnumpy(), alone.asnumpy())
        again, ends = layer(X, states)
        np.testing.assert_array_equal(again.asnumpy(), outputs.asnumpy())
        for end, expected in zip(ends, last, strict=True):
            np.testing.assert_array_equal(end.asnumpy(), expected.asnumpy())


def test_sequence_lengths_in_one_operator():
    layer = ready(rnn.LSTM(5, use_sequence_length=True))
    x = nd.swapaxes(X, 0, 1)
    outputs, states = layer(x, layer.begin_state(2), nd.array([1, 3]))
    assert (outputs.asnumpy()[1:, 0] == 0).all()
    np.testing.assert_allclose(states[0].asnumpy()[0], [outputs.asnumpy()[0, 0], outputs.asnumpy()[2, 1]])


def test_element_types():
    layer = ready(rnn.GRU(5))
    layer(X)
    layer.cast('float64')
    assert layer(X.astype('float64')).dtype == np.float64
    cell = rnn.LSTMCell(3)
    assert cell.begin_state(2, func=nd.ones, dtype='float64')[1].dtype == np.float64
    assert mx.gluon.rnn.LSTMCell(3).begin_state(2)[0].shape == (2, 3)
