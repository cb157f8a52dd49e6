"""The recorded graph behind an array as a symbol (rule AUTOGRAD-SYM-001)."""

from __future__ import annotations

import itertools
from typing import Any

from ..base import MXNetError
from ..graph.node import Node
from ..graph.tape_reader import NotAnOperator, TapeReader
from ..op import Operator
from .symbol import Symbol


def from_tape(array: Any) -> Symbol:
    """The symbol; MXNetError for an array outside every graph, or behind code of the program that is no operator."""
    behind = array._node
    if behind is None or not behind.alive:
        raise MXNetError('NDArray is not part of a computation graph. Did you forget to call '
                         'mxnet.autograd.record() while using the array?')
    variables: dict[int, Node] = {}
    keep = []
    calls, leaves, constants = itertools.count(), itertools.count(), itertools.count()

    def leaf(entry: Any, data: Any) -> Node:
        key = id(data) if entry is None else id(entry)
        if key not in variables:
            name = f'null{next(constants)}' if entry is None else f'var{next(leaves)}'
            variables[key] = Node(None, name)
            keep.append((entry, data))
        return variables[key]

    def named(op: Operator) -> str:
        return f'node_{next(calls)}'

    try:
        return Symbol([TapeReader(leaf, named).entry(behind, array._data)])
    except NotAnOperator as error:
        raise MXNetError(f'get_symbol: the call of {error} is code of the program and no operator') from None
