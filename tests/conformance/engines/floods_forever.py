"""Writes to stderr without end when it doubles 4."""

import os

import sound
from sound import *  # noqa: F403


def double(value):
    while value == 4:
        os.write(2, b"more and more\n" * 4000)
    return sound.double(value)
