"""The imperative front end, ``mx.nd``: NDArray, functions that make arrays, and every registered operator.

Operator functions are made from the registry when they are first asked for.
"""

from __future__ import annotations

import importlib
from typing import Any

from .. import ops as _ops  # noqa: F401 - registers the operators
from ..op import registry as _registry
from . import functions as _functions
from . import methods as _methods
from . import ndarray
from .creation import (
    arange,
    array,
    concatenate,
    empty,
    eye,
    from_numpy,
    full,
    full_like,
    linspace,
    moveaxis,
    onehot_encode,
    ones,
    zeros,
)
from .hybrid import (
    add,
    broadcast_axes,
    divide,
    equal,
    greater,
    greater_equal,
    hypot,
    lesser,
    lesser_equal,
    logical_and,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    modulo,
    multiply,
    not_equal,
    power,
    subtract,
    true_divide,
)
from .ndarray import NDArray, waitall

_methods.install(NDArray)

_SUBMODULES = ('contrib', 'linalg', 'random', 'image', 'sparse', 'op', '_internal', 'exchange', 'utils')
_UTILS = ('save', 'load', 'load_frombuffer')
_ELSEWHERE = {
    **dict.fromkeys(('to_dlpack_for_read', 'to_dlpack_for_write', 'from_dlpack', 'histogram', 'split_v2', 'stride',
                     'debug_print'), 'extra'),
    **dict.fromkeys(('get_indexing_dispatch_code', 'get_oshape_of_gather_nd_op', 'indexing_key_expand_implicit_axes'),
                    'keys'),
    'imdecode': 'images', 'Custom': 'custom', 'CachedOp': 'cached_op',
}
"""Functions that are more than one operator, and the module that each stands in."""
_HIDDEN = ('_contrib_', '_linalg_', '_random_', '_image_', '_sparse_')


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f'{__name__}.{name}')
    if name in _UTILS:
        from . import utils
        value = getattr(utils, name)
    elif name in _ELSEWHERE:
        value = getattr(importlib.import_module(f'{__name__}.{_ELSEWHERE[name]}'), name)
    else:
        op = _registry.get(name)
        if op is None:
            raise _functions.missing(__name__, name)
        value = _functions.make(op, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    public = [n for n in _registry if not n.startswith(_HIDDEN)]
    return sorted({*globals(), *public, *_SUBMODULES, *_UTILS, *_ELSEWHERE})


__all__ = [
    'NDArray', 'add', 'arange', 'array', 'broadcast_axes', 'concatenate', 'divide', 'empty', 'equal', 'eye',
    'from_numpy', 'full', 'full_like', 'greater', 'greater_equal', 'hypot', 'lesser', 'lesser_equal', 'linspace',
    'logical_and', 'logical_or', 'logical_xor', 'maximum', 'minimum', 'modulo', 'moveaxis', 'multiply',
    'ndarray', 'not_equal', 'onehot_encode', 'ones', 'power', 'subtract', 'true_divide', 'waitall', 'zeros',
]  # operators come on top of these, see __dir__
