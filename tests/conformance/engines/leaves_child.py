"""Leaves a child behind that keeps all pipes open, and dies."""

import os
import subprocess

import sound
from sound import *  # noqa: F403


def double(value):
    if value == 4:
        subprocess.Popen(["sleep", "30"], close_fds=False)
        os._exit(1)
    return sound.double(value)
