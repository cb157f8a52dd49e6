"""Contributed operators in graphs: ``mx.sym.contrib``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..base import MXNetError
from ..name_space import operators as _operators
from ..op import registry as _registry
from . import functions as _functions
from .compose import call
from .symbol import Symbol


def _loop(name: str) -> Callable[[], Any]:
    def load() -> Any:
        from . import control_flow
        return getattr(control_flow, name)

    return load


def rand_zipfian(true_classes: Any, num_sampled: int, range_max: int) -> tuple[Any, Any, Any]:
    """Classes drawn with the probability log((k + 2) / (k + 1)) / log(range_max + 1), as words are distributed.

    Gives the drawn classes (int64), and the expected counts of the true and of the drawn classes (float64).
    """
    from . import random
    span = math.log(range_max + 1)
    drawn = random.uniform(0, span, shape=(num_sampled,), dtype='float64')
    sampled = (drawn.exp() - 1).astype('int64') % range_max

    def expected(classes: Any) -> Any:
        wide = classes.astype('float64')
        return ((wide + 2.0) / (wide + 1.0)).log() / span * num_sampled

    return sampled, expected(true_classes), expected(sampled)


def _scale(rescale_grad: Any) -> Any:
    from .creation import full
    return rescale_grad if isinstance(rescale_grad, Symbol) else full((1,), rescale_grad)


def adamw_update(weight: Symbol, grad: Symbol, mean: Symbol, var: Symbol, rescale_grad: Any, lr: float, eta: float,
                 beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, wd: float = 0,
                 clip_gradient: float = -1, out: Any = None, name: str | None = None, **kwargs: Any) -> Any:
    """One step of AdamW; rescale_grad is a number or a symbol of one element."""
    rates = {'lr': lr, 'eta': eta, 'beta1': beta1, 'beta2': beta2, 'epsilon': epsilon, 'wd': wd,
             'clip_gradient': clip_gradient, **kwargs}
    return call(_registry['_adamw_update'], '_adamw_update', [weight, grad, mean, var, _scale(rescale_grad)], rates,
                name)


def mp_adamw_update(weight: Symbol, grad: Symbol, mean: Symbol, var: Symbol, weight32: Symbol, rescale_grad: Any,
                    lr: float, eta: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
                    wd: float = 0, clip_gradient: float = -1, out: Any = None, name: str | None = None,
                    **kwargs: Any) -> Any:
    """One step of AdamW for a float16 weight through its float32 copy."""
    rates = {'lr': lr, 'eta': eta, 'beta1': beta1, 'beta2': beta2, 'epsilon': epsilon, 'wd': wd,
             'clip_gradient': clip_gradient, **kwargs}
    return call(_registry['_mp_adamw_update'], '_mp_adamw_update',
                [weight, grad, mean, var, weight32, _scale(rescale_grad)], rates, name)


def _not_callable(title: str) -> Any:
    """An operator of the backward pass that the release shows among the functions: no call of it can succeed."""
    def function(name: Any = None, attr: Any = None, out: Any = None, **kwargs: Any) -> Any:
        raise MXNetError(f'Not enough argument to call operator _contrib_{title}')

    function.__name__ = function.__qualname__ = title
    function.__doc__ = f'The gradient of {title[9:]}; it is computed by autograd and cannot be called (MXNetError).'
    return function


backward_hawkesll = _not_callable('backward_hawkesll')
backward_index_copy = _not_callable('backward_index_copy')
backward_quadratic = _not_callable('backward_quadratic')


def _uniform() -> Any:
    from .random import uniform
    return uniform


__getattr__, __dir__ = _operators(globals(), _functions.make, ('_contrib_',),
                                  {'uniform': _uniform,
                                   **{name: _loop(name) for name in ('foreach', 'while_loop', 'cond')}})
