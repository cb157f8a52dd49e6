"""Telling a callback about every operator of a compiled block, on the way forth and on the way back."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from .. import dispatch, tape
from ..graph.node import Node, topological
from ..ndarray import NDArray
from ..op import Operator
from ..symbol import release_names
from .tracing import Trace

OpHook = Callable[[str, str, NDArray], Any]
"""Called with the name of a value, the operator that has it, and the value."""

_HIDDEN = {'BatchNorm': ('mean', 'var'), 'InstanceNorm': ('mean', 'var'), 'LayerNorm': ('mean', 'std'),
           'GroupNorm': ('mean', 'std'), 'Dropout': ('mask',)}
"""Further outputs that the way back needs, of operators that give one array otherwise."""


def run(trace: Trace, arrays: Sequence[NDArray], parameters: Sequence[NDArray], hook: OpHook,
        monitor_all: bool) -> list[NDArray]:
    """The results of a trace, one operator after the other; values are those of the compiled graph, bit for bit.

    The hook hears of every output, with ``monitor_all`` of every input before. When gradients are computed it hears
    of the gradients that every call passes back.
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
        title = release_names.WRITTEN.get(node.op.name, node.op.name)
        inputs = [values[id(source)][index] for source, index in node.inputs]
        if monitor_all:
            for word, array in zip(_input_words(node), inputs, strict=True):
                hook(f'{node.name}_{word}', title, array)
        results = values[id(node)] = _call(node, inputs, ctx)
        words = _output_words(node)
        for word, array in zip(words, results, strict=False):
            hook(f'{node.name}_{word}', title, array)
        # The calls inside a loop or a branch are recorded one by one: none of them is its own.
        call = None if 'runner' in node.params else _call_behind(results)
        if call is not None:
            for word, data in zip(words[len(results):], call.outputs[len(results):], strict=False):
                hook(f'{node.name}_{word}', title, dispatch.wrap(data, ctx))
            if node.op.name != 'elemwise_add':      # its gradient is the one it got: no operator of the release
                call.op = _watched(call, node, title, hook)
    return [values[id(node)][index] for node, index in trace.entries]


def _call(node: Node, inputs: list[NDArray], ctx: Any) -> list[NDArray]:
    assert node.op is not None
    runner = node.params.get('runner')
    if runner is not None:          # a loop or a branch: its calls are recorded one by one
        found: list[NDArray] = runner(inputs)
        return found
    # What a tape notes beside the parameters, such as the mode, is dispatch's to fill in.
    given = {key: value for key, value in node.params.items() if key in node.op.params}
    results = dispatch.invoke(node.op, inputs, given, ctx=ctx)
    return results if isinstance(results, list) else [results]


# ---- the way back ----------------------------------------------------------------------------------------------

def _call_behind(results: Sequence[NDArray]) -> Any:
    """The recorded call that made the results, if there is one."""
    behind = results[0]._node
    if isinstance(behind, tape.Output):
        behind = behind.node
    return behind if isinstance(behind, tape.Node | tape.Pair) and behind.alive else None


def _watched(call: Any, node: Node, title: str, hook: OpHook) -> Operator:
    """An operator like that of a recorded call, whose gradient tells the hook what it gives to whom."""
    op: Operator = copy.copy(call.op)
    prefix = f'{node.name}_backward'
    parents = call.parents

    def tell(index: int, gradient: Any) -> None:
        word = 'data' if op.name == 'SliceChannel' else str(index)
        array = gradient if isinstance(gradient, NDArray) else dispatch.wrap(gradient, call.ctx)
        hook(f'{prefix}_{word}', f'_backward{"" if title[0] == "_" else "_"}{title}', array)

    def late(index: int, gradient: Any) -> Callable[[], Any]:
        def compute() -> Any:
            found = gradient()
            if found is not None:
                tell(index, found)
            return found

        return compute

    def told(result: Sequence[Any]) -> list[Any]:
        told_of = []
        for index, gradient in enumerate(result):
            parent = parents[index] if index < len(parents) else None
            if gradient is not None and parent is not None and parent.kind != tape.IDLE:
                if gradient.__class__ is FunctionType:
                    gradient = late(index, gradient)
                else:
                    tell(index, gradient)
            told_of.append(gradient)
        return told_of

    plain, special = call.op.grad, call.op.backward
    if special is not None:
        op.backward = lambda walked, ograds: told(special(walked, ograds))
    elif plain is not None:
        op.grad = lambda F, ograds, inputs, outputs, params: told(plain(F, ograds, inputs, outputs, params))
    return op


# ---- names, as the release gives them ----------------------------------------------------------------------------

_OUTPUTS_WITH_NAMES = (
    'Activation BatchNorm BilinearSampler Concat Convolution Correlation Crop Deconvolution Dropout FullyConnected '
    'GridGenerator GroupNorm IdentityAttachKLSparseReg InstanceNorm L2Normalization LRN LayerNorm LeakyReLU MakeLoss '
    'Pooling Pooling_v1 RNN ROIPooling SVMOutput SequenceLast SequenceMask SequenceReverse SliceChannel '
    'SoftmaxActivation SoftmaxOutput SpatialTransformer UpSampling _contrib_DeformableConvolution '
    '_contrib_DeformablePSROIPooling _contrib_ModulatedDeformableConvolution _contrib_PSROIPooling _contrib_ROIAlign '
    '_contrib_interleaved_matmul_encdec_qk _contrib_interleaved_matmul_encdec_valatt '
    '_contrib_interleaved_matmul_selfatt_qk _contrib_interleaved_matmul_selfatt_valatt _rnn_param_concat elemwise_add '
    'pad softmax softmin swapaxes Custom')
"""Operators whose outputs have names. Those of all others are numbered here, though not in ``list_outputs``."""

_DATA_WITH_NAME = (
    'Dropout GridGenerator L2Normalization LRN MakeLoss Pooling Pooling_v1 SliceChannel _contrib_quadratic '
    '_image_normalize _split_v2 depth_to_space diag log_softmax moments pad repeat reverse space_to_depth squeeze '
    'swapaxes tile Embedding')
"""Operators of one array that call it ``data``; for the others it is ``input0``."""

_NAMED, _WITH_DATA = frozenset(_OUTPUTS_WITH_NAMES.split()), frozenset(_DATA_WITH_NAME.split())


def _output_words(node: Node) -> list[str]:
    op = node.op
    assert op is not None
    if op.name in _HIDDEN:
        return ['output', *_HIDDEN[op.name]]
    if op.name == 'make_loss':
        return ['loss']
    if op.name not in _NAMED:
        return [str(index) for index in range(node.visible)]
    start = len(node.name) + 1
    return [name[start:] for name in node.output_names()]


def _input_words(node: Node) -> list[str]:
    op = node.op
    assert op is not None
    count = len(node.inputs)
    if op.variadic or len(op.inputs) < count:
        return [f'arg{index}' for index in range(count)]
    if op.inputs == ('data',) and op.name not in _WITH_DATA:
        return ['input0']
    return list(op.inputs[:count])
