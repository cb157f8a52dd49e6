"""Functions of the ``nd`` name space, made from operator records when they are first asked for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .. import dispatch
from ..base import MXNetError, _Null
from ..op import REQUIRED, Operator


def _not_array(name: str, value: Any) -> AssertionError:
    return AssertionError(f'Argument {name} must have NDArray type, but got {value}')


def make(op: Operator, name: str) -> Callable[..., Any]:
    """A function that calls the operator: arrays first, then attributes, by position or by name."""
    function = _variadic(op) if op.variadic else _fixed(op)
    function.__name__ = name
    function.__qualname__ = name
    function.__module__ = 'refengine.ndarray'
    function.__doc__ = document(op)
    function.__signature__ = signature(op)      # type: ignore[attr-defined]
    return function


_STATES = {'BatchNorm_v1': 2, 'IdentityAttachKLSparseReg': 1}
"""Operators whose last inputs are states that functions take by name only, and how many these are."""


def _fixed(op: Operator) -> Callable[..., Any]:
    inputs, attributes = op.inputs, (*op.positional, 'out', 'name')
    count = len(inputs) - _STATES.get(op.name, 0)
    invoke = dispatch.invoke

    def function(*args: Any, out: Any = None, name: Any = None, **kwargs: Any) -> Any:
        array_type = dispatch.NDArray
        if len(args) == count:
            for value in args:
                if value.__class__ is not array_type:
                    break
            else:
                if count == len(inputs):
                    return invoke(op, args, kwargs, out)
        arrays = list(args[:count])
        if len(args) > count:
            rest = args[count:]
            if len(rest) > len(attributes):
                raise TypeError(f'{op.name}() takes from 0 to {count + len(attributes)} positional arguments but '
                                f'{len(args)} were given')
            for key, value in zip(attributes, rest):
                if key in kwargs or (key == 'out' and out is not None):
                    raise TypeError(f"{op.name}() got multiple values for argument '{key}'")
                kwargs[key] = value
            kwargs.pop('name', None)
            if len(rest) >= len(attributes) - 1:
                out = kwargs.pop('out')
        if kwargs and len(arrays) < len(inputs):
            for key in inputs[len(arrays):]:
                arrays.append(kwargs.pop(key, None))
        for key, value in zip(inputs, arrays):
            if value is not None and not isinstance(value, array_type):
                raise _not_array(key, value)
            if value is not None and getattr(value, '_is_np', False):
                raise TypeError(f'Operator `{op.name}` is registered in backend as a legacy operator which can only '
                                f'accept legacy ndarrays, while received an MXNet numpy ndarray')
        if any(a is None for a in arrays):
            arrays = [a for a in arrays if a is not None]
        return invoke(op, arrays, kwargs, out)

    return function


_EACH = {'_contrib_quantized_concat': 3}
"""How many arrays an operator takes for each that num_args counts, where that is not one."""


def _variadic(op: Operator) -> Callable[..., Any]:
    invoke = dispatch.invoke
    each = _EACH.get(op.name, 1)

    def function(*args: Any, out: Any = None, name: Any = None, **kwargs: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], (list, tuple)):
            args = tuple(args[0])
        array_type = dispatch.NDArray
        for value in args:
            if not isinstance(value, array_type):
                raise AssertionError(f'Positional arguments must have NDArray type, but got {value}')
        given = kwargs.pop('num_args', None) if 'num_args' not in op.params else None
        if given is not None and int(given) * each != len(args):
            raise MXNetError(f'Operator {op.name} expects {int(given) * each} inputs, but got {len(args)} instead.')
        return invoke(op, args, kwargs, out)

    return function


def signature(op: Operator) -> inspect.Signature:
    """The signature shown by help."""
    kind = inspect.Parameter
    parameters = []
    if op.variadic:
        parameters.append(kind(op.inputs[0] if op.inputs else 'data', kind.VAR_POSITIONAL))
        mode = kind.KEYWORD_ONLY
    else:
        mode = kind.POSITIONAL_OR_KEYWORD
        shown = op.inputs[:len(op.inputs) - _STATES.get(op.name, 0)]
        parameters += [kind(n, mode, default=None) for n in shown]
    for key in op.positional:
        field = op.params.get(key)
        default = None if field is None else _Null if field.default is REQUIRED else field.default
        parameters.append(kind(key, mode, default=default))
    parameters += [kind('out', mode, default=None), kind('name', mode, default=None)]
    return inspect.Signature(parameters)


def document(op: Operator) -> str:
    """The docstring: what the operator is, its arrays and parameters, the rules it obeys."""
    lines = [inspect.cleandoc(op.doc) or op.name, '']
    if op.inputs:
        lines += ['Arrays: ' + ', '.join(op.inputs) + (' (any number)' if op.variadic else ''), '']
    if op.params:
        lines += ['Parameters', '----------']
        for key, field in op.params.items():
            default = 'required' if field.default is REQUIRED else f'default {field.default!r}'
            lines.append(f'{key} : {field.kind}, {default}' + (f'. {field.doc}' if field.doc else ''))
        lines.append('')
    if op.rules:
        lines.append('Rules: ' + ', '.join(op.rules))
    return '\n'.join(lines).rstrip()


def missing(module: str, name: str) -> AttributeError:
    """The error for a name that no operator has."""
    return AttributeError(f'module {module!r} has no attribute {name!r}')

