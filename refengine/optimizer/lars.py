"""Layer-wise adaptive rate scaling."""

from __future__ import annotations

from typing import Any

from .. import device
from ..ops import update_rules as rules
from . import apply
from .optimizer import ONE_AT_A_TIME, DefaultRate, aggregation_size, register
from .renamed import renamed
from .rule_optimizer import Rule, RuleOptimizer
from .sgd import check_lazy


@register
class LARS(RuleOptimizer):
    """SGD whose rate is scaled per parameter by ``eta * ||w|| / (||rescale * grad|| + wd * ||w|| + epsilon)``.

    The factor is 1 where a norm is zero and for names that end in gamma, beta or bias. ``momentum_correction`` scales
    momentum with the ratio of the current to the previous learning rate (rules OPT-LARS-001 to 003). The 1.x name
    ``eps`` of ``epsilon`` is accepted with a DeprecationWarning.
    """

    whole = True
    _named_in_warnings = 'SGD '
    momentum_first = True
    _decaying = ('_weight',)
    _renamed = {'eps': 'epsilon'}
    momentum_correction = False  # state files of 2.0 have no such attribute

    def __init__(self, momentum: float = 0.0, lazy_update: bool = False, eta: float = 0.001, epsilon: float = 1e-8,
                 momentum_correction: bool = True, *, learning_rate: float | None = DefaultRate(0.1),
                 multi_precision: bool = False, use_fused_step: bool = True, aggregate_num: Any = ONE_AT_A_TIME,
                 eps: float | None = None, **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, multi_precision=multi_precision,
                         use_fused_step=use_fused_step, aggregate_num=aggregation_size(aggregate_num, 1), **kwargs)
        check_lazy(lazy_update, use_fused_step, multi_precision)
        self.momentum = momentum
        self.lazy_update = lazy_update
        self.eta = eta
        self.epsilon = renamed('eps', eps, 'epsilon', epsilon)
        self.momentum_correction = momentum_correction

    def create_state(self, index: Any, weight: Any) -> Any:
        return self._momentum_state(weight)

    def _corrected_momentum(self, index: Any) -> float:
        """Momentum times the ratio of the rate now to the rate at the index' last update."""
        rates = self.__dict__.setdefault('_last_rates', {}).setdefault(id(self._index_update_count), {})
        rate = self.learning_rate
        last = rates.get(index)
        rates[index] = rate
        if not self.momentum_correction or last is None or not last:
            return self.momentum
        return self.momentum * (rate / last)

    def _factor(self, index: Any, w: Any, g: Any, wd: float, rescale: float) -> float:
        if str(self.idx2name.get(index, '')).endswith(('gamma', 'beta', 'bias')):
            return 1.0
        xp = device.module_of(w)
        out = xp.empty_like(w)
        weight_norm = rules.norm(xp, w, out)
        gradient_norm = rules.norm(xp, g, out) * abs(rescale)
        if not (weight_norm > 0 and gradient_norm > 0):
            return 1.0
        return self.eta * weight_norm / (gradient_norm + wd * weight_norm + self.epsilon)

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        if self.momentum == 0.0:
            return rules.sgd, (lr, wd, rescale, clip)
        return rules.sgd_momentum, (lr, wd, rescale, clip, self._corrected_momentum(index))

    def _update_one(self, index: Any, weight: Any, grad: Any, state: Any, lr: float, wd: float,
                    clip: float | None) -> None:
        apply.check('LARS', weight, grad, self._states(state))
        lr *= self._factor(index, weight._data, grad._data, wd, self.rescale_grad)
        super()._update_one(index, weight, grad, state, lr, wd, clip)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop('_last_rates', None)  # keyed by object identity
        return state
