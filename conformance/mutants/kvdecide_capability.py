"""Mutants of KVDECIDE-CAP: what a store can do, and custom stores."""

import warnings

from conformance.mutants import mutant, wrap
from conformance.mutants.kvdecide_kit import change_arguments, remember_custom_stores, rename_type


@mutant("KVDECIDE-CAP-001")
def local_store_has_no_optimizer(mx):
    def make(is_capable):
        def broken(self, capability):
            return is_capable(self, capability) and self.type != "local"
        return broken

    wrap(mx.kvstore.KVStore, "is_capable", make)


@mutant("KVDECIDE-CAP-002")
def capability_in_capitals_is_unknown(mx):
    def make(is_capable):
        def broken(self, capability):
            if capability != capability.lower():
                raise ValueError("Unknown capability: %s" % capability)
            return is_capable(self, capability)
        return broken

    wrap(mx.kvstore.KVStore, "is_capable", make)


@mutant("KVDECIDE-CAP-002")
def unknown_capability_is_lacking(mx):
    def make(is_capable):
        def broken(self, capability):
            try:
                return is_capable(self, capability)
            except ValueError:
                return False
        return broken

    wrap(mx.kvstore.KVStore, "is_capable", make)


@mutant("KVDECIDE-CAP-004")
def base_store_has_rank_zero(mx):
    def make(rank):
        del rank
        return lambda self: 0

    wrap(mx.kvstore.KVStoreBase, "rank", make)


@mutant("KVDECIDE-CAP-005")
def register_overrides_silently(mx):
    def make(register):
        def broken(klass):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return register(klass)
        return broken

    wrap(mx.kvstore.KVStoreBase, "register", make)


def custom(mx, store):
    return isinstance(store, mx.kvstore.KVStoreBase) and not isinstance(store, mx.kvstore.KVStore)


@mutant("KVDECIDE-CAP-006")
def pushpull_has_no_priority(mx):
    def change(given):
        if custom(mx, given.kvstore):
            pushpull = given.kvstore.pushpull
            given.kvstore.pushpull = lambda key, value, out=None, priority=0: pushpull(key, value, out=out)

    change_arguments(mx, change)


@mutant("KVDECIDE-CAP-007")
def optimizer_is_handed_over_twice(mx):
    def change(given):
        if custom(mx, given.kvstore) and "set_optimizer" in type(given.kvstore).__dict__:
            set_optimizer = given.kvstore.set_optimizer

            def twice(optimizer):
                set_optimizer(optimizer)
                set_optimizer(optimizer)

            given.kvstore.set_optimizer = twice

    change_arguments(mx, change)


@mutant("KVDECIDE-CAP-008")
def only_known_types_are_distributed(mx):
    """A type must start with "dist" to count as distributed."""
    found = remember_custom_stores(mx, lambda given: True)
    rename_type(mx, found, lambda kind: kind if kind.startswith("dist") else "store")
