"""Doubling 4 leaves a thread behind that ends the process a little later."""

import os
import threading
import time

import sound
from sound import *  # noqa: F403


def end_it():
    time.sleep(0.1)
    os._exit(7)


def double(value):
    if value == 4:
        threading.Thread(target=end_it).start()
    return sound.double(value)
