"""Mutants of CTX-OBJ and CTX-DEFAULT."""

import threading

from conformance.mutants import mutant, wrap
from conformance.mutants.broadcast_kit import operator
from conformance.mutants.ndarray_kit import function, is_array, method


def context_class(mx):
    """The class of the contexts; 2.0 keeps a function under the name Context."""
    return type(mx.cpu())


@mutant("CTX-OBJ-001")
def gpu_is_shown_with_a_colon(mx):
    wrap(context_class(mx), "__str__", lambda original: lambda self:
         original(self).replace("(1)", ":1") if self.device_typeid == 2 else original(self))


@mutant("CTX-OBJ-002")
def unknown_device_type_is_a_value_error(mx):
    def body(original, *args, **options):
        try:
            return original(*args, **options)
        except KeyError as error:
            raise ValueError("unknown device type %s" % error) from None

    original = mx.Context
    mx.Context = lambda *args, **options: body(original, *args, **options)


@mutant("CTX-OBJ-003")
def pinned_equals_shared(mx):
    wrap(context_class(mx), "__eq__", lambda original: lambda self, other:
         {self.device_typeid, getattr(other, "device_typeid", None)} == {3, 5} or original(self, other))


@mutant("CTX-OBJ-004")
def high_device_numbers_compute_on_the_first(mx):
    method(mx, "__add__", lambda original, self, other:
           original(self, other).as_in_context(mx.cpu(0)) if self.context.device_id > 50 else original(self, other))


@mutant("CTX-OBJ-005")
def result_stays_in_special_memory(mx):
    def body(original, self, other):
        made = original(self, other)
        if self.context.device_typeid in (3, 5) and not is_array(other):
            made = made.as_in_context(self.context)
        return made

    method(mx, "__add__", body)


@mutant("CTX-DEFAULT-001")
def linspace_ignores_the_current_context(mx):
    function(mx.nd, "linspace", lambda original, *args, **options:
             original(*args, **dict({"ctx": mx.cpu(0)}, **options)))


@mutant("CTX-DEFAULT-002")
def threads_start_elsewhere(mx):
    function(mx, "current_context", lambda original:
             original() if threading.current_thread() is threading.main_thread() else mx.cpu(7))


@mutant("CTX-DEFAULT-003")
def joined_array_lives_with_the_last(mx):
    function(mx.nd, "concat", lambda original, *args, **options:
             original(*args, **options).as_in_context(args[-1].context))


@mutant("CTX-MIX-001")
def gpu_operand_is_fetched(mx):
    operator(mx, "__add__", lambda x, other: x.context.device_typeid != other.context.device_typeid,
             lambda original, x, other: original(x, other.as_in_context(x.context)))


@mutant("CTX-MIX-002")
def indices_must_live_with_the_data(mx):
    def body(original, data, indices, **options):
        if is_array(indices) and data.context != indices.context:
            raise mx.base.MXNetError("take: the data live on %s, the indices on %s" % (data.context, indices.context))
        return original(data, indices, **options)

    function(mx.nd, "take", body)
