"""What is committed is in English and speaks of the project alone."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable

import pytest

from tests.contracts.sources import ROOT

#: Scripts that no English text has, with their punctuation.
FOREIGN = re.compile("[\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")

#: Places and parties that are no part of the project; written so that this list does not find itself.
ELSEWHERE = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        "/wo" + "rk/", "/tmp/(eng|pl" + "an)", "/ro" + "ot/", "/opt/py" + "pi", "pypi-mo" + "re", "workpl" + "ace",
        "clau" + "de", "anthro" + "pic", "co-author" + "ed-by", r"sub-?age" + r"nt\b", r"\bas an a" + r"i\b",
        "helper " + "session",
    )
]  # fmt: skip

TEXT = {".py", ".toml", ".yaml", ".yml", ".json", ".md", ".txt", ".ini", ".cfg", ".html", ".css", ".js", ".sh", ""}


def committed() -> list[str]:
    """What git knows of, text only; the files of an unpacked archive where there is no git."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        names = [name for name in done.stdout.split("\0") if name]
    else:
        names = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if path.is_file()]
    return [name for name in names if (ROOT / name).suffix in TEXT and (ROOT / name).is_file()]


def complaints_about(name: str, text: str) -> Iterable[str]:
    for number, line in enumerate(text.splitlines(), 1):
        # Tests may show what becomes of such text: a few characters are no sentence.
        if len(FOREIGN.findall(line)) > (4 if name.startswith("tests/") else 0):
            yield f"{name}:{number}: not English: {line.strip()[:80]}"
        for pattern in ELSEWHERE:
            if pattern.search(line):
                yield f"{name}:{number}: not about the project ({pattern.pattern}): {line.strip()[:80]}"


def test_committed_files_are_in_english_and_about_the_project() -> None:
    names = committed()
    assert "pyproject.toml" in names
    found = []
    for name in names:
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # data
        found += list(complaints_about(name, text))
    assert not found, "\n" + "\n".join(found[:40])


@pytest.mark.parametrize("line", ["a = 1  # \u4f60", "path = '/wo" + "rk/main'", "see /ro" + "ot/.cache"])
def test_the_check_notices(line: str) -> None:
    assert list(complaints_about("file", line))


def test_the_check_lets_pass() -> None:
    assert not list(complaints_about("file", "the root of the tree \u2192 the worker's folder \u00b1 1 \u03bcs"))
