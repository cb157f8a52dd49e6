"""Mutants of TRAINER-ERR."""

import numpy as np

from conformance.mutants import mutant
from conformance.mutants import trainer_kit as tools


@mutant("TRAINER-ERR-003")
def scheduler_forces_the_store(mx):
    """A scheduler with update_on_kvstore=False is refused."""

    def before(arguments):
        if "lr_scheduler" in (arguments.get("optimizer_params") or {}) and arguments.get("update_on_kvstore") is False:
            raise ValueError("Cannot set update_on_kvstore=False when a scheduler is present.")

    tools.constructor(mx, before)


@mutant("TRAINER-ERR-005")
def store_without_optimizer_is_another_error(mx):
    """Updates on a store without an optimizer raise TypeError."""
    tools.other_error(mx.gluon.Trainer, "step", ValueError, "Please set update_on_kvstore=False", TypeError)


@mutant("TRAINER-ERR-008")
def retry_is_silent(mx):
    """A step that failed to make its store does nothing when it is tried again."""
    failed = set()

    def body(original, trainer, batch_size, ignore_stale_grad):
        if trainer in failed:
            return None
        try:
            return original(trainer, batch_size, ignore_stale_grad)
        except (TypeError, ValueError):
            failed.add(trainer)
            raise

    tools.step(mx, body)


@mutant("TRAINER-ERR-009")
def parameters_without_a_store_are_ignored(mx):
    """_init_params without a store does nothing."""
    tools.other_error(mx.gluon.Trainer, "_init_params", AssertionError, "")


@mutant("TRAINER-ERR-010")
def integers_are_refused(mx):
    """A parameter that is not of a floating point type is refused."""

    def before(arguments):
        for parameter in tools.listed(arguments["params"]):
            if np.dtype(parameter.dtype).kind != "f":
                raise TypeError("cannot train a parameter of dtype %s" % parameter.dtype)

    tools.constructor(mx, before)
