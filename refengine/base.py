"""The error classes of the engine, shared constants and helpers for the wording of errors."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import env


class MXNetError(RuntimeError):
    """Any error that the engine itself reports; a ``RuntimeError``, as in MXNet (rule DIAG-MSG-003)."""


class NotImplementedForSymbol(MXNetError):
    """A method of NDArray that has no symbolic counterpart."""

    def __init__(self, function: Any, alias: str | None = None, *args: Any) -> None:
        super().__init__()
        self.function = getattr(function, "__name__", str(function))
        self.alias = alias
        self.args = tuple(str(type(a)) for a in args)

    def __str__(self) -> str:
        alias = f' (namely operator "{self.alias}")' if self.alias else ''
        given = f' with arguments ({", ".join(self.args)})' if self.args else ''
        return f'Function {self.function}{alias}{given} is not implemented for Symbol and only available in NDArray.'


class InternalError(MXNetError):
    """A broken promise inside the engine: always a bug of the engine, never of the program."""


class LateError(Exception):
    """Raised by an operator body for errors that MXNet reports only when the result is waited for.

    ``error`` is what the wait raises, ``outputs`` are arrays of the right shape and dtype without meaningful content.
    """

    def __init__(self, error: Exception, outputs: Sequence[Any]) -> None:
        super().__init__(str(error))
        self.error = error
        self.outputs = tuple(outputs)


class _NullType:
    """The value of an operator attribute that was not given."""

    def __repr__(self) -> str:
        return '_Null'

    def __bool__(self) -> bool:
        return False


_Null = _NullType()

string_types = (str,)
numeric_types = (float, int, np.generic)
integer_types = (int, np.int32, np.int64)
mx_real_t = np.float32

IN_GRAPH = ('Assigning to NDArrays that are already in a computational graph will cause undefined behavior when '
            'evaluating gradients. Please call backward first to clear the graph or do this out side of a record '
            'section. ')


def shape_text(shape: Iterable[int]) -> str:
    """A shape in the wording of error messages: ``[2,3]``."""
    return '[' + ','.join(str(int(n)) for n in shape) + ']'


def as_dtype(dtype: Any) -> np.dtype[Any]:
    """numpy's dtype for what names one; an array of the engine, whose dtype is a type, stands for its own."""
    kind = None if isinstance(dtype, type) else getattr(dtype, 'dtype', None)
    return np.dtype(kind if isinstance(kind, type) else dtype)


def dtype_text(dtype: Any) -> str:
    """The name of an element type as error messages spell it: ``float32``."""
    return as_dtype(dtype).name


def plural_shapes(shapes: Iterable[Iterable[int]]) -> str:
    """One shape per line, with the terminator that the releases print."""
    return '\n'.join(shape_text(s) for s in shapes)


# ---- for programs that talked to the C library: what means something without one -------------------------------

def data_dir_default() -> str:
    """The folder for data sets and weights, unless MXNET_HOME names another: ``.mxnet`` in that of the user."""
    return os.path.join(os.path.expanduser('~'), '.mxnet')


def data_dir() -> str:
    """The folder for data sets and weights."""
    return env.get('MXNET_HOME') or data_dir_default()


def check_call(ret: int) -> None:
    """Nothing for 0, the result of a C function that went well; MXNetError for others."""
    if ret != 0:
        raise MXNetError(f'a call came back with {ret}')


def c_str(string: str) -> Any:
    """A text as C functions take it.

    >>> c_str('abc').value
    b'abc'
    """
    import ctypes
    return ctypes.c_char_p(string.encode('utf-8'))


def py_str(x: bytes) -> str:
    """A text that came from C.

    >>> py_str(b'abc')
    'abc'
    """
    return x.decode('utf-8')


class _ClassProperty:
    """What ``classproperty`` makes; it is set where the metaclass passes assignments on to it."""

    def __init__(self, fget: Any, fset: Any = None) -> None:
        self.fget, self.fset = fget, fset

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self.fget.__get__(instance, type(instance) if owner is None else owner)()

    def __set__(self, instance: Any, value: Any) -> None:
        if self.fset is None:
            raise MXNetError('this property of a class cannot be set')
        owner = instance if isinstance(instance, type) else type(instance)
        self.fset.__get__(None, owner)(value)

    def setter(self, func: Any) -> _ClassProperty:
        """A decorator for the function that sets the property."""
        self.fset = func if isinstance(func, classmethod | staticmethod) else classmethod(func)
        return self


class _MXClassPropertyMetaClass(type):
    """Passes assignments to a class on to its class properties."""

    def __setattr__(cls, key: str, value: Any) -> None:
        found = vars(cls).get(key)
        if isinstance(found, _ClassProperty):
            found.__set__(cls, value)
        else:
            super().__setattr__(key, value)


def classproperty(func: Any) -> _ClassProperty:
    """A property of a class.

    >>> class Net:
    ...     @classproperty
    ...     def kind(cls):
    ...         return cls.__name__
    >>> Net.kind
    'Net'
    """
    return _ClassProperty(func if isinstance(func, classmethod | staticmethod) else classmethod(func))


def with_metaclass(meta: type, *bases: type) -> Any:
    """A base that gives a class the metaclass, and these bases in its own place.

    >>> class Registered(type): pass
    >>> class Item(with_metaclass(Registered, dict)): pass
    >>> type(Item) is Registered, Item.__bases__
    (True, (<class 'dict'>,))
    """
    class Replacing(type):
        def __new__(mcs, name: str, _: Any, namespace: dict[str, Any]) -> Any:
            return meta(name, bases, namespace)

    return type.__new__(Replacing, 'temporary_class', (), {})


error_types: dict[str, type[BaseException]] = {
    error.__name__: error for error in (NotImplementedForSymbol, InternalError, ValueError, TypeError, AttributeError,
                                        IndexError, NotImplementedError)}
"""Classes of errors by name; ``mx.error.register`` adds to it."""


def register_error(func_name: Any = None, cls: Any = None) -> Any:
    """Add a class of errors under its own name or another one; also a decorator.

    >>> @register_error
    ... class TooLarge(MXNetError): pass
    >>> error_types['TooLarge'] is TooLarge
    True
    """
    if isinstance(func_name, type):
        func_name, cls = func_name.__name__, func_name

    def add(error: Any) -> Any:
        error_types[error.__name__ if func_name is None else func_name] = error
        return error

    return add if cls is None else add(cls)
