"""What the harness itself costs: well under a millisecond per case."""

from __future__ import annotations

import resource
import time

from miniature import run_mini

from conformance.selection import Selection

CASES = 1000


def cpu_seconds() -> float:
    """CPU time of this process and of the workers that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def cost_of(selection: Selection) -> float:
    began = cpu_seconds()
    run = run_mini("sound", suite="thousand", selection=selection)
    assert all(result.outcome == "pass" for result in run.results)
    return cpu_seconds() - began


def test_a_trivial_case_costs_less_than_a_millisecond() -> None:
    one = cost_of(Selection(only=frozenset({"MINI-TRIVIAL-001/trivial[n000]"})))
    # CPU time, since the machine may do other things; the best of three, since it may do them in the same cache.
    every = min(cost_of(Selection()) for _ in range(3))
    assert (every - one) / (CASES - 1) < 1e-3
