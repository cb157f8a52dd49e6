"""Saving and loading arrays; the file format lives in ``refengine.compat``."""

from __future__ import annotations

from typing import Any


def save(fname: str, data: Any) -> None:
    """Write an array, a list of arrays or a dict of arrays to a file."""
    from ..compat import params_file
    params_file.save(fname, data)


def load(fname: str) -> Any:
    """Read the list or dict of arrays that ``save`` wrote."""
    from ..compat import params_file
    return params_file.load(fname)


def load_frombuffer(buf: bytes) -> Any:
    """Read the list or dict of arrays from the bytes of a file."""
    from ..compat import params_file
    return params_file.load_frombuffer(buf)
