"""Adam with Nesterov momentum."""

from __future__ import annotations

from typing import Any

from ..ops import update_rules as rules
from .adam import Moments
from .optimizer import DefaultRate, register
from .rule_optimizer import Rule


@register
class Nadam(Moments):
    """Adam with a momentum schedule (rule OPT-NADAM-001).

    ``m_schedule`` is the product of the momenta of all updates of all parameters, so that the result depends on how
    many parameters there are (rule OPT-NADAM-002).
    """

    has_fused_step = False
    zero_clips = True
    rule_has_memory = True

    def __init__(self, learning_rate: float | None = DefaultRate(0.001), beta1: float = 0.9, beta2: float = 0.999,
                 epsilon: float = 1e-8, schedule_decay: float = 0.004, *, use_fused_step: bool = False,
                 **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.schedule_decay = schedule_decay
        self.m_schedule = 1.0

    def _momentum(self, t: int) -> float:
        return self.beta1 * (1.0 - 0.5 * 0.96 ** (t * self.schedule_decay))

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        t = self._index_update_count[index]
        now, then = self._momentum(t), self._momentum(t + 1)
        self.m_schedule *= now
        of_gradient = (1.0 - now) / (1.0 - self.m_schedule)
        of_mean = then / (1.0 - self.m_schedule * then)
        of_var = 1.0 / (1.0 - self.beta2 ** t)
        return rules.nadam, (lr, wd, rescale, clip, self.beta1, self.beta2, self.epsilon, of_gradient, of_mean, of_var)
