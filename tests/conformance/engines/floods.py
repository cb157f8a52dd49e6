"""Writes 40 MB to stderr when it doubles 4, and then gives the wrong number."""

import os

import sound
from sound import *  # noqa: F403


def double(value):
    if value == 4:
        os.write(2, b"first words\n")
        for _ in range(40):
            os.write(2, b"noise \xff\x00\x1b[31m" * 80000)
        os.write(2, b"\nlast words\n")
        return 9
    return sound.double(value)
