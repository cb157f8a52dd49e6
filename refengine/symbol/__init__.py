"""The symbolic front end, ``mx.sym``: graphs that are defined first and run later, many times.

Operator functions are made from the registry when they are first asked for, as those of ``mx.nd`` are.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

from .. import ndarray as _ndarray  # noqa: F401 - registers the operators
from ..base import MXNetError
from ..op import registry as _registry
from . import arithmetic as _arithmetic  # noqa: F401 - gives Symbol its operators
from . import functions as _functions
from .compose import Variable, var
from .creation import (
    arange,
    eye,
    full,
    histogram,
    hypot,
    linspace,
    maximum,
    minimum,
    ones,
    pow,
    power,
    split_v2,
    zeros,
)
from .symbol import Group, Symbol

_SUBMODULES = ('contrib', 'linalg', 'random', 'image', 'sparse', 'op', '_internal')
_HIDDEN = ('_contrib_', '_linalg_', '_random_', '_image_', '_sparse_')


def load_json(json_str: str) -> Symbol:
    """The symbol that a text in the file format describes; MXNetError for broken ones (rule GRAPH-JSON-005)."""
    if not isinstance(json_str, str):
        raise TypeError('fname required to be string')
    from .json_file import parse
    return parse(json_str)


fromjson = load_json


def load(fname: str) -> Symbol:
    """The symbol of a file; MXNetError when it cannot be read or is broken, TypeError when the name is no text."""
    if not isinstance(fname, str):
        raise TypeError('fname need to be string')
    try:
        with open(os.fspath(fname), encoding='utf-8') as file:
            text = file.read()
    except OSError as error:
        raise MXNetError(f'LocalFileSystem: Check failed: Open "{fname}": {error.strerror}') from None
    except UnicodeDecodeError as error:
        raise MXNetError(f'JSONReader: {fname} is no text: {error}') from None
    return load_json(text)


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f'{__name__}.{name}')
    if name in ('from_tape', 'check_numeric_gradient'):
        module = importlib.import_module(f"{__name__}.{'from_tape' if name == 'from_tape' else 'numeric'}")
        value = globals()[name] = getattr(module, name)
        return value
    op = _registry.get(name)
    if op is None:
        raise _functions.missing(__name__, name)
    value = globals()[name] = _functions.make(op, name)
    return value


def __dir__() -> list[str]:
    public = [n for n in _registry if not n.startswith(_HIDDEN)]
    return sorted({*globals(), *public, *_SUBMODULES})


# Operators come on top of these, see __dir__.
__all__ = ['Group', 'Symbol', 'Variable', 'arange', 'eye', 'fromjson', 'full', 'histogram', 'hypot', 'linspace', 'load',
           'load_json', 'maximum', 'minimum', 'ones', 'pow', 'power', 'split_v2', 'var', 'zeros']
