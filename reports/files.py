"""Writing an artefact so that a reader never sees half of it."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write *text* as UTF-8 to a temporary file beside *path*, then move it there; the folder must exist.

    Of a symbolic link, the file that it names is replaced. What is no regular file (a device, a pipe, an open
    descriptor such as ``/dev/stdout``) cannot be replaced by one: the text is written into it.
    """
    if _is_stream(path):
        with open(path, "a", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        return
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent}")
    handle, temporary = tempfile.mkstemp(prefix=target.name + ".", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)  # mkstemp makes it private; an artefact has the usual rights
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether there is something that is written into: no regular file, or one that a descriptor holds open."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    return not stat.S_ISREG(found.st_mode) or _names_a_descriptor(os.fspath(path))


def _names_a_descriptor(path: str) -> bool:
    """Whether a path leads through ``/proc/.../fd``, as ``/dev/stdout`` does: the open file stays the same then."""
    for _ in range(40):  # as many links as the system follows
        folder = os.path.realpath(os.path.dirname(path) or os.curdir)
        if folder.startswith("/proc/"):
            return True
        if not os.path.islink(path):
            return False
        path = os.path.join(folder, os.readlink(path))
    return False
