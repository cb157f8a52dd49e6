"""Optimizers whose update of a weight is one rule of ``ops.update_rules``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from .. import ndarray as nd
from . import apply
from .optimizer import Optimizer

Rule = tuple[Callable[..., None], tuple[Any, ...]]


class RuleOptimizer(Optimizer):
    """Base of the optimizers of this package: a subclass names its rule and the numbers that go into it.

    Gradients stay as they are, whatever the form of the update (rule OPT-COMMON-021).
    """

    has_fused_step: ClassVar[bool] = True
    """Whether the one-kernel form exists; without it ``use_fused_step=True`` fails (rule OPT-COMMON-023)."""

    zero_clips: ClassVar[bool] = False
    """Whether ``clip_gradient=0`` clips to zero, instead of meaning no clipping (rule OPT-COMMON-020)."""

    whole: ClassVar[bool] = False
    """Whether the rule looks at a weight as a whole, so that weights cannot be laid end to end."""

    rule_has_memory: ClassVar[bool] = False
    """Whether finding the rule changes the optimizer, so that it has to be done for every single update."""

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        """The rule for one update of a weight and its scalars; called after the update was counted."""
        raise NotImplementedError

    def _momentum_state(self, weight: Any) -> Any:
        """Zeros like the weight, or None for an optimizer whose ``momentum`` is 0."""
        if self.momentum == 0.0:
            return None
        return nd.zeros(weight.shape, ctx=weight.context, dtype=weight.dtype)

    def _states(self, state: Any) -> Sequence[Any]:
        """The arrays that the rule takes, from what ``create_state`` gave."""
        if state is None:
            return ()
        return state if isinstance(state, (tuple, list)) else (state,)

    def _clip(self) -> float | None:
        clip = self.clip_gradient
        if clip is None or (clip <= 0 and self.use_fused_step and not self.zero_clips):
            return None
        return max(clip, 0.0)

    def fused_step(self, indices: Sequence[Any], weights: Sequence[Any], grads: Sequence[Any],
                   states: Sequence[Any]) -> None:
        if not self.has_fused_step:
            raise NotImplementedError(f'{type(self).__name__} has no fused kernel; use use_fused_step=False')
        self._update_all(indices, weights, grads, states)

    def step(self, indices: Sequence[Any], weights: Sequence[Any], grads: Sequence[Any],
             states: Sequence[Any]) -> None:
        self._update_all(indices, weights, grads, states)

    def _update_all(self, indices: Sequence[Any], weights: Sequence[Any], grads: Sequence[Any],
                    states: Sequence[Any]) -> None:
        self._update_count(indices)
        clip = self._clip()
        for index, weight, grad, state, lr, wd in zip(indices, weights, grads, states, self._get_lrs(indices),
                                                      self._get_wds(indices)):
            self._update_one(index, weight, grad, state, lr, wd, clip)

    def _update_one(self, index: Any, weight: Any, grad: Any, state: Any, lr: float, wd: float,
                    clip: float | None) -> None:
        rule, scalars = self._rule(index, lr, wd, self.rescale_grad, clip)
        apply.apply(type(self).__name__, rule, weight, grad, self._states(state), scalars, whole=self.whole)
