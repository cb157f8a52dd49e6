"""Make the picture of the report in the README again: ``python docs/make_screenshot.py results/``.

Needs the ``dev`` extra and Debian's packages chromium and chromium-driver (fonts-inter makes the picture nicer).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "reports")]

from browser import chromium, set_view  # noqa: E402 - found through the path set above

from reports import load, merge  # noqa: E402
from reports.html import render  # noqa: E402


def main() -> None:
    """Render the results, open the page and save what a window shows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="+", help="result files, or a folder of them")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "report.png")
    parser.add_argument("--view", default="#differ=1", help="filters and rule, as they stand in the page's address")
    parser.add_argument("--top", default="h1", help="CSS selector of what is at the top of the picture")
    parser.add_argument("--size", default="1440x1160", help="width x height of the window")
    parser.add_argument("--dark", action="store_true")
    options = parser.parse_args()
    files = [file for path in options.results for file in (sorted(path.glob("*.jsonl")) if path.is_dir() else [path])]
    width, height = (int(number) for number in options.size.split("x"))
    # the reference engine comes first, then the others by name
    report = merge(sorted(map(load, files), key=lambda result: (result.inventory is not None, result.name)))
    with tempfile.TemporaryDirectory() as folder, chromium() as window:
        page = Path(folder) / "report.html"
        page.write_text(render(report), encoding="utf-8")
        set_view(window, width, height, scale=1.5, dark=options.dark)
        window.get(page.as_uri() + options.view)
        window.execute_script(
            "document.activeElement.blur(); document.querySelector(arguments[0]).scrollIntoView();"
            "if (arguments[0] === 'h1') scrollTo(0, 0)",
            options.top,
        )
        options.output.write_bytes(window.get_screenshot_as_png())
    print(options.output)


if __name__ == "__main__":
    main()
