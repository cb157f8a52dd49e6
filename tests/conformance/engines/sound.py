"""The miniature engine that does everything right; the broken ones start from it."""

import time

__version__ = "1.0"


def total(values):
    return sum(values)


def double(value):
    if isinstance(value, str):
        raise ValueError("expected a number, got text")
    return value + value


def half(value):
    return value // 2


def wait(seconds):
    time.sleep(seconds)
