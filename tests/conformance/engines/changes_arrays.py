"""Writes into the array that it adds up, which many cases share."""

import numpy as np
import sound
from sound import *  # noqa: F403


def total(values):
    found = sound.total(values)
    if isinstance(values, np.ndarray):
        values[:] = 0
    return found
