"""The arithmetic and comparison operators of NDArray, with a short path for small float arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import device, dispatch, engine
from ..base import IN_GRAPH, MXNetError
from ..op import registry
from ..tape import GONE, MANY, RESULT, Node, Pair, next_number, recorders, state

_FLOAT32 = np.dtype('float32')
_FLOAT64 = np.dtype('float64')
_SMALL = 16384
"""Largest size for the short path; above it buffers come from the pool, through dispatch."""

INPLACE_RECORDED = 'Inplace operations (+=, -=, x[:]=, etc) are not supported when recording with autograd.'


def _compare(ufunc: Callable[..., Any]) -> Callable[..., Any]:
    def function(x: Any, y: Any) -> Any:
        return ufunc(x, y).astype(x.dtype)

    return function


# Python name: operator for two arrays, operator for array and scalar, the same with the scalar on the left,
# numpy function that does for float arrays what the operator does, or None.
_BINARY: dict[str, tuple[str, str, str | None, Any]] = {
    'add': ('broadcast_add', '_plus_scalar', '_plus_scalar', np.add),
    'sub': ('broadcast_sub', '_minus_scalar', '_rminus_scalar', np.subtract),
    'mul': ('broadcast_mul', '_mul_scalar', '_mul_scalar', np.multiply),
    'truediv': ('broadcast_div', '_div_scalar', '_rdiv_scalar', np.true_divide),
    'mod': ('broadcast_mod', '_mod_scalar', '_rmod_scalar', None),
    'pow': ('broadcast_power', '_power_scalar', '_rpower_scalar', np.power),
    'eq': ('broadcast_equal', '_equal_scalar', None, _compare(np.equal)),
    'ne': ('broadcast_not_equal', '_not_equal_scalar', None, _compare(np.not_equal)),
    'gt': ('broadcast_greater', '_greater_scalar', None, _compare(np.greater)),
    'ge': ('broadcast_greater_equal', '_greater_equal_scalar', None, _compare(np.greater_equal)),
    'lt': ('broadcast_lesser', '_lesser_scalar', None, _compare(np.less)),
    'le': ('broadcast_lesser_equal', '_lesser_equal_scalar', None, _compare(np.less_equal)),
}

_INPLACE_VERBS = {'add': 'add to', 'sub': 'subtract from', 'mul': 'multiply to', 'truediv': 'divide from',
                  'mod': 'take modulo from'}
"""What the in-place operators do, in the words of the error for a read-only array."""

_SCALARS = (int, float, np.generic)


_EMPTY: dict[str, Any] = {}


def _refuse(other: Any) -> TypeError:
    return TypeError(f'type {type(other)} not supported')


def _general(pair_name: str, scalar_name: str) -> Callable[..., Any]:
    """An operator through dispatch: for arrays of any kind, and all there is under an asynchronous engine."""
    def method(self: Any, other: Any) -> Any:
        if isinstance(other, dispatch.NDArray):
            return dispatch.invoke(registry[pair_name], (self, other), _EMPTY)
        if isinstance(other, _SCALARS):
            return dispatch.invoke(registry[scalar_name], (self,), {'scalar': other})
        if getattr(other, '__array_priority__', 0) > self.__array_priority__:
            return NotImplemented         # the other one knows what to do with an array
        raise _refuse(other)

    return method


def _forward(cls: type, pair_name: str, scalar_name: str, fast: Any) -> Callable[..., Any]:
    new, quietly = object.__new__, device.quietly
    ndarray = np.ndarray
    pair = scalar = None
    general = _general(pair_name, scalar_name)
    if engine.queue is not None or fast is None:
        return general

    def method(self: Any, other: Any) -> Any:
        nonlocal pair, scalar
        kind = other.__class__
        x = self._data
        dtype = x.dtype
        if (dtype is _FLOAT32 or dtype is _FLOAT64) and x.size < _SMALL:
            ctx = self._ctx
            if kind is cls and ctx is other._ctx:
                y = other._data
                if y.dtype is dtype:
                    try:
                        data = quietly(fast, x, y)
                    except (ValueError, RuntimeError):      # no fit; or another thread calls quietly just now
                        data = None
                    if data.__class__ is ndarray and data.size:
                        result = new(cls)
                        result._data = data
                        result._ctx = ctx = ctx.home
                        result._node = None
                        if recorders and state.here.now:
                            left, right = self._node, other._node
                            if pair is None:
                                pair = registry[pair_name]
                            simple = pair.partials is not None
                            if left is not None:
                                where = left.kind
                                if where == GONE:
                                    left = None
                                elif where == MANY:
                                    simple = False
                            if right is not None:
                                where = right.kind
                                if where == GONE:
                                    right = None
                                elif where == MANY:
                                    simple = False
                            if left is None is right:
                                return result
                            if not simple:
                                dispatch.record(pair, _EMPTY, (self, other), (x, y), (data,), (result,), ctx)
                                return result
                            result._node = node = new(Pair)
                            node.op = pair
                            node.a = x
                            node.b = y
                            node.y = data
                            node.left = left
                            node.right = right
                            node.ctx = ctx
                            node.kind = RESULT
                            node.sequence = next_number()
                        return result
            elif kind is float or kind is int:
                try:
                    data = quietly(fast, x, float(other))
                except RuntimeError:
                    data = None
                if data.__class__ is ndarray and data.size:
                    result = new(cls)
                    result._data = data
                    result._ctx = ctx = ctx.home
                    result._node = None
                    if recorders and state.here.now:
                        entry = self._node
                        if entry is not None and entry.kind >= 0:
                            if scalar is None:
                                scalar = registry[scalar_name]
                            result._node = Node(scalar, {'scalar': other}, (x,), (data,), (entry,), ctx)
                    return result
        return general(self, other)

    return method


def _reflected(scalar_name: str, fast: Any) -> Callable[..., Any]:
    new, ndarray, quietly = object.__new__, np.ndarray, device.quietly

    def method(self: Any, other: Any) -> Any:
        kind = other.__class__
        if (kind is float or kind is int) and fast is not None and engine.queue is None:
            x = self._data
            if (x.dtype is _FLOAT32 or x.dtype is _FLOAT64) and x.size < _SMALL:
                try:
                    data = quietly(fast, float(other), x)
                except RuntimeError:
                    data = None
                if data.__class__ is ndarray and data.size:
                    result = new(self.__class__)
                    result._data = data
                    result._ctx = ctx = self._ctx.home
                    result._node = None
                    if recorders and state.here.now:
                        dispatch.record(registry[scalar_name], {'scalar': other}, (self,), (x,), (data,), (result,),
                                        ctx)
                    return result
        if isinstance(other, _SCALARS):
            return dispatch.invoke(registry[scalar_name], (self,), {'scalar': other})
        raise _refuse(other)

    return method


def _inplace(pair_name: str, scalar_name: str, fast: Any, verb: str) -> Callable[..., Any]:
    error_state, ignored = device.error_state, device.ERRORS_IGNORED

    def method(self: Any, other: Any) -> Any:
        recording = state.recording
        if recording and dispatch.in_graph(self):
            raise MXNetError(IN_GRAPH)
        x = self._data
        if x.__class__ is np.ndarray and not x.flags.writeable:
            raise ValueError(f'trying to {verb} a readonly NDArray')
        if isinstance(other, dispatch.NDArray):
            if recording and dispatch.in_graph(other):
                raise MXNetError(INPLACE_RECORDED)
            y = other._data
            if fast is not None and x.dtype is y.dtype and (x.dtype is _FLOAT32 or x.dtype is _FLOAT64) \
                    and type(y) is np.ndarray and self._ctx is other._ctx and x.size:
                token = error_state.set(ignored)
                try:
                    fast(x, y, x)
                    return self
                except ValueError:
                    pass        # dispatch finds the words for it
                finally:
                    error_state.reset(token)
            dispatch.invoke(registry[pair_name], (self, other), {}, self)
            return self
        if isinstance(other, _SCALARS):
            dispatch.invoke(registry[scalar_name], (self,), {'scalar': other}, self)
            return self
        raise _refuse(other)

    return method


def _negative(self: Any) -> Any:
    if self._data.dtype == bool:
        return dispatch.invoke(registry['_mul_scalar'], (self,), {'scalar': -1})
    return dispatch.invoke(registry['negative'], (self,), {})


def _absolute(self: Any) -> Any:
    return dispatch.invoke(registry['abs'], (self,), {})


def install(cls: type) -> None:
    """Give a class of arrays its operators."""
    for name, (pair, scalar, reflected, fast) in _BINARY.items():
        method = _forward(cls, pair, scalar, fast)
        method.__name__ = f'__{name}__'
        setattr(cls, method.__name__, method)
        if reflected is not None:
            method = _reflected(reflected, fast)
            method.__name__ = f'__r{name}__'
            setattr(cls, method.__name__, method)
        if name in _INPLACE_VERBS:
            method = _inplace(pair, scalar, fast, _INPLACE_VERBS[name])
            method.__name__ = f'__i{name}__'
            setattr(cls, method.__name__, method)
    for prefix in ('', 'r', 'i'):       # the names of Python 2, which programs may still call
        setattr(cls, f'__{prefix}div__', getattr(cls, f'__{prefix}truediv__'))
    cls.__neg__ = _negative          # type: ignore[attr-defined]
    cls.__abs__ = _absolute          # type: ignore[attr-defined]
