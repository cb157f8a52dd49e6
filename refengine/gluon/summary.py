"""The table that ``Block.summary`` prints."""

from __future__ import annotations

from math import prod
from typing import Any

from ..ndarray import NDArray
from .block import Block
from .nn.containers import HybridSequential, Sequential

LINE = '{:>20}  {:>42} {:>15}'
WIDTH = 80


def _shapes(value: Any) -> str:
    """The shapes of nested arrays: ``(1, 2), [(2,)]``."""
    if isinstance(value, list | tuple):
        return ', '.join(f'[{_shapes(item)}]' if isinstance(item, list | tuple) else _shapes(item) for item in value)
    return str(value.shape) if isinstance(value, NDArray) else str(value)


def print_summary(block: Block, inputs: tuple[Any, ...]) -> None:
    """Run the block on inputs and print one line per layer in the order of calls, then the totals.

    AssertionError if a part of it is hybridized, RuntimeError if it was not initialised. Containers have no line.
    """
    rows: list[tuple[str, str, int]] = [('Input', _shapes(inputs), 0)]
    seen: set[int] = set()
    totals = {'all': 0, 'trainable': 0, 'shared': 0}
    handles = []

    def count(layer: Block, args: Any, output: Any) -> None:
        own = 0
        for parameter in layer.params.values():
            size = prod(parameter.shape)
            own += size
            totals['trainable'] += size if parameter.grad_req != 'null' else 0
            totals['shared'] += size if id(parameter) in seen else 0
            seen.add(id(parameter))
        totals['all'] += own
        rows.append((f'{type(layer).__name__}-{len(rows)}', _shapes(output), own))

    hooked: set[int] = set()

    def hook(layer: Block) -> None:
        assert not getattr(layer, '_active', False), f'"{layer.name}" must not be hybridized to print summary.'
        if not isinstance(layer, Sequential | HybridSequential) and id(layer) not in hooked:
            hooked.add(id(layer))
            handles.append(layer.register_forward_hook(count))

    try:
        block.apply(hook)
        block(*inputs)
    finally:
        for handle in handles:
            handle.detach()
    rule = '-' * WIDTH
    print(rule)
    print(LINE.format('Layer (type)', 'Output Shape', 'Param #'))
    print('=' * WIDTH)
    for row in rows:
        print(LINE.format(*row))
    print('=' * WIDTH)
    print('Parameters in forward computation graph, duplicate included')
    print(f'   Total params: {totals["all"]}')
    print(f'   Trainable params: {totals["trainable"]}')
    print(f'   Non-trainable params: {totals["all"] - totals["trainable"]}')
    print(f'Shared params in forward computation graph: {totals["shared"]}')
    print(f'Unique parameters in model: {totals["all"] - totals["shared"]}')
    print(rule)
