"""Who keeps an object alive, in the words of the program: variables, attributes, entries of containers, closures."""

from __future__ import annotations

import functools
import gc
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from types import CellType, FrameType, FunctionType, GeneratorType, ModuleType
from typing import Any

from ..tape import Leaf, Node, Output, Pair
from .source import is_engine

DEPTH = 6
"""How many objects may stand between an array and a variable of the program."""

_LIMIT = 80
_CACHE = type(functools.lru_cache(int))


def holders(objects: Sequence[Any], own: Sequence[Any]) -> list[str]:
    """Who refers to objects, the most frequent first; ``own`` are containers of the caller that do not count.

    >>> class Trainer: pass
    >>> trainer = Trainer(); trainer.cache = {3: [0]}
    >>> holders([trainer.cache[3]], [])
    ['Trainer.cache[3] (trainer in refengine.diagnose.holders)']
    """
    sample = list(objects[:50])
    search = _Search(sample, [*own, objects, sample])
    found: dict[tuple[str, str], list[str]] = {}
    for item in sample:
        for before, step, behind in dict.fromkeys(search.texts(item)):
            found.setdefault((before, behind), []).append(step)
    ordered = sorted(found.items(), key=lambda f: (-len(f[1]), len(f[0][0])))
    return [_joined(before, steps, behind) for (before, behind), steps in ordered[:4]]


def _joined(before: str, steps: list[str], behind: str) -> str:
    steps = sorted(steps, key=lambda step: (len(step), step))
    if len(steps) == 1:
        return f'{before}{steps[0]}{behind}'
    ends = steps[0] if steps[0] == steps[-1] else f'{steps[0]} to {steps[-1]}'
    return f'{before}{ends}{behind} ({len(steps)} of them)'


Text = tuple[str, str, str]
"""A way to an object in three parts: the entries of containers, which differ from array to array, stand apart."""


