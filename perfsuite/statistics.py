"""Ratios of interleaved samples, with an interval: pure functions on sequences of seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

#: Draws of the bootstrap; enough for a 95 % interval that is stable in its second digit.
DRAWS = 2000


@dataclass(frozen=True)
class Ratio:
    """``value`` of baseline over candidate (above 1: the candidate is faster) and its 95 % interval."""

    value: float
    low: float
    high: float

    def verdict(self, noise: float = 0.05) -> str:
        """``faster``, ``slower``, ``same`` or ``too noisy``: the interval decides, and an effect below *noise* is none.

        >>> Ratio(2.0, 1.9, 2.1).verdict()
        'faster'
        >>> Ratio(1.0, 0.7, 1.4).verdict()
        'too noisy'
        """
        if self.low > 1 + noise:
            return "faster"
        if self.high < 1 - noise:
            return "slower"
        if self.high / self.low > 1.5:
            return "too noisy"
        return "same"


def ratio_of_medians(baseline: Sequence[float], candidate: Sequence[float], seed: int = 0) -> Ratio:
    """Median of *baseline* over median of *candidate*; rounds are resampled in pairs, since both sat in the same noise.

    baseline, candidate: seconds per call of the same rounds, in order; equally long, at least one.

    >>> ratio_of_medians([2.0, 2.0, 2.0], [1.0, 1.0, 1.0])
    Ratio(value=2.0, low=2.0, high=2.0)
    """
    if len(baseline) != len(candidate) or not baseline:
        raise ValueError(f"expected two equally long series of samples, got {len(baseline)} and {len(candidate)}")
    left, right = np.asarray(baseline, float), np.asarray(candidate, float)
    rounds = np.random.default_rng(seed).integers(0, len(left), (DRAWS, len(left)))
    drawn = np.median(left[rounds], axis=1) / np.median(right[rounds], axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Ratio(float(np.median(left) / np.median(right)), float(low), float(high))
