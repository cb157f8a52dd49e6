"""Follow the regularised leader."""

from __future__ import annotations

from typing import Any

from .. import ndarray as nd
from ..ops import update_rules as rules
from .optimizer import DefaultRate, register
from .rule_optimizer import Rule, RuleOptimizer


@register
class Ftrl(RuleOptimizer):
    """Descent with an L1 penalty ``lamda1`` that makes weights exactly zero (rule OPT-FTRL-001)."""

    def __init__(self, lamda1: float = 0.01, learning_rate: float | None = DefaultRate(0.1), beta: float = 1.0, *,
                 use_fused_step: bool = True, **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, **kwargs)
        self.lamda1 = lamda1
        self.beta = beta

    def create_state(self, index: Any, weight: Any) -> Any:
        # z and n; float32 whatever the weight is: other weights need multi_precision (rule OPT-COMMON-011)
        return nd.zeros(weight.shape, ctx=weight.context), nd.zeros(weight.shape, ctx=weight.context)

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        return rules.ftrl, (lr, wd, rescale, clip, self.lamda1, self.beta)
