"""``infer_shape`` and ``infer_type`` of symbols."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base import MXNetError
from ..graph.inference import Known, complete, infer_shapes
from ..graph.types import infer_types
from .symbol import Symbol

Answer = tuple[Any, Any, Any]


def _named(symbol: Symbol, args: Sequence[Any], kwargs: Mapping[str, Any], what: str) -> dict[str, Any]:
    """What was given, by the name of the variable."""
    if args and kwargs:
        raise ValueError(f'Can only specify known argument {what} either by positional or kwargs way.')
    arguments = symbol.list_arguments()
    if args:
        return {name: value for name, value in zip(arguments, args, strict=False) if value is not None}
    known = symbol.list_inputs()
    for name in kwargs:
        if name not in known:
            candidates = '\n'.join(f'\t[{i}]{n}' for i, n in enumerate(known))
            raise MXNetError(f'InferShapeKeyword argument name {name} not found.\nCandidate arguments:\n{candidates}\n')
    return {name: value for name, value in kwargs.items() if value is not None}


def known_shapes(symbol: Symbol, given: Mapping[str, Any], types: Mapping[str, Any] | None = None) -> Known:
    """All shapes that follow from those of some variables."""
    nodes = symbol.nodes()
    kinds = infer_types(nodes, types or {})
    filled = {key: [k or np.dtype('float32') for k in values] for key, values in kinds.items()}
    return infer_shapes(nodes, given, filled)


def infer_shape(symbol: Symbol, args: Sequence[Any], kwargs: Mapping[str, Any], partial: bool) -> Answer:
    """Shapes of arguments, outputs and auxiliary states."""
    for value in (*args, *kwargs.values()):
        if value is not None and not isinstance(value, tuple | list):
            raise TypeError(f'Arguments need to be shapes (tuple), but got {type(value)}.')
    given = _named(symbol, args, kwargs, 'shapes')
    try:
        known = known_shapes(symbol, given)
    except MXNetError:
        print('infer_shape error. Arguments:')
        for key, value in kwargs.items():
            print(f'  {key}: {value}')
        raise
    arguments, states = symbol._variables()
    found = [known.shape((node, 0)) for node in arguments]
    heads = [known.shape(entry) for entry in symbol._entries]
    aux = [known.shape((node, 0)) for node in states]
    if not partial and not all(complete(shape) for shape in (*found, *heads, *aux)):
        unknown = [f'{node.name}: {known.shape((node, 0)) or ()}' for node in (*arguments, *states)
                   if not complete(known.shape((node, 0)))]
        if unknown:
            lines = '\n\t'.join(unknown[:10])
            warnings.warn(f'Cannot decide shape for the following arguments (0s in shape means unknown dimensions). '
                          f'Consider providing them as input:\n\t{lines}', stacklevel=3)
        return None, None, None
    return ([shape or () for shape in found], [shape or () for shape in heads], [shape or () for shape in aux])


def infer_type(symbol: Symbol, args: Sequence[Any], kwargs: Mapping[str, Any], partial: bool) -> Answer:
    """Element types of arguments, outputs and auxiliary states, as numpy types."""
    for value in (*args, *kwargs.values()):
        if value is not None:
            np.dtype(value)
    kinds = infer_types(symbol.nodes(), _named(symbol, args, kwargs, 'types'))
    arguments, states = symbol._variables()
    found = [kinds[id(node)][0] for node in arguments]
    heads = [kinds[id(node)][index] for node, index in symbol._entries]
    aux = [kinds[id(node)][0] for node in states]
    if not partial and any(kind is None for kind in (*found, *heads)):
        unknown = '\n\t'.join(f'{node.name}: None' for node, kind in zip(arguments, found, strict=True) if kind is None)
        warnings.warn(f'Cannot decide type for the following arguments. Consider providing them as input:\n\t{unknown}',
                      stacklevel=3)
        return None, None, None

    def types(values: Sequence[Any]) -> list[Any]:
        return [None if kind is None else kind.type for kind in values]

    return types(found), types(heads), types([kind or np.dtype('float32') for kind in aux] if not partial else aux)
