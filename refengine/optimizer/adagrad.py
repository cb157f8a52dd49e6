"""AdaGrad, per element and per row."""

from __future__ import annotations

from typing import Any

from .. import ndarray as nd
from ..ops import update_rules as rules
from .optimizer import DefaultRate, register
from .renamed import renamed
from .rule_optimizer import Rule, RuleOptimizer


@register
class AdaGrad(RuleOptimizer):
    """``h += g**2; w -= lr * g / (sqrt(h) + epsilon)`` (rule OPT-ADAGRAD-001).

    The 1.x name ``eps`` of ``epsilon`` is accepted with a DeprecationWarning.
    """

    zero_clips = True
    _renamed = {'float_stable_eps': 'epsilon'}

    def __init__(self, epsilon: float = 1e-6, *, learning_rate: float | None = DefaultRate(0.01),
                 use_fused_step: bool = True, eps: float | None = None, **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, **kwargs)
        self.epsilon = renamed('eps', eps, 'epsilon', epsilon)

    def create_state(self, index: Any, weight: Any) -> Any:
        # float32 whatever the weight is: other weights need multi_precision (rules OPT-COMMON-011, OPT-COMMON-012)
        return nd.zeros(weight.shape, ctx=weight.context)

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        return rules.adagrad, (lr, wd, rescale, clip, self.epsilon)


@register
class GroupAdaGrad(RuleOptimizer):
    """AdaGrad with one history value per row of a matrix; no weight decay (rule OPT-GROUPADAGRAD-001)."""

    whole = True
    zero_clips = True
    _renamed = {'float_stable_eps': 'epsilon'}

    def __init__(self, epsilon: float = 1e-6, *, learning_rate: float | None = DefaultRate(0.01),
                 use_fused_step: bool = True, eps: float | None = None, **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, **kwargs)
        self.epsilon = renamed('eps', eps, 'epsilon', epsilon)

    def create_state(self, index: Any, weight: Any) -> Any:
        assert len(weight.shape) == 2, \
            f'GroupAdaGrad takes two-dimensional weights only, got a weight of shape {weight.shape}'
        return nd.zeros((weight.shape[0], 1), ctx=weight.context)

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        assert wd == 0, 'Weight decay is not supported for GroupAdaGrad'
        return rules.group_adagrad, (lr, rescale, clip, self.epsilon)
