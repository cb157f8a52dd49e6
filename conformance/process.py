"""One worker process as the harness sees it: started, spoken to over pipes, watched, ended.

Nothing here knows what a case means. Every wait has an end: an answer, the end of the process, or a deadline.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import select
import selectors
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import weakref
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.engine import Engine
from conformance.errors import EngineFault, HarnessFault
from conformance.worker import BOOT

PACKAGE = Path(__file__).parent

#: Every worker of this process that may still live; whatever ends the command, none is left behind.
_STARTED: weakref.WeakSet[subprocess.Popen[bytes]] = weakref.WeakSet()


@atexit.register
def _end_workers() -> None:
    for process in list(_STARTED):
        if process.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)


#: How often a wait looks whether the process still lives: a child of the engine may hold the pipes open.
_LOOK_SECONDS = 0.2

#: How long a process may take to end after it has closed the pipe of its answers.
_GRACE_SECONDS = 2.0

#: How long a worker may leave a message unread.
_SEND_SECONDS = 60.0

#: Of how many cases output is kept until it is asked for; more than are ever sent ahead.
_SEGMENTS = 256

#: Bytes of the engine's output that are kept of one case: the first and the last half of this.
OUTPUT_LIMIT = 16000


@dataclass(frozen=True)
class Ended:
    """The process ended: its return code, negative for the signal that ended it."""

    returncode: int

    def __str__(self) -> str:
        if self.returncode >= 0:
            return f"the process ended with exit status {self.returncode}"
        try:
            name = signal.Signals(-self.returncode).name
        except ValueError:
            name = str(-self.returncode)
        return f"the process was ended by signal {name}"


@dataclass(frozen=True)
class Late:
    """The deadline passed."""


@dataclass(frozen=True)
class Garbled:
    """Something other than the protocol came over the private pipe: the engine wrote into every file it could."""

    line: str

    def __str__(self) -> str:
        return f"the engine wrote into the harness's own pipe: {self.line!r}"


@dataclass(frozen=True)
class Closed(Garbled):
    """The private pipe was closed, and the process lived on."""

    line: str = ""

    def __str__(self) -> str:
        return "the engine closed the harness's own pipe and lived on"


Reply = dict[str, Any] | Ended | Late | Garbled


class Output:
    """What the engine printed for the current case, bounded; the rest is counted but not kept."""

    def __init__(self, limit: int = OUTPUT_LIMIT) -> None:
        self._half = limit // 2
        self.clear()

    def clear(self) -> None:
        self._head, self._tail, self._dropped = bytearray(), bytearray(), 0

    def add(self, data: bytes) -> None:
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        extra = len(self._tail) - self._half
        if extra > 0:
            del self._tail[:extra]
            self._dropped += extra

    def text(self) -> str:
        gap = f"\n[... {self._dropped} bytes ...]\n".encode() if self._dropped else b""
        return (bytes(self._head) + gap + bytes(self._tail)).decode("utf-8", "replace").strip("\n")


class WorkerProcess:
    """A running worker. Use :meth:`send` and :meth:`receive`; :meth:`close` when done with it."""

    def __init__(self, engine: Engine, interpreter: str, config: Mapping[str, Any]) -> None:
        self.engine = engine
        self.nonce = os.urandom(8).hex()
        self._marker = re.compile(rb"\n\x00conform:" + self.nonce.encode() + rb":(\d+)\x00\n")
        self._longest_marker = len(self.nonce) + 40
        self._lines: deque[bytes] = deque()
        self._partial, self._pending = b"", b""
        self._mark = 0
        self._segments: dict[int, str] = {}
        self.output = Output()
        self.folder = tempfile.mkdtemp(prefix="conform-worker-")
        try:
            self._process = self._start(interpreter)
        except OSError as error:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise EngineFault(
                f"the interpreter of engine {engine.name} cannot be started: {interpreter}: {error.strerror}",
                "Correct `interpreter` in the engine's table entry.",
            ) from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdin = self._process.stdin.fileno()
        self._answers, self._prints = self._process.stdout.fileno(), self._process.stderr.fileno()
        self._selector = selectors.DefaultSelector()
        os.set_blocking(self._stdin, False)
        for descriptor in (self._answers, self._prints):
            os.set_blocking(descriptor, False)
            self._selector.register(descriptor, selectors.EVENT_READ)
        path = [*engine.path, *(harness_path() if interpreter == sys.executable else ())]
        self.send({**config, "path": [*path, *config.get("path", ())], "nonce": self.nonce})

    def _start(self, interpreter: str) -> subprocess.Popen[bytes]:
        code = f"{BOOT}_package({str(PACKAGE)!r})\nfrom conformance.worker import main\nmain()"
        environment = {**os.environ, "PYTHONIOENCODING": "utf-8:backslashreplace", **self.engine.env}
        if "PYTHONPATH" in environment:  # the worker runs in a folder of its own
            entries = [os.path.abspath(entry) for entry in environment["PYTHONPATH"].split(os.pathsep) if entry]
            environment["PYTHONPATH"] = os.pathsep.join(entries)
        process = subprocess.Popen(
            [interpreter, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment, cwd=self.folder, start_new_session=True, bufsize=0,
        )
        _STARTED.add(process)
        return process

    # -- speaking -------------------------------------------------------------------------------------------

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one line; that the process has ended meanwhile shows in the next :meth:`receive`.

        A worker that does not read it within a minute is ended.
        """
        data = (json.dumps(message) + "\n").encode("ascii")
        deadline = time.monotonic() + _SEND_SECONDS
        with contextlib.suppress(BrokenPipeError):
            while data:
                try:
                    data = data[os.write(self._stdin, data):]
                except BlockingIOError:
                    if time.monotonic() >= deadline:
                        self.kill()
                        return
                    select.select([], [self._stdin], [], _LOOK_SECONDS)
                    self._pump(0)

    def receive(self, deadline: float) -> Reply:
        """The next answer, or why there is none; *deadline* is a value of ``time.monotonic()``."""
        while True:
            if self._lines:
                line = self._lines.popleft()
                try:
                    message = json.loads(line)
                except ValueError:
                    message = None
                return message if isinstance(message, dict) else Garbled(line[:200].decode("utf-8", "replace"))
            if self._ended():
                self._drain()
                if self._lines:
                    continue
                return self._end_of_answers()
            wait = deadline - time.monotonic()
            if wait <= 0:
                return Late()
            self._pump(min(wait, _LOOK_SECONDS))

    def output_until(self, mark: int, seconds: float = 2.0) -> str:
        """What was printed before marker *mark* and after the one before it; the two pipes are not in step."""
        deadline = time.monotonic() + seconds
        while self._mark < mark and self._prints in self._selector.get_map() and time.monotonic() < deadline:
            self._pump(_LOOK_SECONDS)
        return self._segments.pop(mark, "")

    def _ended(self) -> bool:
        return self._answers not in self._selector.get_map() or self._process.poll() is not None

    def _end_of_answers(self) -> Ended | Closed:
        """Why nothing more comes: the process has ended, or it closed the pipe of its answers and lives on."""
        try:
            return Ended(self._process.wait(_GRACE_SECONDS))
        except subprocess.TimeoutExpired:
            self.kill()
            return Closed()

    def _drain(self) -> None:
        """Read what is still in the pipes without waiting for more."""
        for _ in range(10000):
            if not self._pump(0):
                break
        self._split_output(final=True)

    def _pump(self, seconds: float) -> bool:
        """Read from whichever pipe has something; False if none had."""
        events = self._selector.select(seconds)
        for key, _ in events:
            try:
                data = os.read(key.fd, 1 << 16)
            except BlockingIOError:
                continue
            if not data:
                self._selector.unregister(key.fd)
            elif key.fd == self._answers:
                *lines, self._partial = (self._partial + data).split(b"\n")
                self._lines.extend(lines)
            else:
                self._pending += data
                self._split_output()
        return bool(events)

    def _split_output(self, final: bool = False) -> None:
        """Attribute output to marks; a marker may still be cut in two at the end of what has come."""
        while True:
            found = self._marker.search(self._pending)
            if not found:
                break
            self.output.add(self._pending[: found.start()])
            self._pending = self._pending[found.end():]
            self._mark = int(found.group(1))
            printed = self.output.text()
            if printed:
                self._segments[self._mark] = printed
                while len(self._segments) > _SEGMENTS:
                    del self._segments[next(iter(self._segments))]
            self.output.clear()
        keep = 0 if final else self._longest_marker
        if len(self._pending) > keep:
            cut = len(self._pending) - keep
            self.output.add(self._pending[:cut])
            self._pending = self._pending[cut:]

    # -- ending ---------------------------------------------------------------------------------------------

    def last_words(self) -> str:
        """What was printed since the last marker, after the process has ended."""
        self._drain()
        return self.output.text()

    def stacks(self) -> str:
        """Ask a hanging worker where it hangs: what it printed so far, then the stack of every thread."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGUSR1)
        deadline = time.monotonic() + 0.5
        while time.monotonic() < deadline and self._process.poll() is None:
            self._pump(0.1)
        return self.last_words()

    def kill(self) -> None:
        """End the worker and everything it started in its process group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def close(self) -> None:
        """End it at once if it lives; what it held is released."""
        self.kill()
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def harness_path() -> list[str]:
    """Where the harness imports from beside its interpreter's own folders: an engine in it is found there too."""
    own = {os.path.abspath(folder) for folder in sysconfig.get_paths().values()}
    own |= {os.path.join(folder, "lib-dynload") for folder in own}
    own |= {path for path in sys.path if path.endswith(".zip")}
    return [path for path in dict.fromkeys(map(os.path.abspath, sys.path)) if path not in own]


