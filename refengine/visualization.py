"""Showing graphs: as a table, and as a drawing by graphviz (rule GRAPH-SYM-014)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from .base import MXNetError


def print_summary(symbol: Any, shape: Mapping[str, Sequence[int]] | None = None, line_length: int = 120,
                  positions: Sequence[float] = (0.44, 0.64, 0.74, 1.0)) -> None:
    """Print a table of layers, output shapes and numbers of parameters.

    ``shape`` gives the shapes of the data by name; without it no sizes are shown. ValueError when it does not suffice.

    >>> import io, contextlib, refengine as mx
    >>> with contextlib.redirect_stdout(io.StringIO()) as text:
    ...     print_summary(mx.sym.FullyConnected(mx.sym.var('a'), num_hidden=4, name='fc'), {'a': (2, 3)})
    >>> text.getvalue().splitlines()[-2]
    'Total params: 16'
    """
    from .symbol.symbol import Symbol
    if not isinstance(symbol, Symbol):
        raise TypeError('symbol must be Symbol')
    shapes: dict[str, Any] = {}
    if shape is not None:
        internals = symbol.get_internals()
        _, found, _ = internals.infer_shape(**shape)
        if found is None:
            raise ValueError('Input shape is incomplete')
        shapes = dict(zip(internals.list_outputs(), found, strict=True))
    stops = [int(line_length * p) for p in positions] if positions[-1] <= 1 else [int(p) for p in positions]
    heads = {id(node) for node, _ in symbol._entries}
    states = set(symbol.list_auxiliary_states())
    rows = []
    total = 0
    counted: set[str] = set()
    for number, node in enumerate(symbol.nodes()):
        if node.op is None and number > 0 and node.name not in (shape or {}):
            continue
        own = shapes.get(node.output_names()[0], ())
        params = 0
        for source, _ in node.inputs:
            if source.op is None and source.name not in (shape or {}) and source.name not in counted and shapes \
                    and not source.name.endswith('label') and source.name not in states | {'data'}:
                counted.add(source.name)
                params += prod(shapes.get(source.name, (0,)))
        total += params
        previous = [source.name for source, _ in node.inputs
                    if source.op is not None or source.name in (shape or {}) or id(source) in heads
                    or (not shape and source is symbol.nodes()[0])]
        kind = 'null' if node.op is None else node.op.name
        text = 'x'.join(str(n) for n in own[1:]) if own else ''
        rows.append([f'{node.name}({kind})', text, str(params), previous])

    def line(fields: Sequence[str]) -> str:
        text = ''
        for field, stop in zip(fields, stops, strict=True):
            text = (text + str(field))[:stop].ljust(stop)
        return text

    print('_' * line_length)
    print(line(['Layer (type)', 'Output Shape', 'Param #', 'Previous Layer']))
    print('=' * line_length)
    for index, (name, text, params, previous) in enumerate(rows):
        print(line([name, text, params, previous[0] if previous else '']))
        for other in previous[1:]:
            print(line(['', '', '', other]))
        print(('=' if index == len(rows) - 1 else '_') * line_length)
    print(f'Total params: {total}')
    print('_' * line_length)


_COLOURS = ('#8dd3c7', '#fb8072', '#ffffb3', '#bebada', '#80b1d3', '#fdb462', '#b3de69', '#fccde5')
_WEIGHTS = re.compile(r'.*(weight|bias|beta|gamma|moving_var|moving_mean|running_var|running_mean)$')


def plot_network(symbol: Any, title: str = 'plot', save_format: str = 'pdf',
                 shape: Mapping[str, Sequence[int]] | None = None, dtype: Any = None,
                 node_attrs: Mapping[str, str] | None = None, hide_weights: bool = True) -> Any:
    """A ``graphviz.Digraph`` of the graph; ImportError when the package graphviz is not installed.

    ``shape`` labels the edges with shapes, ``hide_weights`` leaves parameters out.
    """
    from .symbol.symbol import Symbol
    if not isinstance(symbol, Symbol):
        raise TypeError('symbol must be a Symbol')
    try:
        from graphviz import Digraph
    except ImportError:
        raise ImportError('Draw network requires graphviz library: install the Python package "graphviz"') from None
    shapes: dict[str, Any] = {}
    if shape is not None:
        internals = symbol.get_internals()
        try:
            _, found, _ = internals.infer_shape(**shape)
        except MXNetError as error:
            raise ValueError(f'the shapes do not fit the graph: {error}') from error
        if found is None:
            raise ValueError('Input shape is incomplete')
        shapes = dict(zip(internals.list_outputs(), found, strict=True))
    style = {'shape': 'box', 'fixedsize': 'true', 'width': '1.3', 'height': '0.8034', 'style': 'filled',
             **(node_attrs or {})}
    dot = Digraph(name=title, format=save_format)
    hidden = set()
    for block in json.loads(symbol.tojson())['nodes']:
        name, kind, attrs = block['name'], block['op'], block.get('attrs', {})
        if kind == 'null':
            if hide_weights and _WEIGHTS.match(name):
                hidden.add(name)
                continue
            dot.node(name=name, label=name, **{**style, 'shape': 'oval', 'fillcolor': _COLOURS[0]})
            continue
        colour, label = _look(kind, attrs)
        dot.node(name=name, label=label, **{**style, 'fillcolor': _COLOURS[colour]})
    for node in symbol.nodes():
        for source, index in node.inputs:
            if source.name in hidden:
                continue
            edge = {'dir': 'back', 'arrowtail': 'open'}
            size = shapes.get(source.output_names()[index])
            if size is not None:
                edge['label'] = 'x'.join(str(n) for n in size[1:])
            dot.edge(tail_name=node.name, head_name=source.name, **edge)
    return dot


def _look(kind: str, attrs: Mapping[str, str]) -> tuple[int, str]:
    """The colour and the label of an operator."""
    def numbers(key: str, default: str = '1') -> str:
        return 'x'.join(re.findall(r'\d+', attrs.get(key, default))) or '1'

    if kind == 'Convolution':
        return 1, f'Convolution\n{numbers("kernel")}/{numbers("stride")}, {attrs.get("num_filter")}'
    if kind == 'FullyConnected':
        return 1, f'FullyConnected\n{attrs.get("num_hidden")}'
    if kind in ('Activation', 'LeakyReLU'):
        return 2, f'{kind}\n{attrs.get("act_type")}'
    if kind == 'BatchNorm':
        return 3, kind
    if kind == 'Pooling':
        return 4, f'Pooling\n{attrs.get("pool_type", "max")}, {numbers("kernel")}/{numbers("stride")}'
    if kind in ('Concat', 'Flatten', 'Reshape'):
        return 5, kind
    if kind in ('softmax', 'SoftmaxOutput'):
        return 6, kind
    return 7, kind
