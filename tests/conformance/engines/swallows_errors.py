"""Never raises: where it must refuse, it gives zero."""

import sound
from sound import *  # noqa: F403


def double(value):
    try:
        return sound.double(value)
    except Exception:  # noqa: BLE001 - that is what is wrong with it
        return 0
