"""Saving and loading arrays; the file format lives in ``refengine.compat``."""

from __future__ import annotations

from typing import Any

from .creation import array
from .creation import empty as _empty
from .creation import zeros as _zeros
from .ndarray import NDArray

__all__ = ['array', 'empty', 'load', 'load_frombuffer', 'save', 'zeros']


def zeros(shape: Any, ctx: Any = None, dtype: Any = None, stype: str | None = None, **kwargs: Any) -> NDArray:
    """An array of zeros of a storage type."""
    return _zeros(shape, ctx, dtype, stype, **kwargs)


def empty(shape: Any, ctx: Any = None, dtype: Any = None, stype: str | None = None) -> NDArray:
    """An array without defined content, of a storage type."""
    return _empty(shape, ctx, dtype, stype)


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