class _Search:
    """The objects that lie between some objects and the variables of the program."""

    def __init__(self, objects: list[Any], own: list[Any]) -> None:
        self.parents: dict[int, list[Any]] = {}
        self.spaces = {id(vars(m)): m.__name__ for m in list(sys.modules.values()) if isinstance(m, ModuleType)}
        self.variables: dict[int, list[tuple[str, str]]] = {}
        skip = {id(o) for o in own}
        frame: FrameType | None = sys._getframe(1)
        running = set()
        while frame is not None:
            running.add(id(frame))
            if frame.f_locals is not frame.f_globals:
                skip.add(id(frame.f_locals))
                if not is_engine(frame.f_code):
                    for name, value in frame.f_locals.items():
                        self.variables.setdefault(id(value), []).append((name, frame.f_code.co_name))
            elif not is_engine(frame.f_code):
                self.spaces.setdefault(id(frame.f_globals), str(frame.f_globals.get('__name__')))
            frame = frame.f_back
        self._climb(objects, skip | running)

    def _climb(self, objects: list[Any], skip: set[int]) -> None:
        frontier, seen = list(objects), {id(o) for o in objects}
        for _ in range(DEPTH):
            skip |= {id(frontier), id(seen), id(self.parents)}
            wanted = {id(o) for o in frontier}
            above: list[Any] = []
            for holder in gc.get_referrers(*frontier) if frontier else ():
                if id(holder) in skip or _is_own(holder):
                    continue
                for held in gc.get_referents(holder):
                    if id(held) in wanted:
                        self.parents.setdefault(id(held), []).append(holder)
                if id(holder) not in seen and _leads_on(holder) and id(holder) not in self.spaces:
                    seen.add(id(holder))
                    above.append(holder)
            skip.add(id(above))
            skip |= {id(held) for held in self.parents.values()}
            frontier = above[:_LIMIT]

    # ---- from an object up to its names --------------------------------------------------------------------------

    def texts(self, item: Any) -> Iterator[Text]:
        """Every way that leads to an object; what stands between is told where nothing has a name."""
        named = list(self._up(item, '', frozenset()))
        if named:
            yield from named
            return
        for holder in self.parents.get(id(item), ()):
            text = _described(holder)
            if text:
                yield text, '', ''

    def _up(self, item: Any, step: str, seen: frozenset[int]) -> Iterator[Text]:
        """``step`` is how the array is reached from ``item``."""
        if id(item) in seen or len(seen) > DEPTH:
            return
        seen |= {id(item)}
        for name, where in self.variables.get(id(item), ()):
            yield name, step, f' in {where}'
        for holder in self.parents.get(id(item), ()):
            if isinstance(holder, (dict, list, tuple, deque, set, frozenset)):
                yield from self._container(holder, item, step, seen)
            else:
                yield from self._other(holder, item, step)

    def _container(self, holder: Any, item: Any, step: str, seen: frozenset[int]) -> Iterator[Text]:
        owners = self.parents.get(id(holder), ())
        if isinstance(holder, dict):
            key: Any = next((k for k, v in holder.items() if v is item), None)
            if id(holder) in self.spaces:
                yield str(key), step, f' in {self.spaces[id(holder)]}'
                return
            owner = next((o for o in owners if _attributes(o) is holder), None)
            if owner is not None:
                yield from self._object(owner, str(key), step)
                return
        elif isinstance(holder, (set, frozenset)):
            key = Ellipsis
        else:
            key = next((i for i, v in enumerate(holder) if v is item), 0)
            for owner in owners:
                if isinstance(owner, FunctionType) and owner.__defaults__ is holder:
                    yield f'a default value of {owner.__qualname__}', '', ''
                elif isinstance(owner, functools.partial) and owner.args is holder:
                    yield f'an argument of partial({getattr(owner.func, "__qualname__", owner.func)})', '', ''
        yield from self._up(holder, f'[{"..." if key is Ellipsis else repr(key)[:40]}]{step}', seen)
        for owner in owners:
            if isinstance(owner, _CACHE):
                yield from self._other(owner, holder, '')

    def _other(self, holder: Any, item: Any, step: str) -> Iterator[Text]:
        """A holder that is no container."""
        if isinstance(holder, CellType):
            for closure in self.parents.get(id(holder), ()):
                for function in self.parents.get(id(closure), ()) if isinstance(closure, tuple) else ():
                    if isinstance(function, FunctionType) and function.__closure__ is closure \
                            and not is_engine(function.__code__):
                        name = function.__code__.co_freevars[[c is holder for c in closure].index(True)]
                        yield name, step, f', a closure variable of {function.__qualname__}'
        elif isinstance(holder, (GeneratorType, FrameType)):
            frame = holder.gi_frame if isinstance(holder, GeneratorType) else holder
            name = next((k for k, v in frame.f_locals.items() if v is item), '') if frame is not None else ''
            if name and not is_engine(frame.f_code):
                yield name, step, (f' in the generator {holder.__qualname__}, which waits' if frame is not holder else
                                   f' in {frame.f_code.co_name}, whose frame an exception keeps')
        elif isinstance(holder, _CACHE):
            yield f'the lru_cache of {getattr(holder, "__qualname__", "a function")}', '', ''
        elif not isinstance(holder, (ModuleType, FunctionType, type, functools.partial)):
            attribute = next((k for k, v in _members(holder) if v is item), None)
            if attribute is not None:
                yield from self._object(holder, attribute, step)

    def _object(self, owner: Any, attribute: str, step: str) -> Iterator[Text]:
        """An attribute of an object, which goes by its class and by a variable that holds it, if there is one."""
        names = [f'{n} in {where}' for n, where in self.variables.get(id(owner), ())]
        for holder in self.parents.get(id(owner), ()):
            if isinstance(holder, dict) and id(holder) in self.spaces:
                key = next((k for k, v in holder.items() if v is owner), None)
                names.append(f'{key} in {self.spaces[id(holder)]}')
        yield f'{type(owner).__name__}.{attribute}', step, f' ({names[0]})' if names else ''


def _is_own(holder: Any) -> bool:
    """Whether it is a frame or a generator of the search itself, or of the engine."""
    if isinstance(holder, GeneratorType):
        return is_engine(holder.gi_code)
    return isinstance(holder, FrameType) and is_engine(holder.f_code)


def _leads_on(holder: Any) -> bool:
    """Whether somebody else may hold the holder: frames, modules and graphs are an end."""
    return not isinstance(holder, (FrameType, ModuleType, GeneratorType, FunctionType, type, Node, Pair, Leaf, Output))


def _attributes(holder: Any) -> Any:
    try:
        found = object.__getattribute__(holder, '__dict__')
    except (AttributeError, TypeError):
        return None
    return found if isinstance(found, dict) else None


def _members(holder: Any) -> Iterator[tuple[str, Any]]:
    """Attributes that an object itself holds, in its dict or in slots."""
    yield from (_attributes(holder) or {}).items()
    for kind in type(holder).__mro__:
        slots = kind.__dict__.get('__slots__', ())
        for name in (slots,) if isinstance(slots, str) else slots:
            try:
                yield name, object.__getattribute__(holder, name)
            except (AttributeError, TypeError):
                continue


def _described(holder: Any) -> str:
    """A holder without a name; empty for what is no news."""
    if isinstance(holder, (Node, Pair)):
        return 'a recorded graph'
    if isinstance(holder, Leaf):
        return 'the mark of a variable, as its gradient'
    if isinstance(holder, (list, tuple, set, frozenset, dict, deque)):
        return f'a {type(holder).__name__} of {len(holder)}'
    if isinstance(holder, (FrameType, GeneratorType, CellType)):
        return ''
    return f'an object of {type(holder).__name__}'
