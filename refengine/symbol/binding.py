"""Binding symbols to arrays: ``bind`` and ``simple_bind`` of a Symbol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import ndarray as nd
from ..base import MXNetError
from ..graph.inference import complete
from ..graph.types import infer_types
from .executor import Executor
from .inference import known_shapes
from .symbol import Symbol

REQUESTS = ('null', 'write', 'add')


def requests(given: Any, names: Sequence[str], missing: str = 'null') -> list[str]:
    """What is wanted of each argument: one word for all, a list, or a dict by name."""
    if isinstance(given, str):
        words = [given] * len(names)
    elif isinstance(given, list | tuple):
        if len(given) != len(names):
            raise ValueError(f'expected {len(names)} grad_req, got {len(given)}')
        words = list(given)
    elif isinstance(given, Mapping):
        words = [given.get(name, missing) for name in names]
    else:
        raise TypeError(f'grad_req must be a str, a list or a dict, got {type(given)}')
    for word in words:
        if word not in REQUESTS:
            raise MXNetError(f"grad_req={word} is not a valid input in simple_bind; only 'null', 'write', and 'add' "
                             f'are supported')
    return words


def _arrays(given: Any, names: Sequence[str], what: str, allow_missing: bool) -> list[Any]:
    if isinstance(given, list | tuple):
        if len(given) != len(names):
            raise ValueError(f'Length of {what} does not match the number of arguments')
        found = list(given)
    elif isinstance(given, Mapping):
        found = []
        for name in names:
            if name not in given and not allow_missing:
                raise ValueError(f'key `{name}` is missing in `{what}`')
            found.append(given.get(name))
    else:
        raise TypeError('Only accept list of NDArrays or dict of str to NDArray')
    for array in found:
        if (array is not None and not isinstance(array, nd.NDArray)) or (array is None and not allow_missing):
            raise TypeError(f'{what}: expected NDArray, got {type(array)}')
    return found


def bind(symbol: Symbol, ctx: Any, args: Any, args_grad: Any, grad_req: Any, aux_states: Any) -> Executor:
    """An executor on the caller's arrays; ValueError for a missing one (rule GRAPH-SYM-011)."""
    from ..context import as_context
    arguments, states = symbol.list_arguments(), symbol.list_auxiliary_states()
    values = _arrays(args, arguments, 'args', False)
    gradients = [None] * len(arguments) if args_grad is None else _arrays(args_grad, arguments, 'args_grad', True)
    aux = _arrays(aux_states if aux_states is not None else [], states, 'aux_states', False)
    words = requests(grad_req, arguments)
    known_shapes(symbol, {name: a.shape for name, a in zip((*arguments, *states), (*values, *aux), strict=True)},
                 {name: a.dtype for name, a in zip((*arguments, *states), (*values, *aux), strict=True)})
    return Executor(symbol, as_context(ctx), values, gradients, words, aux)


def simple_bind(symbol: Symbol, ctx: Any, grad_req: Any, type_dict: Any, shapes: Mapping[str, Any],
                shared_names: Any = None, shared: Any = None, buffer: Any = None) -> Executor:
    """An executor on new arrays of zeros; RuntimeError when the shapes do not suffice or contradict each other."""
    from ..context import as_context
    ctx = as_context(ctx)
    arguments = symbol.list_arguments()
    try:
        words = requests(grad_req, arguments)
        kinds = infer_types(symbol.nodes(), type_dict or {})
        known = known_shapes(symbol, shapes, type_dict)
        unknown = [n.name for group in symbol._variables() for n in group if not complete(known.shape((n, 0)))]
        if unknown:
            raise MXNetError(f'Shape inference cannot decide the shapes of {", ".join(unknown)}')
    except MXNetError as error:
        given = '\n'.join(f'{key}: {value}' for key, value in shapes.items())
        raise RuntimeError(f'simple_bind error. Arguments:\n{given}\n{error}') from error

    def make(node: Any, old: Any) -> Any:
        shape = known.shape((node, 0))
        kind = kinds[id(node)][0] or np.dtype('float32')
        if old is not None and old.shape == shape and np.dtype(old.dtype) == kind:
            return old
        return nd.zeros(shape, ctx=ctx, dtype=kind)

    variables, state_nodes = symbol._variables()
    old_args = shared.arg_dict if shared is not None else {}
    old_aux = shared.aux_dict if shared is not None else {}
    old_grads = shared.grad_dict if shared is not None else {}
    names = set(shared_names) if shared_names is not None else set(arguments)
    values = []
    for node in variables:
        old = old_args.get(node.name) if node.name in names else None
        if old is None and buffer is not None:
            old = buffer.get(node.name)
        values.append(make(node, old))
        if buffer is not None:
            buffer[node.name] = values[-1]
    gradients = [None if word == 'null' else make(node, old_grads.get(node.name) if node.name in names else None)
                 for node, word in zip(variables, words, strict=True)]
    aux = [make(node, old_aux.get(node.name)) for node in state_nodes]
    return Executor(symbol, ctx, values, gradients, words, aux)
