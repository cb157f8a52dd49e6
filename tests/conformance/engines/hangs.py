"""Never comes back when it doubles 4."""

import time

import sound
from sound import *  # noqa: F403


def double(value):
    while value == 4:
        time.sleep(3600)
    return sound.double(value)
