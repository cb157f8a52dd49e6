"""Leaves a switch on after doubling 4 that cannot be switched off again."""

import types

import sound
from sound import *  # noqa: F403

autograd = types.ModuleType("autograd")
on = []


def set_recording(value):
    raise SystemExit("broken switch")


autograd.is_recording = lambda: bool(on)
autograd.set_recording = set_recording


def double(value):
    if on:
        return None
    if value == 4:
        on.append(True)
    return sound.double(value)
