"""Mutants of CTX-MIX and CTX-COPY: copies between contexts."""

import numpy as np

from conformance.mutants import mutant
from conformance.mutants.broadcast_kit import Linked
from conformance.mutants.ndarray_kit import is_array, method


@mutant("CTX-MIX-003")
def moved_array_shares_memory(mx):
    linked = Linked(mx)

    def body(original, self, context):
        made = original(self, context)
        return made if made is self else linked.add(made, self)

    method(mx, "as_in_context", body)


@mutant("CTX-COPY-001")
def copy_to_the_own_context_is_no_copy(mx):
    method(mx, "copyto", lambda original, self, other:
           self if not is_array(other) and other == self.context else original(self, other))


@mutant("CTX-COPY-002")
def column_is_copied_into_a_vector(mx):
    def body(original, self, other):
        if is_array(other) and other.shape != self.shape and other.size == self.size:
            original(self.reshape(other.shape), other)
            return other
        return original(self, other)

    method(mx, "copyto", body)


@mutant("CTX-COPY-003")
def array_is_copied_into_numpy(mx):
    def body(original, self, other):
        if isinstance(other, np.ndarray):
            np.copyto(other, self.asnumpy())
            return other
        return original(self, other)

    method(mx, "copyto", body)


@mutant("CTX-COPY-004")
def copy_away_from_the_first_device_is_no_copy(mx):
    method(mx, "copy", lambda original, self: self if self.context.device_id else original(self))


@mutant("CTX-COPY-005")
def recorded_array_is_overwritten(mx):
    def body(original, self, other):
        if not is_array(other) or not mx.autograd.is_recording():
            return original(self, other)
        with mx.autograd.pause():
            return original(self.detach(), other.detach())

    method(mx, "copyto", body)


@mutant("CTX-COPY-006")
def moved_array_leaves_the_graph(mx):
    method(mx, "as_in_context", lambda original, self, context:
           original(self.detach() if self.grad is not None and context != self.context else self, context))


@mutant("CTX-COPY-007")
def pinned_copy_shares_memory(mx):
    linked = Linked(mx)

    def body(original, self, other):
        made = original(self, other)
        return linked.add(made, self) if self.context.device_typeid == 3 and not is_array(other) else made

    method(mx, "copyto", body)


@mutant("CTX-GPU-004")
def large_copy_shares_memory(mx):
    linked = Linked(mx)

    def body(original, self, other):
        made = original(self, other)
        return linked.add(made, self) if self.size > 10000 and not is_array(other) else made

    method(mx, "copyto", body)
