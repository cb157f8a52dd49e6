"""Learning rate schedules."""

from __future__ import annotations

import logging
import math

import pytest

from refengine import lr_scheduler as schedules


def values(schedule, numbers):
    return [schedule(n) for n in numbers]


@pytest.mark.parametrize(("made", "wanted"), [
    (lambda: schedules.FactorScheduler(3, 0.5, base_lr=1.0), [1, 1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125]),
    (lambda: schedules.FactorScheduler(1, 0.5, 0.25, base_lr=1.0), [1, 1, 0.5, 0.25, 0.25]),
    (lambda: schedules.FactorScheduler(2, 0.5, base_lr=1.0, warmup_steps=4, warmup_begin_lr=0.0),
     [0, 0.25, 0.5, 0.75, 0.5, 0.25, 0.25, 0.125]),
    (lambda: schedules.FactorScheduler(2, 0.5, base_lr=1.0, warmup_steps=3, warmup_begin_lr=0.25,
                                       warmup_mode="constant"), [0.25, 0.25, 0.25, 0.5, 0.5, 0.25]),
    (lambda: schedules.MultiFactorScheduler([3, 5], 0.5, 1.0), [1, 1, 1, 1, 0.5, 0.5, 0.25, 0.25]),
    (lambda: schedules.MultiFactorScheduler([3, 5], 0.5, 1.0, warmup_steps=4), [0, 0.25, 0.5, 0.75, 0.5, 0.5, 0.25]),
    (lambda: schedules.PolyScheduler(4, 1.0, 2), [1, 0.5625, 0.25, 0.0625, 0, 0]),
    (lambda: schedules.PolyScheduler(6, 1.0, 1, warmup_steps=2, warmup_begin_lr=0.5),
     [0.5, 0.75, 1, 0.75, 0.5, 0.25, 0, 0]),
    (lambda: schedules.CosineScheduler(2, 1.0, 0.5), [1, 0.75, 0.5, 0.5]),
])
def test_rates_of_the_first_updates(made, wanted):
    assert values(made(), range(len(wanted))) == pytest.approx(wanted, abs=1e-12)


def test_cosine_follows_half_a_wave():
    schedule = schedules.CosineScheduler(10, 2.0, 0.5)
    assert values(schedule, range(11)) == pytest.approx(
        [0.5 + 1.5 * (1 + math.cos(math.pi * n / 10)) / 2 for n in range(11)])


def test_jumps_and_steps_back():
    factor = schedules.FactorScheduler(2, 0.5, base_lr=1.0)
    assert values(factor, [9, 1]) == [0.0625, 0.0625]
    poly = schedules.PolyScheduler(5, 1.0)
    assert values(poly, [7, 2, 7]) == pytest.approx([1.0, 0.36, 0.36])


@pytest.mark.parametrize(("made", "error", "text"), [
    (lambda: schedules.LRScheduler(0.01, warmup_begin_lr=0.02), ValueError, "Base lr has to be higher"),
    (lambda: schedules.LRScheduler(warmup_steps=-1), ValueError, "Warmup steps has to be positive or 0"),
    (lambda: schedules.LRScheduler(warmup_steps=1.5), AssertionError, "int"),
    (lambda: schedules.LRScheduler(warmup_mode="cubic"), ValueError, "only linear and constant"),
    (lambda: schedules.LRScheduler()(1), NotImplementedError, "must override this"),
    (lambda: schedules.LRScheduler(warmup_steps=3).get_warmup_lr(3), AssertionError, "warm-up"),
    (lambda: schedules.FactorScheduler(0), ValueError, "Schedule step must be greater or equal than 1"),
    (lambda: schedules.FactorScheduler(1, 2.0), ValueError, "Factor must be no more than 1"),
    (lambda: schedules.MultiFactorScheduler((1, 2)), AssertionError, "list"),
    (lambda: schedules.MultiFactorScheduler([]), AssertionError, "at least one"),
    (lambda: schedules.MultiFactorScheduler([3, 3]), ValueError, "increasing integer list"),
    (lambda: schedules.MultiFactorScheduler([0]), ValueError, "greater or equal than 1"),
    (lambda: schedules.MultiFactorScheduler([1], 2.0), ValueError, "Factor must be no more than 1"),
    (lambda: schedules.PolyScheduler(1.5), AssertionError, "int"),
    (lambda: schedules.PolyScheduler(0), ValueError, "strictly positive"),
    (lambda: schedules.CosineScheduler(1.5), AssertionError, "int"),
    (lambda: schedules.CosineScheduler(0), ValueError, "strictly positive"),
    (lambda: schedules.PolyScheduler(5, warmup_steps=5)(5), ZeroDivisionError, "division"),
])
def test_errors(made, error, text):
    with pytest.raises(error, match=text):
        made()


def test_a_new_base_rate_does_not_bend_the_curve():
    schedule = schedules.PolyScheduler(10, base_lr=0.5)
    schedule.base_lr = 0.25
    assert schedule(1) == pytest.approx(0.405)


def test_steps_stand_in_the_log(caplog):
    """The lines are those that MXNet 1.9.1 writes for the same schedules."""
    caplog.set_level(logging.INFO)
    factor = schedules.FactorScheduler(2, 0.1, stop_factor_lr=1e-2, base_lr=1.0)
    several = schedules.MultiFactorScheduler([2, 5], 0.1, base_lr=1.0)
    for schedule in (factor, several):
        for update in range(1, 8):
            schedule(update)
    assert [(r.name, r.getMessage()) for r in caplog.records] == [('root', text) for text in (
        'Update[3]: Change learning rate to 1.00000e-01',
        'Update[5]: Change learning rate to 1.00000e-02',
        'Update[7]: now learning rate arrived at 1.00000e-02, will not change in the future',
        'Update[3]: Change learning rate to 1.00000e-01',
        'Update[6]: Change learning rate to 1.00000e-02')]
