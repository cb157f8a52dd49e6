"""Learning rate schedules: objects that map the number of updates made so far to a learning rate.

An optimizer calls its scheduler with the count of the update that it is about to make, so that the first update uses
``scheduler(1)`` (rules OPT-COUNT-004, LRSCHED-TRAIN-001).
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Any

__all__ = ['CosineScheduler', 'FactorScheduler', 'LRScheduler', 'MultiFactorScheduler', 'PolyScheduler']


class LRScheduler:
    """Base of all schedules: the rate to start from and the warm-up before the schedule proper begins.

    While ``num_update < warmup_steps`` the rate grows from ``warmup_begin_lr`` to ``base_lr`` (mode "linear") or stays
    at ``warmup_begin_lr`` (mode "constant"). Raises ValueError for a warm-up that starts above ``base_lr``, a negative
    number of steps or an unknown mode, AssertionError for a number of steps that is not an int
    (rules LRSCHED-BASE-001 to 004).
    """

    def __init__(self, base_lr: float = 0.01, warmup_steps: int = 0, warmup_begin_lr: float = 0,
                 warmup_mode: str = 'linear') -> None:
        assert isinstance(warmup_steps, int), f'warmup_steps must be an int, got {type(warmup_steps)}'
        self.base_lr = base_lr
        self.warmup_steps = warmup_steps
        self.warmup_final_lr = base_lr
        self.warmup_begin_lr = warmup_begin_lr
        if self.warmup_begin_lr > self.warmup_final_lr:
            raise ValueError('Base lr has to be higher than warmup_begin_lr')
        if self.warmup_steps < 0:
            raise ValueError('Warmup steps has to be positive or 0')
        if warmup_mode not in ('linear', 'constant'):
            raise ValueError('Supports only linear and constant modes of warmup')
        self.warmup_mode = warmup_mode

    def get_warmup_lr(self, num_update: int) -> float:
        """The rate of an update within the warm-up; AssertionError beyond it."""
        assert num_update < self.warmup_steps, f'update {num_update} is past the {self.warmup_steps} steps of warm-up'
        if self.warmup_mode == 'linear':
            increase = (self.warmup_final_lr - self.warmup_begin_lr) * float(num_update) / float(self.warmup_steps)
            return self.warmup_begin_lr + increase
        return self.warmup_begin_lr

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Defined so that unpickling can set attributes of schedules, but never of the class itself.
        self.__dict__.update(state)

    def __call__(self, num_update: int) -> float:
        """The rate of the update with this number; every schedule defines it."""
        raise NotImplementedError('must override this')


def _tell(num_update: int, what: str, rate: float) -> None:
    """Note a step in the log of the program, as the releases do: scripts look for it there."""
    logging.getLogger().info('Update[%d]: ' + what, num_update, rate)


class FactorScheduler(LRScheduler):
    """Multiply the rate by ``factor`` after every ``step`` updates, never going below ``stop_factor_lr``.

    The schedule remembers how far it came: a jump applies all reductions in between, going back restores nothing
    (rules LRSCHED-FACTOR-001 to 005).

    >>> schedule = FactorScheduler(step=3, factor=0.5, base_lr=1.0)
    >>> [schedule(n) for n in range(8)]
    [1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.25]
    """

    def __init__(self, step: int, factor: float = 1, stop_factor_lr: float = 1e-8, base_lr: float = 0.01,
                 warmup_steps: int = 0, warmup_begin_lr: float = 0, warmup_mode: str = 'linear') -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if step < 1:
            raise ValueError('Schedule step must be greater or equal than 1 round')
        if factor > 1.0:
            raise ValueError('Factor must be no more than 1 to make lr reduce')
        self.step = step
        self.factor = factor
        self.stop_factor_lr = stop_factor_lr
        self.count = 0

    def __call__(self, num_update: int) -> float:
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while num_update > self.count + self.step:
            self.count += self.step
            self.base_lr *= self.factor
            if self.base_lr < self.stop_factor_lr:
                self.base_lr = self.stop_factor_lr
                _tell(num_update, 'now learning rate arrived at %0.5e, will not change in the future', self.base_lr)
            else:
                _tell(num_update, 'Change learning rate to %0.5e', self.base_lr)
        return self.base_lr


class MultiFactorScheduler(LRScheduler):
    """Multiply the rate by ``factor`` when the number of updates exceeds each entry of the list ``step``.

    (rules LRSCHED-MULTI-001, 002)

    >>> schedule = MultiFactorScheduler(step=[3, 5], factor=0.5, base_lr=1.0)
    >>> [schedule(n) for n in range(8)]
    [1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.25, 0.25]
    """

    def __init__(self, step: Sequence[int], factor: float = 1, base_lr: float = 0.01, warmup_steps: int = 0,
                 warmup_begin_lr: float = 0, warmup_mode: str = 'linear') -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        assert isinstance(step, list), f'step must be a list, got {type(step)}'
        assert step, 'step must have at least one entry'
        for previous, current in zip([None, *step], step, strict=False):
            if previous is not None and current <= previous:
                raise ValueError('Schedule step must be an increasing integer list')
            if current < 1:
                raise ValueError('Schedule step must be greater or equal than 1 round')
        if factor > 1.0:
            raise ValueError('Factor must be no more than 1 to make lr reduce')
        self.step = step
        self.cur_step_ind = 0
        self.factor = factor
        self.count = 0

    def __call__(self, num_update: int) -> float:
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while self.cur_step_ind < len(self.step) and num_update > self.step[self.cur_step_ind]:
            self.count = self.step[self.cur_step_ind]
            self.cur_step_ind += 1
            self.base_lr *= self.factor
            _tell(num_update, 'Change learning rate to %0.5e', self.base_lr)
        return self.base_lr


class _UntilScheduler(LRScheduler):
    """Base of the schedules that end after ``max_update`` updates and then keep the rate that they gave last."""

    def __init__(self, max_update: int, base_lr: float, final_lr: float, warmup_steps: int, warmup_begin_lr: float,
                 warmup_mode: str) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        assert isinstance(max_update, int), f'max_update must be an int, got {type(max_update)}'
        if max_update < 1:
            raise ValueError('maximum number of updates must be strictly positive')
        # base_lr is what the schedule gave last; a learning rate given to the optimizer overwrites it, but the
        # curve keeps starting from the value of construction time (rule OPT-COMMON-026)
        self.base_lr_orig = base_lr
        self.max_update = max_update
        self.final_lr = final_lr
        self.max_steps = max_update - warmup_steps

    def _decay(self, progress: float) -> float:
        raise NotImplementedError('must override this')

    def __call__(self, num_update: int) -> float:
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        if num_update <= self.max_update:
            progress = float(num_update - self.warmup_steps) / float(self.max_steps)
            self.base_lr = self.final_lr + (self.base_lr_orig - self.final_lr) * self._decay(progress)
        return self.base_lr


class PolyScheduler(_UntilScheduler):
    """Go from ``base_lr`` to ``final_lr`` along a polynomial of degree ``pwr`` (rules LRSCHED-POLY-001 to 003).

    >>> schedule = PolyScheduler(max_update=4, base_lr=1.0, pwr=1)
    >>> [schedule(n) for n in range(6)]
    [1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    """

    def __init__(self, max_update: int, base_lr: float = 0.01, pwr: float = 2, final_lr: float = 0,
                 warmup_steps: int = 0, warmup_begin_lr: float = 0, warmup_mode: str = 'linear') -> None:
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        self.power = pwr

    def _decay(self, progress: float) -> float:
        return math.pow(1 - progress, self.power)


class CosineScheduler(_UntilScheduler):
    """Go from ``base_lr`` to ``final_lr`` along half a cosine wave (rules LRSCHED-COSINE-001, 002).

    >>> schedule = CosineScheduler(max_update=4, base_lr=1.0)
    >>> [round(schedule(n), 6) for n in range(6)]
    [1.0, 0.853553, 0.5, 0.146447, 0.0, 0.0]
    """

    def __init__(self, max_update: int, base_lr: float = 0.01, final_lr: float = 0, warmup_steps: int = 0,
                 warmup_begin_lr: float = 0, warmup_mode: str = 'linear') -> None:
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)

    def _decay(self, progress: float) -> float:
        return (1 + math.cos(math.pi * progress)) / 2
