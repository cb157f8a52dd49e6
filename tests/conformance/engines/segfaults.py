"""Reads address 0 when it doubles 4."""

import ctypes

import sound
from sound import *  # noqa: F403


def double(value):
    if value == 4:
        ctypes.string_at(0)
    return sound.double(value)
