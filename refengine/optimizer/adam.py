"""Adam and its relatives without bounds: Adam, AdamW, AdaBelief."""

from __future__ import annotations

import math
from typing import Any

from .. import ndarray as nd
from ..ops import update_rules as rules
from .optimizer import DefaultRate, aggregation_size, register
from .rule_optimizer import Rule, RuleOptimizer
from .sgd import check_lazy


class Moments(RuleOptimizer):
    """Base of the optimizers that keep running means of the gradient and of its square."""

    beta1: float
    beta2: float
    correct_bias: bool = True

    def create_state(self, index: Any, weight: Any) -> Any:
        return (nd.zeros(weight.shape, ctx=weight.context, dtype=weight.dtype),
                nd.zeros(weight.shape, ctx=weight.context, dtype=weight.dtype))

    def _corrected(self, index: Any, lr: float) -> float:
        """The learning rate with the bias correction of both means; ``t`` is the count of the index (OPT-COUNT-003)."""
        if not self.correct_bias:
            return lr
        t = self._index_update_count[index]
        return lr * math.sqrt(1.0 - self.beta2 ** t) / (1.0 - self.beta1 ** t)


@register
class Adam(Moments):
    """``m``, ``v`` running means of ``g`` and ``g**2``; ``w -= lr_t * m / (sqrt(v) + epsilon)`` (rule OPT-ADAM-001).

    >>> import refengine as mx
    >>> updater = mx.optimizer.get_updater(mx.optimizer.Adam(learning_rate=0.25))
    >>> weight = mx.nd.zeros((1,))
    >>> updater(0, mx.nd.array([3.0]), weight)
    >>> round(float(weight.asscalar()), 4)
    -0.25
    """

    def __init__(self, learning_rate: float | None = DefaultRate(0.001), beta1: float = 0.9, beta2: float = 0.999,
                 epsilon: float = 1e-8, lazy_update: bool = False, *, use_fused_step: bool = True,
                 **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, **kwargs)
        check_lazy(lazy_update, use_fused_step)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lazy_update = lazy_update

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        return rules.adam, (self._corrected(index, lr), wd, rescale, clip, self.beta1, self.beta2, self.epsilon)


class _Corrected(Moments):
    """What AdamW and AdaBelief share: optional bias correction and an aggregation size from the environment."""

    def __init__(self, learning_rate: float | None = DefaultRate(0.001), beta1: float = 0.9, beta2: float = 0.999,
                 epsilon: float = 1e-6, correct_bias: bool = True, *, use_fused_step: bool = True,
                 aggregate_num: Any = None, **kwargs: Any) -> None:
        # The argument is accepted and has no effect: the size comes from the environment alone (OPT-COMMON-013).
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step,
                         aggregate_num=aggregation_size(None, 4, 50), **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.correct_bias = correct_bias

    def create_state(self, index: Any, weight: Any) -> Any:
        # float32 whatever the weight is: other weights need multi_precision (rule OPT-COMMON-011)
        return (nd.zeros(weight.shape, ctx=weight.context), nd.zeros(weight.shape, ctx=weight.context))


@register
class AdamW(_Corrected):
    """Adam with decoupled weight decay: ``w -= lr_t * (m / (sqrt(v) + epsilon) + wd * w)``.

    ``correct_bias=False`` makes ``lr_t`` plain ``lr``; ``use_fused_step=False`` decays after the step
    (rules OPT-ADAMW-001 to 003).
    """

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        return rules.adamw, (self._corrected(index, lr), wd, rescale, clip, self.beta1, self.beta2, self.epsilon,
                             not self.use_fused_step)


@register
class AdaBelief(_Corrected):
    """Adam with the spread of the gradient around its mean in place of its square (rule OPT-ADABELIEF-001)."""

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        return rules.adabelief, (self._corrected(index, lr), wd, rescale, clip, self.beta1, self.beta2, self.epsilon)
