"""Writing a compiled block as graph and parameters that every release can load."""

from __future__ import annotations

from typing import Any

from .. import ndarray as nd
from .compiled import Compiled

NOT_READY = ('Please first call block.hybridize() and then run forward with this block at least once before calling '
             'export.')


def the_trace(block: Any) -> Compiled:
    """The trace that export writes; RuntimeError when there is none, or more than one to choose from."""
    cache = block._cache
    if cache is None or not cache.traces:
        raise RuntimeError(NOT_READY)
    found = list(cache.traces.values())
    if len(found) > 1 and cache.keyed_by_shape:
        raise RuntimeError(f'the forward pass of {block.name} depends on shapes and was traced {len(found)} times: '
                           f'export one of them by hybridizing and calling again with one shape only')
    return found[-1]


def export(block: Any, path: str | None, epoch: int = 0, remove_amp_cast: bool = True) -> Any:
    """Both files, or the symbol and its arrays when there is no path."""
    compiled = the_trace(block)
    symbol = compiled.symbol()
    states = set(symbol.list_auxiliary_states())
    arrays = {}
    for node, parameter in compiled.trace.parameters:
        kind = 'aux' if node.name in states else 'arg'
        arrays[f'{kind}:{node.name}'] = parameter._reduce()
    for node, data in compiled.trace.constants:
        arrays[f'arg:{node.name}'] = nd.array(data, dtype=data.dtype)
    if path is None:
        return symbol, arrays
    symbol_file, params_file = f'{path}-symbol.json', f'{path}-{epoch:04d}.params'
    symbol.save(symbol_file, remove_amp_cast)
    nd.save(params_file, arrays)
    return symbol_file, params_file
