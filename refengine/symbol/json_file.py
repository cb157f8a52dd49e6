"""The file format of graphs: JSON as MXNet 1.x and 2.0 write it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..base import MXNetError
from ..graph.node import HIDDEN_KEYS, Node, topological
from ..op import registry
from . import release_names
from .compose import input_names
from .loops import RECORDS, Subgraph, make_node
from .symbol import Symbol

VERSION = 10901


def dump(symbol: Symbol, remove_amp_cast: bool = True) -> str:
    """The text of a graph: sorted attributes, one line for each list of numbers."""
    return _graph_text(symbol._entries, remove_amp_cast, (f'"attrs": {{"mxnet_version": ["int", {VERSION}]}}',), '')


def _graph_text(entries: Sequence[Any], remove_amp_cast: bool, more: Sequence[str], indent: str) -> str:
    """A graph, and what is noted beside it; each line but the first begins with the indent."""
    if remove_amp_cast:
        entries = _without_casts(entries)
    nodes = topological(entries)
    number = {id(node): i for i, node in enumerate(nodes)}
    pointers = [0]
    blocks = []
    for node in nodes:
        count = 1 if node.op is None else release_names.OUTPUTS.get(node.op.name, node.visible)
        pointers.append(pointers[-1] + count)
        states = node.states()
        inputs = [[number[id(source)], index, int(position in states and source.op is None)]
                  for position, (source, index) in enumerate(node.inputs)]
        runner = node.params.get('runner')
        graphs = [_graph_text(graph.heads, remove_amp_cast, (), f'{indent}        ')
                  for graph in (runner.graphs if runner is not None else ())]
        blocks.append(_node_text(node, inputs, graphs, indent))
    heads = [[number[id(node)], index, 0] for node, index in entries]
    variables = [i for i, node in enumerate(nodes) if node.op is None]
    inner = f'{indent}  '
    lines = ['"nodes": [\n' + ', \n'.join(blocks) + f'\n{inner}]', f'"arg_nodes": {_row(variables, inner)}',
             f'"node_row_ptr": {_row(pointers, inner)}', f'"heads": {_rows(heads, inner)}', *more]
    return '{\n' + ', \n'.join(f'{inner}{line}' for line in lines) + f'\n{indent}}}'


def _without_casts(heads: Any) -> Any:
    """The graph without the casts that mixed precision put in."""
    nodes = topological(heads)
    if not any(node.op is not None and node.op.name in ('amp_cast', 'amp_multicast') for node in nodes):
        return heads
    replaced: dict[int, Any] = {}
    for node in nodes:
        if node.op is not None and node.op.name == 'amp_cast':
            source = node.inputs[0]
            while id(source[0]) in replaced:
                source = replaced[id(source[0])]
            replaced[id(node)] = source
    made: dict[int, Node] = {}

    def entry(old: Any) -> Any:
        old = replaced.get(id(old[0]), old)
        return made[id(old[0])], old[1]

    for node in nodes:
        if id(node) not in replaced:
            made[id(node)] = node.clone([entry(e) for e in node.inputs])
    return [entry(e) for e in heads]


_LONG = 10


def _listed(items: Sequence[str], indent: str) -> str:
    """A list in one line, or with a line for each item when there are more than ten, as the releases write them."""
    if len(items) > _LONG:
        return '[\n' + ', \n'.join(f'{indent}  {item}' for item in items) + f'\n{indent}]'
    return '[' + ', '.join(items) + ']'


def _row(numbers: Sequence[int], indent: str = '') -> str:
    return _listed([str(n) for n in numbers], indent)


def _rows(rows: Sequence[Sequence[int]], indent: str = '') -> str:
    return _listed([_row(row) for row in rows], indent)


def _node_text(node: Node, inputs: list[list[int]], graphs: Sequence[str], indent: str) -> str:
    op = 'null' if node.op is None else release_names.WRITTEN.get(node.op.name, node.op.name)
    start = f'{indent}      '
    lines = [f'"op": {json.dumps(op)}', f'"name": {json.dumps(node.name)}']
    if node.attrs:
        pairs = [f'{json.dumps(key)}: {json.dumps(value)}' for key, value in sorted(node.attrs.items())]
        if len(pairs) == 1:
            lines.append('"attrs": {' + pairs[0] + '}')
        else:
            lines.append('"attrs": {\n' + ', \n'.join(f'{start}  {pair}' for pair in pairs) + f'\n{start}}}')
    lines.append(f'"inputs": {_rows(inputs, start)}')
    if graphs:
        lines.append('"subgraphs": [\n' + ', \n'.join(f'{start}  {text}' for text in graphs) + f'\n{start}]')
    return f'{indent}    {{\n' + ', \n'.join(f'{start}{line}' for line in lines) + f'\n{indent}    }}'


# ---- reading ---------------------------------------------------------------------------------------------------

def _document(text: str) -> dict[str, Any]:
    start = text.lstrip()
    if not start.startswith('{'):
        raise MXNetError(f"Error at Line 0, around ^`{start[1:20]}`, Expect '{{' but get '{start[:1]}'")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MXNetError(f'JSONReader: the text is no JSON: {error}') from None
    return _checked(document)


def _checked(document: Any) -> dict[str, Any]:
    if not isinstance(document, dict):
        raise MXNetError(f"JSONReader: Expect '{{' for a graph, got {type(document).__name__}")
    for field in ('nodes', 'arg_nodes', 'heads'):
        if not isinstance(document.get(field), list):
            raise MXNetError(f'JSONReader: Check failed: Missing field "{field}"')
    return document


def parse(text: str) -> Symbol:
    """The symbol of a text; MXNetError naming what is wrong with it (rule GRAPH-JSON-005)."""
    return Symbol(_heads(_document(text)))


def _heads(document: Mapping[str, Any]) -> list[tuple[Node, int]]:
    nodes: list[Node] = []
    for position, block in enumerate(document['nodes']):
        if not isinstance(block, dict):
            raise MXNetError(f"Expect '{{' for node {position}, got {type(block).__name__}")
        for field in ('op', 'name', 'inputs'):
            if field not in block:
                raise MXNetError(f'JSONReader: Check failed: Missing field "{field}" of node {position}')
        nodes.append(_node(block, nodes, position))
    return [_entry(head, nodes, len(nodes), 'head') for head in document['heads']]


def _entry(row: Any, nodes: list[Node], before: int, what: str) -> tuple[Node, int]:
    if not isinstance(row, list) or not row or not all(isinstance(n, int) for n in row) or not 0 <= row[0] < before:
        raise MXNetError(f'a {what} of the graph is {row}, expected [node, output, version] of an earlier node')
    return nodes[row[0]], row[1] if len(row) > 1 else 0


def _node(block: Mapping[str, Any], nodes: list[Node], position: int) -> Node:
    """A node from its description; keys that earlier versions wrote are understood too."""
    name, op_name = str(block['name']), str(block['op'])
    attrs: dict[str, str] = {}
    for source in ('param', 'attr', 'attrs'):
        given = block.get(source) or {}
        if not isinstance(given, dict):
            raise MXNetError(f'JSONReader: "{source}" of node {position} is {given!r}, expected an object')
        for key, value in given.items():
            attrs[f'__{key}__' if key in HIDDEN_KEYS else key] = str(value)
    if not isinstance(block['inputs'], list):
        raise MXNetError(f'JSONReader: "inputs" of node {position} is {block["inputs"]!r}, expected a list')
    inputs = [_entry(row, nodes, position, 'input') for row in block['inputs']]
    if op_name == 'null':
        return Node(None, name, attrs, inputs)
    if op_name in RECORDS:
        graphs = block.get('subgraphs')
        if not isinstance(graphs, list):
            raise MXNetError(f'JSONReader: Check failed: Missing field "subgraphs" of node {position}')
        return make_node(op_name, name, attrs, inputs, [Subgraph(_heads(_checked(graph))) for graph in graphs])
    read = release_names.READ.get(op_name)
    if read is not None:
        op_name, attrs = read(attrs)
    op = registry.get(op_name)
    if op is None:
        raise MXNetError(f'Failed loading Op {name} of type {op_name}: Operator {op_name} is not registered')
    if op.name != 'Custom':
        # A release that knows more parameters writes their defaults; those say nothing.
        own = {*op.params, 'num_args'}
        attrs = {key: value for key, value in attrs.items()
                 if key in own or key[:2] == '__' or value not in release_names.NOTHING}
    node = Node(op, name, attrs, inputs)
    if op.name == 'Custom':
        from ..ndarray import custom  # noqa: F401 - gives the record its way back
    expected = op.input_count(node.params)
    if expected >= 0 and len(inputs) < expected:
        # Files before version 0.9 do not list auxiliary states.
        words = input_names(op, node.params, expected)
        node.inputs += [(Node(None, f'{name}_{words[i]}'), 0) for i in range(len(inputs), expected)]
    for source, index in node.inputs:
        if not 0 <= index < source.total:
            raise MXNetError(f'node {name} reads output {index} of {source.name}, which has {source.total}')
    return node
