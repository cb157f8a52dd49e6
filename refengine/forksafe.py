"""Locks that a forked process finds free, and what they guard whole."""

from __future__ import annotations

import os
import threading
from typing import Any


def lock() -> Any:
    """A reentrant lock that a fork waits for.

    A fork copies locks as they are but only the thread that forks: one that another thread held would never be free in
    the child. It is reentrant because the garbage collector may run code of ours while its own thread holds it.
    """
    made = threading.RLock()
    if hasattr(os, 'register_at_fork'):
        os.register_at_fork(before=made.acquire, after_in_parent=made.release, after_in_child=made.release)
    return made
