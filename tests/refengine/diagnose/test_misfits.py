"""Shapes that do not fit outside of the common operators: each has a reason, and each change works."""

from __future__ import annotations

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, diagnose, gluon, nd
from refengine.diagnose import trials
from refengine.gluon import loss, nn, rnn
from refengine.op import get


def failed(function):
    with pytest.raises(Exception) as caught:       # of whatever class
        function()
    return diagnose.error(caught.value)


def made(block):
    block.initialize()
    return block


def test_an_assignment():
    a, column = nd.ones((3, 4)), nd.ones((3,))

    def assign(value):
        a[:] = value

    def first(value):
        a[0] = value

    def second(value):
        a[:, 1] = value

    result = failed(lambda: first(nd.ones((5,))))
    assert 'a[0] has shape (4,); the value (5,)' in result.problems[0].text
    assert 'never the part to the value' in str(result)
    assert result.changes == []
    assert 'a[:, 1] has shape (3,)' in str(failed(lambda: second(nd.ones((4,)))))
    result = failed(lambda: assign(column))
    assert result.changes[0] == 'a[:] = value.expand_dims(1)'
    assert 'a[0] has shape (4,)' in str(failed(lambda: first(np.ones(5))))


@pytest.mark.parametrize('hybrid', [False, True])
def test_losses_of_other_shapes(hybrid):
    pred, label = nd.ones((4, 3)), nd.ones((4, 2))
    l2 = loss.L2Loss()
    l2.hybridize(hybrid)
    text = failed(lambda: l2(pred, label)).problems[0].text
    assert 'L2Loss compares element by element: pred (4, 3) has 12, label (4, 2) has 8' in text
    assert 'the last layer has 3 outputs, a label 2' in text
    entropy = loss.SoftmaxCrossEntropyLoss()
    entropy.hybridize(hybrid)
    text = failed(lambda: entropy(pred, nd.ones((5,)))).problems[0].text
    assert 'pred (4, 3) holds 4 predictions' in text
    assert 'holds 5 labels' in text
    result = failed(lambda: entropy(pred, pred))
    assert result.changes == ['pred.argmax(axis=1)']
    assert entropy(pred, pred.argmax(axis=1)).shape == (4,)


def test_losses_whose_shapes_are_not_at_fault():
    pred = nd.ones((4, 3))
    text = str(failed(lambda: loss.L2Loss()(pred, pred, nd.ones((5, 1)))))
    assert 'compares element by element' not in text
    assert 'broadcast_mul' in text


def test_views():
    x = nd.ones((2, 3))
    result = failed(lambda: x.reshape((4, 2)))
    assert '(2, 3) has 6 elements, (4, 2) would have 8' in result.problems[0].text
    assert result.changes == ['x.reshape((-1, 2))']
    result = failed(lambda: x.reshape(-1, 5))
    assert 'which 5 does not divide' in result.problems[0].text
    assert 'has 6 elements' in str(failed(lambda: nd.reshape(x, shape=(4, 2))))


def test_recurrent_layers():
    lstm = made(rnn.LSTM(8, input_size=5))
    result = failed(lambda: lstm(nd.ones((3, 2, 6))))
    assert 'made for 5 features, the data (3, 2, 6) has 6' in result.problems[0].text
    assert result.changes[0].startswith('rnn.LSTM(8, input_size=6)')
    states = lstm.begin_state(3)
    result = failed(lambda: lstm(nd.ones((3, 2, 5)), states))
    assert 'as TNC: a batch of 2 on axis 1; the state (1, 3, 8) is for a batch of 3' in result.problems[0].text
    assert result.changes == ['lstm.begin_state(batch_size=2)']
    assert lstm(nd.ones((3, 2, 5)), eval(result.changes[0]))[0].shape == (3, 2, 8)


def test_recurrent_cells():
    cell = made(rnn.LSTMCell(4))
    x, states = nd.ones((2, 3)), cell.begin_state(3)
    result = failed(lambda: cell(x, states))
    assert result.subject.startswith('shapes of LSTMCell: x (2, 3), states[0] (3, 4), states[1] (3, 4)')
    assert result.changes == ['cell.begin_state(batch_size=2)']
    assert cell(x, eval(result.changes[0]))[0].shape == (2, 4)
    result = failed(lambda: cell(x, [nd.ones((2, 5)), nd.ones((2, 4))]))
    assert 'the states have the shapes [(2, 4), (2, 4)], not [(2, 5), (2, 4)]' in result.problems[0].text
    assert result.changes == []


def test_channels_of_normalisation():
    net = made(nn.BatchNorm(in_channels=4))
    result = failed(lambda: net(nd.ones((2, 3, 5, 5))))
    assert 'ask for shape (3,), not (4,)' in result.problems[0].text
    assert result.changes[0].startswith('nn.BatchNorm(in_channels=3)')
    assert failed(lambda: net(nd.ones((2, 5, 5, 4)))).changes[0] == 'axis=3'
    data, gamma = nd.ones((2, 4)), nd.ones((3,))
    assert 'gamma: data (2, 4) and the parameters ask for shape (4,), not (3,)' in str(
        failed(lambda: nd.LayerNorm(data, gamma, gamma)))


