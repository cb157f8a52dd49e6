"""Forks when it doubles 4 and lets the child come back too; the parent gives the wrong number."""

import os

import sound
from sound import *  # noqa: F403


def double(value):
    if value == 4:
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            return 9
    return sound.double(value)
