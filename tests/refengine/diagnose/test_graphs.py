"""Errors of hybridized networks: the operator of the graph, its operands, the layer, the line in hybrid_forward."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import refengine as mx
from refengine import diagnose, gluon, nd
from refengine.gluon import nn


class Product(gluon.HybridBlock):
    def hybrid_forward(self, F, a, b):
        return a * b


class Branches(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Dense(4), nn.Dense(5)

    def hybrid_forward(self, F, x):
        u = self.left(x)
        v = self.right(x)
        return u + v


class Centred(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return F.broadcast_sub(rhs=F.mean(x,axis=1), lhs=x)


class Modern(gluon.HybridBlock):
    def forward(self, a, b):
        return a * b


def failed(net, *inputs, hybrid=True):
    net.initialize()
    if hybrid:
        net.hybridize()
    with pytest.raises(Exception) as caught:       # of whatever class
        net(*inputs)
    return diagnose.error(caught.value)


@pytest.mark.parametrize('hybrid', [True, False])
def test_an_operator_that_does_not_fit(hybrid):
    result = failed(Product(), nd.ones((2, 3)), nd.ones((3, 2)), hybrid=hybrid)
    assert result.subject.startswith(f'shapes of {"elemwise" if hybrid else "broadcast"}_mul: a (2, 3), b (3, 2)')
    assert result.place.text == 'return a * b'
    assert result.problems[0].layer == 1
    assert result.changes[0] == 'F.broadcast_mul(a, b.transpose())'
    assert 'called from' in str(result) or not hybrid
    assert ('net(*inputs)' in str(result)) is hybrid


def test_the_change_works_in_both_modes():
    class Changed(gluon.HybridBlock):
        def hybrid_forward(self, F, a, b):
            return F.broadcast_mul(a, b.transpose())

    for hybrid in (False, True):
        net = Changed()
        net.hybridize(hybrid)
        assert net(nd.ones((2, 3)), nd.ones((3, 2))).shape == (2, 3)


@pytest.mark.parametrize('hybrid', [True, False])
def test_an_error_while_deferred_shapes_are_settled(hybrid):
    result = failed(Branches(), nd.ones((2, 3)), hybrid=hybrid)
    assert 'u (2, 4), v (2, 5)' in result.subject
    assert result.place.text == 'return u + v'
    assert result.problems


@pytest.mark.parametrize('hybrid', [True, False])
def test_operands_that_have_no_name_and_come_as_keywords(hybrid):
    result = failed(Centred(), nd.ones((4, 5)), hybrid=hybrid)
    assert 'x (4, 5), F.mean(x,axis=1) (4,)' in result.subject
    assert result.changes[0] == 'F.broadcast_sub(x, F.mean(x,axis=1).expand_dims(1))'


@pytest.mark.parametrize('hybrid', [True, False])
def test_another_size_at_the_second_call(hybrid):
    net = nn.HybridSequential()
    net.add(nn.Conv2D(2, 3), nn.Flatten(), nn.Dense(10))
    net.initialize()
    net.hybridize(hybrid)
    net(nd.ones((2, 1, 8, 8)))
    with pytest.raises(mx.MXNetError) as caught:
        net(nd.ones((2, 1, 9, 9)))
    result = diagnose.error(caught.value)
    assert 'in layer net[2], Dense' in str(result)
    assert '(2, 98)' in result.subject
    assert 'is for 72 features' in result.problems[0].text
    assert result.place.text == 'net(nd.ones((2, 1, 9, 9)))'


def test_a_block_that_arrays_trace():
    result = failed(Modern(), nd.ones((2, 3)), nd.ones((3, 2)))
    assert result.place.text == 'return a * b'
    assert result.changes[0] == 'a * b.T'


def test_tracing_again_changes_nothing():
    net = Centred()
    failed(net, nd.ones((4, 5)))
    assert sys.getprofile() is None
    assert not mx.autograd.is_recording()
    assert net(nd.ones((4, 1))).shape == (4, 4)


def test_a_symbol_names_its_node():
    a, b = mx.sym.Variable('a'), mx.sym.Variable('b')
    with pytest.raises(mx.MXNetError) as caught:
        (a + b).infer_shape(a=(2, 3), b=(3, 2))
    result = diagnose.error(caught.value)
    assert 'a (2, 3), b (3, 2)' in result.subject
    assert result.changes[0] == 'F.broadcast_add(a, b.transpose())'


def test_uncaught_errors_of_a_hybridized_network():
    code = ('from refengine import nd, gluon\nnet = gluon.nn.HybridSequential()\n'
            'net.add(gluon.nn.Dense(3, in_units=4), gluon.nn.Dense(2, in_units=5))\nnet.initialize()\n'
            'net.hybridize()\nnet(nd.ones((1, 4)))\n')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, 'REFENGINE_DIAGNOSE': '1', 'PYTHONPATH': ':'.join(sys.path)})
    assert 'in layer net[1], Dense' in done.stderr
    assert 'change: nn.Dense(2, in_units=3)' in done.stderr
