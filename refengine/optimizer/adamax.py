"""Adam with the infinity norm."""

from __future__ import annotations

from typing import Any

from ..ops import update_rules as rules
from .adam import Moments
from .optimizer import DefaultRate, register
from .rule_optimizer import Rule


@register
class Adamax(Moments):
    """``u = max(beta2 * u, |g|); w -= lr / (1 - beta1**t) * m / (u + epsilon)`` (rule OPT-ADAMAX-001)."""

    has_fused_step = False
    zero_clips = True
    epsilon = 1e-8  # state files of 1.9.1 have none

    def __init__(self, learning_rate: float | None = DefaultRate(0.002), beta1: float = 0.9, beta2: float = 0.999,
                 epsilon: float = 1e-8, *, use_fused_step: bool = False, **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        t = self._index_update_count[index]
        return rules.adamax, (lr / (1.0 - self.beta1 ** t), wd, rescale, clip, self.beta1, self.beta2, self.epsilon)
