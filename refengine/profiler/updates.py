"""How updates of weights are observed: a span for each kernel of an optimizer, named as that of the release."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..optimizer import LAMB, LANS, LARS, NAG, SGD, AdaBelief, AdamW, Optimizer, apply, flat
from ..optimizer.rule_optimizer import RuleOptimizer
from . import names
from .timer import Timer, depth, now

Change = Callable[[Any, str, Any], None]

_TOGETHER = (AdaBelief, AdamW, LAMB, LANS)
"""Optimizers that update all weights of a list in one call."""

_THROUGH_COPIES = (LAMB, LANS, LARS, NAG, SGD)
"""Optimizers with a kernel for float16 weights and their float32 copies."""


def install(timer: Timer, change: Change) -> None:
    """Time the updates; while these methods are replaced, weights are updated one by one, without shared buffers."""
    change(apply, 'apply', _kernel(timer, apply.apply))
    change(RuleOptimizer, '_update_all', _together(timer, RuleOptimizer._update_all))
    change(Optimizer, 'update_multi_precision', _through_copies(timer, Optimizer.update_multi_precision))


def _kernel(timer: Timer, original: Callable[..., None]) -> Callable[..., None]:
    def run(name: str, rule: Callable[..., None], weight: Any, *args: Any, **kwargs: Any) -> None:
        shown = names.KERNELS[rule.__name__]
        if depth.kernels is not None:
            depth.kernels.append(shown)
        timer.call(shown, original, name, rule, weight, *args, _operands=(weight._data,), **kwargs)

    return run


def _together(timer: Timer, original: Callable[..., None]) -> Callable[..., None]:
    def update_all(self: Any, indices: Any, weights: Any, grads: Any, states: Any) -> None:
        several = self.aggregate_num > 1 and isinstance(self, SGD)
        if several or isinstance(self, _TOGETHER):
            _whole(timer, self, several, False, weights, original, self, indices, weights, grads, states)
        else:
            original(self, indices, weights, grads, states)

    return update_all


def _through_copies(timer: Timer, original: Callable[..., None]) -> Callable[..., None]:
    def update_multi_precision(self: Any, index: Any, weight: Any, grad: Any, state: Any) -> None:
        listed = isinstance(index, (list, tuple))
        weights = weight if listed else [weight]
        if (self.multi_precision and isinstance(self, _THROUGH_COPIES)
                and any(w.dtype == np.float16 for w in weights)):
            several = listed and self.aggregate_num > 1
            _whole(timer, self, several, True, weights, original, self, index, weight, grad, state)
        else:
            original(self, index, weight, grad, state)

    return update_multi_precision


def _whole(timer: Timer, optimizer: Any, several: bool, half: bool, weights: Any, original: Callable[..., None],
           *args: Any) -> None:
    """Report all that a call does as one update; what a program's own optimizer does is shown step by step."""
    if depth.operator or not flat.is_library(optimizer):
        original(*args)
        return
    start = now()
    depth.operator, depth.kernels = 1, []
    try:
        original(*args)
    finally:
        kernels, depth.operator, depth.kernels = depth.kernels, 0, None
    if kernels:
        name = kernels[0]
        name = names.SEVERAL.get(name, name) if several else name
        name = names.HALF.get(name, name) if half else name
        timer.report(name, start, now(), [w._data for w in weights], None)
