"""A trace file in the format of chrome://tracing and Perfetto, written piece by piece."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from typing import IO, Any

from ..base import MXNetError

DEVICES = ('cpu/0', 'cpu/1', 'cpu pinned/', 'cpu shared/')
"""The processes that every trace names first, by number."""


def process_of(category: str) -> int:
    """The process number of a category: the same in every trace, and far from those of devices."""
    return 1 << 20 | zlib.crc32(category.encode())


class TraceFile:
    """A file that grows while a program runs and is valid JSON once it is closed.

    MXNetError when it cannot be written (rule PROF-CONFIG-006).
    """

    def __init__(self, name: str, categories: Iterable[str] = ()) -> None:
        self.name = name
        self._named: set[int] = set()
        self._empty = True
        try:
            # The file is read only by whoever waits for its end, so that it grows in place.
            self._stream: IO[str] = open(name, 'w', encoding='utf-8')  # noqa: SIM115
            self._stream.write('{\n    "traceEvents": [')
            for number, device in enumerate(DEVICES):
                self._name(number, device)
            for category in categories:
                self._name(process_of(category), category)
            self._stream.flush()
        except OSError as error:
            raise _failed(name, error) from error

    def _name(self, pid: int, name: str) -> None:
        if pid not in self._named:
            self._named.add(pid)
            self._put({'ph': 'M', 'args': {'name': name}, 'pid': pid, 'tid': 0, 'name': 'process_name'})

    def _put(self, event: dict[str, Any]) -> None:
        self._stream.write(('\n' if self._empty else ',\n') + json.dumps(event))
        self._empty = False

    def write(self, events: Iterable[dict[str, Any]]) -> None:
        """Append events; a category that was not named yet gets its name first."""
        try:
            for event in events:
                pid = event['pid']
                if pid not in self._named:
                    self._name(pid, event['cat'] if pid >= 1 << 20 else event.pop('device', f'device {pid}'))
                event.pop('device', None)
                self._put(event)
            self._stream.flush()
        except OSError as error:
            raise _failed(self.name, error) from error

    def close(self) -> None:
        """End the document; the file is valid JSON from here on."""
        try:
            self._stream.write('\n    ],\n    "displayTimeUnit": "ms"\n}\n')
            self._stream.close()
        except OSError as error:
            raise _failed(self.name, error) from error

    def abandon(self) -> None:
        """Let the file be, unfinished: it belongs to another process."""
        self._stream = open('/dev/null', 'w', encoding='utf-8')  # noqa: SIM115


def _failed(name: str, error: OSError) -> MXNetError:
    return MXNetError(f"Profiler cannot write the trace file '{name}': {error.strerror or error}")
