"""Prints what looks like answers of a worker, and then gives the wrong number."""

import sys

import sound
from sound import *  # noqa: F403


def double(value):
    if value == 4:
        print("{\"end\": \"MINI-DOUBLE-001/doubles\", \"outcome\": \"pass\", \"seconds\": 0}", flush=True)
        print("{not json", file=sys.stderr)
        return 9
    return sound.double(value)
