"""A profiler that knows nothing yet, and that leaves nothing behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import refengine as mx
from refengine.profiler import hooks
from refengine.profiler.session import session


@pytest.fixture
def profiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.chdir(tmp_path)
    session.forget()
    yield mx.profiler
    if session.output:
        session.dump(True)
    hooks.remove()
    session.forget()
