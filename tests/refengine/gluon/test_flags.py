"""The options of ``hybridize`` and ``optimize_for``: those of both releases are taken, mistakes are refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine import MXNetError


@pytest.mark.parametrize('options', [
    {'partition_if_dynamic': True}, {'partition_if_dynamic': False}, {'backend_opts': {'a': '1'}},
    {'flags': {'static_alloc': True}}, {'data_indices': [0], 'param_indices': [1, 2]}, {'is_dynamic': True},
    {'backend': 'MKLDNN', 'of_the_back_end': 3}, {'clear': False}, {'backend': None, 'forward_bulk_size': 0}])
@pytest.mark.parametrize('parent', [mx.gluon.nn.Sequential, mx.gluon.nn.HybridSequential])
def test_options_of_either_release_are_taken_and_change_nothing(options: dict[str, Any], parent: Any) -> None:
    x = mx.nd.ones((2, 4))
    net = parent()
    net.add(mx.gluon.nn.Dense(3))
    net.initialize()
    eager = net(x).asnumpy()
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')     # that a HybridSequential would be better
        net.hybridize(**options)
    assert np.array_equal(net(x).asnumpy(), eager)


@pytest.mark.parametrize(('options', 'error', 'message'), [
    ({'static_aloc': True}, TypeError, "hybridize.* got an unexpected keyword argument 'static_aloc'; there are"),
    ({'active': False, 'foo': 1}, TypeError, "unexpected keyword argument 'foo'"),
    ({'forward_bulk_size': 'x'}, MXNetError, "forward_bulk_size expect .*'x'"),
    ({'backward_bulk_size': -1}, MXNetError, 'value -1 for Parameter backward_bulk_size'),
    ({'inline_limit': 'x'}, MXNetError, "inline_limit.*'x'"),
    ({'static_alloc': None}, MXNetError, "static_alloc expect boolean but value='None'"),
    ({'backend': 3}, AssertionError, 'backend must be a name, one of .* got 3'),
])
def test_other_options_are_refused_at_once(options: dict[str, Any], error: type[Exception], message: str) -> None:
    for net in (mx.gluon.nn.Dense(3), mx.gluon.nn.HybridSequential()):
        with pytest.raises(error, match=message):
            net.hybridize(**options)


def test_a_block_of_symbols_refuses_the_same_options() -> None:
    net = mx.gluon.SymbolBlock(mx.sym.relu(mx.sym.var('x')), mx.sym.var('x'))
    net.hybridize(static_alloc=True, partition_if_dynamic=True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        net.hybridize(foo=1)


def test_options_of_optimize_for() -> None:
    net, x = mx.gluon.nn.Dense(3), mx.nd.ones((2, 4))
    net.initialize()
    eager = net(x).asnumpy()
    net.optimize_for(x, backend='MKLDNN', partition_if_dynamic=True, backend_opts={'a': 1}, dedup_subgraph=True)
    assert np.allclose(net(x).asnumpy(), eager, atol=1e-6)
    for options, error, message in (
            ({'ctx': mx.cpu()}, TypeError, "multiple values for argument 'ctx'"),
            ({'args': {}}, TypeError, "multiple values for argument 'args'"),
            ({'forward_bulk_size': 'x'}, MXNetError, 'forward_bulk_size')):
        with pytest.raises(error, match=message):
            net.optimize_for(x, backend='MKLDNN', **options)
    with pytest.raises(ValueError, match='Must specify "backend" to optimize_for'):
        net.optimize_for(x, partition_if_dynamic=True)
    graph = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=3)
    for arguments, error, message in (
            ((None,), AssertionError, 'backend must be a name'),
            (('MKLDNN', [1]), AssertionError, 'args must be a dict'),
            (('MKLDNN', {'data': 3}), TypeError, "args.'data'. is of type")):
        with pytest.raises(error, match=message):
            graph.optimize_for(*arguments)
