"""Follow the moving leader."""

from __future__ import annotations

from typing import Any

from .. import ndarray as nd
from ..ops import update_rules as rules
from .optimizer import DefaultRate, register
from .rule_optimizer import Rule, RuleOptimizer


@register
class FTML(RuleOptimizer):
    """``w = -z / d`` with ``d`` following the gradient's spread and ``z`` its sum (rule OPT-FTML-001)."""

    def __init__(self, beta1: float = 0.6, beta2: float = 0.999, epsilon: float = 1e-8, *,
                 learning_rate: float | None = DefaultRate(0.0025), use_fused_step: bool = True,
                 **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def create_state(self, index: Any, weight: Any) -> Any:
        return tuple(nd.zeros(weight.shape, ctx=weight.context, dtype=weight.dtype) for _ in range(3))

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        t = self._index_update_count[index]
        return rules.ftml, (lr, wd, rescale, clip, self.beta1, self.beta2, self.epsilon, t)
