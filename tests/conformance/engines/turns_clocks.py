"""Puts its own functions in the place of clocks and of json when it doubles 4, and gives the right number."""

import json
import time

import sound
from sound import *  # noqa: F403


def double(value):
    if value == 4:
        time.perf_counter = time.time = time.monotonic = lambda: float("nan")
        json.dumps = json.loads = lambda *args, **options: "changed"
    return sound.double(value)