def test_weights_of_other_shapes():
    x, w = nd.ones((2, 3, 8, 8)), nd.ones((8, 3, 3, 3))
    result = failed(lambda: nd.Convolution(x, w, nd.ones((4,)), num_filter=8, kernel=(3, 3)))
    assert 'ask for shape (8,), not (4,)' in result.problems[0].text
    result = failed(lambda: nd.Convolution(x, w, num_filter=8, kernel=(3, 3)))
    assert result.changes == ['no_bias=True']
    assert nd.Convolution(x, w, num_filter=8, kernel=(3, 3), no_bias=True).shape == (2, 8, 6, 6)
    result = failed(lambda: nd.Deconvolution(x, nd.ones((4, 2, 3, 3)), kernel=(3, 3), num_filter=2))
    assert 'ask for shape (3, 2, 3, 3), not (4, 2, 3, 3)' in result.problems[0].text
    table = nd.ones((10, 4))
    result = failed(lambda: nd.Embedding(nd.array([1, 2]), table, input_dim=10, output_dim=5))
    assert result.changes == ['output_dim=4']
    assert nd.Embedding(nd.array([1, 2]), table, input_dim=10, output_dim=4).shape == (2, 4)


def test_a_dense_layer_that_should_flatten():
    net = made(nn.Dense(10, in_units=784, flatten=False))
    result = failed(lambda: net(nd.ones((2, 1, 28, 28))))
    assert result.changes[0].startswith('flatten=True')
    assert not any('in_units=28' in change for change in result.changes)
    net = made(nn.Dense(10, in_units=4))
    assert failed(lambda: net(nd.ones((2, 3, 4)))).changes[0] == 'flatten=False'


def test_a_head_gradient():
    w = nd.ones((2,))
    w.attach_grad()
    with autograd.record():
        y = w * w
    result = failed(lambda: y.backward(nd.ones((3,))))
    assert 'y has shape (2,): the head gradient needs one number' in result.problems[0].text
    assert result.changes == ['y.backward(nd.ones_like(y))']


def test_what_would_grow_in_place():
    x, big = nd.ones((3,)), nd.ones((4, 3))

    def grow(x, y):
        x += y

    result = failed(lambda: grow(x, big))
    assert 'the result has shape (4, 3), and x (3,) keeps its own' in result.problems[0].text
    assert result.changes == ['x = x + y']


def test_conditions():
    x = nd.ones((2, 4))
    result = failed(lambda: nd.where(nd.ones(3), x, x))
    assert '(2,), one per entry of the first axis' in result.problems[0].text
    assert 'one shape only' not in str(result)
    result = failed(lambda: nd.where(nd.ones((1, 2)), x, x))
    assert result.changes == ['nd.where(nd.ones((1, 2)).reshape(-1), x, x)']
    assert eval(result.changes[0]).shape == (2, 4)


def test_an_addition_is_no_matrix_product():
    a, b = nd.ones((2, 3)), nd.ones((3, 3))
    assert failed(lambda: a + b).changes == []
    assert failed(lambda: a * b).changes == ['nd.dot(a, b)']


def test_what_shapes_takes():
    assert diagnose.shapes((2, 3), (3, 2)).changes == ['lhs + rhs.T']
    assert 'takes 2 arrays here (lhs, rhs), and got 1' in str(diagnose.shapes((2, 3)))
    with pytest.raises(TypeError, match='NDArrays or shapes'):
        diagnose.shapes(1, 2)
    with pytest.raises(TypeError, match='got none'):
        diagnose.shapes()
    with pytest.raises(TypeError, match='name of an operator'):
        diagnose.shapes((2,), (2,), op=5)
    with pytest.raises(mx.MXNetError, match='Operator no_such is not registered'):
        diagnose.shapes((2,), (2,), op='no_such')
    with pytest.raises(mx.MXNetError, match='is broadcast_add meant'):
        diagnose.shapes((2,), (2,), op='brodcast_add')


def test_what_no_layer_knows_the_error_says():
    metric = mx.metric.Accuracy()
    result = failed(lambda: metric.update([nd.ones((4,))], [nd.ones((5, 3))]))
    assert 'Shape of labels 4' in result.problems[0].text
    assert 'does not broadcast' not in str(result)


def test_trials():
    trial = trials.Trial([trials.like((2, 3)), trials.like((2,))], ['x', 'y - 1'])
    assert trial.changes('{0} + {1}', '{0} * {1}.expand_dims(1)', '{0}.no_such') == ['x * (y - 1).expand_dims(1)']
    symbolic = trials.Trial([trials.like((2, 3)), trials.like((2, 1))], ['x', 'y'], symbolic=True)
    assert symbolic.changes('{0} + {1}', 'F.broadcast_add({0}, {1})') == ['F.broadcast_add(x, y)']
    assert not trials.takes(get('dot'), {}, [(2, 3)], ['float32'])
    assert trials.takes(get('dot'), {'transpose_b': True}, [(2, 3), (4, 3)], ['float32'] * 2)


def test_a_diagnosis_that_fails_leaves_the_error_alone(monkeypatch):
    monkeypatch.setattr(diagnose.errors, 'error', lambda raised: 1 / 0)
    with pytest.raises(mx.MXNetError) as caught, diagnose.explain():
        nd.ones((2,)) + nd.ones((3,))
    assert 'it failed with ZeroDivisionError' in caught.value.__notes__[0]


def test_errors_of_python_that_the_engine_raises_are_explained():
    with pytest.raises(ValueError, match='reshape') as caught, diagnose.explain():
        gluon.loss.L2Loss()(nd.ones((4, 3)), nd.ones((4, 2)))
    assert 'L2Loss compares' in caught.value.__notes__[0]
