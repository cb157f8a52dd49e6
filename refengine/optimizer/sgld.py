"""Stochastic gradient Langevin dynamics."""

from __future__ import annotations

import math
from typing import Any

from .. import ndarray as nd
from ..ops import update_rules as rules
from .optimizer import DefaultRate, register
from .rule_optimizer import Rule, RuleOptimizer


@register
class SGLD(RuleOptimizer):
    """``w -= lr / 2 * g`` plus normal noise of variance ``lr`` (rule OPT-SGLD-001)."""

    has_fused_step = False
    zero_clips = True

    def __init__(self, *, learning_rate: float | None = DefaultRate(0.1), use_fused_step: bool = False,
                 **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, **kwargs)

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        return rules.sgd, (lr / 2, wd, rescale, clip)

    def _update_one(self, index: Any, weight: Any, grad: Any, state: Any, lr: float, wd: float,
                    clip: float | None) -> None:
        super()._update_one(index, weight, grad, state, lr, wd, clip)
        weight += nd.random.normal(0, math.sqrt(lr), shape=weight.shape, dtype=weight.dtype, ctx=weight.context)
