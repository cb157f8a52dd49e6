"""Gluon: blocks, parameters, layers, losses, data and the Trainer."""

import importlib
from typing import Any

from . import data, loss, nn, utils
from .block import Block
from .hybrid_block import HybridBlock
from .parameter import Constant, DeferredInitializationError, Parameter
from .parameter_dict import ParameterDict

__all__ = ['Block', 'Constant', 'DeferredInitializationError', 'HybridBlock', 'Parameter', 'ParameterDict',
           'SymbolBlock', 'Trainer', 'contrib', 'data', 'loss', 'nn', 'utils']

_LATE = ('Trainer', 'SymbolBlock', 'metric', 'contrib', 'trainer', 'rnn', 'model_zoo', 'tensor_types')
"""Names whose modules are loaded when they are first asked for."""


def __getattr__(name: str) -> Any:
    if name == 'Trainer':
        from .trainer import Trainer
        return Trainer
    if name == 'SymbolBlock':
        from .symbol_block import SymbolBlock
        return SymbolBlock
    if name == 'tensor_types':
        from ..ndarray import NDArray
        from ..symbol import Symbol
        return NDArray, Symbol
    if name == 'metric':
        return importlib.import_module('refengine.metric')
    if name in ('contrib', 'trainer', 'rnn', 'model_zoo'):
        return importlib.import_module(f'{__name__}.{name}')
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})
