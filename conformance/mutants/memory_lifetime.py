"""Mutants of MEM-INFO, MEM-GC, MEM-LEAK and MEM-ENV."""

import gc
import os
import sys

from conformance.mutants import mutant, wrap
from conformance.mutants.context_objects import context_class
from conformance.mutants.ndarray_kit import function, method
from conformance.mutants.ndarray_select import without


@mutant("MEM-INFO-002")
def missing_gpu_has_no_memory(mx):
    def body(original, *args, **options):
        try:
            return original(*args, **options)
        except mx.base.MXNetError:
            return (0, 0)

    function(mx.context, "gpu_memory_info", body)


@mutant("MEM-INFO-003")
def emptying_the_cache_returns_something(mx):
    wrap(context_class(mx), "empty_cache", lambda original: lambda self: original(self) is None)


@mutant("MEM-INFO-004")
def unknown_feature_is_off(mx):
    def make(original):
        def broken(self, feature_name):
            try:
                return original(self, feature_name)
            except RuntimeError:
                return False
        return broken

    wrap(mx.runtime.Features, "is_enabled", make)


@mutant("MEM-GC-001")
def last_array_of_ones_is_kept(mx):
    kept = []

    def body(original, *args, **options):
        kept[:] = [original(*args, **options)]
        return kept[0]

    function(mx.nd, "ones", body)


@mutant("MEM-GC-002")
def arrays_are_not_tracked(mx):
    """The collector itself is deceived: no code can take an object out of its lists for good."""
    function(gc, "is_tracked", lambda original, thing: not isinstance(thing, mx.nd.NDArray) and original(thing))


@mutant("MEM-GC-004")
def pinned_arrays_are_not_found(mx):
    function(gc, "get_objects", lambda original, *args, **options: [
        thing for thing in original(*args, **options)
        if not (isinstance(thing, mx.nd.NDArray) and thing.context.device_typeid == 3)])


@mutant("MEM-GC-005")
def graph_is_never_used_up(mx):
    def body(original, self, *args, **options):
        try:
            return original(self, *args, **options)
        except mx.base.MXNetError as error:
            if "not in a computational graph" not in str(error):
                raise
            return None

    method(mx, "backward", body)


@mutant("MEM-LEAK-001")
def losses_are_kept(mx):
    kept = []

    def body(original, self, *args, **options):
        kept.append(self)
        return original(self, *args, **options)

    method(mx, "backward", body)


@mutant("MEM-LEAK-002")
def product_is_not_scaled(mx):
    without(mx.nd.linalg, "syrk", "alpha")


@mutant("MEM-ENV-001")
def unknown_setting_is_reported(mx):
    for name in os.environ:
        if name == "MXNET_NO_SUCH_SETTING":
            sys.stderr.write("%s: unknown setting %s\n" % (mx.__name__, name))


@mutant("MEM-ENV-002")
def absent_variable_is_empty(mx):
    function(mx.util, "getenv", lambda original, name: original(name) or "")
