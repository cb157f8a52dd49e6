"""Calls abort, as a failed assertion in C does, after saying why on stderr."""

import os

import sound
from sound import *  # noqa: F403


def double(value):
    if value == 4:
        os.write(2, b"assertion failed: value != 4\n")
        os.abort()
    return sound.double(value)
