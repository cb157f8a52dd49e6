"""Learning rate schedules by the number of the iteration, from before ``mx.lr_scheduler``."""

from __future__ import annotations

import logging
import math


class LearningRateScheduler:
    """Base of these schedules; ``base_lr`` is the rate to start from."""

    def __init__(self) -> None:
        self.base_lr = 0.01

    def __call__(self, iteration: int) -> float:
        """The rate of an iteration; every schedule defines it."""
        raise NotImplementedError('must override this')


class FactorScheduler(LearningRateScheduler):
    """The rate times ``factor`` after every ``step`` iterations.

    >>> schedule = FactorScheduler(10, 0.5)
    >>> [schedule(iteration) for iteration in (0, 10, 25)]
    [0.01, 0.005, 0.0025]
    """

    def __init__(self, step: int, factor: float = 0.1) -> None:
        super().__init__()
        if step < 1:
            raise ValueError('Schedule step must be greater or equal than 1 round')
        if factor >= 1.0:
            raise ValueError('Factor must be less than 1 to make lr reduce')
        self.step, self.factor = step, factor
        self.old_lr = self.base_lr
        self.init = False

    def __call__(self, iteration: int) -> float:
        """The rate of an iteration; a change is noted in the log."""
        if not self.init:
            self.init, self.old_lr = True, self.base_lr
        rate: float = self.base_lr * math.pow(self.factor, iteration // self.step)
        if rate != self.old_lr:
            self.old_lr = rate
            logging.info('At Iteration [%d]: Switch to new learning rate %.5f', iteration, rate)
        return rate
