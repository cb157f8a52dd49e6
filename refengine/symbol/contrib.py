"""Contributed operators in graphs: ``mx.sym.contrib``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..name_space import operators as _operators
from . import functions as _functions


def _loop(name: str) -> Callable[[], Any]:
    def load() -> Any:
        from . import control_flow
        return getattr(control_flow, name)

    return load


def rand_zipfian(true_classes: Any, num_sampled: int, range_max: int) -> tuple[Any, Any, Any]:
    """Classes drawn with the probability log((k + 2) / (k + 1)) / log(range_max + 1), as words are distributed.

    Gives the drawn classes (int64), and the expected counts of the true and of the drawn classes (float64).
    """
    from . import random
    span = math.log(range_max + 1)
    drawn = random.uniform(0, span, shape=(num_sampled,), dtype='float64')
    sampled = (drawn.exp() - 1).astype('int64') % range_max

    def expected(classes: Any) -> Any:
        wide = classes.astype('float64')
        return ((wide + 2.0) / (wide + 1.0)).log() / span * num_sampled

    return sampled, expected(true_classes), expected(sampled)


def _uniform() -> Any:
    from .random import uniform
    return uniform


__getattr__, __dir__ = _operators(globals(), _functions.make, ('_contrib_',),
                                  {'uniform': _uniform,
                                   **{name: _loop(name) for name in ('foreach', 'while_loop', 'cond')}})
