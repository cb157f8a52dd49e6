"""Mutants of AUTOGRAD-ATTACH, -MARK and -CTX: variables and their buffers."""

import numpy as np

from conformance.mutants import mutant, wrap
from conformance.mutants.autograd_kit import attached, backward, is_array, replace


@mutant("AUTOGRAD-ATTACH-001")
def attaching_returns_the_array(mx):
    def body(original, array, grad_req):
        original(array, grad_req)
        return array

    attached(mx, body)


@mutant("AUTOGRAD-ATTACH-001")
def buffer_has_single_precision(mx):
    """The gradient of a float64 array is given as float32."""

    def make(grad):
        def read(self):
            found = grad(self)
            return found.astype("float32") if found is not None and found.dtype == np.float64 else found
        return read

    wrap(mx.nd.NDArray, "grad", make)


@mutant("AUTOGRAD-ATTACH-002")
def unknown_request_means_write(mx):
    attached(mx, lambda original, array, grad_req: original(
        array, grad_req if grad_req in ("write", "add", "null") else "write"))


@mutant("AUTOGRAD-ATTACH-003")
def add_overwrites(mx):
    attached(mx, lambda original, array, grad_req: original(array, "write" if grad_req == "add" else grad_req))


@mutant("AUTOGRAD-ATTACH-004")
def null_takes_a_gradient(mx):
    attached(mx, lambda original, array, grad_req: original(array, "write" if grad_req == "null" else grad_req))


@mutant("AUTOGRAD-ATTACH-005", "AUTOGRAD-ATTACH-007")
def attaching_while_recording_does_nothing(mx):
    def body(original, array, grad_req):
        if not mx.autograd.is_recording():
            original(array, grad_req)

    attached(mx, body)


@mutant("AUTOGRAD-ATTACH-006")
def attaching_again_keeps_the_buffer(mx):
    def body(original, array, grad_req):
        old = array.grad
        original(array, grad_req)
        if old is not None:
            mx.autograd.mark_variables([array], [old], grad_req)

    attached(mx, body)


@mutant("AUTOGRAD-ATTACH-008")
def storage_type_of_the_buffer_is_ignored(mx):
    attached(mx, lambda original, array, grad_req: original(array, grad_req, stype=None))


@mutant("AUTOGRAD-ATTACH-009")
def gradient_is_one_object(mx):
    """x.grad gives the same object every time."""
    kept = []

    def make(grad):
        def read(self):
            for array, found in kept:
                if array is self:
                    return found
            found = grad(self)
            if found is not None:
                kept.append((self, found))
            return found
        return read

    def attach(original, array, grad_req):
        kept[:] = [pair for pair in kept if pair[0] is not array]
        original(array, grad_req)

    wrap(mx.nd.NDArray, "grad", make)
    attached(mx, attach)


@mutant("AUTOGRAD-ATTACH-010")
def gradient_can_be_assigned(mx):
    def write(self, value):
        if value is not None:
            self.grad[:] = value

    mx.nd.NDArray.grad = property(mx.nd.NDArray.__dict__["grad"].fget, write)


@mutant("AUTOGRAD-ATTACH-011")
def integers_take_no_gradient(mx):
    def body(original, array, grad_req):
        if np.dtype(array.dtype).kind == "i":
            raise TypeError("only floating point arrays can be attached")
        original(array, grad_req)

    attached(mx, body)


@mutant("AUTOGRAD-ATTACH-013")
def gradient_follows_the_name(mx):
    """x + 1 outside record has a gradient buffer if x has one."""

    def body(original, self, other):
        result = original(self, other)
        if self.grad is not None and not mx.autograd.is_recording():
            result.attach_grad()
        return result

    replace(mx.nd.NDArray, "__add__", body)


@mutant("AUTOGRAD-ATTACH-014")
def head_has_a_gradient(mx):
    """After backward, grad of the head is not None."""
    heads = []

    def body(original, head, out_grad, retain_graph):
        original(head, out_grad, retain_graph)
        heads.append(head)

    def make(grad):
        def read(self):
            found = grad(self)
            if found is None and any(head is self for head in heads):
                return mx.nd.ones_like(self)
            return found
        return read

    backward(mx, body)
    wrap(mx.nd.NDArray, "grad", make)


@mutant("AUTOGRAD-CTX-001")
def gradients_are_given_on_the_first_cpu(mx):
    def make(grad):
        def read(self):
            found = grad(self)
            if found is None or found.context == mx.cpu(0) or found.dtype != np.float32:
                return found
            return found.as_in_context(mx.cpu(0))
        return read

    wrap(mx.nd.NDArray, "grad", make)


def _listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


@mutant("AUTOGRAD-MARK-001")
def given_buffer_is_copied(mx):
    """The only buffer given to mark_variables is not the gradient itself."""

    def body(original, variables, gradients, grad_reqs="write"):
        if is_array(mx, variables) and is_array(mx, gradients):
            return original(variables, gradients.copy(), grad_reqs)
        if len(_listed(variables)) == len(_listed(gradients)) == 1 and isinstance(gradients, list):
            gradients = [gradients[0].copy()]
        return original(variables, gradients, grad_reqs)

    replace(mx.autograd, "mark_variables", body)


@mutant("AUTOGRAD-MARK-001")
def bad_request_is_taken_as_write(mx):
    def body(original, variables, gradients, grad_reqs="write"):
        return original(variables, gradients, "write" if grad_reqs == "foo" else grad_reqs)

    replace(mx.autograd, "mark_variables", body)


@mutant("AUTOGRAD-MARK-002")
def buffer_serves_one_variable(mx):
    """A buffer that is given twice counts for the first variable only."""

    def body(original, variables, gradients, grad_reqs="write"):
        if isinstance(gradients, list):
            gradients = [buffer if not any(buffer is other for other in gradients[:index]) else buffer.copy()
                         for index, buffer in enumerate(gradients)]
        return original(variables, gradients, grad_reqs)

    replace(mx.autograd, "mark_variables", body)
