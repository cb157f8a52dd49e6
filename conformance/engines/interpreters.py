"""Finding a Python of a wanted version on this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_PROBE = "import sys, sysconfig; print('%d.%d.%d' % sys.version_info[:3], sys.maxsize > 2**32)"


@dataclass(frozen=True)
class Interpreter:
    """A Python that was run and said which version it is."""

    path: str
    version: str

    @property
    def minor(self) -> str:
        """``3.11`` of ``3.11.7``."""
        return ".".join(self.version.split(".")[:2])


def candidates(minor: str) -> Iterator[str]:
    """Paths where a Python of this minor version may be: the running one, PATH, pyenv's versions.

    A pyenv shim on PATH may exist for a version that is not switched on, so every path still has to be tried.
    """
    if f"{sys.version_info[0]}.{sys.version_info[1]}" == minor:
        yield getattr(sys, "_base_executable", "") or sys.executable
        yield sys.executable
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        found = shutil.which(f"python{minor}", path=folder) if folder else None
        if found:
            yield found
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    versions = [path for path in (root / "versions").glob(f"{minor}.*") if re.fullmatch(r"[\d.]+", path.name)]
    for version in sorted(versions, key=lambda path: [int(part) for part in path.name.split(".")], reverse=True):
        yield str(version / "bin" / "python")


def probe(path: str) -> Interpreter | None:
    """Run it; None if it does not start or does not answer as a Python does."""
    try:
        done = subprocess.run([path, "-I", "-c", _PROBE], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    version, _, wide = done.stdout.strip().partition(" ")
    if done.returncode != 0 or wide != "True" or not re.fullmatch(r"\d+\.\d+\.\d+", version):
        return None
    return Interpreter(path, version)


def find_interpreter(minors: Sequence[str]) -> Interpreter | None:
    """The first Python that runs and is of one of these minor versions, in their order."""
    for minor in minors:
        tried = set()
        for path in candidates(minor):
            if path in tried:
                continue
            tried.add(path)
            found = probe(path)
            if found is not None and found.minor == minor:
                return found
    return None
