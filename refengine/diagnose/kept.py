"""Graphs that recording built and no backward has freed: how much they keep, and which variable holds them."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import tape
from ..graph.plan import State
from ..pool import Memory
from ..tape import Node, Output, Pair
from .holders import holders


@dataclass
class Graphs:
    """Recorded calls that are more than before, and the bytes that they alone keep; ``holders`` say who holds them."""

    calls: int
    size: int
    holders: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f'+{self.calls} recorded calls that no backward has freed keep {_amount(self.size)}']
        lines += [f'  held by {h}' for h in self.holders]
        lines += ['  change: add up loss.asscalar(), a number, or loss.detach(), an array without graph;',
                  '          or call backward in every step']
        return '\n'.join(lines)


def living_calls() -> list[Any]:
    """Every recorded call that is not freed."""
    return [o for o in gc.get_objects() if isinstance(o, (Node, Pair)) and o.alive]


def grown(before: int, start: int, arrays: Sequence[Any], own: Sequence[Any]) -> Graphs | None:
    """What graphs have grown by since ``before`` calls lived and the calls were numbered ``start``."""
    calls = living_calls()
    more = len(calls) - before
    if more <= 0:
        return None
    new = {id(c): c for c in calls if c.sequence > start}
    seen = {id(_owner(a._data)) for a in arrays}
    size = 0
    for call in new.values():
        for data in _buffers(call):
            owner = _owner(data)
            if id(owner) not in seen:
                seen.add(id(owner))
                size += owner.nbytes
    return Graphs(more, size, list(_told(arrays, new, [*own, calls, new])))


def _told(arrays: Sequence[Any], new: dict[int, Any], own: list[Any]) -> Iterator[str]:
    """The arrays from which new calls are reached, those with the largest graphs first, and no part of another's."""
    found = []
    for array in arrays:
        call = _call_of(array._node)
        if call is not None and id(call) in new:
            found.append((array, _behind(call)))
    found.sort(key=lambda f: -len(f[1]))
    covered: set[int] = set()
    heads = []
    for array, graph in found:
        if id(_call_of(array._node)) not in covered:
            covered |= graph.keys()
            heads.append((array, graph))
    own = [*own, found, heads, *found]
    alike: dict[tuple[int, int], list[Any]] = {}
    for array, graph in heads:
        steps = _steps(_call_of(array._node), graph)
        alike.setdefault((len(graph), steps), []).append(array)
    for (calls, steps), some in list(alike.items())[:4]:
        what = f'{calls} calls' if steps == 1 else f'{steps} steps, {calls} calls'
        for holder in holders(some, [*own, alike, *alike.values()])[:2]:
            yield f'{holder}: a graph of {what}' if len(some) == 1 else f'{holder}: graphs of {what} each'


def _call_of(entry: Any) -> Any:
    entry = entry.node if isinstance(entry, Output) else entry
    return entry if isinstance(entry, (Node, Pair)) and entry.kind != tape.GONE else None


def _behind(call: Any) -> dict[int, Any]:
    """All calls that one depends on, itself included."""
    found = {id(call): call}
    pending = [call]
    while pending:
        for parent in pending.pop().parents:
            above = _call_of(parent)
            if above is not None and id(above) not in found:
                found[id(above)] = above
                pending.append(above)
    return found


def _steps(head: Any, graph: dict[int, Any]) -> int:
    """How many rounds of a loop a graph holds: the terms of a sum, or how often the last operator occurs in it."""
    op, last, count = head.op.name, head, 1
    while True:
        above = [call for call in map(_call_of, last.parents) if call is not None]
        same = next((call for call in above if call.op.name == op), None)
        if same is None:
            break
        last, count = same, count + 1
    if count > 1:
        return count + (len(above) > 1)
    return sum(call.op.name == op for call in graph.values())


def _buffers(call: Any) -> Iterator[Any]:
    yield from (a for a in (*call.inputs, *call.outputs) if hasattr(a, 'nbytes'))
    kept = (call.params or {}).get('state')
    if isinstance(kept, State):
        yield from (a for a in (*kept.inputs, *kept.values.values()) if hasattr(a, 'nbytes'))


def _owner(data: Any) -> Any:
    """The array whose memory it is; a buffer of the pool counts for itself."""
    while isinstance(getattr(data, 'base', None), np.ndarray) and not isinstance(data.base, Memory):
        data = data.base
    return data


def _amount(size: float) -> str:
    for unit in ('bytes', 'KB'):
        if size < 1024:
            return f'{size:.4g} {unit}'
        size /= 1024
    return f'{size:.4g} MB'
