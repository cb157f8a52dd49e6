"""Which arrays live, which became more, and who holds them; how full a device is (rules DIAG-LEAK, MEM-GC)."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType, GeneratorType, ModuleType
from typing import Any, NamedTuple

from ..context import Context, cpu
from ..dispatch import NDArray
from ..runtime import Runtime
from ..tape import Leaf, Node, Pair
from . import watching
from .source import Place, is_engine

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
    return Counter((tuple(a.shape), str(a.context)) for a in living())


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
    """What a block of ``find_leaks`` left behind, the largest growth first; true when there is anything."""

    growth: list[Growth] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.growth)

    def __str__(self) -> str:
        return '\n'.join(str(g) for g in self.growth) if self.growth else 'no array more than before'


@contextmanager
def find_leaks() -> Iterator[Leaks]:
    """A block after which the arrays that are more than before are counted, with those who hold them.

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
    before = {id(a) for a in living()}
    counts = census()
    try:
        yield result
    finally:
        arrays = [a for a in living() if id(a) not in before]
        by_key: dict[Key, list[Any]] = {}
        for array in arrays:
            by_key.setdefault((tuple(array.shape), str(array.context)), []).append(array)
        now = census()
        for key, new in by_key.items():
            more = now[key] - counts[key]
            if more > 0:
                result.growth.append(Growth(*key, more, _holders(new, [arrays, new, by_key]), _places(new)))
        result.growth.sort(key=lambda g: -g.count)


def _places(arrays: list[Any]) -> list[Place]:
    if watching.current is None:
        return []
    made = [watching.current.made(a) for a in arrays]
    return list(dict.fromkeys(e.place for e in made if e is not None))[:3]


def _holders(arrays: list[Any], own: list[Any]) -> list[str]:
    """Who refers to arrays: names of variables, attributes, containers and what holds those."""
    sample = arrays[:50]
    skip = {id(o) for o in (*own, sample)}
    if watching.current is not None:
        skip |= {id(part) for e in watching.current.events for part in (e.inputs, e.outputs)}
    found: Counter[str] = Counter()
    for array in sample:
        texts = {f'{name} in {where}' for name, where in _names_of(array)}
        for holder in gc.get_referrers(array):
            if id(holder) not in skip and not isinstance(holder, (FrameType, GeneratorType)):
                texts.add(_described(holder, array))
        found.update(text for text in texts if text)
    return [f'{text}{f" ({n} of them)" if n > 1 else ""}' for text, n in found.most_common(4)]


def _names_of(value: Any) -> Iterator[tuple[str, str]]:
    """Variables of the program that hold a value: in the functions that run now, and in their modules."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not is_engine(frame.f_code):
            for name, held in frame.f_locals.items():
                if held is value:
                    yield name, frame.f_code.co_name if frame.f_code.co_name != '<module>' else str(
                        frame.f_globals.get('__name__'))
        frame = frame.f_back


def _described(holder: Any, held: Any) -> str:
    """A holder in words; empty for what is no news, such as the variables of running functions."""
    if isinstance(holder, dict):
        key = next((k for k, v in holder.items() if v is held), None)
        owner = _owner_of_dict(holder)
        if owner:
            return f'{key} in {owner}'
        names = [f'{n} in {where}' for n, where in _names_of(holder)]
        return f'dict {names[0]}, under {key!r}' if names else ''
    if isinstance(holder, (list, tuple, set)):
        names = [f'{n} in {where}' for n, where in _names_of(holder)]
        if names:
            return f'{type(holder).__name__} {names[0]}'
        for outer in gc.get_referrers(holder):
            if isinstance(outer, dict):
                owner = _owner_of_dict(outer)
                key = next((k for k, v in outer.items() if v is holder), None)
                if owner:
                    return f'{type(holder).__name__} {key} in {owner}'
        return f'a {type(holder).__name__} of {len(holder)}'
    if isinstance(holder, (Node, Pair)):
        return 'a recorded graph: call backward, or keep loss.asscalar() instead of the loss'
    if isinstance(holder, Leaf):
        return 'the mark of a variable, as its gradient'
    return f'an object of {type(holder).__name__}'


def _owner_of_dict(attributes: dict[Any, Any]) -> str:
    for holder in gc.get_referrers(attributes):
        if isinstance(holder, ModuleType):
            return holder.__name__
        if getattr(holder, '__dict__', None) is attributes:
            return f'an object of {type(holder).__name__}'
    return ''
