"""Adding up an array makes the next doubling of 4 die; alone, that is fine."""

import os

import sound
from sound import *  # noqa: F403

poisoned = []


def total(values):
    if not isinstance(values, list):
        poisoned.append(True)
    return sound.total(values)


def double(value):
    if value == 4 and poisoned:
        os._exit(3)
    return sound.double(value)
