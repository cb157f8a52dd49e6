"""Which arrays live, which became more, and who holds them; how full a device is (rules DIAG-LEAK, MEM-GC)."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..context import Context, cpu
from ..dispatch import NDArray
from ..runtime import Runtime
from ..tape import next_number
from . import watching
from .holders import holders
from .kept import Graphs, grown, living_calls
from .source import Place

Key = tuple[tuple[int, ...], str]


class MemoryUse(NamedTuple):
    """Bytes in use, bytes in all, and the share of the free memory that is not in one piece."""

    used: int
    total: int
    fragmentation: float


def check_gpu_memory(ctx: Context | None = None) -> MemoryUse:
    """Used and total memory of a device, and its fragmentation 1 - max_free_block / free (rule DIAG-LEAK-001).

    A leak shows as steady growth of ``used`` over steps of a training; fragmentation alone proves none. MXNetError for
    a device that is not there.

    >>> use = check_gpu_memory(Context('cpu', 0))
    >>> 0 <= use.used <= use.total and 0 <= use.fragmentation <= 1
    True
    """
    info = Runtime().get_memory_info(ctx or cpu(0))
    free = info['free']
    return MemoryUse(info['used'], info['total'], 1 - info['max_free_block'] / free if free > 0 else 0.0)


def living(kind: type = NDArray) -> list[Any]:
    """Every living array, after a collection."""
    gc.collect()
    return [o for o in gc.get_objects() if isinstance(o, kind)]


def census() -> Counter[Key]:
    """How many arrays live, by shape and context."""
    return Counter(map(_key, living()))


def _key(array: Any) -> Key:
    return tuple(array.shape), str(array.context)


@dataclass
class Growth:
    """Arrays of one shape and context that became more; ``holders`` says who refers to the new ones."""

    shape: tuple[int, ...]
    context: str
    count: int
    holders: list[str] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f'+{self.count} arrays of shape {self.shape} on {self.context}']
        lines += [f'  held by {h}' for h in self.holders]
        for place in self.places:
            lines += ['  made at' + place.shown()[0][1:], *place.shown()[1:]]
        return '\n'.join(lines)


@dataclass
class Leaks:
    """What a block of ``find_leaks`` left behind, the largest growth first; true when there is anything.

    ``growth`` are arrays; ``graphs`` tells of recorded calls, which keep buffers that no array shows.
    """

    growth: list[Growth] = field(default_factory=list)
    graphs: Graphs | None = None

    def __bool__(self) -> bool:
        return bool(self.growth or self.graphs)

    def __str__(self) -> str:
        found = [g for g in (self.graphs, *self.growth) if g is not None]
        return '\n'.join(map(str, found)) if found else 'no array more than before'


@contextmanager
def find_leaks() -> Iterator[Leaks]:
    """A block after which the arrays and recorded calls that are more than before are counted, with their holders.

    Let it go round a few steps of a loop: what stays by design (the last loss, the state of an optimizer after its
    first step) stays once. Within ``watch()`` the lines that made them are named.

    >>> import refengine as mx
    >>> kept = []
    >>> with find_leaks() as leaks:
    ...     for _ in range(3):
    ...         kept.append(mx.nd.ones((5, 7)))
    >>> leaks.growth[0].count, leaks.growth[0].shape
    (3, (5, 7))
    """
    result = Leaks()
    before = living()
    known = {id(a): _key(a) for a in before}        # the id of a dead array may be that of a new one
    counts = Counter(known.values())
    before.clear()
    calls, start = len(living_calls()), next_number()
    try:
        yield result
    finally:
        every = living()
        now = Counter(map(_key, every))
        by_key: dict[Key, list[Any]] = {}
        for array in every:
            key = _key(array)
            if known.get(id(array)) != key:
                by_key.setdefault(key, []).append(array)
        own = [every, by_key, *by_key.values(), *_logged()]
        for key, new in by_key.items():
            more = now[key] - counts[key]
            if more > 0:
                result.growth.append(Growth(*key, more, holders(new, own), _places(new)))
        result.growth.sort(key=lambda g: -g.count)
        result.graphs = grown(calls, start, every, own)


def _logged() -> list[Any]:
    """What the log of watched calls keeps."""
    return [] if watching.current is None else [part for e in watching.current.events for part in (e.inputs, e.outputs)]


def _places(arrays: list[Any]) -> list[Place]:
    if watching.current is None:
        return []
    made = [watching.current.made(a) for a in arrays]
    return list(dict.fromkeys(e.place for e in made if e is not None))[:3]
