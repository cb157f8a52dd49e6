"""Nesterov's accelerated gradient."""

from __future__ import annotations

from typing import Any

from ..ops import update_rules as rules
from .optimizer import DefaultRate, register
from .rule_optimizer import Rule, RuleOptimizer


@register
class NAG(RuleOptimizer):
    """``s = momentum * s - lr * g; w += momentum * s - lr * g`` (rule OPT-NAG-001)."""

    _named_in_warnings = 'NAG '
    momentum_first = True

    def __init__(self, momentum: float = 0.9, *, learning_rate: float | None = DefaultRate(0.1),
                 use_fused_step: bool = True, **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, **kwargs)
        self.momentum = momentum

    def create_state(self, index: Any, weight: Any) -> Any:
        return self._momentum_state(weight)

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        if self.momentum == 0.0:
            return rules.sgd, (lr, wd, rescale, clip)
        return rules.nag, (lr, wd, rescale, clip, self.momentum)
