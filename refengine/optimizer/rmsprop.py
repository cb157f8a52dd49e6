"""RMSProp, plain and centered."""

from __future__ import annotations

from typing import Any

from .. import ndarray as nd
from ..ops import update_rules as rules
from .optimizer import DefaultRate, register
from .renamed import renamed
from .rule_optimizer import Rule, RuleOptimizer


@register
class RMSProp(RuleOptimizer):
    """``n`` the running mean of ``g**2``; ``w -= lr * g / (sqrt(n) + epsilon)``.

    ``centered`` subtracts the square of the running mean and adds momentum; ``clip_weights`` bounds the new weight
    (rules OPT-RMSPROP-001 to 003). The 1.x names ``gamma1`` of ``rho`` and ``gamma2`` of ``momentum`` are accepted with
    a DeprecationWarning.
    """

    _renamed = {'gamma1': 'rho', 'gamma2': 'momentum'}

    def __init__(self, learning_rate: float | None = DefaultRate(0.001), rho: float = 0.9, momentum: float = 0.9,
                 epsilon: float = 1e-8, centered: bool = False, clip_weights: float | None = None, *,
                 use_fused_step: bool = True, gamma1: float | None = None, gamma2: float | None = None,
                 **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, **kwargs)
        self.rho = renamed('gamma1', gamma1, 'rho', rho)
        self.momentum = renamed('gamma2', gamma2, 'momentum', momentum)
        self.centered = centered
        self.epsilon = epsilon
        self.clip_weights = clip_weights

    def create_state(self, index: Any, weight: Any) -> Any:
        # float32 whatever the weight is: other weights need multi_precision (rules OPT-COMMON-011, OPT-COMMON-012)
        return tuple(nd.zeros(weight.shape, ctx=weight.context) for _ in range(3 if self.centered else 1))

    def adopt_state(self, state: Any, release: int) -> Any:
        if release == 2 and self.centered and isinstance(state, tuple):
            if len(state) == 2:
                return state[0], self.adopt_state(state[1], release)
            mean, square, delta = state
            return square, mean, delta
        return state

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        bound = self.clip_weights or None
        if self.centered:
            return rules.rmsprop_centered, (lr, wd, rescale, clip, self.rho, self.momentum, self.epsilon, bound)
        return rules.rmsprop, (lr, wd, rescale, clip, self.rho, self.epsilon, bound)
