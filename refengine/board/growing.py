"""Files that other programs write while they are read: what is new since the last look, and never more than that."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path

CHUNK = 1 << 18
"""Bytes that are read at a time."""

_REMEMBERED = 256


class Unreadable(Exception):
    """A file cannot be read; the text says why."""


class GrowingFile:
    """The reader of one file. A subclass takes the bytes in: ``forget`` begins anew, ``feed`` takes a piece, and
    ``settle`` is called when there is no more for now.

    Nothing is read twice, unless the file was replaced or shortened: then it is read from its beginning.
    ``problems`` are sentences about it for people. Safe to use from several threads.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self.lock = threading.Lock()
        self.problems: list[str] = []
        self.size = 0
        self.version = 0            # another number whenever what is known of the file has changed
        self._restart()

    # ---- for subclasses ----------------------------------------------------------------------------------------

    def forget(self) -> None:
        """Begin anew."""
        raise NotImplementedError

    def feed(self, piece: bytes) -> bool:
        """Take the next bytes in; False when nothing further can be learnt from the file."""
        raise NotImplementedError

    def settle(self) -> None:
        """The end of what is there now was reached."""

    # ---- reading -----------------------------------------------------------------------------------------------

    def _restart(self) -> None:
        self.offset = 0
        self.given_up = False
        self._seen: tuple[int, ...] | None = None
        self._before = b''
        self.problems = []
        self.forget()

    @property
    def unread(self) -> int:
        """Bytes that were seen in the file and not read yet."""
        return 0 if self.given_up else max(0, self.size - self.offset)

    @property
    def unseen(self) -> bool:
        """Whether nothing is known of the file."""
        return self._seen is None and not self.problems

    def release(self) -> None:
        """Forget what was read, until somebody looks at it again."""
        with self.lock:
            self._restart()

    def refresh(self, until: float, wait: bool = True) -> None:
        """Take in what is new, for no longer than ``until`` by ``time.monotonic``.

        wait: whether to wait for another thread that is reading it now.
        """
        if not self.lock.acquire(timeout=min(max(until - time.monotonic(), 0), threading.TIMEOUT_MAX) if wait else 0):
            return
        try:
            self._refresh(until)
        except (OSError, Unreadable) as error:
            text = f'cannot be read: {getattr(error, "strerror", None) or error}'
            if self.problems != [text]:
                self._restart()
                self.problems = [text]
                self.version += 1
        finally:
            self.lock.release()

    def _refresh(self, until: float) -> None:
        status = os.stat(self.path, follow_symlinks=False)
        now = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        if self._seen == now and not self.unread:
            return
        file = _open(self.path)
        try:
            if self._seen is not None and not self._continues(file, now):
                self._restart()
            if self._seen is None:
                self._restart()
            self._seen, self.size = now, now[2]
            self._read(file, until)
        finally:
            os.close(file)
        self.version += 1

    def _continues(self, file: int, now: tuple[int, ...]) -> bool:
        """Whether what was read is still the beginning of the file."""
        assert self._seen is not None
        if now[:2] != self._seen[:2] or now[2] < self.offset:
            return False
        if now[2] == self._seen[2] and now[3] != self._seen[3]:
            return False                                        # the same length, written again
        os.lseek(file, self.offset - len(self._before), os.SEEK_SET)
        return os.read(file, len(self._before)) == self._before

    def _read(self, file: int, until: float) -> None:
        os.lseek(file, self.offset, os.SEEK_SET)
        while not self.given_up:
            piece = os.read(file, min(CHUNK, max(self.size - self.offset, 0)))
            if not piece:
                self.settle()
                break
            self.offset += len(piece)
            self._before = (self._before + piece)[-_REMEMBERED:]
            if not self.feed(piece):
                self.given_up = True
            if time.monotonic() > until:
                break


def _open(path: Path) -> int:
    """Open a plain file; neither links nor devices nor pipes, which could lead elsewhere or wait for ever."""
    flags = os.O_RDONLY | getattr(os, 'O_NOFOLLOW', 0) | getattr(os, 'O_NONBLOCK', 0) | getattr(os, 'O_BINARY', 0)
    file = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise Unreadable('it is no plain file')
    return file


Warn = Callable[[str, str], None]
"""Called with the name of a file and a sentence about it."""
