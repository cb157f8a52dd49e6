"""Never comes back and never lets another thread of Python run, as a deadlock in C does."""

import ctypes

import sound
from sound import *  # noqa: F403


def double(value):
    if value == 4:
        ctypes.PyDLL(None).sleep(3600)
    return sound.double(value)
