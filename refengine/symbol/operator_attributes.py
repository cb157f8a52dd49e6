"""Attributes that functions compute for every node of an operator (rules GRAPH-OPATTR-001 to -006)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..graph.node import Node
from ..op import registry

registered: dict[str, dict[str, Callable[[dict[str, str]], str]]] = {}
"""The functions by the name of the operator, then by the attribute."""


def _resolved(op_name: str) -> str:
    from .. import ndarray  # noqa: F401 - registers the operators
    op = registry.get(op_name)
    if op is None:
        raise ValueError(f'there is no operator named {op_name!r}')
    return op.name


def register_op_attr(op_name: str, attr_name: str) -> Callable[[Any], Any]:
    """A decorator: the function gets the operator's parameters as strings and returns the attribute of the node.

    What a caller gives with ``attr=`` or an AttrScope wins. ValueError for an unknown operator or a name that is no
    identifier, TypeError for something that cannot be called; a second registration replaces the first with a warning.

    >>> import refengine as mx
    >>> @mx.optimizer.register_op_attr('Convolution', 'target')
    ... def target(params):
    ...     return 'default'
    >>> mx.sym.Convolution(mx.sym.var('x'), kernel=(1, 1), num_filter=1).attr('target')
    'default'
    >>> mx.optimizer.unregister_op_attr('Convolution', 'target')
    """
    name = _resolved(op_name)
    if not isinstance(attr_name, str) or not attr_name.isidentifier():
        raise ValueError(f'the name of an attribute must be an identifier, got {attr_name!r}')

    def decorate(function: Any) -> Any:
        if not callable(function):
            raise TypeError(f'expected a function, got {function!r} of type {type(function).__name__}')
        functions = registered.setdefault(name, {})
        if attr_name in functions:
            warnings.warn(f'attribute {attr_name!r} of operator {name!r} is registered again: the new function '
                          f'replaces the earlier one', UserWarning, stacklevel=2)
        functions[attr_name] = function
        return function

    return decorate


def unregister_op_attr(op_name: str, attr_name: str) -> None:
    """Undo a registration; nodes that were made before keep their attribute. KeyError when there is none."""
    op = registry.get(op_name)
    functions = registered.get(op.name if op is not None else op_name, {})
    if attr_name not in functions:
        raise KeyError(f'no attribute {attr_name!r} is registered for operator {op_name!r}')
    del functions[attr_name]
    if not functions:
        del registered[op.name if op is not None else op_name]


def attach(node: Node, params: dict[str, str]) -> None:
    """Give a new node its registered attributes; TypeError for a value that is no text."""
    for key, function in registered.get(node.op.name if node.op else '', {}).items():
        stored = f'__{key}__'
        if key in node.attrs or stored in node.attrs:
            continue
        value = function(dict(params))
        if not isinstance(value, str):
            raise TypeError(f'Attributes need to be string: the function for {key!r} of {node.name!r} gave {value!r}')
        node.attrs[stored] = value
