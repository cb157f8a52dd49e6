"""Descent that makes up for the delay of asynchronous gradients."""

from __future__ import annotations

from typing import Any

from ..ops import update_rules as rules
from .optimizer import DefaultRate, register
from .rule_optimizer import Rule, RuleOptimizer


@register
class DCASGD(RuleOptimizer):
    """``d = g + lamda * g**2 * (w - previous w)``; descent along ``d`` (rules OPT-DCASGD-001, 002)."""

    has_fused_step = False
    zero_clips = True

    def __init__(self, momentum: float = 0.0, lamda: float = 0.04, *,
                 learning_rate: float | None = DefaultRate(0.1), use_fused_step: bool = False,
                 **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, **kwargs)
        self.momentum = momentum
        self.weight_previous: dict[Any, Any] = {}
        self.lamda = lamda

    def create_state(self, index: Any, weight: Any) -> Any:
        return self._momentum_state(weight), weight.copy()

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        return rules.dcasgd, (lr, wd, rescale, clip, self.momentum, self.lamda)
