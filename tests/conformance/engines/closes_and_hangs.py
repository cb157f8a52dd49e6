"""Closes the harness's pipes and never ends."""

import os
import time

import sound
from sound import *  # noqa: F403


def double(value):
    if value == 4:
        os.closerange(3, 256)
        while True:
            time.sleep(0.1)
    return sound.double(value)
