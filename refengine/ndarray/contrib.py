"""Contributed operators and control flow: ``mx.nd.contrib``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from .. import dispatch
from ..base import MXNetError, numeric_types
from ..name_space import operators as _operators
from ..op import registry as _registry
from . import functions as _functions
from .ndarray import NDArray


def _flatten(value: Any, what: str) -> tuple[list[Any], Any]:
    if isinstance(value, NDArray):
        return [value], 0
    assert isinstance(value, (list, tuple)), f'{what} must be (nested) list of NDArray, but got {value}'
    flat, form = [], []
    for item in value:
        items, shape = _flatten(item, what)
        flat += items
        form.append(shape)
    return flat, form


def _regroup(flat: list[Any], form: Any) -> tuple[Any, list[Any]]:
    if form == 0:
        return flat[0], flat[1:]
    result = []
    for part in form:
        item, flat = _regroup(flat, part)
        result.append(item)
    return result, flat


def foreach(body: Callable[..., Any], data: Any, init_states: Any) -> tuple[Any, Any]:
    """Call ``body(slice, states)`` for every entry of the first axis and stack its outputs (AUTOGRAD-OPGRAD-011).

    ``body`` returns outputs and new states; the result is the stacked outputs and the last states.
    """
    from . import stack
    single = isinstance(data, NDArray)
    arrays = [data] if single else list(data)
    states = init_states
    steps = arrays[0].shape[0]
    collected: list[list[Any]] = []
    form: Any = 0
    for index in range(steps):
        entry = arrays[0][index] if single else [a[index] for a in arrays]
        outputs, states = body(entry, states)
        flat, form = _flatten(outputs, 'the outputs of the body of foreach')
        collected.append(flat)
    stacked = [stack(*column, axis=0) for column in zip(*collected)]
    return _regroup(stacked, form)[0], states


def while_loop(cond: Callable[..., Any], func: Callable[..., Any], loop_vars: Any,
               max_iterations: int | None = None) -> tuple[Any, Any]:
    """Call ``func(*loop_vars)`` while ``cond(*loop_vars)`` holds, at most max_iterations times.

    ``func`` returns step outputs and new loop variables; outputs are stacked and padded to max_iterations.
    """
    from . import concat, stack, zeros
    if max_iterations is None:
        raise ValueError('max_iterations should be specified')
    max_iterations = int(max_iterations)
    single = isinstance(loop_vars, NDArray)
    variables = [loop_vars] if single else list(loop_vars or ())
    if not variables:
        raise ValueError('loop_vars should contain at least one element')
    steps, form, collected = 0, None, []
    while steps < max_iterations and bool(cond(*variables)):
        outputs, variables = func(*variables)
        variables = [variables] if isinstance(variables, NDArray) else list(variables or [])
        flat, form = _flatten([] if outputs is None else outputs, 'step_output')
        collected.append(flat)
        steps += 1
    stacked = []
    for column in zip(*collected):
        whole = stack(*column, axis=0)
        if steps < max_iterations:
            rest = zeros((max_iterations - steps,) + column[0].shape, ctx=column[0].context, dtype=column[0].dtype)
            whole = concat(whole, rest, dim=0)
        stacked.append(whole)
    result = [] if form is None else _regroup(stacked, form)[0]
    return result, variables[0] if single and len(variables) == 1 else variables


def cond(pred: Any, then_func: Callable[[], Any], else_func: Callable[[], Any]) -> Any:
    """The result of one of two functions, chosen by the truth of a one-element array."""
    if isinstance(pred, numeric_types):
        return then_func() if pred else else_func()
    return then_func() if bool(pred) else else_func()


def isfinite(data: NDArray) -> NDArray:
    """1 where an element is finite, else 0."""
    return dispatch.invoke(_registry['_contrib_isfinite'], (data,), {})


def isinf(data: NDArray) -> NDArray:
    """1 where an element is infinite, else 0."""
    return dispatch.invoke(_registry['_contrib_isinf'], (data,), {})


def isnan(data: NDArray) -> NDArray:
    """1 where an element is not a number, else 0."""
    if not isinstance(data, NDArray):
        return data != data     # of a number or anything else the same question has a plain answer
    return dispatch.invoke(_registry['_contrib_isnan'], (data,), {})


def rand_zipfian(true_classes: NDArray, num_sampled: int, range_max: int, ctx: Any = None) -> tuple[Any, Any, Any]:
    """Classes drawn with the probability log((k + 2) / (k + 1)) / log(range_max + 1), as words are distributed.

    Returns the drawn classes (int64), and the expected counts of the true and of the drawn classes (float64).
    """
    from .random import uniform
    span = math.log(range_max + 1)
    drawn = uniform(0, span, shape=(num_sampled,), dtype='float64', ctx=ctx)
    sampled = (drawn.exp() - 1).astype('int64') % range_max

    def expected(classes: NDArray) -> NDArray:
        wide = classes.as_in_context(sampled.context).astype('float64')
        return ((wide + 2.0) / (wide + 1.0)).log() / span * num_sampled

    return sampled, expected(true_classes), expected(sampled)


# ---- updates of many weights: lists of arrays for the operators that take them one weight after the other -----------

def _scale(rescale_grad: Any, like: NDArray) -> NDArray:
    from .creation import full
    if isinstance(rescale_grad, NDArray):
        return rescale_grad.as_in_context(like.context)
    return full((1,), rescale_grad, ctx=like.context)


@cache
def _checked(name: str) -> Callable[..., Any]:
    """The function of an operator that says which of its arguments is no array."""
    return _functions.make(_registry[name], name)


def adamw_update(weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, rescale_grad: Any, lr: float, eta: float,
                 beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, wd: float = 0,
                 clip_gradient: float = -1, out: Any = None, name: Any = None, **kwargs: Any) -> Any:
    """One step of AdamW; rescale_grad is a number or an array of one element."""
    rates = {'lr': lr, 'eta': eta, 'beta1': beta1, 'beta2': beta2, 'epsilon': epsilon, 'wd': wd,
             'clip_gradient': clip_gradient, **kwargs}
    return _checked('_adamw_update')(weight, grad, mean, var, _scale(rescale_grad, weight), out=out, **rates)


def mp_adamw_update(weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, weight32: NDArray, rescale_grad: Any,
                    lr: float, eta: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
                    wd: float = 0, clip_gradient: float = -1, out: Any = None, name: Any = None, **kwargs: Any) -> Any:
    """One step of AdamW for a float16 weight through its float32 copy."""
    rates = {'lr': lr, 'eta': eta, 'beta1': beta1, 'beta2': beta2, 'epsilon': epsilon, 'wd': wd,
             'clip_gradient': clip_gradient, **kwargs}
    return _checked('_mp_adamw_update')(weight, grad, mean, var, weight32, _scale(rescale_grad, weight), out=out,
                                        **rates)


def _interleaved(*lists: Sequence[NDArray]) -> list[NDArray]:
    return [array for piece in zip(*lists, strict=True) for array in piece]


def multi_adamw_update(weights: Any, grads: Any, mean: Any, var: Any, rescale_grad: Any, lrs: Any, wds: Any, etas: Any,
                       out: Any = None, name: Any = None, size: int = 0, **kwargs: Any) -> Any:
    """One step of AdamW for a list of weights; the results go to ``out``."""
    size = size or len(weights)
    arrays = [*_interleaved(weights, grads, mean, var), _scale(rescale_grad, weights[0])]
    return dispatch.invoke(_registry['_multi_adamw_update'], arrays,
                           {'lrs': lrs, 'wds': wds, 'etas': etas, 'num_weights': size, **kwargs}, out)


def multi_mp_adamw_update(weights: Any, grads: Any, mean: Any, var: Any, weights32: Any, rescale_grad: Any, lrs: Any,
                          wds: Any, etas: Any, out: Any = None, name: Any = None, size: int = 0, **kwargs: Any) -> Any:
    """One step of AdamW for a list of float16 weights through their float32 copies."""
    size = size or len(weights)
    arrays = [*_interleaved(weights, grads, mean, var, weights32), _scale(rescale_grad, weights[0])]
    return dispatch.invoke(_registry['_multi_mp_adamw_update'], arrays,
                           {'lrs': lrs, 'wds': wds, 'etas': etas, 'num_weights': size, **kwargs}, out)


def multi_lamb_update(weights: Any, grads: Any, mean: Any, var: Any, step_count: Any, lrs: Any, wds: Any,
                      out: Any = None, num_tensors: int = 0, **kwargs: Any) -> Any:
    """One step of LAMB for a list of weights."""
    num_tensors = num_tensors or len(weights)
    return dispatch.invoke(_registry['_multi_lamb_update'], _interleaved(weights, grads, mean, var),
                           {'learning_rates': lrs, 'wds': wds, 'step_count': step_count, 'num_tensors': num_tensors,
                            **kwargs}, out)


def multi_mp_lamb_update(weights: Any, grads: Any, mean: Any, var: Any, weights32: Any, step_count: Any, lrs: Any,
                         wds: Any, out: Any = None, num_tensors: int = 0, **kwargs: Any) -> Any:
    """One step of LAMB for a list of float16 weights through their float32 copies."""
    num_tensors = num_tensors or len(weights)
    return dispatch.invoke(_registry['_multi_mp_lamb_update'], _interleaved(weights, grads, mean, var, weights32),
                           {'learning_rates': lrs, 'wds': wds, 'step_count': step_count, 'num_tensors': num_tensors,
                            **kwargs}, out)


def _not_callable(name: str, count: int) -> Callable[..., Any]:
    """An operator of the backward pass that the release shows among the functions: no call of it can succeed."""

    def function(out: Any = None, name: Any = None, **kwargs: Any) -> Any:
        raise MXNetError(f'Operator _contrib_{title} expects {count} inputs, but got 0 instead.')

    title = name
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f'The gradient of {name[9:]}; it is computed by autograd and cannot be called (MXNetError).'
    return function


backward_hawkesll = _not_callable('backward_hawkesll', 10)
backward_index_copy = _not_callable('backward_index_copy', 4)
backward_quadratic = _not_callable('backward_quadratic', 2)


def _uniform() -> Any:
    from .random import uniform
    return uniform


def _sync_batch_norm() -> Any:
    from .synchronised import sync_batch_norm
    return sync_batch_norm


__getattr__, __dir__ = _operators(globals(), _functions.make, ('_contrib_',),
                                  {'uniform': _uniform, 'SyncBatchNorm': _sync_batch_norm})
