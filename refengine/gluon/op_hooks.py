"""Telling a callback about every operator of a compiled block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import dispatch
from ..graph.node import Node, topological
from ..ndarray import NDArray
from .tracing import Trace

OpHook = Callable[[str, str, NDArray], Any]
"""Called with the name of a value, the operator that has it, and the value."""


def run(trace: Trace, arrays: Sequence[NDArray], parameters: Sequence[NDArray], hook: OpHook,
        monitor_all: bool) -> list[NDArray]:
    """The results of a trace, one operator after the other; values are those of the compiled graph, bit for bit.

    The hook hears of every output, with ``monitor_all`` of every input before.
    """
    ctx = arrays[0]._ctx
    values: dict[int, list[NDArray]] = {}
    for node, array in zip(trace.inputs, arrays, strict=True):
        values[id(node)] = [array]
    for (node, _), array in zip(trace.parameters, parameters, strict=True):
        values[id(node)] = [array]
    for node, data in trace.constants:
        values[id(node)] = [dispatch.wrap(data, ctx)]
    for node in topological(trace.entries):
        if node.op is None:
            continue
        inputs = [values[id(source)][index] for source, index in node.inputs]
        if monitor_all:
            for name, array in zip(_input_names(node), inputs, strict=True):
                hook(name, node.op.name, array)
        # What a tape notes beside the parameters, such as the mode, is dispatch's to fill in.
        given = {key: value for key, value in node.params.items() if key in node.op.params}
        results = dispatch.invoke(node.op, inputs, given, ctx=ctx)
        values[id(node)] = results if isinstance(results, list) else [results]
        for name, array in zip(node.output_names(), values[id(node)], strict=False):
            hook(name, node.op.name, array)
    return [values[id(node)][index] for node, index in trace.entries]


def _input_names(node: Node) -> list[str]:
    op = node.op
    assert op is not None
    if op.variadic or len(op.inputs) < len(node.inputs):
        return [f'{node.name}_arg{index}' for index in range(len(node.inputs))]
    return [f'{node.name}_{name}' for name in op.inputs[:len(node.inputs)]]
