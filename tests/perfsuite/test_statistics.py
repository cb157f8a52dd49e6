"""Ratios say what the samples say, and no more."""

import numpy as np
import pytest

from perfsuite.statistics import Ratio, ratio_of_medians


def test_ratio_above_one_means_that_the_candidate_is_faster():
    ratio = ratio_of_medians([0.4, 0.42, 0.41, 0.4], [0.2, 0.21, 0.2, 0.2])
    assert ratio.value == pytest.approx(2.025)
    assert ratio.low <= ratio.value <= ratio.high
    assert ratio.verdict() == "faster"


def test_the_same_noise_on_both_sides_is_no_difference():
    noise = np.random.default_rng(1).normal(1, 0.01, 30)
    ratio = ratio_of_medians(list(noise), list(np.random.default_rng(2).permutation(noise)))
    assert ratio.verdict() == "same"


def test_scattered_samples_are_too_noisy_to_judge():
    random = np.random.default_rng(3)
    ratio = ratio_of_medians(list(random.uniform(0.5, 5, 5)), list(random.uniform(0.5, 5, 5)))
    assert ratio.high / ratio.low > 1.5
    assert ratio.verdict() in ("too noisy", "faster", "slower")
    assert Ratio(1.1, 0.6, 2.0).verdict() == "too noisy"


def test_slower_needs_an_effect_above_the_noise_floor():
    assert Ratio(0.97, 0.96, 0.98).verdict() == "same"
    assert Ratio(0.8, 0.78, 0.82).verdict() == "slower"


@pytest.mark.parametrize(("left", "right"), [([], []), ([1.0], [1.0, 2.0])])
def test_series_of_different_length_or_none_are_refused(left, right):
    with pytest.raises(ValueError, match="equally long"):
        ratio_of_medians(left, right)
