"""Fixtures of the report tests: golden files and a headless Chromium."""

from __future__ import annotations

import logging
import os
import shutil
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
    """A headless Chromium, driven over its own protocol by Debian's chromedriver.

    Nothing is installed: where there is no browser the test is skipped, or fails if GLUON_CONFORMANCE_REQUIRE
    names chromium.
    """
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    missing = "no Chromium with chromedriver here (Debian: apt-get install chromium chromium-driver)"
    if not browser or not driver:
        if "chromium" in os.environ.get("GLUON_CONFORMANCE_REQUIRE", "").split(","):
            pytest.fail(missing)
        pytest.skip(missing)
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    logging.getLogger("selenium").setLevel(logging.WARNING)
    options = Options()
    options.binary_location = browser
    for flag in (
        "headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking",
        "disable-component-update", "disable-sync", "disable-dev-shm-usage", "hide-scrollbars", "disable-extensions",
    ):  # fmt: skip
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    window = webdriver.Chrome(options=options, service=Service(driver))
    try:
        window.set_script_timeout(30)
        window.set_page_load_timeout(60)
        yield window
    finally:
        window.quit()
