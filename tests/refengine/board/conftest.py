"""Folders of logs, the program in a process of its own, and a headless Chromium."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.sources import ROOT
from tests.reports import browser

SECONDS = 30


def scalar(tag: str, step: int, value: Any, wall_time: float = 1700000000.0) -> str:
    """One line of a scalar log."""
    return json.dumps({'tag': tag, 'step': step, 'value': value, 'wall_time': wall_time}) + '\n'


def pair(name: str, start: float, end: float, **more: Any) -> list[dict[str, Any]]:
    """Beginning and end of an operator, in microseconds."""
    event = {'name': name, 'cat': 'operator', 'pid': 0, 'tid': 1, **more}
    return [{**event, 'ph': 'B', 'ts': start}, {**event, 'ph': 'E', 'ts': end}]


def put(folder: Path, name: str, content: Any) -> Path:
    """Write a file of a run: a text, or a JSON value."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding='utf-8')
    return path


class Program:
    """``mxnet-board`` as it runs: ``url``, ``get``, ``end``."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process, self.url = process, url

    def get(self, path: str) -> tuple[int, Any]:
        """Status and JSON value of a page."""
        connection = http.client.HTTPConnection(self.url.partition('//')[2], timeout=SECONDS)
        with contextlib.closing(connection):
            connection.request('GET', path)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Exit code after a signal, and what stood on stderr."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, errors


def command(*arguments: str) -> list[str]:
    """The command line of the program."""
    return [sys.executable, '-m', 'refengine.board', *arguments]


def environment(**more: str) -> dict[str, str]:
    """Variables of a process that finds this project."""
    return {**os.environ, 'PYTHONPATH': str(ROOT), **more}


@contextlib.contextmanager
def running(*arguments: str, cwd: Path | None = None, **variables: str) -> Iterator[Program]:
    """The program, with signals as a terminal gives them; ended in any case."""
    process = subprocess.Popen(command('--port=0', *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, cwd=cwd, env=environment(**variables))
    watch = threading.Timer(SECONDS, process.kill)
    watch.start()
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        watch.cancel()
        if not url.startswith('http://'):
            process.kill()
            pytest.fail(f'no address on stdout: {url!r}, stderr {process.communicate()[1]}')
        yield Program(process, url)
    finally:
        watch.cancel()
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture(scope='session')
def chromium() -> Iterator[object]:
    """A headless Chromium; without one the test is skipped, or fails if GLUON_CONFORMANCE_REQUIRE names chromium."""
    yield from browser.needed()