def start_worker(engine: Engine, interpreter: str, config: Mapping[str, Any]) -> tuple[WorkerProcess, dict[str, Any]]:
    """Start a worker and wait until it is ready; returns it with its "ready" answer.

    Raises EngineFault if the engine does not import or die on the way, HarnessFault if the suite does not load.
    """
    worker = WorkerProcess(engine, interpreter, config)
    reply = worker.receive(time.monotonic() + engine.timeouts.start)
    if isinstance(reply, dict) and reply.get("ready"):
        return worker, reply
    try:
        raise _start_fault(engine, worker, reply)
    finally:
        worker.close()


def _start_fault(engine: Engine, worker: WorkerProcess, reply: Reply) -> EngineFault | HarnessFault:
    if isinstance(reply, dict):
        printed = worker.output_until(1)
        details = "\n".join(text for text in (reply.get("traceback", ""), _indented(printed)) if text)
        stage, message = reply.get("fault", "start"), reply.get("message", "")
        if stage in ("suite", "mutant"):
            return HarnessFault(f"the {stage} cannot be loaded in the interpreter of {engine.name}: {message}",
                                details=details)
        from conformance.smoke import ADVICE

        return EngineFault(f"engine {engine.name} stops at stage {stage}: {message}", ADVICE.get(stage, ""), details)
    if isinstance(reply, Late):
        return EngineFault(
            f"engine {engine.name} stops at stage import: it was not ready after {engine.timeouts.start:g} s",
            "Raise `timeouts.start` in the engine's table entry, or look where it hangs:", worker.stacks(),
        )
    return EngineFault(
        f"engine {engine.name} stops at stage import: {reply}",
        f"Import it by hand: {engine.interpreter or 'python'} -c 'import {engine.module}'",
        _indented(worker.last_words()),
    )


def _indented(text: str) -> str:
    return "\n".join("  | " + line for line in text.splitlines())
