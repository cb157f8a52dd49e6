"""Traces of the profiler as they are read: sums per operator, the longest spans, and counters, in bounded memory.

Operators of Apache MXNet stand in a trace twice, as ``B`` and ``E`` of their device and as ``b`` and ``e`` of their
category; they are counted once.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import Any

from .growing import GrowingFile
from .stream import EventStream, Malformed

MOST_NAMES = 5000
MOST_SPANS = 3000
MOST_LANES = 200
MOST_COUNTERS = 40
MOST_OPEN = 20_000
MOST_FAULTS = 10
COUNTER_POINTS = 2000
BUSY_PARTS = 512

OTHERS = '(further names)'


class Row:
    """Number, sum and extremes of the durations under one name, in microseconds."""

    __slots__ = ('count', 'least', 'most', 'total')

    def __init__(self) -> None:
        self.count, self.total, self.least, self.most = 0, 0.0, math.inf, 0.0

    def add(self, duration: float) -> None:
        """Take one duration in."""
        self.count += 1
        self.total += duration
        if duration < self.least:
            self.least = duration
        if duration > self.most:
            self.most = duration

    def merge(self, other: Row) -> None:
        """Take the durations of another row in."""
        self.count += other.count
        self.total += other.total
        self.least, self.most = min(self.least, other.least), max(self.most, other.most)


class Counter:
    """The values of one counter over time, thinned when there are many, and the extremes of all of them."""

    __slots__ = ('count', 'last', 'least', 'most', 'points', 'stride')

    def __init__(self) -> None:
        self.count, self.stride = 0, 1
        self.least, self.most, self.last = math.inf, -math.inf, 0.0
        self.points: list[tuple[float, float]] = []

    def add(self, moment: float, value: float) -> None:
        """The counter has this value from this moment on."""
        self.least, self.most, self.last = min(self.least, value), max(self.most, value), value
        if self.count % self.stride == 0:
            self.points.append((moment, value))
            if len(self.points) > COUNTER_POINTS:
                self.points = self.points[::2]
                self.stride *= 2
        self.count += 1


class Busy:
    """How much of the time a lane was busy, in parts of equal width that grow when there are too many of them."""

    __slots__ = ('first', 'last', 'parts', 'width')

    def __init__(self) -> None:
        self.width = 1.0
        self.parts: dict[int, float] = {}
        self.first = self.last = 0

    def add(self, start: float, duration: float) -> None:
        """Something took this long from *start* on, in microseconds."""
        end = start + duration
        while True:
            low, high = int(start // self.width), int(end // self.width)
            if not self.parts:
                self.first, self.last = low, high
            first, last = min(self.first, low), max(self.last, high)
            if last - first < BUSY_PARTS:
                break
            self._widen()
        self.first, self.last = first, last
        parts = self.parts
        if low == high:
            parts[low] = parts.get(low, 0.0) + duration
            return
        for part in range(low, high + 1):
            share = min(end, (part + 1) * self.width) - max(start, part * self.width)
            parts[part] = parts.get(part, 0.0) + share

    def _widen(self) -> None:
        joined: dict[int, float] = {}
        for part, share in self.parts.items():
            joined[part >> 1] = joined.get(part >> 1, 0.0) + share
        self.parts, self.width = joined, 2 * self.width
        self.first, self.last = self.first >> 1, self.last >> 1

    def fractions(self) -> list[float]:
        """From ``first`` to ``last``, between 0 and 1; what is nested counts as one."""
        return [round(min(self.parts.get(part, 0.0) / self.width, 1.0), 3) for part in range(self.first, self.last + 1)]


class TraceFile(GrowingFile):
    """A file ``{"traceEvents": [...]}``, finished or still being written.

    ``rows``: (category, name, whether asynchronous) -> Row;  ``spans``: the longest, as a heap of
    (duration, shuffled number, start, lane, category, name, whether asynchronous);  ``counters``: (category, name) ->
    Counter;  ``lanes``: (process, thread) -> Busy.
    """

    def forget(self) -> None:
        """Begin anew."""
        self._stream = EventStream(self._event)
        self.rows: dict[tuple[str, str, bool], Row] = {}
        self.spans: list[tuple[float, int, float, tuple[Any, Any], str, str, bool]] = []
        self.counters: dict[tuple[str, str], Counter] = {}
        self.processes: dict[Any, str] = {}
        self.threads: dict[tuple[Any, Any], str] = {}
        self.lanes: dict[tuple[Any, Any], Busy] = {}
        self.span_count = 0
        self.start, self.end = math.inf, -math.inf
        self._open: dict[tuple[Any, ...], list[tuple[str, float, str]]] = {}
        self._open_count = self._odd = self._forgotten = 0
        self._document = 0                      # the one that the latest event was in, and the first of them
        self._first = 0
        self._faults: list[str] = []
        self._fault: Malformed | None = None    # the first one

    @property
    def is_trace(self) -> bool:
        """Whether there were events, or may be some yet."""
        return self._stream.found

    def feed(self, piece: bytes) -> bool:
        """Take text in; a document without events is left alone, a malformed one is left at the fault."""
        return self._read_on(lambda: self._stream.feed(piece))

    def _read_on(self, read: Callable[[], None]) -> bool:
        """Take text in, over faults to the documents behind them; False when there is nothing more to learn."""
        stream = self._stream
        while True:
            try:
                read()
            except Malformed as error:
                if not stream.found:
                    self._skip(error)
                    return False
                number = stream.documents
                if len(self._faults) < MOST_FAULTS:
                    self._faults.append(f'what follows document {number} is left out, it is not JSON: {error}'
                                        if stream.state == 'end' else
                                        f'document {number} is damaged, the rest of it is left out: {error}')
                self._fault = self._fault or error
                stream.skip()
                read = stream.go_on
            else:
                return stream.state != 'other'

    def _skip(self, error: Malformed) -> None:
        self.forget()
        self.problems = [f'skipped, it is not JSON: {error}']

    def settle(self) -> None:
        """Say what is missing."""
        stream = self._stream
        self._read_on(stream.settle)
        if self._fault is not None and stream.documents == 1 and not stream.ended:
            self._skip(self._fault)
            self.given_up = True
            return
        if stream is not self._stream:      # it was skipped
            self.given_up = True
            return
        self.problems = []
        if stream.state == 'other':
            return
        self.problems += self._faults
        self.problems += [f'document {number} has no end, another one begins in it' for number in stream.open_ended]
        if stream.state == 'start':
            self.problems.append('skipped, it is empty')
        elif stream.state not in ('end', 'lost'):
            if self.is_trace:
                self.problems.append('unfinished: the program may still be running; shown as far as it goes')
            else:
                self.problems.append('skipped, it is not JSON: the document has no end')
        if self._odd:
            self.problems.append(f'{self._odd} events have no form that is known')
        if self._forgotten:
            self.problems.append(f'{self._forgotten} spans without an end were left out')
        if any(name == OTHERS for _, name, _ in self.rows):
            self.problems.append(f'more than {MOST_NAMES} names; the further ones are added up')

    # ---- events ------------------------------------------------------------------------------------------------

    def _event(self, event: Any) -> None:
        if self._stream.documents != self._document:
            self._next_document()
        if not isinstance(event, dict):
            self._odd += 1
            return
        phase = event.get('ph')
        if phase == 'M':
            self._name(event)
            return
        moment = _finite(event.get('ts'))
        if moment is None:
            self._odd += 1
            return
        category, name = _text(event.get('cat'), 'no category'), _text(event.get('name'), '(no name)')
        if phase == 'B' or phase == 'b':
            self._begin(event, moment, category, name)
        elif phase == 'E' or phase == 'e':
            self._finish(event, moment, category, name)
        elif phase == 'X':
            duration = _finite(event.get('dur'))
            if duration is None or duration < 0:
                self._odd += 1
            else:
                self._span(moment, duration, self._lane(event), category, name, False)
        elif phase == 'C':
            self._count(event.get('args'), moment, category, name)

    def _next_document(self) -> None:
        """Events of another document: what began in an earlier one does not end in this one."""
        self._document = self._stream.documents
        self._first = self._first or self._document
        self._forgotten += self._open_count
        self._open_count = 0
        self._open.clear()

    def _lane(self, event: dict[str, Any]) -> tuple[Any, Any]:
        """Process and thread of an event; a further document may be of another program, with numbers of its own."""
        process = _plain(event.get('pid'))
        return (process if self._document == self._first else f'{process} (document {self._document})',
                _plain(event.get('tid')))

    def _key(self, event: dict[str, Any], category: str, name: str) -> tuple[Any, ...]:
        if event['ph'] in 'BE':
            return self._lane(event)
        return ('async', *self._lane(event), _plain(event.get('id')), category, name)

    def _name(self, event: dict[str, Any]) -> None:
        arguments = event.get('args')
        name = _text(arguments.get('name') if isinstance(arguments, dict) else None, '')
        if not name or len(self.processes) + len(self.threads) > 10 * MOST_LANES:
            return
        if event.get('name') == 'process_name':
            self.processes[self._lane(event)[0]] = name
        elif event.get('name') == 'thread_name':
            self.threads[self._lane(event)] = name

    def _begin(self, event: dict[str, Any], moment: float, category: str, name: str) -> None:
        if self._open_count >= MOST_OPEN:
            self._forgotten += 1
            return
        self._open.setdefault(self._key(event, category, name), []).append((name, moment, category))
        self._open_count += 1

    def _finish(self, event: dict[str, Any], moment: float, category: str, name: str) -> None:
        """An end belongs to the latest beginning of its name in its thread; one without a name, to the latest."""
        key = self._key(event, category, name)
        waiting = self._open.get(key)
        if not waiting:
            self._odd += 1
            return
        nameless = event['ph'] == 'E' and 'name' not in event
        place, lowest = len(waiting) - 1, max(len(waiting) - 1000, 0)
        while place >= lowest and not nameless and waiting[place][0] != name:
            place -= 1
        if place < lowest:
            self._odd += 1
            return
        name, start, category = waiting.pop(place)
        self._open_count -= 1
        if not waiting:
            del self._open[key]
        self._span(start, max(moment - start, 0.0), self._lane(event), category, name, event['ph'] == 'e')

    def _span(self, start: float, duration: float, lane: tuple[Any, Any], category: str, name: str,
              asynchronous: bool) -> None:
        key = (category, name, asynchronous)
        row = self.rows.get(key)
        if row is None:
            if len(self.rows) >= MOST_NAMES:
                key = (OTHERS, OTHERS, False)
            row = self.rows.setdefault(key, Row())
        row.add(duration)
        self.start, self.end = min(self.start, start), max(self.end, start + duration)
        self.span_count += 1
        busy = self.lanes.get(lane)
        if busy is None:
            if len(self.lanes) >= MOST_LANES:
                return
            busy = self.lanes[lane] = Busy()
        busy.add(start, duration)
        # Of spans that are equally long, which ones are kept must not depend on when they were.
        entry = (duration, self.span_count * 2654435761 % (1 << 32), start, lane, category, name, asynchronous)
        if len(self.spans) < MOST_SPANS:
            heapq.heappush(self.spans, entry)
        elif entry[:2] > self.spans[0][:2]:
            heapq.heapreplace(self.spans, entry)

    def _count(self, values: Any, moment: float, category: str, name: str) -> None:
        if not isinstance(values, dict):
            self._odd += 1
            return
        for label, value in values.items():
            number = _finite(value)
            if number is None:
                self._odd += 1
                continue
            shown = label if len(values) == 1 else f'{name}: {label}'
            counter = self.counters.get((category, _text(shown, name)))
            if counter is None:
                if len(self.counters) >= MOST_COUNTERS:
                    continue
                counter = self.counters[category, _text(shown, name)] = Counter()
            counter.add(moment, number)
            self.start, self.end = min(self.start, moment), max(self.end, moment)

    # ---- results -----------------------------------------------------------------------------------------------

    def mirrored(self, category: str, name: str, asynchronous: bool) -> bool:
        """Whether this is the second record of what is there as well as ``B`` and ``E`` or ``X``."""
        return asynchronous and (category, name, False) in self.rows


def _plain(value: Any) -> Any:
    """A value that may be a key and takes little room."""
    return value if type(value) is int and -1 << 80 < value < 1 << 80 else _text(value, '') or repr(value)[:80]


def _text(value: Any, default: str) -> str:
    if not isinstance(value, str) or not value:
        return default
    shown = value if len(value) <= 200 else value[:199] + '…'
    return shown if shown.isascii() else shown.encode('utf-8', 'backslashreplace').decode()


def _finite(value: Any) -> float | None:
    if type(value) is not int and type(value) is not float:
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
