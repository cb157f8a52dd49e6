"""Cheap calls stay cheap: budgets are CPU time relative to numpy, with wide margins."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

from refengine import autograd, nd

pytestmark = pytest.mark.inline_engine


def cost(function, number=2000, rounds=7):
    """The least CPU time of one call."""
    best = float('inf')
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(number):
            function()
        best = min(best, (time.process_time() - start) / number)
    return best


def test_a_small_add_costs_a_few_numpy_adds():
    x, y = np.ones(8, 'float32'), np.ones(8, 'float32')
    a, b = nd.array(x), nd.array(y)
    assert cost(lambda: a + b) < 12 * cost(lambda: x + y)


def test_recording_a_small_add_and_its_backward():
    x = np.ones(8, 'float32')
    a = nd.array(x)
    a.attach_grad()

    def step():
        with autograd.record():
            y = a + a
        y.backward()

    assert cost(step) < 100 * cost(lambda: x + x)


def test_importing_the_engine_imports_nothing_heavy():
    code = "import sys, refengine; print([m for m in ('scipy', 'pandas', 'numba', 'cupy', 'yaml') if m in sys.modules])"
    done = subprocess.run([sys.executable, '-c', code], env={'PYTHONPATH': ':'.join(sys.path)}, capture_output=True,
                          text=True, check=True, timeout=60)
    assert done.stdout.strip() == '[]'
