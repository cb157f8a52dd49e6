"""Loading libraries of operators: ``mx.library``."""

from __future__ import annotations

import ctypes
import os
import sys

from . import dispatch, native
from . import ops as _ops  # noqa: F401 - the operators that a library may not replace
from .base import MXNetError

SUFFIXES = ('.so', '.dll')

_loaded: dict[str, native.Library] = {}


def load(path: str, verbose: bool = True) -> None:
    """Load a library of operators, compiled against ``lib_api.h``, from the absolute path of a .so or .dll file.

    Afterwards its operators are functions of ``mx.nd`` and ``mx.sym`` (CUSTOMOP-LIB-001 to -004). MXNetError when the
    file does not exist, the path is not absolute, it is no library file, it cannot be loaded, it is made for another
    version, or holds operators that this engine cannot run: such as keep state.
    """
    if not os.path.exists(path):
        raise MXNetError(f'load path {path} does NOT exist')
    if not os.path.isabs(path):
        raise MXNetError(f'load path {path} is not an absolute path')
    if os.path.splitext(path)[1] not in SUFFIXES:
        raise MXNetError(f'load path {path} is NOT a library file: expected one of {", ".join(SUFFIXES)}')
    if path in _loaded:
        return
    try:
        handle = ctypes.CDLL(path)
    except OSError as error:
        raise MXNetError(f"Error loading library: '{path}'\n{error}") from None
    library = native.Library(path, handle)
    names = native.register(library)
    _loaded[path] = library
    dispatch.raw.cache_clear()
    for module in ('ndarray', 'ndarray.op', 'ndarray._internal', 'symbol', 'symbol.op', 'symbol._internal'):
        made = sys.modules.get(f'{__name__.rpartition(".")[0]}.{module}')
        for name in names:
            if made is not None:
                vars(made).pop(name, None)      # a function that was made of an earlier operator of that name
    if verbose:
        public = [name for name in names if not name.startswith('_backward_')]
        sys.stdout.write(f'loaded library {path} with the operators {", ".join(public)}\n')


def loaded_libs() -> list[str]:
    """The paths of the libraries that are loaded."""
    return list(_loaded)
