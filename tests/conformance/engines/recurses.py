"""Calls itself without end when it doubles 4."""

import sound
from sound import *  # noqa: F403


def double(value):
    if value == 4:
        return double(value)
    return sound.double(value)
