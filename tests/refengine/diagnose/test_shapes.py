"""The shape diagnosis: every proposed change is carried out and must work."""

from __future__ import annotations

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, diagnose, nd


def proposals(result):
    return [line.split('#')[0].strip() for change in result.changes for line in change.split('\n')]


def failed(function):
    with pytest.raises(mx.MXNetError) as caught:
        function()
    return diagnose.error(caught.value)


@pytest.mark.parametrize(('a', 'b', 'expected'), [
    ((2, 3), (3, 2), 'a * b.T'), ((4, 2, 3), (4,), 'a * b.reshape((4, 1, 1))'), ((5, 3), (5,), 'a * b.expand_dims(1)'),
    ((5,), (5, 3), 'a.expand_dims(1) * b'), ((2, 3, 4), (3, 4, 2), 'a * b.transpose((2, 0, 1))'),
    ((2, 6), (3, 4), 'a * b.reshape((2, 6))'), ((4, 5), (5, 7), 'nd.dot(a, b)'), ((4, 3), (1, 4), 'a * b.T'),
])
def test_a_product_that_does_not_fit(a, b, expected):
    a, b = nd.ones(a), nd.ones(b)
    result = failed(lambda: a * b)
    assert proposals(result)[0] == expected
    for proposal in proposals(result):
        eval(proposal)
    assert result.place.text == 'result = failed(lambda: a * b)'
    assert [f.layer for f in result] == [1, 2, 3, 4, 5]
    assert 'lengths must be equal or 1' in str(result)


def test_shapes_that_nothing_helps():
    a, b = nd.ones((2, 3)), nd.ones((5, 7))
    result = failed(lambda: a + b)
    assert result.changes == []
    assert 'neither the same lengths' in result.problems[0].text


@pytest.mark.parametrize(('a', 'b'), [((4, 3), (5, 3)), ((4, 3), (4, 5)), ((3, 4), (5, 3)), ((4, 3), (4, 3))])
def test_dot(a, b):
    a, b = nd.ones(a), nd.ones(b)
    result = failed(lambda: nd.dot(a, b))
    assert proposals(result)
    for proposal in proposals(result):
        eval(proposal)


def test_batch_dot():
    a, b = nd.ones((2, 4, 3)), nd.ones((2, 5, 3))
    result = failed(lambda: nd.batch_dot(a, b))
    assert proposals(result) == ['nd.batch_dot(a, b, transpose_b=True)']
    eval(proposals(result)[0])
    flat = nd.ones((4, 3))
    assert 'stacks of matrices' in str(diagnose.shapes(flat, b, op='batch_dot'))


def test_an_operator_of_one_shape():
    a, b = nd.ones((1, 3)), nd.ones((2, 1))
    result = failed(lambda: nd.elemwise_add(a, b))
    assert result.problems[0].layer == 2
    assert proposals(result) == ['a + b']
    c = nd.ones((2, 3))
    result = failed(lambda: nd.where(c, c, b))
    assert result.problems[0].layer == 2


def test_layers_of_a_network():
    net = mx.gluon.nn.Dense(4, in_units=5)
    net.initialize()
    x = nd.ones((2, 3))
    result = failed(lambda: net(x))
    assert 'for 5 features, the data (2, 3) has 3' in str(result)
    assert proposals(result)[0] == 'nn.Dense(4, in_units=3)'
    image, kernel = nd.ones((2, 8, 8, 3)), nd.ones((4, 3, 3, 3))
    result = failed(lambda: nd.Convolution(image, kernel, kernel=(3, 3), num_filter=4, no_bias=True))
    assert 'channels last' in str(result)
    moved = eval(proposals(result)[0])
    assert nd.Convolution(moved, kernel, kernel=(3, 3), num_filter=4, no_bias=True).shape == (2, 4, 6, 6)


def test_joining():
    a, b = nd.ones((2, 3)), nd.ones((4, 3))
    result = failed(lambda: nd.concat(a, b, dim=1))
    assert proposals(result) == ['dim=0']
    result = failed(lambda: nd.stack(a, b))
    assert 'need one shape' in str(result)


def test_element_types_are_named():
    a, b = nd.ones(2), nd.ones(2, dtype='float64')
    result = failed(lambda: a + b)
    assert proposals(result) == ["b.astype('float32')"]
    assert 'float32, float64' in result.problems[0].text


def test_notes_on_what_works():
    column, vector = nd.ones((4, 1)), nd.ones(4)
    result = diagnose.shapes(column, vector, op='broadcast_sub')
    assert not result
    assert 'a column and a vector make a matrix (4, 4)' in str(result)
    assert eval(proposals(result)[0]).shape == (4,)
    x = nd.zeros((4, 4))
    view = x[1:3]
    assert 'share memory' in str(diagnose.shapes(x, view))
    other = nd.ones((4, 4), ctx=mx.cpu(1))
    result = diagnose.shapes(x, other)
    assert eval(proposals(result)[0]).context == x.context
    x.attach_grad()
    with autograd.record():
        assert '+=, [:]= and out= on them raise' in str(diagnose.shapes(x, view))


def test_names_are_those_of_the_program():
    weights = nd.ones((2, 3))
    text = str(failed(lambda: weights + nd.ones((5, 7))))
    assert 'weights (2, 3)' in text
    assert 'nd.ones((5, 7)) (5, 7)' in text

    class Holder:
        pass

    holder = Holder()
    holder.bias = nd.ones((4,))
    assert 'holder.bias (4,)' in str(failed(lambda: weights + holder.bias))


def test_what_is_no_array_is_refused():
    with pytest.raises(TypeError, match='NDArrays'):
        diagnose.shapes(nd.ones(2), np.ones(2))
