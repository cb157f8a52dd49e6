"""Which runs there are: the folders below the one that is served, and the logs in them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MOST_RUNS = 1000
MOST_FILES = 2000
MOST_ENTRIES = 100_000
DEEPEST = 8

ROOT = '.'
"""The name of the run whose files lie in the served folder itself."""


@dataclass
class Found:
    """One run: paths by the name under which they are shown."""

    scalars: dict[str, Path] = field(default_factory=dict)
    traces: dict[str, Path] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.scalars or self.traces)


@dataclass
class Walk:
    """What a walk through the folder found, and what people should know about it."""

    runs: dict[str, Found] = field(default_factory=dict)
    problems: list[tuple[str, str]] = field(default_factory=list)
    files: int = 0
    entries: int = 0
    full: bool = False


def shown(name: str) -> str:
    """A name of the file system as text that can be sent and shown."""
    return os.fsencode(name).decode('utf-8', 'backslashreplace')


def walk(folder: Path) -> Walk:
    """Find runs: every sub-directory, deeper folders that hold logs, and the folder itself if it does.

    Links are not followed: what they point at may lie elsewhere.
    """
    found = Walk()
    queue = [(str(folder), '', 0)]
    while queue and not found.full:
        path, name, depth = queue.pop(0)
        queue += _one(path, name, depth, found)
    if found.full:
        found.problems.append((ROOT, f'too much in this folder; what comes after {len(found.runs)} runs and '
                                     f'{found.files} files is not shown'))
    found.runs = {name: found.runs[name] for name in sorted(found.runs, key=_order)}
    return found


def _order(name: str) -> tuple[bool, list[tuple[bool, int, str]]]:
    """run-2 comes before run-10."""
    parts: list[tuple[bool, int, str]] = []
    word = ''
    for letter in [*name, '']:
        if word and (letter == '' or letter.isdecimal() != word[0].isdecimal()):
            parts.append((False, int(word), word) if word[0].isdecimal() and len(word) < 20 else (True, 0, word))
            word = ''
        word += letter
    return name != ROOT, parts


def _one(path: str, name: str, depth: int, found: Walk) -> Iterator[tuple[str, str, int]]:
    """Look into one folder; gives the folders in it."""
    run = Found()
    try:
        with os.scandir(path) as entries:
            inside = sorted(_some(entries, found), key=lambda entry: entry.name)
    except OSError as error:
        found.problems.append((name or ROOT, f'this folder cannot be read: {error.strerror}'))
        inside = []
    for entry in inside:
        label = shown(entry.name)
        full = f'{name}/{label}' if name else label
        if entry.is_dir(follow_symlinks=False):
            if depth < DEEPEST:
                yield entry.path, full, depth + 1
        elif entry.name.endswith(('.json', '.jsonl')) or entry.is_dir():
            if entry.is_symlink():
                found.problems.append((full, 'skipped, links are not followed'))
            elif found.files >= MOST_FILES:
                found.full = True
            else:
                found.files += 1
                kind = run.scalars if entry.name.endswith('.jsonl') else run.traces
                kind[full] = Path(entry.path)
    if run or depth == 1:
        if len(found.runs) >= MOST_RUNS:
            found.full = True
        else:
            found.runs[name or ROOT] = run


def _some(entries: Iterator[os.DirEntry[str]], found: Walk) -> Iterator[os.DirEntry[str]]:
    for entry in entries:
        found.entries += 1
        if found.entries > MOST_ENTRIES:
            found.full = True
            return
        yield entry
