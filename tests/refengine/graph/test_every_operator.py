"""Every operator in a graph: results and gradients of eager execution bit for bit, shapes without computing, files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine.graph import inference
from refengine.ndarray import NDArray
from refengine.op import Operator
from refengine.samples import Sample, every
from refengine.symbol.compose import call
from refengine.symbol.symbol import Symbol

SAMPLES = [s for s in every() if s.operator.name != 'Custom']


def as_symbol(op: Operator, count: int, params: dict[str, Any]) -> Symbol:
    """The operator applied to variables in0, in1, …"""
    return call(op, 'it', [mx.sym.var(f'in{i}') for i in range(count)], params, name='it')


def eager(op: Operator, arrays: list[NDArray], params: dict[str, Any], heads: list[Any] | None) -> Any:
    """Results, and gradients for head gradients drawn once."""
    mx.random.seed(11)
    with mx.autograd.record():
        result = mx.dispatch.invoke(op, arrays, params)
    results = result if isinstance(result, list) else [result]
    if heads is None:
        return results, None
    mx.autograd.backward(results, heads)
    return results, [a.grad.asnumpy().copy() for a in arrays]


def same(a: Any, b: Any) -> bool:
    """Equal bit for bit, NaN included."""
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == 'f')


@pytest.mark.parametrize('sample', SAMPLES, ids=lambda s: s.name)
def test_executor_agrees_with_eager(sample: Sample) -> None:
    op, params = sample.operator, sample.params
    arrays = [mx.nd.array(a, dtype=a.dtype) for a in sample.arrays]
    count = len(arrays)
    symbol = as_symbol(op, count, params)
    states = symbol.list_auxiliary_states()
    grads_wanted = op._grad is not None and not states
    for a in arrays:
        a.attach_grad()
    results, _ = eager(op, arrays, params, None)
    heads = [mx.nd.array(np.random.default_rng(5).uniform(0.5, 1, r.shape), dtype=r.dtype) for r in results]
    expected, gradients = eager(op, arrays, params, heads if grads_wanted else None)
    names = symbol.list_inputs()
    values = {n: mx.nd.array(a, dtype=a.dtype) for n, a in zip(names, sample.arrays)}
    args = {n: values[n] for n in symbol.list_arguments()}
    buffers = {n: mx.nd.zeros(a.shape, dtype=a.dtype) for n, a in args.items()}
    executor = symbol.bind(mx.cpu(), args, buffers, 'write' if grads_wanted else 'null',
                           {n: values[n] for n in states})
    for _ in range(3):          # step by step, then compiled
        mx.random.seed(11)
        found = executor.forward(is_train=True)
        assert len(found) == len(expected)
        for a, b in zip(found, expected):
            assert same(a.asnumpy(), b.asnumpy())
        if grads_wanted:
            executor.backward(heads)
            for n, gradient in zip(args, gradients):
                assert same(buffers[n].asnumpy(), gradient), n


@pytest.mark.parametrize('sample', SAMPLES, ids=lambda s: s.name)
def test_shapes_and_types_are_inferred(sample: Sample) -> None:
    op = sample.operator
    params = op.parse(sample.params)
    described = inference.outputs(op, params, [a.shape for a in sample.arrays], [a.dtype for a in sample.arrays])
    arrays = [a.copy() for a in sample.arrays]
    computed = inference._evaluate(op, arrays, params, False)
    visible = op.visible_count(params)
    if op.name == '_contrib_boolean_mask':      # how many rows stay depends on the mask: all of them at most
        assert described[0][0][1:] == computed[0].shape[1:]
        return
    assert [(tuple(s), np.dtype(d)) for s, d in described[:visible]] == [(o.shape, o.dtype) for o in computed[:visible]]
    symbol = as_symbol(op, len(arrays), sample.params)
    names = symbol.list_inputs()
    _, outs, _ = symbol.infer_shape(**{n: a.shape for n, a in zip(names, arrays)})
    assert outs == [o.shape for o in computed[:visible]]


@pytest.mark.parametrize('sample', SAMPLES, ids=lambda s: s.name)
def test_files_give_the_graph_back(sample: Sample) -> None:
    symbol = as_symbol(sample.operator, len(sample.arrays), sample.params)
    text = symbol.tojson()
    again = mx.sym.load_json(text)
    assert again.tojson() == text
    if sample.operator.name != 'amp_cast':      # casts of mixed precision are left out of files
        assert again._entries[0][0].params.keys() == symbol._entries[0][0].params.keys()
