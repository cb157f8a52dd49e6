"""Takes stdout and stderr away, at both levels, and gives the wrong number."""

import os
import sys

import sound
from sound import *  # noqa: F403


def double(value):
    if value == 4:
        sys.stdout = sys.stderr = sys.__stdout__ = None
        os.close(1)
        os.close(2)
        return 9
    return sound.double(value)
