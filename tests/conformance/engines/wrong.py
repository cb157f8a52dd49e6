"""Gives the wrong number when it doubles 4."""

import sound
from sound import *  # noqa: F403


def double(value):
    return 9 if value == 4 else sound.double(value)
