"""The one profile of the process: settings, state, what was recorded, and where it is written."""

from __future__ import annotations

import atexit
import os
import threading
import time
from typing import Any

from ..base import MXNetError
from ..fields import Bool, Enum, Field, Float, Str
from . import hooks
from .statistics import HEAD, Statistics
from .trace import DEVICES, TraceFile, process_of

FIELDS: dict[str, Field] = {
    'profile_all': Bool(False, 'Profile everything.'),
    'profile_symbolic': Bool(True, 'Profile operators of graphs.'),
    'profile_imperative': Bool(True, 'Profile operators that are called one by one.'),
    'profile_memory': Bool(True, 'Profile the memory of arrays.'),
    'profile_api': Bool(True, 'Profile calls into the engine.'),
    'filename': Str('profile.json', 'File that the trace is written to.'),
    'continuous_dump': Bool(True, 'Write to the file periodically while running.'),
    'dump_period': Float(1.0, 'Seconds between two of these writes.'),
    'aggregate_stats': Bool(False, 'Keep statistics for dumps().'),
    'profile_process': Enum(('server', 'worker'), 'worker', 'The process that is meant.'),
}

OPERATOR, API, MEMORY = 'operator', 'MXNET_C_API', 'Device Storage'


class Session:
    """What ``mx.profiler`` works on; there is one, ``session``.

    ``active`` is whether user objects are recorded now. Operators, calls and memory are recorded by ``hooks``, which
    are in place only between run and stop.
    """

    def __init__(self) -> None:
        # A fork does not wait for it, as it does for other locks: it waits for the thread of an asynchronous engine,
        # which may need this one. A child starts anew in any case.
        self.lock = threading.RLock()
        self.forget()

    def forget(self) -> None:
        """As in a new process."""
        self.config: dict[str, Any] = {name: field.default for name, field in FIELDS.items()}
        self.configured = False
        self.running = self.paused = self.active = False
        self.output = False             # whether there is a trace to write: since run, until dump
        self.statistics = Statistics()
        self.events: list[tuple[Any, ...]] = []
        self.file: TraceFile | None = None          # the one that is being written
        self.files: dict[str, TraceFile] = {}       # all that this process wrote, by their paths
        self._epoch = time.time_ns() - time.perf_counter_ns()
        self._writer: threading.Thread | None = None
        self._wake = threading.Event()

    # ---- settings and state ------------------------------------------------------------------------------------

    def configure(self, given: dict[str, Any]) -> None:
        """New settings; what is not given has its default. The trace stays valid if the file changes."""
        values = {name: field.default for name, field in FIELDS.items()}
        for name, value in given.items():
            field = FIELDS.get(name)
            if field is None:
                possible = '\n'.join(f'{key} : {f.kind}, optional, default={f.default!r}\n    {f.doc}'
                                     for key, f in FIELDS.items())
                raise MXNetError(f"Cannot find argument '{name}', Possible Arguments:\n----------------\n{possible}\n")
            try:
                values[name] = field.parse(value, name, '')
            except MXNetError as error:
                raise MXNetError(str(error).partition(', in operator')[0]) from None
        with self.lock:
            if self.file is not None and values['filename'] != self.config['filename']:
                self._finish()
            self.config = values
            self.configured = True
            if self.active:
                self._install()

    def run(self) -> None:
        """Record from now on."""
        with self.lock:
            self.running = self.output = True
            self.paused = False
            self._install()
            if self.config['continuous_dump'] and self._writer is None:
                self._writer = threading.Thread(target=self._write_now_and_then, daemon=True, name='profiler')
                self._writer.start()

    def stop(self) -> None:
        """Record nothing any more; what was recorded stays."""
        with self.lock:
            self.running = self.paused = self.active = False
            hooks.remove()

    def pause(self) -> None:
        """Record nothing until ``resume``."""
        with self.lock:
            if self.running:
                self.paused, self.active = True, False
                hooks.remove()

    def resume(self) -> None:
        """Go on after ``pause``."""
        with self.lock:
            if self.running and self.paused:
                self.paused = False
                self._install()

    def _install(self) -> None:
        self.active = True
        hooks.install(self)

    def wants(self, kind: str) -> bool:
        """Whether a kind (symbolic, imperative, memory, api) is recorded."""
        return bool(self.config['profile_all'] or self.config['profile_' + kind])

    # ---- what is recorded --------------------------------------------------------------------------------------

    def span(self, category: str, name: str, start: int, end: int, style: str, pid: int | None = None,
             device: str | None = None) -> None:
        """Something that took from ``start`` to ``end``, by ``perf_counter_ns``; style: ``be``, ``BE`` or ``()``.

        ``pid`` is the process it is shown under, by default that of its category.
        """
        tid = threading.get_ident()
        with self.lock:
            if self.output:
                self.events.append((style, name, category, start, end, pid, tid, device))
            if self.config['aggregate_stats']:
                self.statistics.add(self.statistics.times, category, name, (end - start) / 1e6)

    def sample(self, category: str, name: str, value: int, memory: bool = False, moment: int | None = None,
               thread: int | None = None) -> None:
        """A counter has this value now, or had it at some moment on some thread."""
        now = time.perf_counter_ns() if moment is None else moment
        tid = threading.get_ident() if thread is None else thread
        with self.lock:
            if self.output:
                self.events.append(('C', name, category, now, value, None, tid, None))
            if self.config['aggregate_stats']:
                statistics = self.statistics
                if memory:
                    statistics.add(statistics.sizes, category, name, value / 1000)
                else:
                    statistics.add(statistics.values, f'{category},counter', name, value)

    def instant(self, category: str, name: str, scope: str) -> None:
        """Something happens at this moment; scope is ``g``, ``p`` or ``t``."""
        now, tid = time.perf_counter_ns(), threading.get_ident()
        with self.lock:
            if self.output:
                self.events.append(('n', name, category, now, scope, None, tid, None))
            if self.config['aggregate_stats']:
                self.statistics.category(category)

    def category(self, category: str) -> None:
        """A section of the table for a new user object."""
        if self.active and self.config['aggregate_stats']:
            with self.lock:
                self.statistics.category(category)

    # ---- output ------------------------------------------------------------------------------------------------

    def dump(self, finished: bool) -> None:
        """Write what was recorded; ``finished`` ends the file and the session."""
        with self.lock:
            if not self.output:
                raise MXNetError("Check failed: profiler->IsEnableOutput(): Profiler hasn't been run. Config and start "
                                 'profiler first')
            if finished:
                self.stop()
                self._wake.set()
                self._writer = None
                self._wake = threading.Event()
            try:
                if finished:
                    self._finish()
                else:
                    self._flush()
            finally:
                if finished:
                    self.output = False

    def table(self, reset: bool, json: bool, sort_by: str, ascending: bool) -> str:
        """The statistics as text; empty unless they were asked for."""
        with self.lock:
            if not self.configured or not self.config['aggregate_stats']:
                return ''
            statistics = self.statistics
            text = statistics.as_json(sort_by, ascending) if json else statistics.table(sort_by, ascending)
            if reset:
                statistics.clear()
            return text or HEAD

    def _flush(self) -> None:
        """Write what was recorded; what cannot be written is kept for another attempt, to another file perhaps."""
        if self.file is None:
            path = os.path.abspath(self.config['filename'])
            self.file = self.files.get(path) or TraceFile(self.config['filename'], (OPERATOR, API, MEMORY))
            self.files[path] = self.file
        events, self.events = self.events, []   # the garbage collector may add some meanwhile
        try:
            self.file.write(self._expand(events))
        except MXNetError:
            self.events = events + self.events
            self.file = None
            raise

    def _finish(self) -> None:
        self._flush()
        file, self.file = self.file, None
        if file is not None:
            file.close()

    def _stamp(self, moment: int) -> float:
        return round((moment + self._epoch) / 1000, 3)

    def _expand(self, events: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
        """The entries of the file, in the order in which things happened.

        Stamps are as fine as a double allows, a quarter of a microsecond: what begins within one is nested by its place
        in the file.
        """
        placed: list[tuple[int, int, int, dict[str, Any]]] = []
        for style, name, category, start, end, pid, tid, device in events:
            event: dict[str, Any] = {'name': name, 'cat': category, 'ph': style[0], 'ts': self._stamp(start)}
            own = process_of(category)
            if style == 'C':
                placed.append((start, 2, 0, {**event, 'args': {name: end}, 'pid': own, 'tid': tid}))
            elif style == 'n':
                placed.append((start, 2, 0, {**event, 's': end, 'id': tid, 'pid': own, 'tid': tid}))
            else:
                event.update(pid=own if pid is None else pid, tid=tid)
                if style == 'be':
                    event['id'] = tid
                if device is not None:
                    event['device'] = device
                end = max(end, start + 1)
                placed.append((start, 1, -end, event))      # of two that begin together the longer one holds the other
                placed.append((end, 0, -start, {**event, 'ph': style[1], 'ts': self._stamp(end)}))
        placed.sort(key=lambda entry: entry[:3])
        return [event for *_, event in placed]

    def _write_now_and_then(self) -> None:
        wake = self._wake
        while not wake.wait(max(self.config['dump_period'], 0.01)):
            with self.lock:
                if wake.is_set() or not self.config['continuous_dump']:
                    continue
                if self.events:
                    try:
                        self._flush()
                    except MXNetError:      # dump() tries again, and reports it
                        self._writer = None
                        return

    def at_exit(self) -> None:
        """A program that ends without ``dump`` leaves a complete file (rule PROF-TRACE-007)."""
        if self.output:
            self.dump(True)


def device_number(device: str) -> int:
    """The process number of a device in traces."""
    if device in DEVICES:
        return DEVICES.index(device)
    kind, _, number = device.partition('/')
    return (256 if kind == 'cpu' else 512) + int(number or 0)


session = Session()


def _after_fork() -> None:
    # The trace belongs to the parent; a child starts without a profile.
    session.lock = threading.RLock()
    hooks.forget()
    for file in session.files.values():
        file.abandon()
    session.forget()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(session.at_exit)
