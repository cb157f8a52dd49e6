"""Mutants of MEM-REUSE, MEM-OUT and MEM-ALLOC."""

import numpy as np

from conformance.mutants import mutant, wrap
from conformance.mutants.ndarray_kit import function, is_array, method


@mutant("MEM-REUSE-001")
def cleared_buffer_leaves_its_view(mx):
    """Clearing an array puts back what the last slice taken of it held."""
    last = []

    def read(original, self, key):
        made = original(self, key)
        if isinstance(key, slice) and len(self.shape) == 2:
            last[:] = [self, made, made.asnumpy()]
        return made

    def write(original, self, key, value):
        original(self, key, value)
        if last and self is last[0] and type(value) is int and value == 0 and key == slice(None):
            original(last[1], slice(None), last[2])

    method(mx, "__getitem__", read)
    method(mx, "__setitem__", write)


@mutant("MEM-REUSE-005")
def array_with_views_is_replaced(mx):
    """An array of which a row was taken makes room for a new one when a number is added in place."""
    viewed = []

    def read(original, self, key):
        if type(key) is int and len(self.shape) == 2:
            viewed[:] = [self]
        return original(self, key)

    method(mx, "__getitem__", read)
    method(mx, "__iadd__", lambda original, self, other:
           self + other if viewed and viewed[0] is self and not is_array(other) else original(self, other))


@mutant("MEM-OUT-001")
def target_of_another_dtype_is_converted_into(mx):
    def body(original, data, out=None, **options):
        if is_array(out) and out.dtype != data.dtype:
            out[:] = original(data, **options).astype(out.dtype)
            return out
        return original(data, **(options if out is None else dict(options, out=out)))

    function(mx.nd, "exp", body)


@mutant("MEM-OUT-002")
def second_target_is_spoiled(mx):
    def body(original, *args, **options):
        made = original(*args, **options)
        if isinstance(options.get("out"), list):
            options["out"][1][:] = -1
        return made

    function(mx.nd, "topk", body)


@mutant("MEM-ALLOC-002")
def array_shares_memory_with_its_source(mx):
    last = []

    def array(original, source_array, *args, **options):
        made = original(source_array, *args, **options)
        if isinstance(source_array, (list, np.ndarray)):
            last[:] = [made, source_array]
        return made

    def write(original, self, key, value):
        original(self, key, value)
        if last and self is last[0] and len(self.shape) == 1 and self.dtype == np.float32:
            last[1][:] = self.asnumpy().tolist()

    function(mx.nd, "array", array)
    method(mx, "__setitem__", write)


@mutant("MEM-ALLOC-003")
def block_returns_no_dictionary(mx):
    def make(original):
        def broken(self, *args, **options):
            made = original(self, *args, **options)
            if isinstance(made, dict):
                raise TypeError("a block returns arrays, got a dictionary")
            return made
        return broken

    wrap(mx.gluon.Block, "__call__", make)
