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

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        return rules.sgd, (lr, wd, rescale, clip)

    def _clip(self) -> None:
        return None

    def _update_one(self, index: Any, weight: Any, grad: Any, state: Any, lr: float, wd: float,
                    clip: float | None) -> None:
        super()._update_one(index, weight, grad, state, lr, wd, clip)
        state[:] = weight
