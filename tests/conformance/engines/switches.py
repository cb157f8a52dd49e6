"""Has switches for autograd and numpy mode, and leaves them all on after doubling 4."""

import types

import sound
from sound import *  # noqa: F403

state = {"recording": False, "training": False, "mode": (False, False)}


def module(name, **members):
    made = types.ModuleType(name)
    vars(made).update(members)
    return made


autograd = module(
    "autograd",
    is_recording=lambda: state["recording"], set_recording=lambda on: state.update(recording=on),
    is_training=lambda: state["training"], set_training=lambda on: state.update(training=on),
)
util = module("util", is_np_shape=lambda: state["mode"][0], is_np_array=lambda: state["mode"][1])
npx = module(
    "npx",
    set_np=lambda shape=True, array=True: state.update(mode=(shape, array)),
    reset_np=lambda: state.update(mode=(False, False)),
)


def double(value):
    if state != {"recording": False, "training": False, "mode": (False, False)}:
        return None
    if value == 4:
        state.update(recording=True, training=True, mode=(True, True))
    return sound.double(value)
