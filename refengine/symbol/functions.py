"""Functions of the ``sym`` name space, made from operator records when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import MXNetError, _Null
from ..ndarray.functions import document
from ..ndarray.functions import signature as _signature
from ..op import Operator
from .compose import call, input_names
from .symbol import Symbol


def _check(key: str, value: Any) -> None:
    if value is not None and not isinstance(value, Symbol):
        raise AssertionError(f'Argument {key} must be Symbol instances, but got {value}')


def make(op: Operator, name: str) -> Callable[..., Any]:
    """A function that adds a call of the operator to a graph: symbols first, then attributes."""
    function = _custom(op) if op.name == 'Custom' else _variadic(op, name) if op.variadic else _fixed(op, name)
    function.__name__ = name
    function.__qualname__ = name
    function.__module__ = 'refengine.symbol'
    function.__doc__ = document(op)
    if op.name != 'Custom':
        function.__signature__ = _signature(op)      # type: ignore[attr-defined]
    return function


def _fixed(op: Operator, hint: str) -> Callable[..., Any]:
    inputs, attributes = op.inputs, (*op.positional, 'name', 'attr', 'out')
    count = len(inputs)

    def function(*args: Any, name: str | None = None, attr: Any = None, out: Any = None, **kwargs: Any) -> Symbol:
        symbols = list(args[:count])
        for key, value in zip(attributes, args[count:]):
            if key in kwargs:
                raise TypeError(f"{op.name}() got multiple values for argument '{key}'")
            kwargs[key] = value
        if len(args) > count + len(attributes):
            raise TypeError(f'{op.name}() takes from 0 to {count + len(attributes)} positional arguments but '
                            f'{len(args)} were given')
        name, attr = kwargs.pop('name', name), kwargs.pop('attr', attr)
        kwargs.pop('out', None)
        for key in inputs[len(symbols):]:
            symbols.append(kwargs.pop(key, None))
        for key, value in zip(inputs, symbols):
            _check(key, value)
        if op.source:
            kwargs.pop('ctx', None)
        return call(op, hint, symbols, kwargs, name, attr)

    return function


def _variadic(op: Operator, hint: str) -> Callable[..., Any]:
    def function(*args: Any, name: str | None = None, attr: Any = None, out: Any = None, **kwargs: Any) -> Symbol:
        if len(args) == 1 and isinstance(args[0], list | tuple):
            args = tuple(args[0])
        for value in args:
            if not isinstance(value, Symbol):
                raise AssertionError(f'Positional arguments must be Symbol instances, but got {value}')
        given = kwargs.pop('num_args', None) if 'num_args' not in op.params else None
        named = [kwargs.pop(key) for key in [k for k, v in kwargs.items() if isinstance(v, Symbol)]]
        symbols: list[Any] = [*args, *named]
        if given is not None and int(given) != len(symbols):
            if symbols and int(given) < len(symbols):
                raise MXNetError(f'Operator {op.name} expects {given} inputs, but got {len(symbols)} instead.')
            symbols += [None] * (int(given) - len(symbols))
        return call(op, hint, symbols, kwargs, name, attr)

    return function


def _custom(op: Operator) -> Callable[..., Any]:
    def function(*args: Any, op_type: Any = _Null, name: str | None = None, attr: Any = None, out: Any = None,
                 **kwargs: Any) -> Symbol:
        if op_type is None or op_type is _Null:
            raise MXNetError('Required argument `op_type` is missing.')
        for value in args:
            if not isinstance(value, Symbol):
                raise AssertionError(f'Positional arguments must be Symbol instances, but got {value}')
        named = {key: kwargs.pop(key) for key in [k for k, v in kwargs.items() if isinstance(v, Symbol)]}
        params = {'op_type': op_type, **kwargs}
        symbols: list[Any] = list(args)
        for key in input_names(op, op.parse({k: str(v) for k, v in params.items()}), 0)[len(symbols):]:
            symbols.append(named.pop(key, None))
        if named:
            raise MXNetError(f'Custom operator {op_type} has no input named {", ".join(named)}')
        return call(op, 'custom', symbols, params, name, attr)

    return function


def missing(module: str, name: str) -> AttributeError:
    """The error for a name that no operator has."""
    return AttributeError(f'module {module!r} has no attribute {name!r}')
