"""Telling a callback about every operator of a compiled block, on the way forth and on the way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import dispatch
from ..graph.node import Entry, Node
from ..ndarray import NDArray
from ..symbol import release_names, watching
from .tracing import Trace

OpHook = Callable[[str, str, NDArray], Any]
"""Called with the name of a value, the operator that has it, and the value."""


class _Hook(watching.Listener):
    """Calls the callback with the names that the release gives."""

    def __init__(self, hook: OpHook, monitor_all: bool) -> None:
        self._hook = hook
        self._all = monitor_all

    def enters(self, node: Node, index: int, source: Entry, array: NDArray) -> None:
        if self._all:
            self._hook(f'{node.name}_{watching.input_words(node)[index]}', _title(node), array)

    def leaves(self, node: Node, index: int, array: NDArray) -> None:
        self._hook(f'{node.name}_{_output_word(node, index)}', _title(node), array)

    def returns(self, node: Node, index: int, array: NDArray) -> None:
        title = _title(node)
        word = 'data' if title == 'SliceChannel' else str(index)
        self._hook(f'{node.name}_backward_{word}', f'_backward{"" if title[0] == "_" else "_"}{title}', array)


def run(trace: Trace, arrays: Sequence[NDArray], parameters: Sequence[NDArray], hook: OpHook,
        monitor_all: bool) -> list[NDArray]:
    """The results of a trace, one operator after the other.

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
    return watching.run(trace.entries, values, ctx, _Hook(hook, monitor_all))


def _title(node: Node) -> str:
    assert node.op is not None
    return release_names.WRITTEN.get(node.op.name, node.op.name)


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

_NAMED = frozenset(_OUTPUTS_WITH_NAMES.split())


def _output_word(node: Node, index: int) -> str:
    op = node.op
    assert op is not None
    if op.name == 'make_loss':
        return 'loss'
    return watching.output_words(node)[index] if op.name in _NAMED else str(index)
