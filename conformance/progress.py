"""Telling a person how a run goes, on stderr: a moving line on a terminal, plain lines anywhere else."""

from __future__ import annotations

import threading
import time
from typing import IO, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from conformance.outcome import FAILING, CaseResult

#: Seconds between two plain lines that only say how far a run is.
QUIET_SECONDS = 10.0

class Plain:
    """One line per case that failed and was not known to, and now and then how far the run is."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream, self._lock = stream, threading.Lock()
        self._total: dict[str, int] = {}
        self._done: dict[str, set[str]] = {}
        self._failing: dict[str, set[str]] = {}
        self._said: dict[str, float] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing is held open."""

    def started(self, engine: str, total: int) -> None:
        with self._lock:
            self._total[engine], self._done[engine], self._failing[engine] = total, set(), set()
            self._said[engine] = time.monotonic()
            self._line(engine, f"{total} cases")

    def settled(self, engine: str, result: CaseResult, known: bool) -> None:
        bad = result.outcome in FAILING and not known
        with self._lock:
            self._done[engine].add(result.id)
            (self._failing[engine].add if bad else self._failing[engine].discard)(result.id)
            if bad:
                self._line(engine, f"{result.outcome} {result.id}: {first_line(result.message)}")
            elif time.monotonic() - self._said[engine] < QUIET_SECONDS:
                return
            else:
                self._line(engine, f"{len(self._done[engine])}/{self._total[engine]} done, "
                                   f"{len(self._failing[engine])} not passed")
            self._said[engine] = time.monotonic()

    def note(self, engine: str, text: str) -> None:
        with self._lock:
            self._line(engine, text)

    def _line(self, engine: str, text: str) -> None:
        prefix = "" if text.startswith(engine) else f"{engine}: "
        print(prefix + text, file=self._stream, flush=True)


class Moving:
    """A bar per engine, with failures printed above it."""

    def __init__(self, stream: IO[str]) -> None:
        self._console = Console(file=stream, highlight=False, soft_wrap=True)
        self._bars = Progress(
            TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            TextColumn("{task.fields[failing]}", markup=False), console=self._console,
        )
        self._tasks: dict[str, TaskID] = {}
        self._done: dict[str, set[str]] = {}
        self._failing: dict[str, set[str]] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bars.stop()

    def started(self, engine: str, total: int) -> None:
        with self._lock:
            self._done[engine], self._failing[engine] = set(), set()
            self._tasks[engine] = self._bars.add_task(engine, total=total, failing="")

    def settled(self, engine: str, result: CaseResult, known: bool) -> None:
        bad = result.outcome in FAILING and not known
        with self._lock:
            done, failing = self._done[engine], self._failing[engine]
            done.add(result.id)
            (failing.add if bad else failing.discard)(result.id)
            self._bars.update(self._tasks[engine], completed=len(done),
                              failing=f"{len(failing)} not passed" if failing else "")
            if bad:
                text = Text(f"{result.outcome:>8} ", style="red")
                self._console.print(text.append(f"{engine} {result.id}: {first_line(result.message)}", style=""))

    def note(self, engine: str, text: str) -> None:
        with self._lock:
            self._console.print(Text(text if text.startswith(engine) else f"{engine}: {text}", style="dim"))


def progress(stream: IO[str]) -> Plain | Moving:
    """The fitting one for a stream."""
    return Moving(stream) if stream.isatty() else Plain(stream)


def first_line(message: str | None, limit: int = 160) -> str:
    """A message on one line, shortened.

    >>> first_line("value:\\n  expected 1")
    'value: expected 1'
    """
    text = " ".join((message or "").split())
    return text if len(text) <= limit else text[: limit - 3] + "..."
