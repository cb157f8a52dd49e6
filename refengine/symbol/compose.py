"""Making symbols: variables, calls of operators, and replacing variables by other symbols."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import attribute
from .. import name as names
from ..base import MXNetError, _Null, dtype_text
from ..graph.node import HIDDEN_KEYS, Entry, Node, operator_attrs, topological
from ..ndarray.type_numbers import _DTYPE_NP_TO_MX
from ..op import Operator
from . import operator_attributes
from .symbol import Symbol

DTYPE_NUMBERS = {np.dtype(kind).name: number for kind, number in _DTYPE_NP_TO_MX.items() if kind is not None}
"""The numbers under which files write element types."""


def var(name: str, attr: Mapping[str, str] | None = None, shape: Any = None, lr_mult: Any = None, wd_mult: Any = None,
        dtype: Any = None, init: Any = None, stype: str | None = None, **kwargs: str) -> Symbol:
    """A variable: an input of a graph (rule GRAPH-SYM-009).

    Shape, dtype, multipliers and initialiser become attributes that binding and Modules look at. Further keywords must
    have two underscores on both sides, ValueError otherwise; TypeError for a name that is no text.
    """
    if not isinstance(name, str):
        raise TypeError('Expect a string for variable `name`')
    attrs = _stored(attribute.current().get(dict(attr) if attr else None))
    if shape is not None:
        attrs['__shape__'] = str(tuple(shape) if not isinstance(shape, int) else (shape,))
    if lr_mult is not None:
        attrs['__lr_mult__'] = str(lr_mult)
    if wd_mult is not None:
        attrs['__wd_mult__'] = str(wd_mult)
    if dtype is not None:
        attrs['__dtype__'] = str(DTYPE_NUMBERS[dtype_text(dtype)])
    if init is not None:
        attrs['__init__'] = init if isinstance(init, str) else _described(init)
    if stype is not None:
        attrs['__storage_type__'] = str({'default': 0, 'row_sparse': 1, 'csr': 2}[stype])
    for key, value in kwargs.items():
        if not (key.startswith('__') and key.endswith('__')):
            raise ValueError(f'Attribute name={key} is not supported. Additional attributes must start and end with '
                             f'double underscores, e.g, __yourattr__')
        attrs[key] = str(value)
    for value in attrs.values():
        if not isinstance(value, str):
            raise ValueError('Attributes need to be string')
    return Symbol([(Node(None, name, attrs), 0)])


Variable = var


def _described(init: Any) -> str:
    dumps = getattr(init, 'dumps', None)
    return dumps() if dumps is not None else json.dumps([str(init), {}])


def _stored(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes under the keys that they are stored under."""
    return {f'__{key}__' if key in HIDDEN_KEYS else key: value for key, value in attrs.items()}


def text_of(value: Any) -> str:
    """The text of a parameter in a file."""
    if isinstance(value, type | np.dtype):
        return np.dtype(value).name
    if isinstance(value, np.generic):
        return str(value.item())
    return str(value)


_STATISTICS = {3: '["zero", {}]', 4: '["one", {}]'}
_INITIALISERS: dict[str, dict[int, str]] = {
    'BatchNorm': _STATISTICS, '_contrib_SyncBatchNorm': _STATISTICS, '_contrib_BatchNormWithReLU': _STATISTICS,
    'LeakyReLU': {1: '["Constant", {"value": 0.25}]'}}
"""How variables are initialised that an operator reads, by position: names alone would not tell."""


def single(symbol: Symbol, key: str) -> Entry:
    """The only output of an input symbol; MXNetError for several (rule GRAPH-SYM-013)."""
    if len(symbol._entries) != 1:
        raise MXNetError(f'Check failed: {len(symbol._entries)} vs. 1: Keyword Argument {key} is a tuple, single value '
                         f'is required')
    return symbol._entries[0]


