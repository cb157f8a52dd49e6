"""Fixtures of the report tests: golden files and a headless Chromium."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the helper modules beside the tests

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def golden():
    """Compare a text with a file of ``golden/``; UPDATE_GOLDEN=1 writes the file instead, for a person to review."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if os.environ.get("UPDATE_GOLDEN") == "1":
            path.write_text(text, encoding="utf-8", newline="\n")
        assert path.exists(), f"{path} is missing; run once with UPDATE_GOLDEN=1 and look at what it wrote"
        assert text == path.read_bytes().decode("utf-8")

    return compare


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    """A headless Chromium; without one the test is skipped, or fails if GLUON_CONFORMANCE_REQUIRE names chromium."""
    import browser

    yield from browser.needed()
