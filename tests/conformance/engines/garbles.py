"""Writes into every file that is open, the harness pipe included."""

import contextlib
import os

import sound
from sound import *  # noqa: F403


def double(value):
    if value == 4:
        for descriptor in range(64):
            with contextlib.suppress(OSError):
                os.write(descriptor, b"garbage\n")
    return sound.double(value)
