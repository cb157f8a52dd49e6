"""The optimizer that the tests of MXNet use."""

from __future__ import annotations

from typing import Any

from .. import ndarray as nd
from ..ops import update_rules as rules
from .optimizer import register
from .rule_optimizer import Rule, RuleOptimizer


@register
class Test(RuleOptimizer):
    """``w -= lr * (rescale * grad + wd * w)``, without clipping; the state is a copy of the weight (OPT-TEST-001)."""

    __test__ = False  # no test class for pytest

    has_fused_step = False

    def create_state(self, index: Any, weight: Any) -> Any:
        return nd.zeros(weight.shape, ctx=weight.context)

    def _states(self, state: Any) -> Any:
        return ()

    @property
    def preserves_gradient(self) -> bool:
        return True

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        return rules.sgd, (lr, wd, rescale, clip)

    def step(self, indices: Any, weights: Any, grads: Any, states: Any) -> None:
        self._update_count(indices)
        for index, weight, grad, state, lr, wd in zip(indices, weights, grads, states, self._get_lrs(indices),
                                                      self._get_wds(indices)):
            self._update_one(index, weight, grad, state, lr, wd, self.rescale_grad, None)
            state[:] = weight
