"""A headless Chromium for tests and pictures. Nothing is installed: the browser is the system's."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
from collections.abc import Iterator
from typing import Any

MISSING = "no Chromium with chromedriver here (Debian: apt-get install chromium chromium-driver)"

#: The sandbox needs rights that root in a container does not have; the rest keeps it from talking to anybody.
FLAGS = (
    "headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking",
    "disable-component-update", "disable-sync", "disable-dev-shm-usage", "hide-scrollbars", "disable-extensions",
)  # fmt: skip


def find() -> tuple[str, str] | None:
    """Browser and driver, or None where one of them is missing."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """A window of a fresh headless browser; ``RuntimeError`` where there is none."""
    found = find()
    if found is None:
        raise RuntimeError(MISSING)
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    logging.getLogger("selenium").setLevel(logging.WARNING)
    options = Options()
    options.binary_location = found[0]
    for flag in FLAGS:
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    window = webdriver.Chrome(options=options, service=Service(found[1]))
    try:
        window.set_script_timeout(30)
        window.set_page_load_timeout(60)
        yield window
    finally:
        window.quit()


def needed() -> Iterator[Any]:
    """The body of a fixture: a window. Without a browser the test is skipped, or fails if it is required.

    GLUON_CONFORMANCE_REQUIRE=chromium requires it.
    """
    import pytest

    if find() is None:
        if "chromium" in os.environ.get("GLUON_CONFORMANCE_REQUIRE", "").split(","):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    with chromium() as window:
        yield window


def set_view(
    window: Any, width: int, height: int, *, scale: float = 1, dark: bool = False, printing: bool = False
) -> None:
    """Set the size of the window and what the page is told of the reader's wishes."""
    features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    window.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features, "media": "print" if printing else ""})
    metrics = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
    window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
