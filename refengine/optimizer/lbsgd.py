"""SGD for large batches: warm-up and accumulation of gradients."""

from __future__ import annotations

from typing import Any

from .. import device
from .. import ndarray as nd
from ..ops import update_rules as rules
from . import apply
from .optimizer import register
from .rule_optimizer import Rule, RuleOptimizer


@register
class LBSGD(RuleOptimizer):
    """SGD that applies the mean of every ``batch_scale`` gradients, with a rate that grows to ``batch_scale`` times.

    ``warmup_strategy`` names the way there: 'linear', 'power2' or 'sqrt' over ``warmup_epochs`` epochs of
    ``updates_per_epoch`` updates; any other word stays at 1 until then. 'lars' scales the rate by the ratio of the
    norms of weight and gradient instead (rule OPT-LBSGD-001).
    """

    whole = True

    def __init__(self, momentum: float = 0.0, multi_precision: bool = False, warmup_strategy: str = 'linear',
                 warmup_epochs: int = 5, batch_scale: float = 1, updates_per_epoch: int = 32, begin_epoch: int = 0,
                 num_epochs: int = 60, *, use_fused_step: bool = True, **kwargs: Any) -> None:
        super().__init__(multi_precision=multi_precision, use_fused_step=use_fused_step, **kwargs)
        self.momentum = momentum
        self.warmup_strategy = warmup_strategy
        self.warmup_epochs = warmup_epochs
        self.batch_scale = batch_scale
        self.updates_per_epoch = updates_per_epoch
        self.init_updates = begin_epoch * updates_per_epoch
        self.num_epochs = num_epochs
        self.lbmult = 1.0
        self.cumgrads: dict[Any, dict[str, Any]] = {}
        self.adaptive = False
        self.admult = 1.0

    def create_state(self, index: Any, weight: Any) -> Any:
        if self.momentum == 0.0:
            return None
        return nd.zeros(weight.shape, ctx=weight.context, dtype=weight.dtype)

    def _rate_factor(self, count: int) -> float:
        """How much the warm-up raises the rate at the gradient with this number."""
        length = self.warmup_epochs * self.updates_per_epoch
        if count >= length or self.batch_scale <= 1:
            return float(self.batch_scale) if count >= length else 1.0
        progress = count / length
        shape = {'linear': progress, 'power2': progress * progress, 'sqrt': progress ** 0.5}
        return 1.0 + (self.batch_scale - 1) * shape.get(self.warmup_strategy, 0.0)

    def _norm_factor(self, w: Any, g: Any, wd: float) -> float:
        xp = device.module_of(w)
        out = xp.empty_like(w)
        weight_square = rules.norm(xp, w, out) ** 2
        gradient_square = rules.norm(xp, g, out) ** 2
        ratio = (weight_square / (gradient_square + wd * weight_square + 1e-18)) ** 0.5
        return min(max(ratio, 0.01), 100.0)

    def _collect(self, index: Any, g: Any) -> tuple[Any, int]:
        """Add a gradient to the collected ones: the mean when ``batch_scale`` of them are complete, else None."""
        entry = self.cumgrads.setdefault(index, {'cum_grad': 0, 'num_cums': self.init_updates})
        if self.batch_scale == 1:
            mean = g
        else:
            entry['cum_grad'] = entry['cum_grad'] + g
            mean = None
        entry['num_cums'] += 1
        if self.batch_scale != 1 and entry['num_cums'] % self.batch_scale == 0:
            mean = entry['cum_grad'] / self.batch_scale
            entry['cum_grad'] = 0
        return mean, entry['num_cums']

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        if self.momentum == 0.0:
            return rules.sgd, (lr, wd, rescale, clip)
        return rules.sgd_momentum, (lr, wd, rescale, clip, self.momentum)

    def _update_one(self, index: Any, weight: Any, grad: Any, state: Any, lr: float, wd: float,
                    clip: float | None) -> None:
        apply.check('LBSGD', weight, grad, self._states(state))
        mean, count = self._collect(index, grad._data)
        if mean is None:
            return
        if self.warmup_strategy == 'lars':
            lr *= self._norm_factor(weight._data, mean, wd)
        else:
            lr *= self._rate_factor(count)
        rule, scalars = self._rule(index, lr, wd, self.rescale_grad, clip)
        apply.apply('LBSGD', rule, weight, grad, self._states(state), scalars, mean, whole=True)