def call(op: Operator, hint: str, inputs: Sequence[Symbol | None], given: Mapping[str, Any], name: str | None = None,
         attr: Mapping[str, str] | None = None) -> Symbol:
    """A call of an operator; inputs that are None or lacking become variables (rule GRAPH-SYM-002)."""
    attrs: dict[str, str] = {}
    scope = attribute.current().get(dict(attr) if attr else None)
    for value in scope.values():
        if not isinstance(value, str):
            raise ValueError('Attributes need to be string')
    known = operator_attributes.registered.get(op.name, {})
    attrs.update({f'__{key}__' if key in known else key: value for key, value in _stored(scope).items()})
    own: dict[str, str] = {}
    extra: dict[str, Any] = {}
    for key, value in given.items():
        if value is _Null:
            continue
        if key.startswith('__') and key.endswith('__'):
            attrs[key] = str(value)
        elif key in HIDDEN_KEYS:
            attrs[f'__{key}__'] = str(value)
        else:
            own[key] = text_of(value)
            extra[key] = value
    if op.variadic and 'num_args' not in own:
        own['num_args'] = str(len(inputs))
    attrs.update(own)
    params = op.parse(operator_attrs(op, attrs))
    name = names.current().get(name, hint.lower())
    entries: list[Entry] = []
    traced = False
    expected = op.input_count(params)
    keys = input_names(op, params, max(expected, len(inputs)))
    if 0 <= expected < len(inputs) and any(x is not None for x in inputs[expected:]):
        raise MXNetError(f'Operator {op.name} expects {expected} inputs, but got {len(inputs)} instead.')
    for position in range(expected if expected >= 0 else len(inputs)):
        symbol = inputs[position] if position < len(inputs) else None
        if symbol is None:
            entries.append((Node(None, f'{name}_{keys[position]}', dict(attrs)), 0))
        else:
            entries.append(single(symbol, keys[position]))
            traced = traced or symbol._traced
    for position, text in _INITIALISERS.get(op.name, {}).items():
        variable = entries[position][0] if position < len(entries) else None
        if variable is not None and variable.op is None:
            variable.attrs.setdefault('__init__', text)
    node = Node(op, name, attrs, entries, params)
    if operator_attributes.registered:
        operator_attributes.attach(node, own)
    return Symbol([(node, i) for i in range(node.visible)], traced)


def input_names(op: Operator, params: dict[str, Any], count: int) -> list[str]:
    """The names of an operator's inputs."""
    if op.name == 'Custom':
        from ..ndarray import custom  # noqa: F401 - gives the record its way back
        made = params['call']
        return [*made.arguments, *made.aux]
    if op.variadic:
        return [f'arg{i}' for i in range(count)]
    return [*op.inputs, *(f'input{i}' for i in range(len(op.inputs), count))]


def copied(heads: Sequence[Entry], replaced: Mapping[int, Entry]) -> list[Entry]:
    """The same graph made of new nodes; nodes whose identity is in ``replaced`` give way to another output."""
    made: dict[int, Node] = {}

    def entry(old: Entry) -> Entry:
        substitute = replaced.get(id(old[0]))
        return substitute if substitute is not None else (made[id(old[0])], old[1])

    for node in sorted(topological(heads), key=lambda n: n.sequence):
        if id(node) not in replaced:
            made[id(node)] = node.clone([entry(e) for e in node.inputs])
    return [entry(e) for e in heads]


def compose(symbol: Symbol, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Symbol:
    """The symbol with variables replaced by name; MXNetError for a name that no variable has."""
    kwargs = dict(kwargs)
    name = kwargs.pop('name', None)
    if args and kwargs:
        raise TypeError('compose only accept input Symbols either as positional or keyword arguments, not both')
    for value in (*args, *kwargs.values()):
        if not isinstance(value, Symbol):
            raise TypeError('Compose expect `Symbol` as arguments')
    if args:
        raise MXNetError(f'General composition only support kwargs for now, got {len(args)} positional symbols')
    variables = [node for node in symbol.nodes() if node.op is None]
    replaced: dict[int, Entry] = {}
    for key, value in kwargs.items():
        found = [node for node in variables if node.name == key]
        if not found:
            candidates = '\n'.join(f'\t[{i}]{node.name}' for i, node in enumerate(variables))
            raise MXNetError(f'Symbol.Compose: Keyword argument name {key} not found.\nCandidate arguments:\n'
                             f'{candidates}\n')
        for node in found:
            replaced[id(node)] = single(value, key)
    entries = copied(symbol._entries, replaced)
    if name is not None:
        entries[0][0].name = name
    return Symbol(entries, symbol._traced)
