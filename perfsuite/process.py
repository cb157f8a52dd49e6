"""An engine's measuring worker as a process: start it, ask it, end it."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

#: Set alike for every engine, so that none gets more threads than another.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
#: Waiting threads give the core away instead of spinning on it: else two engines disturb each other.
FIXED_VARIABLES = {"OMP_WAIT_POLICY": "PASSIVE", "MKL_DYNAMIC": "FALSE"}
#: These force an older OpenBLAS kernel on some machines; a comparison leaves the choice to the library.
UNSET_VARIABLES = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")

#: How long a worker may take for one answer: a long benchmark is asked for round by round.
ANSWER_SECONDS = 600.0


class WorkerFailed(RuntimeError):
    """The measuring worker of an engine ended, did not start, or answered with an error."""


def measuring_environment(threads: int, extra: Mapping[str, str]) -> dict[str, str]:
    """The environment of every measuring worker: the same thread count and library settings for all."""
    environment = {k: v for k, v in os.environ.items() if k not in UNSET_VARIABLES}
    environment.update(extra)
    environment.update(FIXED_VARIABLES)
    environment.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    return environment


class MeasuringWorker:
    """A running ``perfsuite.worker`` in an engine's interpreter; a context manager that ends it.

    name: shown in messages;  interpreter: path of its Python;  module, setup, kind: what it loads;
    threads: compute threads;  environment: further variables of the engine.
    """

    def __init__(
        self, name: str, interpreter: str, module: str, *, setup: str = "", kind: str = "mx",
        threads: int = 1, environment: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        variables = measuring_environment(threads, environment or {})
        root = str(Path(__file__).resolve().parent.parent)
        variables["PYTHONPATH"] = os.pathsep.join(filter(None, [root, variables.get("PYTHONPATH", "")]))
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._process = subprocess.Popen(
            [interpreter, "-m", "perfsuite.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._stderr, env=variables,
        )
        try:
            self.facts = self.ask("load", module=module, setup=setup, kind=kind)
        except BaseException:
            self.close()
            raise

    def ask(self, request: str, **arguments: Any) -> dict[str, Any]:
        """Send one request and return its answer; raise WorkerFailed with the engine's own words if it failed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({request: arguments}).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            line = b""
        else:
            if not select.select([self._process.stdout], [], [], ANSWER_SECONDS)[0]:
                self._process.kill()
                raise WorkerFailed(f"{self.name}: no answer within {ANSWER_SECONDS:g} s at {request!r}: "
                                   f"{self._last_words()}")
            line = self._process.stdout.readline()
        if not line:
            status = self._process.wait(timeout=10)
            raise WorkerFailed(f"{self.name}: the measuring worker ended with status {status} at {request!r}: "
                               f"{self._last_words()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise WorkerFailed(f"{self.name}: {answer['error']} at {request!r}: {answer['message']}")
        return answer

    def _last_words(self) -> str:
        self._stderr.seek(0)
        return self._stderr.read()[-2000:].decode(errors="replace").strip() or "(it said nothing)"

    def close(self) -> None:
        """End the worker; a second call does nothing."""
        if self._process.poll() is None:
            try:
                assert self._process.stdin is not None
                self._process.stdin.write(b'{"quit": {}}\n')
                self._process.stdin.close()
                self._process.wait(timeout=5)
            except (OSError, subprocess.TimeoutExpired):
                self._process.kill()
                self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._stderr):
            if stream is not None and not stream.closed:
                stream.close()

    def __enter__(self) -> MeasuringWorker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None,
    ) -> None:
        self.close()
