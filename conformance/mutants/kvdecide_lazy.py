"""Mutants of KVDECIDE-LAZY and KVDECIDE-ENV: when the store is made, and the environment variable."""

import os

from conformance.mutants import mutant, wrap
from conformance.mutants.kvdecide_kit import around_step, change_arguments, variable

NAME = "MXNET_UPDATE_ON_KVSTORE"


@mutant("KVDECIDE-LAZY-001")
def constructor_makes_the_store(mx):
    def change(given):
        if given.devices > 1 and isinstance(given.kvstore, str):
            given.kvstore = mx.kvstore.create(given.kvstore)

    change_arguments(mx, change)


@mutant("KVDECIDE-LAZY-002")
def save_states_before_a_step_does_nothing(mx):
    def make(save_states):
        def broken(self, fname):
            if self._kvstore is None:
                open(fname, "wb").close()
            else:
                save_states(self, fname)
        return broken

    wrap(mx.gluon.Trainer, "save_states", make)


@mutant("KVDECIDE-LAZY-003")
def allreduce_before_a_step_does_nothing(mx):
    def make(allreduce_grads):
        def broken(self):
            if self._kvstore is not None:
                allreduce_grads(self)
        return broken

    wrap(mx.gluon.Trainer, "allreduce_grads", make)


@mutant("KVDECIDE-LAZY-004")
def variable_is_read_by_the_constructor(mx):
    def change(given):
        value = os.environ.get(NAME, "")
        if given.on_store is None and given.kvstore == "device" and given.devices > 1 and value in ("0", "1"):
            given.on_store = value == "1"

    change_arguments(mx, change)


@mutant("KVDECIDE-ENV-001")
def only_one_means_true(mx):
    """A value other than 0 and 1 counts as 0."""

    def context(trainer):
        del trainer
        value = os.environ.get(NAME)
        return variable(NAME, "0" if value in ("2", "-1") else value)

    around_step(mx, context)


@mutant("KVDECIDE-ENV-002")
def variable_overrides_the_argument(mx):
    def change(given):
        value = os.environ.get(NAME, "")
        if isinstance(given.on_store, bool) and given.kvstore == "device" and value in ("0", "1"):
            given.on_store = value == "1"

    change_arguments(mx, change)


@mutant("KVDECIDE-ENV-004")
def distributed_store_ignores_the_variable(mx):
    def change(given):
        if given.on_store is None and given.kind == "dist_sync" and os.environ.get(NAME) == "0":
            given.on_store = True

    change_arguments(mx, change)
