"""Which line of the program made which array: a log of calls, kept while a block is watched."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np

from ..dispatch import NDArray
from ..op import Operator
from ..tape import state
from .source import Place, is_engine, place_of

LIMIT = 20000
"""Calls that are kept; the oldest go first."""

CALL, LEAVE, WRITE, ATTACH = 'call', 'leave', 'write', 'attach'
_WRITERS = ('setitem', '__setitem__', 'copyfrom', 'copyto')
_LEAVERS = ('asnumpy', 'asscalar', '__array__', 'tolist')


@dataclass
class Event:
    """One call of the engine by the program.

    ``kind`` is call (made arrays), leave (turned an array into something that is none), write (changed an array) or
    attach (made an array a variable).
    """

    number: int
    kind: str
    function: str
    place: Place
    recording: bool
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]


class Log:
    """The calls of a watched block. It keeps their arrays alive, so that they can be told apart."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._made: dict[int, Event] = {}
        self._count = 0

    def made(self, array: Any) -> Event | None:
        """The call that made an array, or None for one from before the block."""
        return self._made.get(id(array))

    def ancestors(self, array: Any) -> Iterator[Event]:
        """The calls that an array was computed by, from the last one back."""
        seen: set[int] = set()
        pending = [array]
        found: dict[int, Event] = {}
        while pending:
            item = pending.pop()
            event = self._made.get(id(item))
            if event is None or event.number in seen:
                continue
            seen.add(event.number)
            found[event.number] = event
            pending.extend(event.inputs)
        for number in sorted(found, reverse=True):
            yield found[number]

    def writes_to(self, array: Any) -> list[Event]:
        """The calls that changed an array in place."""
        return [e for e in self.events if e.kind == WRITE and any(o is array for o in e.outputs)]

    def attached(self, array: Any) -> Event | None:
        """The last call that made an array a variable."""
        return next((e for e in reversed(self.events) if e.kind == ATTACH and any(o is array for o in e.outputs)), None)

    def note(self, frame: FrameType, event: str, result: Any) -> None:
        """The profile function: looks at returns from the engine to the program."""
        if event != 'return' or not is_engine(frame.f_code):
            return
        caller = frame.f_back
        if caller is None or is_engine(caller.f_code):
            return
        name = frame.f_code.co_name
        outputs = tuple(_arrays(result))
        if name == 'attach_grad':
            kind, outputs = ATTACH, tuple(_arrays(frame.f_locals.get('self')))
        elif name in _LEAVERS and not outputs and result is not None:
            kind, outputs = LEAVE, (result,)
        elif name.startswith('__i') or name in _WRITERS or (outputs and result is frame.f_locals.get('self')):
            kind = WRITE
            outputs = outputs or tuple(_arrays(frame.f_locals.get('self')))
        elif outputs and not name.startswith('__init') and name not in ('grad', '_grad', 'data', 'list_data'):
            kind = CALL
        else:
            return
        values = frame.f_locals
        inputs = [a for value in values.values() for a in _arrays(value)]
        inputs += [v for v in values.values() if isinstance(v, np.ndarray) and id(v) in self._made]
        place = place_of(caller)
        self._put(Event(self._count, kind, _label(name, values, place), place, state.recording,
                        tuple(i for i in inputs if kind == WRITE or not any(i is o for o in outputs)), outputs))

    def _put(self, event: Event) -> None:
        self._count += 1
        self.events.append(event)
        if event.kind in (CALL, LEAVE):
            for output in event.outputs:
                self._made.setdefault(id(output), event)
        if len(self.events) > LIMIT:
            old = self.events.pop(0)
            for output in old.outputs:
                if self._made.get(id(output)) is old:
                    del self._made[id(output)]


def _arrays(value: Any) -> Iterator[Any]:
    if isinstance(value, NDArray):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            if isinstance(item, NDArray):
                yield item
    elif isinstance(value, dict):
        for item in value.values():
            if isinstance(item, NDArray):
                yield item


def _label(name: str, values: dict[str, Any], place: Place) -> str:
    """The name of an operator or of the function that was called; for operators with a sign, what is written."""
    op = values.get('op')
    if isinstance(op, Operator):
        return op.name
    return place.expression or name if name in ('method', 'function') else name


current: Log | None = None
"""The log of the block that is watched, or of the last one."""


@contextmanager
def watch() -> Iterator[Log]:
    """A block in which every call of the engine is logged with the line of the program that made it.

    Diagnoses during and after the block name these lines. It costs time and keeps arrays alive: for looking for a
    mistake, not for training. The log stays until the next block or ``forget()``.

    >>> import refengine as mx
    >>> with mx.diagnose.watch() as log:
    ...     y = mx.nd.ones((2,)) * 3
    >>> log.made(y).function, log.made(y).recording
    ('mx.nd.ones((2,)) * 3', False)
    """
    global current
    log = current = Log()
    previous = sys.getprofile()
    sys.setprofile(log.note)
    try:
        yield log
    finally:
        sys.setprofile(previous)


def forget() -> None:
    """Drop the log of the last watched block and the arrays that it keeps."""
    global current
    current = None
