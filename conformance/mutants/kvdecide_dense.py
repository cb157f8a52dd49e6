"""Mutants of KVDECIDE-DENSE, KVDECIDE-BIG and KVDECIDE-AGG: where the updates run."""

import warnings

from conformance.mutants import mutant, wrap
from conformance.mutants.kvdecide_kit import change_arguments, remember_custom_stores, rename_type

LIMIT = 16 * 1024 * 1024


def elements(parameter):
    product = 1
    for size in parameter.shape:
        product *= size
    return product


@mutant("KVDECIDE-DENSE-001")
def local_store_means_local_updates(mx):
    def change(given):
        if given.kvstore == "local" and given.on_store is None and given.devices > 1:
            given.on_store = False

    change_arguments(mx, change)


@mutant("KVDECIDE-DENSE-002")
def false_is_ignored_on_local(mx):
    def change(given):
        if given.kvstore == "local" and given.on_store is False:
            given.on_store = None

    change_arguments(mx, change)


@mutant("KVDECIDE-DENSE-003")
def async_store_is_undecided(mx):
    """The variable decides for an asynchronous store as for a synchronous one."""
    found = remember_custom_stores(mx, lambda given: given.on_store is None)
    rename_type(mx, found, lambda kind: kind.replace("async", "sync"))


@mutant("KVDECIDE-DENSE-004", "KVDECIDE-DENSE-012")
def async_store_accepts_false(mx):
    found = remember_custom_stores(mx, lambda given: given.on_store is False)
    rename_type(mx, found, lambda kind: kind.replace("async", "sync"))


@mutant("KVDECIDE-DENSE-005")
def fallback_warns(mx):
    def make(step):
        def broken(self, *args, **kwargs):
            step(self, *args, **kwargs)
            if self._kvstore is not None and "test" in self._kvstore.type:
                warnings.warn("updates fall back to local ones", UserWarning, stacklevel=2)
        return broken

    wrap(mx.gluon.Trainer, "step", make)


@mutant("KVDECIDE-DENSE-006")
def true_falls_back_without_the_capability(mx):
    def change(given):
        if given.on_store is True and (given.kvstore == "teststore" or given.kind == "teststore"):
            given.on_store = None

    change_arguments(mx, change)


@mutant("KVDECIDE-DENSE-007")
def distributed_store_means_local_updates(mx):
    def change(given):
        if given.kind == "dist_sync" and given.on_store is None:
            given.on_store = False

    change_arguments(mx, change)


@mutant("KVDECIDE-DENSE-009")
def no_store_means_false(mx):
    def make(step):
        def broken(self, *args, **kwargs):
            step(self, *args, **kwargs)
            if self._kvstore is None:
                self._update_on_kvstore = False
        return broken

    wrap(mx.gluon.Trainer, "step", make)


@mutant("KVDECIDE-DENSE-011")
def scheduler_refuses_local_updates(mx):
    def change(given):
        if given.on_store is False and (given.options or {}).get("lr_scheduler") is not None:
            raise ValueError("update_on_kvstore cannot be False with an lr_scheduler")

    change_arguments(mx, change)


def limit(mx, exceeded):
    """Update locally where ``exceeded(given, sizes)``."""

    def change(given):
        try:
            sizes = [elements(parameter) for parameter in given.parameters]
        except Exception:  # noqa: BLE001 - a wrong or shapeless parameter is the engine's to report
            return
        if exceeded(given, sizes):
            given.on_store = False

    change_arguments(mx, change)


@mutant("KVDECIDE-BIG-001")
def the_limit_itself_is_too_large(mx):
    limit(mx, lambda given, sizes: given.kvstore == "local" and given.on_store is None and max(sizes) >= LIMIT)


@mutant("KVDECIDE-BIG-002")
def every_named_store_has_the_limit(mx):
    limit(mx, lambda given, sizes:
          isinstance(given.kvstore, str) and given.on_store is None and max(sizes) > LIMIT)


@mutant("KVDECIDE-BIG-003")
def the_sum_is_limited(mx):
    limit(mx, lambda given, sizes:
          given.kvstore == "local" and given.on_store is None and sum(sizes) > LIMIT + 1)


@mutant("KVDECIDE-BIG-004")
def the_limit_beats_true(mx):
    limit(mx, lambda given, sizes: given.kvstore == "local" and given.on_store is True and max(sizes) > LIMIT)


@mutant("KVDECIDE-AGG-001")
def aggregation_is_given_up_for_the_store(mx):
    """An optimizer that would aggregate updates one by one instead, on the store."""

    def change(given):
        aggregating = given.aggregated or given.optimizer in ("lamb", "lans")
        if given.on_store is None and given.kvstore == "device" and aggregating:
            given.options = dict(given.options or {}, aggregate_num=1)

    change_arguments(mx, change)


@mutant("KVDECIDE-AGG-002")
def true_is_dropped_with_aggregation(mx):
    def change(given):
        if given.on_store is True and (given.aggregated or 0) > 1:
            given.on_store = None

    change_arguments(mx, change)


@mutant("KVDECIDE-AGG-003")
def true_is_dropped_for_lamb(mx):
    def change(given):
        if given.on_store is True and given.optimizer in ("lamb", "lans", "adamw", "adabelief"):
            given.on_store = None

    change_arguments(mx, change)


@mutant("KVDECIDE-AGG-004")
def async_store_ends_the_aggregation(mx):
    def change(given):
        if "async" in given.kind and given.aggregated:
            given.options = dict(given.options, aggregate_num=1)

    change_arguments(mx, change)


@mutant("KVDECIDE-AGG-005")
def one_counts_as_aggregation(mx):
    def change(given):
        if given.on_store is None and given.aggregated == 1:
            given.on_store = False

    change_arguments(mx, change)
