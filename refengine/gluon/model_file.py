"""Files of whole models: the tree of blocks, the graphs of compiled ones, and the parameters."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

from ..files import whole_file
from .hybrid_block import HybridBlock


def _described(block: Any, numbers: Iterator[int]) -> tuple[str, dict[str, Any]]:
    """The key of a block, which counts blocks in the order of the tree, and what the file says about it."""
    key = f'{type(block).__name__.lower()}{next(numbers)}'
    found: dict[str, Any] = {'orig_name': block.name}
    cache = block._cache if isinstance(block, HybridBlock) else None
    compiled = list(cache.traces.values()) if cache is not None else []
    if compiled:
        from ..symbol.symbol import Symbol
        trace = compiled[-1].trace
        found.update(in_format=cache.form, out_format=trace.form,
                     inputs=[Symbol([(node, 0)]).tojson() for node in trace.inputs],
                     symbol=compiled[-1].symbol().tojson())
    found['hybridized'] = bool(compiled)
    children = list(block._children.items())
    found['children'] = {child.name: name for name, child in children}
    found.update(_described(child, numbers) for _, child in children)
    return key, found


def save(block: Any, prefix: str) -> None:
    """Write ``PREFIX-model.json`` and ``PREFIX-model.params``."""
    text = json.dumps(dict([_described(block, itertools.count())]))
    block.save_parameters(f'{prefix}-model.params')
    path = f'{prefix}-model.json'
    with whole_file(path) as file:
        file.write(text.encode())


def load(block: Any, prefix: str) -> None:
    """Read both files into a block that is built in the same way; ValueError for another tree."""
    path = f'{prefix}-model.json'
    with open(path, encoding='utf-8') as file:
        try:
            document = json.load(file)
        except ValueError as error:
            raise ValueError(f'{path}: not a model: {error}') from None
    if not isinstance(document, dict):
        raise ValueError(f'{path}: expected the description of a block, got {type(document).__name__}')
    compiled = _matched(block, document, itertools.count(), path)
    block.load_parameters(f'{prefix}-model.params')
    for each in compiled:
        each._active = True
        each._clear_cached_op()


def _matched(block: Any, document: dict[str, Any], numbers: Iterator[int], path: str) -> list[Any]:
    """The blocks of the tree that were compiled."""
    key = f'{type(block).__name__.lower()}{next(numbers)}'
    found = document.get(key)
    if not isinstance(found, dict):
        raise ValueError(f'{path}: expected a description of {key} ({block.name}), got {sorted(document)}')
    children = found.get('children')
    names = list(block._children)
    if not isinstance(children, dict) or sorted(children.values()) != sorted(names):
        raise ValueError(f'{path}: {key} has children {children}, expected {names}')
    compiled = [block] if found.get('hybridized') and isinstance(block, HybridBlock) else []
    for child in block._children.values():
        compiled += _matched(child, found, numbers, path)
    return compiled
