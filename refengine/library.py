"""Loading libraries of operators: ``mx.library``."""

from __future__ import annotations

import ctypes
import os

from .base import MXNetError

SUFFIXES = ('.so', '.dll')


def load(path: str, verbose: bool = True) -> None:
    """Load a library of operators from the absolute path of a .so or .dll file (CUSTOMOP-LIB-001).

    MXNetError when the file does not exist, the path is not absolute, it is no library file, it cannot be loaded, or it
    lacks the version entry point that every library of operators has.
    """
    if not os.path.exists(path):
        raise MXNetError(f'load path {path} does NOT exist')
    if not os.path.isabs(path):
        raise MXNetError(f'load path {path} is not an absolute path')
    if os.path.splitext(path)[1] not in SUFFIXES:
        raise MXNetError(f'load path {path} is NOT a library file: expected one of {", ".join(SUFFIXES)}')
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise MXNetError(f"Error loading library: '{path}'\n{error}") from None
    if not hasattr(library, '_opVersion'):
        raise MXNetError(f"Error loading library: '{path}'\nit has no entry point _opVersion: a library of operators "
                         f'is built against lib_api.h')
    raise MXNetError(f"Error loading library: '{path}'\nit holds compiled operators, which this engine cannot run; "
                     f'write them in Python with mx.operator.register')
