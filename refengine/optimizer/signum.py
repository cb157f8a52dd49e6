"""Descent along the sign of the gradient or of its running mean."""

from __future__ import annotations

from typing import Any

from ..ops import update_rules as rules
from .optimizer import DefaultRate, register
from .rule_optimizer import Rule, RuleOptimizer


@register
class Signum(RuleOptimizer):
    """``s = momentum * s - (1 - momentum) * g; w = (1 - lr * wd_lh) * w + lr * sign(s)``.

    Without momentum it is signSGD: ``w = (1 - lr * (wd + wd_lh)) * w - lr * sign(grad)``
    (rules OPT-SIGNUM-001 to 003).
    """

    def __init__(self, learning_rate: float | None = DefaultRate(0.01), momentum: float = 0.9, wd_lh: float = 0.0,
                 *, use_fused_step: bool = True, **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, **kwargs)
        self.momentum = momentum
        self.wd_lh = wd_lh

    def create_state(self, index: Any, weight: Any) -> Any:
        return self._momentum_state(weight)

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        if self.momentum == 0.0:
            return rules.signsgd, (lr, wd + self.wd_lh, rescale, clip)
        return rules.signum, (lr, wd, rescale, clip, self.momentum, self.wd_lh)
