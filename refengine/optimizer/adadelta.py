"""AdaDelta."""

from __future__ import annotations

from typing import Any

from .. import ndarray as nd
from ..ops import update_rules as rules
from .optimizer import DefaultRate, register
from .rule_optimizer import Rule, RuleOptimizer


@register
class AdaDelta(RuleOptimizer):
    """Steps in proportion to the running mean of former steps (rule OPT-ADADELTA-001)."""

    has_fused_step = False
    zero_clips = True

    def __init__(self, rho: float = 0.9, epsilon: float = 1e-6, *, learning_rate: float | None = DefaultRate(1.0),
                 use_fused_step: bool = False, **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, **kwargs)
        self.rho = rho
        self.epsilon = epsilon

    def create_state(self, index: Any, weight: Any) -> Any:
        # float32 whatever the weight is: other weights need multi_precision (rule OPT-COMMON-012)
        return nd.zeros(weight.shape, ctx=weight.context), nd.zeros(weight.shape, ctx=weight.context)

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        return rules.adadelta, (lr, wd, rescale, clip, self.rho, self.epsilon)
