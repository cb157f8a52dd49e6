"""Checks of symbols against values that are known, and of a symbol on one context and dtype against another."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import ndarray as nd
from ..context import current_context
from .numeric import _numpy
from .symbol import Symbol


def _named(names: Sequence[str], given: Any, what: str, of: str) -> dict[str, Any]:
    """Values by name, from a list or a dict; ValueError where a dict has other names or a list is too short."""
    if isinstance(given, Mapping):
        if set(given) != set(names):
            raise ValueError(f'Symbol {of} and {what} do not match. symbol {of}: {set(names)}, {what}: {set(given)}')
        return dict(given)
    values = dict(zip(names, given or ()))
    for name in names:
        if name not in values:
            raise ValueError(f'key `{name}` is missing in `{what}`')
    return values


def _arrays(values: Mapping[str, Any], ctx: Any, dtype: Any) -> dict[str, Any]:
    """Arrays on a context; the dtype 'asnumpy' keeps what each value has, numpy arrays count as float32."""
    kinds = {name: value.dtype if dtype == 'asnumpy' and isinstance(value, nd.NDArray) else
             np.float32 if dtype == 'asnumpy' else dtype for name, value in values.items()}
    return {name: nd.array(_numpy(value), ctx=ctx, dtype=kinds[name]) for name, value in values.items()}


def _bound(sym: Symbol, location: Any, aux_states: Any, ctx: Any, dtype: Any, grads: Any = None,
           grad_req: Any = 'null') -> Any:
    args = _arrays(_named(sym.list_arguments(), location, 'args', 'arguments'), ctx, dtype)
    states = sym.list_auxiliary_states()
    aux = _arrays(_named(states, aux_states, 'aux_states', 'aux_states'), ctx, dtype)
    return sym.bind(ctx, args, grads, grad_req, aux)


def _same(found: Any, expected: Any, rtol: Any, atol: Any, names: tuple[str, str], equal_nan: bool) -> None:
    """AssertionError that names both unless they agree; tolerances that are not given follow from the dtypes."""
    left, right = _numpy(expected), _numpy(found)
    kinds = {left.dtype.name, right.dtype.name}
    rtol = max(_RTOL.get(kind, 1e-4) for kind in kinds) if rtol is None else rtol
    atol = max(_ATOL.get(kind, 1e-3) for kind in kinds) if atol is None else atol
    np.testing.assert_allclose(right, left, rtol, atol, equal_nan, err_msg=f'{names[1]} is not {names[0]}')


_RTOL = {'float16': 1e-2, 'float32': 1e-4, 'float64': 1e-5}
_ATOL = {'float16': 1e-1, 'float32': 1e-3, 'float64': 1e-20}


def simple_forward(sym: Symbol, ctx: Any = None, is_train: bool = False, **inputs: Any) -> Any:
    """The outputs for arguments by name, as numpy arrays; the array alone if there is one.

    >>> import refengine as mx
    >>> simple_forward(mx.sym.var('x') * 2, x=np.array([1, 2])).tolist()
    [2.0, 4.0]
    """
    outputs = _bound(sym, inputs, None, ctx or current_context(), np.float32).forward(is_train=is_train)
    found = [output.asnumpy() for output in outputs]
    return found[0] if len(found) == 1 else found


def check_symbolic_forward(sym: Symbol, location: Any, expected: Any, rtol: float | None = None,
                           atol: float | None = None, aux_states: Any = None, ctx: Any = None,
                           equal_nan: bool = False, dtype: Any = np.float32) -> Any:
    """The outputs for arguments as a list or by name; AssertionError unless they are as expected.

    >>> import refengine as mx
    >>> out = check_symbolic_forward(mx.sym.var('x') * 2, [np.array([1, 2])], [np.array([2, 4])])
    """
    executor = _bound(sym, location, aux_states, ctx or current_context(), dtype)
    names = sym.list_outputs()
    expected = [expected[name] for name in names] if isinstance(expected, Mapping) else expected
    outputs = executor.forward(is_train=False)
    for name, wanted, output in zip(names, expected, outputs):
        _same(output, wanted, rtol, atol, (f'EXPECTED_{name}', f'FORWARD_{name}'), equal_nan)
    return executor.outputs


def check_symbolic_backward(sym: Symbol, location: Any, out_grads: Any, expected: Any, rtol: float | None = None,
                            atol: float | None = None, aux_states: Any = None, grad_req: Any = 'write',
                            ctx: Any = None, grad_stypes: Any = None, equal_nan: bool = False,
                            dtype: Any = np.float32) -> dict[str, Any]:
    """The gradients for gradients of the outputs; AssertionError unless they are as expected.

    ``grad_req`` 'add' adds to random values, and 'null' leaves them, which is checked likewise.

    >>> import refengine as mx
    >>> x, one = mx.sym.var('x'), np.ones(2)
    >>> check_symbolic_backward(x * x, [np.array([1, 2])], [one], [np.array([2, 4])])['x'].asnumpy().tolist()
    [2.0, 4.0]
    """
    ctx = ctx or current_context()
    names = sym.list_arguments()
    wanted = dict(expected) if isinstance(expected, Mapping) else dict(zip(names, expected))
    values = _arrays(_named(names, location, 'args', 'arguments'), ctx, dtype)
    before = {name: np.random.normal(size=values[name].shape) for name in wanted}
    grads = {name: nd.array(start, ctx=ctx, dtype=values[name].dtype) for name, start in before.items()}
    before = {name: grad.asnumpy() for name, grad in grads.items()}
    requests = dict(zip(names, grad_req)) if isinstance(grad_req, list | tuple) else \
        dict(grad_req) if isinstance(grad_req, Mapping) else dict.fromkeys(names, grad_req)
    executor = _bound(sym, location, aux_states, ctx, dtype, grads,
                      {name: requests.get(name, 'null') if name in wanted else 'null' for name in names})
    executor.forward(is_train=True)
    if out_grads is not None:
        listed = [out_grads[name] for name in sym.list_outputs()] if isinstance(out_grads, Mapping) else out_grads
        out_grads = [nd.array(_numpy(g), ctx=ctx, dtype=output.dtype)
                     for g, output in zip(listed, executor.outputs)]
    if any(requests.get(name, 'null') != 'null' for name in wanted):
        executor.backward(out_grads)
    for name, grad in grads.items():
        request = requests.get(name, 'null')
        target = before[name] if request == 'null' else \
            _numpy(wanted[name]) + before[name] if request == 'add' else wanted[name]
        _same(grad, target, rtol, atol, (f'EXPECTED_{name}', f'BACKWARD_{name}'), equal_nan)
    return grads


def check_consistency(sym: Any, ctx_list: Sequence[dict[str, Any]], scale: float = 1.0, grad_req: Any = 'write',
                      arg_params: Any = None, aux_params: Any = None, rtol: Any = None, atol: Any = None,
                      raise_on_err: bool = True, ground_truth: Any = None, equal_nan: bool = False,
                      use_uniform: bool = False, rand_type: Any = np.float64) -> dict[str, Any]:
    """Outputs and gradients on the most precise of several contexts; AssertionError unless the others agree.

    Each entry has a ``ctx``, the shapes of inputs by name and perhaps ``type_dict``, their dtypes. ``sym`` is a symbol,
    or a list with one for each entry. Values are random, outside ``arg_params`` and ``aux_params``; the gradient of
    every output is the output itself. Tolerances are numbers, or dicts by dtype.

    >>> import refengine as mx
    >>> kinds = [{'ctx': mx.cpu(), 'x': (2, 3), 'type_dict': {'x': kind}} for kind in ('float32', 'float64')]
    >>> sorted(check_consistency(mx.sym.sin(mx.sym.var('x'), name='sin'), kinds))
    ['sin_output', 'x']
    """
    assert len(ctx_list) > 1, 'expected at least two contexts to compare'
    symbols = list(sym) if isinstance(sym, list | tuple) else [sym] * len(ctx_list)
    assert len(symbols) == len(ctx_list), 'expected one symbol for each context'
    first = symbols[0]
    for other in symbols[1:]:
        assert other.list_arguments() == first.list_arguments(), 'the symbols have different arguments'
        assert other.list_outputs() == first.list_outputs(), 'the symbols have different outputs'
    executors = [one.simple_bind(grad_req=grad_req, **entry) for one, entry in zip(symbols, ctx_list)]
    _fill(executors, scale, dict(arg_params or {}), dict(aux_params or {}), use_uniform)
    names = first.list_outputs()
    training = grad_req != 'null'

    def run() -> list[dict[str, Any]]:
        for executor in executors:
            executor.forward(is_train=training)
            if training:
                executor.backward(executor.outputs)
        return [{**dict(zip(names, executor.outputs)),
                 **({name: g for name, g in executor.grad_dict.items() if g is not None} if training else {})}
                for executor in executors]

    results = run()
    kinds = [np.dtype(executor.outputs[0].dtype) for executor in executors]
    # The results of the widest dtype are what the others have to agree with.
    best = max(range(len(kinds)), key=lambda index: (kinds[index].itemsize, -index))
    truth = results[best] if ground_truth is None else ground_truth
    for index, found in enumerate(results):
        if index == best and ground_truth is None:
            continue
        for name, value in found.items():
            if name not in truth:
                continue
            try:
                _same(value, truth[name], _of_kind(rtol, kinds[index]), _of_kind(atol, kinds[index]),
                      (f'{name} of entry {best}', f'{name} of entry {index}'), equal_nan)
            except AssertionError as error:
                if raise_on_err:
                    raise
                logging.error('%s', error)
    return dict(truth)


def _of_kind(tolerance: Any, kind: np.dtype[Any]) -> Any:
    return tolerance.get(kind) if isinstance(tolerance, Mapping) else tolerance


def _fill(executors: Sequence[Any], scale: float, args: dict[str, Any], states: dict[str, Any], uniform: bool) -> None:
    """Give all executors the same values: random ones for arguments that are not given, 0 for states."""
    for name, array in executors[0].arg_dict.items():
        if name not in args:
            args[name] = np.random.uniform(-0.92 * scale, 0.92 * scale, array.shape) if uniform else \
                np.random.normal(0, scale, array.shape)
    for executor in executors:
        for name, array in executor.arg_dict.items():
            array[:] = _numpy(args[name])
        for name, array in executor.aux_dict.items():
            array[:] = _numpy(states.get(name, 0))
        for grad in executor.grad_dict.values():
            if grad is not None:
                grad[:] = 0
