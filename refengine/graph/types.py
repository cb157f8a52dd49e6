"""Element types along a graph: a pass that needs no shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base import MXNetError, dtype_text
from ..op import Operator
from .node import Node

Kind = np.dtype[Any] | None

_CODES = {'0': 'float32', '1': 'float64', '2': 'float16', '3': 'uint8', '4': 'int32', '5': 'int8', '6': 'int64',
          '7': 'bool'}
_NORMS = {'BatchNorm', '_contrib_BatchNormWithReLU', '_contrib_SyncBatchNorm'}
_BY_PARAMETER = {'cast', 'amp_cast', 'one_hot', 'argsort', 'shape_array', 'size_array', '_sample_multinomial'}
_DATA_FREE = {'Embedding', 'take', 'gather_nd', 'where', 'pick', '_contrib_boolean_mask', 'batch_take'}
# Which input gives the type of the result, and which inputs have to share it.
_LEAD = {'Embedding': (1, (1,)), 'where': (1, (1, 2)), 'take': (0, (0,)), 'gather_nd': (0, (0,)), 'pick': (0, (0,)),
         'batch_take': (0, (0,)), '_contrib_boolean_mask': (0, (0,)), 'Custom': (0, ())}


def declared(node: Node) -> Kind:
    """The type that a variable carries as attribute."""
    code = node.attrs.get('__dtype__')
    if code is None or code == '-1':
        return None
    return np.dtype(_CODES.get(code, code))


def infer_types(nodes: Sequence[Node], given: Mapping[str, Any]) -> dict[int, list[Kind]]:
    """The type of every output, None where nothing tells it."""
    known: dict[int, list[Kind]] = {id(node): [None] * node.total for node in nodes}
    for node in nodes:
        if node.op is None:
            value = given.get(node.name)
            known[id(node)][0] = np.dtype(value) if value is not None else declared(node)
    for _ in range(len(nodes) + 1):
        before = {key: list(value) for key, value in known.items()}
        for node in nodes:
            if node.op is not None:
                _visit(node, known)
        if before == known:
            break
    return known


def _visit(node: Node, known: dict[int, list[Kind]]) -> None:
    op = node.op
    assert op is not None
    kinds = [known[id(source)][index] for source, index in node.inputs]
    lead, shared = _roles(op, len(kinds))
    common = next((kinds[i] for i in shared if kinds[i] is not None), None)
    if common is None and op.name not in ('Custom',):
        common = known[id(node)][0] if op.name not in _BY_PARAMETER and not op.source else None
    for position in shared:
        source, index = node.inputs[position]
        if common is not None:
            if kinds[position] is None:
                known[id(source)][index] = kinds[position] = common
            elif kinds[position] != common and not op.mixed:
                raise MXNetError(f'Error in operator {node.name}: Incompatible attr in node {node.name} at '
                                 f'{position}-th input: expected {dtype_text(common)}, got '
                                 f'{dtype_text(kinds[position])}')
    if op.name in _NORMS and kinds[0] is not None:
        vector = np.dtype('float32') if kinds[0] == np.float16 else kinds[0]
        for source, index in node.inputs[1:]:
            if known[id(source)][index] is None:
                known[id(source)][index] = vector
    result = _result(op, node.params, kinds, lead)
    for index in range(node.total):
        if known[id(node)][index] is None:
            known[id(node)][index] = result if index == 0 or op.name not in _NORMS else None


def _roles(op: Operator, count: int) -> tuple[int, tuple[int, ...]]:
    if op.name in _LEAD:
        return _LEAD[op.name]
    if op.name in _NORMS:
        return 0, (0,)
    return 0, tuple(range(count))


def _result(op: Operator, params: dict[str, Any], kinds: list[Kind], lead: int) -> Kind:
    if op.name in ('shape_array', 'size_array'):
        return np.dtype('int64')
    kind = params.get('dtype')
    if op.name in _BY_PARAMETER or op.source:
        return np.dtype(kind) if kind not in (None, 'None') else np.dtype('float32')
    if op.name == 'Embedding' and kinds[1] is None and kind is not None:
        return np.dtype(kind)
    return kinds[lead] if lead < len(kinds) else None
