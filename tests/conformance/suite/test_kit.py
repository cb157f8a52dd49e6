"""How many times as long one function takes as another one, on a clock that other processes disturb."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.suite import kit


class Clock:
    """Time that passes only while a function works, four times as fast while the machine is busy."""

    def __init__(self, busy: tuple[float, float] = (0, 0)) -> None:
        self.now, self.busy, self.calls = 0.0, busy, 0

    def perf_counter(self) -> float:
        return self.now

    def working(self, seconds: float) -> Callable[[], None]:
        def work() -> None:
            self.calls += 1
            self.now += seconds * (4 if self.busy[0] <= self.now < self.busy[1] else 1)
        return work


@pytest.mark.parametrize("busy", [(0, 0), (0, 30), (3, 50), (2.5, 1e9)])
def test_a_busy_machine_does_not_change_the_ratio(monkeypatch: pytest.MonkeyPatch, busy: tuple[float, float]) -> None:
    clock = Clock(busy)
    monkeypatch.setattr(kit, "time", clock)
    assert kit.times_as_long(clock.working(2), clock.working(1), 2) == pytest.approx(2)


def test_it_ends_where_the_ratio_is_never_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(kit, "time", clock)
    assert kit.times_as_long(clock.working(1), clock.working(1), 1.3, calls=3, rounds=7) == pytest.approx(1)
    assert clock.calls == 2 * 3 * 7
