"""Where results go, tried before anything is run for them, and written all or nothing."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from conformance.errors import UsageFault, writing


def try_folder(folder: Path) -> None:
    """Try a file in the folder, or where it will be made, so that no run is made for nothing."""
    place = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    with writing(folder), tempfile.TemporaryFile(dir=place):
        pass


def try_file(path: Path) -> None:
    """UsageFault for a file that could not be written later; nothing is written yet."""
    with writing(path):
        if path.exists() and not path.is_file():  # a device or a pipe is written into, not replaced
            if path.is_dir():
                raise IsADirectoryError("it is a folder")
            if not os.access(path, os.W_OK):
                raise PermissionError("permission denied")
            return
        target = Path(os.path.realpath(path))
        if not target.parent.is_dir():
            raise UsageFault(f"{path} cannot be written: there is no folder {target.parent}", "Make the folder first.")
        with tempfile.TemporaryFile(dir=target.parent):
            pass


def write_file(path: Path, text: str) -> None:
    """Write a file, all or nothing; UsageFault where that cannot be done."""
    from reports.files import write_atomically

    with writing(path):
        write_atomically(path, text)
