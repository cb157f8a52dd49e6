"""Contributed operators and control flow: ``mx.nd.contrib``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from .. import dispatch
from ..base import MXNetError
from ..name_space import operators as _operators
from ..op import registry as _registry
from . import functions as _functions
from .control_flow import cond, foreach, while_loop  # noqa: F401 - names of this name space
from .ndarray import NDArray


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
