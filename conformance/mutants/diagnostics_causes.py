"""Mutants of DIAG: messages, and what breaks a gradient."""

from conformance.mutants import mutant, wrap
from conformance.mutants.autograd_kit import after, backward, is_array, other_error, replace


@mutant("DIAG-MSG-001")
def product_of_unfit_matrices_is_a_shape_mismatch(mx):
    def renamed(error, *args, **kwargs):
        raise mx.base.MXNetError("Shape mismatch") from error

    other_error(mx.nd, "dot", mx.base.MXNetError, "dot shape error", renamed)


@mutant("DIAG-MSG-002")
def gradient_error_speaks_of_a_parameter(mx):
    def body(original, head, out_grad, retain_graph):
        try:
            original(head, out_grad, retain_graph)
        except mx.base.MXNetError as error:
            raise mx.base.MXNetError("gradient not defined for parameter. %s" % error) from error

    backward(mx, body)


@mutant("DIAG-MSG-003")
def index_error_is_an_error_of_the_engine(mx):
    def renamed(error, *args, **kwargs):
        raise mx.base.MXNetError(str(error)) from error

    other_error(mx.nd.NDArray, "asnumpy", IndexError, "", renamed)


@mutant("DIAG-AG-001")
def assigned_variable_takes_no_gradient(mx):
    """w[:] = array outside record takes the mark off w."""

    def body(original, self, key, value):
        original(self, key, value)
        if is_array(mx, value) and self.grad is not None and not mx.autograd.is_recording():
            self.attach_grad("null")

    replace(mx.nd.NDArray, "__setitem__", body)


@mutant("DIAG-AG-002")
def intermediate_of_softmax_stops_the_gradient(mx):
    block = mx.nd.BlockGrad
    after(mx, mx.nd, "softmax", lambda result, *args, **options: block(result))


@mutant("DIAG-AG-004")
def mixed_devices_are_a_value_error(mx):
    def renamed(error, *args, **kwargs):
        raise ValueError("the operands are on different devices") from error

    other_error(mx.nd.NDArray, "__add__", mx.base.MXNetError, "same context", renamed)


@mutant("DIAG-AG-005")
def addition_in_place_is_silently_lost(mx):
    """+= on an array of the graph is done, unrecorded."""

    def body(original, self, other):
        before = mx.autograd.set_recording(False)
        try:
            return original(self, other)
        finally:
            mx.autograd.set_recording(before)

    replace(mx.nd.NDArray, "__iadd__", body)


@mutant("DIAG-AG-006")
def condition_of_several_elements_is_true(mx):
    other_error(mx.nd.NDArray, "__bool__", ValueError, "ambiguous", lambda error, self: True)


@mutant("DIAG-AG-007")
def clip_works_in_place(mx):
    def body(original, data, *args, **kwargs):
        result = original(data, *args, **kwargs)
        if "out" not in kwargs and not mx.autograd.is_recording():
            data[:] = result
        return result

    replace(mx.nd, "clip", body)


@mutant("DIAG-AG-008")
def assignment_to_the_gradient_makes_a_new_buffer(mx):
    """x.grad[:] = array gives x another buffer."""
    buffers = []

    def make(grad):
        def read(self):
            found = grad(self)
            if found is not None:
                buffers.append((found, self))
            return found
        return read

    def body(original, self, key, value):
        for buffer, owner in buffers:
            if buffer is self and is_array(mx, value):
                mx.autograd.mark_variables([owner], [value.copy()])
                return
        original(self, key, value)

    wrap(mx.nd.NDArray, "grad", make)
    replace(mx.nd.NDArray, "__setitem__", body)


@mutant("DIAG-AG-009")
def norm_is_given_after_scaling(mx):
    replace(mx.gluon.utils, "clip_global_norm", lambda original, arrays, limit, *args, **kwargs: min(
        float(original(arrays, limit, *args, **kwargs)), limit))


@mutant("DIAG-FINITE-001")
def nan_counts_as_finite(mx):
    def body(original, data, *args, **kwargs):
        return original(data, *args, **kwargs) + (data != data)

    replace(mx.nd.contrib, "isfinite", body)
