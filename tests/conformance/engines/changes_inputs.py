"""Empties the list that it adds up, when it is a short one."""

import sound
from sound import *  # noqa: F403


def total(values):
    found = sound.total(values)
    if len(values) == 2:
        values.clear()
    return found
