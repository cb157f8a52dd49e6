"""Operators and methods of Symbol: the same names as those of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import NotImplementedForSymbol, numeric_types
from ..ndarray.methods import METHODS
from ..op import registry
from . import functions
from .compose import call
from .symbol import Symbol

# Python name: operator and hint for two symbols, for a symbol and a number, for a number and a symbol.
_BINARY: dict[str, tuple[tuple[str, str], tuple[str, str], tuple[str, str] | None]] = {
    'add': (('elemwise_add', '_plus'), ('_plus_scalar', '_plusscalar'), ('_plus_scalar', '_plusscalar')),
    'sub': (('elemwise_sub', '_minus'), ('_minus_scalar', '_minusscalar'), ('_rminus_scalar', '_rminusscalar')),
    'mul': (('elemwise_mul', '_mul'), ('_mul_scalar', '_mulscalar'), ('_mul_scalar', '_mulscalar')),
    'truediv': (('elemwise_div', '_div'), ('_div_scalar', '_divscalar'), ('_rdiv_scalar', '_rdivscalar')),
    'mod': (('_mod', '_mod'), ('_mod_scalar', '_modscalar'), ('_rmod_scalar', '_rmodscalar')),
    'pow': (('_power', '_power'), ('_power_scalar', '_powerscalar'), ('_rpower_scalar', '_rpower_scalar')),
    'eq': (('_equal', '_equal'), ('_equal_scalar', '_equal_scalar'), None),
    'ne': (('_not_equal', '_not_equal'), ('_not_equal_scalar', '_not_equal_scalar'), None),
    'gt': (('_greater', '_greater'), ('_greater_scalar', '_greater_scalar'), None),
    'ge': (('_greater_equal', '_greater_equal'), ('_greater_equal_scalar', '_greater_equal_scalar'), None),
    'lt': (('_lesser', '_lesser'), ('_lesser_scalar', '_lesser_scalar'), None),
    'le': (('_lesser_equal', '_lesser_equal'), ('_lesser_equal_scalar', '_lesser_equal_scalar'), None),
}

_INPLACE = {'add': '+=', 'sub': '-=', 'mul': '*=', 'truediv': '/=', 'mod': '%=', 'pow': '**='}


def _forward(pair: tuple[str, str], scalar: tuple[str, str]) -> Callable[..., Any]:
    def method(self: Symbol, other: Any) -> Symbol:
        if isinstance(other, Symbol):
            return call(registry[pair[0]], pair[1], [self, other], {})
        if isinstance(other, numeric_types):
            return call(registry[scalar[0]], scalar[1], [self], {'scalar': other})
        raise TypeError(f'type {type(other)} not supported')

    return method


def _reflected(scalar: tuple[str, str]) -> Callable[..., Any]:
    def method(self: Symbol, other: Any) -> Symbol:
        if isinstance(other, numeric_types):
            return call(registry[scalar[0]], scalar[1], [self], {'scalar': other})
        raise TypeError(f'type {type(other)} not supported')

    return method


def _inplace(name: str, sign: str) -> Callable[..., Any]:
    def method(self: Symbol, other: Any) -> Any:
        raise NotImplementedForSymbol(f'__i{name}__', sign, other, 1)

    return method


def _method(name: str) -> Callable[..., Any]:
    function: Any = None

    def method(self: Symbol, *args: Any, **kwargs: Any) -> Any:
        nonlocal function
        if function is None:
            function = functions.make(registry[name], name)
        return function(self, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = f'The same as ``sym.{name}`` with this symbol first.'
    return method


def _reshape(self: Symbol, *shape: Any, **kwargs: Any) -> Symbol:
    """The symbol with another shape: as one tuple, as ``shape=``, or as several integers."""
    if shape and isinstance(shape[0], int):
        kwargs['shape'] = shape
    elif shape:
        kwargs['shape'] = tuple(shape[0])
    return functions.make(registry['reshape'], 'reshape')(self, **kwargs)


def _transpose(self: Symbol, *axes: Any, **kwargs: Any) -> Symbol:
    """The symbol with permuted axes."""
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], list | tuple)):
        axes = tuple(axes[0] or ())
    if axes:
        kwargs['axes'] = axes
    return functions.make(registry['transpose'], 'transpose')(self, **kwargs)


def _astype(self: Symbol, *args: Any, **kwargs: Any) -> Symbol:
    """The symbol with another element type."""
    return functions.make(registry['cast'], 'cast')(self, *args, **kwargs)


def _expand_dims(self: Symbol, axis: Any, inplace: bool = False, **kwargs: Any) -> Symbol:
    """The symbol with an axis of length 1 at ``axis``; nothing is in place in a graph."""
    return functions.make(registry['expand_dims'], 'expand_dims')(self, axis=axis, **kwargs)


def _flatten(self: Symbol, inplace: bool = False, **kwargs: Any) -> Symbol:
    """The symbol with all axes but the first joined; nothing is in place in a graph."""
    return functions.make(registry['flatten'], 'flatten')(self, **kwargs)


def _squeeze(self: Symbol, axis: Any = None, inplace: bool = False, **kwargs: Any) -> Symbol:
    """The symbol without axes of length 1; nothing is in place in a graph."""
    if axis is not None:
        kwargs['axis'] = axis
    return functions.make(registry['squeeze'], 'squeeze')(self, **kwargs)


def _diag(self: Symbol, k: int = 0, **kwargs: Any) -> Symbol:
    """A diagonal of the symbol, or a matrix with it as diagonal."""
    return functions.make(registry['diag'], 'diag')(self, k=k, **kwargs)


def _split_v2(self: Symbol, *args: Any, **kwargs: Any) -> Symbol:
    """Equal parts, or parts from given places on."""
    from .creation import split_v2
    return split_v2(self, *args, **kwargs)


def _negative(self: Symbol) -> Symbol:
    return call(registry['_mul_scalar'], '_mulscalar', [self], {'scalar': -1.0})


def _absolute(self: Symbol) -> Symbol:
    return call(registry['abs'], 'abs', [self], {})


_OWN = ('reshape', 'transpose', 'astype', 'expand_dims', 'flatten', 'squeeze', 'diag', 'split_v2')
_MORE = ('broadcast_to', 'broadcast_like', 'batch_take', 'dot')


def install(cls: Any) -> None:
    """Give Symbol its operators and methods."""
    for name, (pair, scalar, reflected) in _BINARY.items():
        setattr(cls, f'__{name}__', _forward(pair, scalar))
        if reflected is not None:
            setattr(cls, f'__r{name}__', _reflected(reflected))
    for name, sign in _INPLACE.items():
        setattr(cls, f'__i{name}__', _inplace(name, sign))
    cls.__div__, cls.__rdiv__ = cls.__truediv__, cls.__rtruediv__
    cls.__neg__, cls.__abs__ = _negative, _absolute
    for name in (*METHODS, *_MORE):
        if name in registry and name not in vars(cls) and name not in _OWN:
            setattr(cls, name, _method(name))
    cls.reshape, cls.transpose, cls.astype = _reshape, _transpose, _astype
    cls.expand_dims, cls.flatten, cls.squeeze, cls.diag = _expand_dims, _flatten, _squeeze, _diag
    cls.split_v2 = _split_v2
    cls.as_np_ndarray = cls.as_nd_ndarray = lambda self: self


install(Symbol)
