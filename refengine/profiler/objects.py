"""What a program puts into a profile itself: tasks, frames, events, counters and markers of a domain."""

from __future__ import annotations

import time
from typing import Any

from ..base import MXNetError
from .session import session

_MARKS = {'global': 'g', 'process': 'p', 'thread': 't', 'task': 'p', 'marker': 'p'}


class Domain:
    """A group of objects; its name is their category.

    >>> import refengine as mx
    >>> domain = mx.profiler.Domain('loading')
    >>> str(domain.new_task('decode')), str(domain.new_counter('queue', 3))
    ('decode', 'queue')
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name

    def new_task(self, name: str) -> Task:
        """A Task of this domain."""
        return Task(self, name)

    def new_frame(self, name: str) -> Frame:
        """A Frame of this domain."""
        return Frame(self, name)

    def new_counter(self, name: str, value: Any = None) -> Counter:
        """A Counter of this domain, set to a value if one is given."""
        return Counter(self, name, value)

    def new_marker(self, name: str) -> Marker:
        """A Marker of this domain."""
        return Marker(self, name)


class _Span:
    """Something with a start and an end; MXNetError for an end without a start (rule PROF-OBJ-007)."""

    _style = 'be'

    def __init__(self, name: str, category: str) -> None:
        self.name = name
        self._category = category
        self._start: int | None = None
        session.category(category)

    def start(self) -> None:
        """It begins now."""
        self._start = time.perf_counter_ns()

    def stop(self) -> None:
        """It ends now."""
        end = time.perf_counter_ns()
        start, self._start = self._start, None
        if start is None:
            raise MXNetError(f"{type(self).__name__} '{self.name}' is stopped, but it was not started: call start() "
                             f'first')
        if session.active:
            session.span(self._category, self.name, start, end, self._style)

    def __str__(self) -> str:
        return self.name


class Task(_Span):
    """A piece of work of a domain; it may be used many times."""

    def __init__(self, domain: Domain, name: str) -> None:
        super().__init__(name, domain.name)
        self.domain = domain


class Frame(_Span):
    """One round of something that repeats, such as a video frame or a step of training."""

    _style = '()'

    def __init__(self, domain: Domain, name: str) -> None:
        super().__init__(name, f'{domain.name},frame')
        self.domain = domain


class Event(_Span):
    """A piece of work of the thread, without a domain."""

    _style = 'BE'

    def __init__(self, name: str) -> None:
        super().__init__(name, 'event')


class Counter:
    """An integer that changes over time; ``+=`` and ``-=`` change it.

    Values are truncated to integers; they may be negative (rule PROF-OBJ-004). ValueError for what is no number.
    """

    def __init__(self, domain: Domain, name: str, value: Any = None) -> None:
        self.name = name
        self.domain = domain
        self._value = 0
        if value is not None:
            self.set_value(value)

    def _put(self, value: int) -> None:
        self._value = value
        if session.active:
            session.sample(self.domain.name, self.name, value)

    def set_value(self, value: Any) -> None:
        """Its value from now on."""
        self._put(int(value))

    def increment(self, delta: Any = 1) -> None:
        """Add to its value."""
        self._put(self._value + int(delta))

    def decrement(self, delta: Any = 1) -> None:
        """Subtract from its value."""
        self._put(self._value - int(delta))

    def __iadd__(self, delta: Any) -> Counter:
        self.increment(delta)
        return self

    def __isub__(self, delta: Any) -> Counter:
        self.decrement(delta)
        return self

    def __str__(self) -> str:
        return self.name


class Marker:
    """A moment that the trace shows; MXNetError for a scope that there is not."""

    def __init__(self, domain: Domain, name: str) -> None:
        self.name = name
        self.domain = domain
        session.category(f'{domain.name},instant_marker')

    def mark(self, scope: str = 'process') -> None:
        """It happens now. ``scope`` says how far it reaches: global, process, thread, task or marker."""
        if scope not in _MARKS:
            valid = ', '.join(repr(name) for name in sorted(_MARKS))
            raise MXNetError(f"Invalid Input: '{scope}', valid values are: {{{valid}}}")
        if session.active:
            session.instant(f'{self.domain.name},instant_marker', self.name, _MARKS[scope])

    def __str__(self) -> str:
        return self.name
