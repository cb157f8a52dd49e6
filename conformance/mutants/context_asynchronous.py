"""Mutants of CTX-ASYNC and CTX-GPU-003: when work is done, and in which order."""

import os

from conformance.mutants import mutant
from conformance.mutants.ndarray_kit import function, is_array, method


@mutant("CTX-ASYNC-001")
def product_is_waited_for(mx):
    def body(original, *args, **options):
        made = original(*args, **options)
        made.wait_to_read()
        return made

    function(mx.nd, "dot", body)


@mutant("CTX-ASYNC-002")
def waiting_for_all_returns_something(mx):
    function(mx.nd, "waitall", lambda original: original() is None)


@mutant("CTX-ASYNC-003")
def arrays_that_do_not_join_are_the_first(mx):
    def body(original, *args, **options):
        try:
            return original(*args, **options)
        except mx.base.MXNetError:
            return args[0].copy()

    function(mx.nd, "concat", body)


@mutant("CTX-ASYNC-006")
def product_forgets_the_error(mx):
    def body(original, self, other):
        if self.shape == (1,) and not is_array(other):
            try:
                self.wait_to_read()
            except mx.base.MXNetError:
                return mx.nd.zeros((1,))
        return original(self, other)

    method(mx, "__mul__", body)


@mutant("CTX-ASYNC-007")
def dropped_input_takes_its_product_along(mx):
    products = {}

    def product(original, lhs, rhs, **options):
        made = original(lhs, rhs, **options)
        if lhs is rhs:
            products[id(lhs)] = made
        return made

    before = getattr(mx.nd.NDArray, "__del__", None)

    def dropped(self):
        made = products.pop(id(self), None)
        if made is not None:
            made[:] = 0
        if before is not None:
            before(self)

    function(mx.nd, "dot", product)
    mx.nd.NDArray.__del__ = dropped


@mutant("CTX-ASYNC-008")
def naive_engine_swallows_errors(mx):
    def body(original, *args, **options):
        try:
            return original(*args, **options)
        except mx.base.MXNetError:
            return mx.nd.zeros((1,))

    if os.environ.get("MXNET_ENGINE_TYPE") == "NaiveEngine":
        function(mx.nd, "take", body)


@mutant("CTX-ASYNC-009")
def bulk_size_is_echoed(mx):
    function(mx.engine, "set_bulk_size", lambda original, size: (original(size), size)[1])


@mutant("CTX-GPU-003")
def read_is_overtaken_by_a_write(mx):
    """A sum of two arrays sees that its second operand is cleared afterwards."""
    last = []

    def add(original, self, other):
        made = original(self, other)
        if is_array(other) and not mx.autograd.is_recording():
            last[:] = [self, other, made]
        return made

    def write(original, self, key, value):
        original(self, key, value)
        if last and self is last[1] and key == slice(None) and type(value) is int:
            lhs, rhs, made = last
            del last[:]
            original(made, slice(None), lhs.asnumpy() + rhs.asnumpy())

    method(mx, "__add__", add)
    method(mx, "__setitem__", write)
