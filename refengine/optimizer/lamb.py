"""Optimizers for large batches that scale each parameter's step to its size: LAMB and LANS."""

from __future__ import annotations

from typing import Any, ClassVar

from ..ops import update_rules as rules
from .adam import Moments
from .optimizer import DefaultRate, DefaultSize, aggregation_size, register
from .rule_optimizer import Rule

LIMIT = 45
FOUR_AT_A_TIME = DefaultSize(4)


class _Layerwise(Moments):
    """What LAMB and LANS share."""

    whole = True
    default_size: ClassVar[int] = 4

    def __init__(self, learning_rate: float | None = DefaultRate(0.001), beta1: float = 0.9, beta2: float = 0.999,
                 epsilon: float = 1e-6, lower_bound: float | None = None, upper_bound: float | None = None,
                 bias_correction: bool = True, *, aggregate_num: Any = FOUR_AT_A_TIME, use_fused_step: bool = True,
                 **kwargs: Any) -> None:
        size = aggregation_size(aggregate_num, self.default_size, LIMIT)
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, aggregate_num=size, **kwargs)
        if use_fused_step:
            assert size <= LIMIT, (f'When use_fused_step is True, {type(self).__name__} only supports '
                                   f'aggregate_num <= {LIMIT}, and receives {size}')
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        self.bias_correction = bias_correction

    def _corrections(self, index: Any) -> tuple[float, float]:
        if not self.bias_correction:
            return 1.0, 1.0
        t = self._index_update_count[index]
        return 1.0 / (1.0 - self.beta1 ** t), 1.0 / (1.0 - self.beta2 ** t)

    def _scalars(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> tuple[Any, ...]:
        return (lr, wd, rescale, clip, self.beta1, self.beta2, self.epsilon, *self._corrections(index),
                self.lower_bound, self.upper_bound)


@register
class LAMB(_Layerwise):
    """``u = mhat / (sqrt(vhat) + epsilon) + wd * w; w -= lr * ||w|| / ||u|| * u``.

    ``lower_bound`` and ``upper_bound`` limit ``||w||``; the ratio is 1 where a norm is zero; at most 45 parameters
    are updated in one call (rules OPT-LAMB-001 to 006, OPT-COMMON-015).
    """

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        return rules.lamb, self._scalars(index, lr, wd, rescale, clip)


@register
class LANS(_Layerwise):
    """LAMB with a normalised gradient and a Nesterov-like second part (rules OPT-LANS-001, 002)."""

    def __init__(self, learning_rate: float | None = DefaultRate(0.001), beta1: float = 0.9, beta2: float = 0.999,
                 epsilon: float = 1e-6, lower_bound: float | None = None, upper_bound: float | None = None,
                 **kwargs: Any) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, lower_bound, upper_bound, **kwargs)

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        return rules.lans, (*self._scalars(index, lr, wd, rescale, clip), not self.use_fused_step)
