"""Stochastic gradient descent, with and without momentum."""

from __future__ import annotations

from typing import Any

from ..ops import update_rules as rules
from .optimizer import ONE_AT_A_TIME, DefaultRate, aggregation_size, register
from .rule_optimizer import Rule, RuleOptimizer


def check_lazy(lazy_update: bool, use_fused_step: bool, multi_precision: bool = False) -> None:
    """Lazy updates need the fused form and leave no room for multi-precision (rule OPT-REG-006)."""
    if lazy_update:
        assert use_fused_step, 'When use_fused_step is set to False, lazy_update has to be turned off.'
        assert not multi_precision, 'When lazy_update is set to True, multi_precision has be turned off.'


@register
class SGD(RuleOptimizer):
    """Gradient descent: ``s = momentum * s - lr * g; w += s`` with ``g = clip(rescale * grad) + wd * w``.

    Rules OPT-SGD-001 and OPT-SGD-002. ``lazy_update`` restricts row-sparse gradients to the rows that they hold.

    >>> import refengine as mx
    >>> updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=1.0, momentum=0.5))
    >>> weight, grad = mx.nd.ones((2,)), mx.nd.ones((2,))
    >>> for _ in range(2):
    ...     updater(0, grad, weight)
    >>> weight.asnumpy().tolist()
    [-1.5, -1.5]
    """

    _named_in_warnings = 'SGD '
    momentum_first = True

    def __init__(self, momentum: float = 0.0, lazy_update: bool = False, *,
                 learning_rate: float | None = DefaultRate(0.1), multi_precision: bool = False,
                 use_fused_step: bool = True, aggregate_num: Any = ONE_AT_A_TIME, **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, multi_precision=multi_precision,
                         use_fused_step=use_fused_step, aggregate_num=aggregation_size(aggregate_num, 1), **kwargs)
        check_lazy(lazy_update, use_fused_step, multi_precision)
        self.momentum = momentum
        self.lazy_update = lazy_update

    def create_state(self, index: Any, weight: Any) -> Any:
        return self._momentum_state(weight)

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        if self.momentum == 0.0:
            return rules.sgd, (lr, wd, rescale, clip)
        return rules.sgd_momentum, (lr, wd, rescale, clip, self.momentum)


@register
class ccSGD(SGD):
    """SGD under the name that it had once (rule OPT-CCSGD-001)."""
