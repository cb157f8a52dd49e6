"""Raises KeyboardInterrupt when it doubles 4."""

import sound
from sound import *  # noqa: F403


def double(value):
    if value == 4:
        raise KeyboardInterrupt
    return sound.double(value)
