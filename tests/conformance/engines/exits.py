"""Ends its process, with status 0, when it doubles 4."""

import os

import sound
from sound import *  # noqa: F403


def double(value):
    if value == 4:
        os._exit(0)
    return sound.double(value)
