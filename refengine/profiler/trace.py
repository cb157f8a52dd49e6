"""A trace file in the format of chrome://tracing and Perfetto, written piece by piece."""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Iterable
from io import FileIO
from typing import Any

from ..base import MXNetError

DEVICES = ('cpu/0', 'cpu/1', 'cpu pinned/', 'cpu shared/')
"""The processes that every trace names first, by number."""


_TAIL = b'\n    ],\n    "displayTimeUnit": "ms"\n}\n'


def process_of(category: str) -> int:
    """The process number of a category: the same in every trace, and far from those of devices."""
    return 1 << 20 | zlib.crc32(category.encode())


class TraceFile:
    """A file that grows while a program runs and is valid JSON whenever it is closed.

    What is written after ``close`` continues the document, as long as the file is still the one that was closed;
    otherwise a new one begins. MXNetError when it cannot be written (rule PROF-CONFIG-006).
    """

    def __init__(self, name: str, categories: Iterable[str] = ()) -> None:
        self.name = os.path.abspath(name)
        self._given = name
        self._categories = tuple(categories)
        self._stream: FileIO | None = None
        self._closed: tuple[int, ...] | None = None     # what the file was when it was closed
        self._end = 0                                   # where the next event goes
        self._named: set[int] = set()
        self._empty = True

    def write(self, events: Iterable[dict[str, Any]]) -> None:
        """Append events; a category that was not named yet gets its name first. All of them are written, or none."""
        named, empty = set(self._named), self._empty
        try:
            self._open()
            lines: list[str] = []
            for event in events:
                pid = event['pid']
                if pid not in self._named:
                    self._name(lines, pid, event['cat'] if pid >= 1 << 20 else event.pop('device', f'device {pid}'))
                event.pop('device', None)
                self._put(lines, event)
            self._append(''.join(lines))
        except OSError as error:
            if self._stream is not None:
                self._named, self._empty = named, empty
                self._give_up()
            raise _failed(self._given, error) from error

    def close(self) -> None:
        """End the document; the file is valid JSON from here on."""
        if self._stream is None:
            return
        stream = self._stream
        try:
            stream.write(_TAIL)
            self._closed = _identity(stream)
            stream.close()
            self._stream = None
        except OSError as error:
            self._give_up()
            raise _failed(self._given, error) from error

    def abandon(self) -> None:
        """Let the file be, unfinished: it belongs to another process."""
        self._stream = None

    def _open(self) -> None:
        """Have a stream that stands where the next event goes."""
        if self._stream is not None:
            return
        if self._closed is not None:
            closed, self._closed = self._closed, None
            with contextlib.suppress(FileNotFoundError):
                stream = FileIO(self.name, 'r+')
                if _identity(stream) == closed:
                    stream.seek(self._end)
                    self._stream = stream
                    return
                stream.close()
        self._stream = FileIO(self.name, 'w')
        self._end, self._empty, self._named = 0, True, set()
        lines = ['{\n    "traceEvents": [']
        for number, device in enumerate(DEVICES):
            self._name(lines, number, device)
        for category in self._categories:
            self._name(lines, process_of(category), category)
        self._append(''.join(lines))

    def _append(self, text: str) -> None:
        stream = self._stream
        assert stream is not None
        data = memoryview(text.encode())
        end = self._end + len(data)
        while data:
            data = data[stream.write(data):]
        self._end = end

    def _give_up(self) -> None:
        """After a failure: close the document behind the last event that was written, as far as that is possible."""
        stream, self._stream = self._stream, None
        if stream is not None:
            with contextlib.suppress(OSError), stream:
                stream.seek(self._end)
                stream.write(_TAIL)
                stream.truncate()
                self._closed = _identity(stream)

    def _name(self, lines: list[str], pid: int, name: str) -> None:
        if pid not in self._named:
            self._named.add(pid)
            self._put(lines, {'ph': 'M', 'args': {'name': name}, 'pid': pid, 'tid': 0, 'name': 'process_name'})

    def _put(self, lines: list[str], event: dict[str, Any]) -> None:
        lines.append(('\n' if self._empty else ',\n') + json.dumps(event))
        self._empty = False


def _identity(stream: FileIO) -> tuple[int, ...]:
    """What tells this file, as it is now, from others under its name."""
    status = os.fstat(stream.fileno())
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _failed(name: str, error: OSError) -> MXNetError:
    return MXNetError(f"Profiler cannot write the trace file '{name}': {error.strerror or error}")
