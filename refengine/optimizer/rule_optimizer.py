"""Optimizers whose update of a weight is one rule of ``ops.update_rules``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from .. import device
from . import apply
from .optimizer import Optimizer

Rule = tuple[Callable[..., None], tuple[Any, ...]]


class RuleOptimizer(Optimizer):
    """Base of the optimizers of this package: a subclass names its rule and the numbers that go into it."""

    has_fused_step: ClassVar[bool] = True
    """Whether the one-kernel form exists; without it ``use_fused_step=True`` fails (rule OPT-COMMON-023)."""

    zero_clips: ClassVar[bool] = False
    """Whether ``clip_gradient=0`` clips to zero, instead of meaning no clipping (rule OPT-COMMON-020)."""

    decay_in_gradient: ClassVar[bool] = True
    """Whether weight decay is added to the gradient (else the rule decays the weight by itself)."""

    clips_decay: ClassVar[bool] = False
    """Whether the gradient is clipped after weight decay was added to it."""

    whole: ClassVar[bool] = False
    """Whether the rule looks at a weight as a whole, so that weights cannot be laid end to end."""

    def _rule(self, index: Any, lr: float, wd: float, rescale: float, clip: float | None) -> Rule:
        """The rule for one update of a weight and its scalars; called once per update, after it was counted."""
        raise NotImplementedError

    def _states(self, state: Any) -> Sequence[Any]:
        """The arrays that the rule takes, from what ``create_state`` gave."""
        if state is None:
            return ()
        return state if isinstance(state, (tuple, list)) else (state,)

    def _clip(self) -> float | None:
        clip = self.clip_gradient
        return None if clip is None or (clip <= 0 and not self.zero_clips) else clip

    @property
    def preserves_gradient(self) -> bool:
        """Whether gradients are still what they were after an update (rule OPT-COMMON-021)."""
        return self.use_fused_step

    def fused_step(self, indices: Sequence[Any], weights: Sequence[Any], grads: Sequence[Any],
                   states: Sequence[Any]) -> None:
        if not self.has_fused_step:
            raise NotImplementedError(f'{type(self).__name__} has no fused kernel; use use_fused_step=False')
        self._update_count(indices)
        clip = self._clip()
        for index, weight, grad, state, lr, wd in zip(indices, weights, grads, states, self._get_lrs(indices),
                                                      self._get_wds(indices)):
            self._update_one(index, weight, grad, state, lr, wd, self.rescale_grad, clip)

    def step(self, indices: Sequence[Any], weights: Sequence[Any], grads: Sequence[Any],
             states: Sequence[Any]) -> None:
        self._update_count(indices)
        for index, weight, grad, state, lr, wd in zip(indices, weights, grads, states, self._get_lrs(indices),
                                                      self._get_wds(indices)):
            apply.check(type(self).__name__, weight, grad, self._arrays(state), shapes=not self.whole)
            apply.check_writable(weight)
            gradient = self._prepare(weight, grad, wd)
            self._update_one(index, weight, grad, state, lr, 0.0 if self.decay_in_gradient else wd, 1.0, None,
                             gradient)

    def _arrays(self, state: Any) -> Sequence[Any]:
        return [s for s in self._states(state) if s is not None]

    def _prepare(self, weight: Any, grad: Any, wd: float) -> Any:
        """Rescale, clip and decay the gradient outside of the rule.

        The gradient array itself is rescaled, and holds the decay too unless clipping comes between
        (rule OPT-COMMON-021).
        """
        g = grad._data
        w = weight._data
        xp = device.module_of(g)
        xp.multiply(g, self.rescale_grad, g)
        clip = self.clip_gradient
        decays = self.decay_in_gradient and wd
        if decays and (clip is None or self.clips_decay):
            xp.add(g, w * wd, g)
        if clip is not None:
            g = xp.maximum(xp.minimum(g, clip), -clip)
            if decays and not self.clips_decay:
                xp.add(g, w * wd, g)
        return g

    def _update_one(self, index: Any, weight: Any, grad: Any, state: Any, lr: float, wd: float, rescale: float,
                    clip: float | None, gradient: Any = None) -> None:
        rule, scalars = self._rule(index, lr, wd, rescale, clip)
        apply.apply(type(self).__name__, rule, weight, grad, self._states(state), scalars, gradient, self.whole)
