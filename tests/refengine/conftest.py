"""What all tests of the reference engine share: no error is left to the next one, and tests that need work done inline.

An error found while computing waits for somebody who waits. One that a test leaves behind would be raised in some other
test, by the first call that waits for everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from refengine import dispatch, engine, op


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what looks behind the engine where the engine is asynchronous."""
    if engine.queue is None:
        return
    skip = pytest.mark.skip(reason=f'looks behind the engine, which is {engine.kind()} here')
    for item in items:
        if item.get_closest_marker('inline_engine') is not None:
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def _no_error_is_left() -> Iterator[None]:
    yield
    engine.drain()
    left = [failure.error for failure in engine._pending]
    engine._pending.clear()
    assert not left, f'the test leaves errors behind that nobody waited for: {left}'


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Register operators for one test."""
    monkeypatch.setattr(op, 'registry', dict(op.registry))
    monkeypatch.setattr(dispatch, 'registry', op.registry)
    yield op.register
    dispatch.raw.cache_clear()
