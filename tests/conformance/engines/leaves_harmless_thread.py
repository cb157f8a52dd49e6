"""Every doubling leaves a thread behind that does nothing."""

import threading
import time

import sound
from sound import *  # noqa: F403


def double(value):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    return sound.double(value)
