"""Calls sys.exit when it doubles 4."""

import sys

import sound
from sound import *  # noqa: F403


def double(value):
    if value == 4:
        sys.exit(0)
    return sound.double(value)
