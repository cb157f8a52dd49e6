"""Mutants of AUTOGRAD-INPLACE and AUTOGRAD-VIEW: writes, views and copies in a recorded graph."""

from conformance.mutants import mutant
from conformance.mutants.autograd_kit import Operators, after, depth_of, doubles, is_array, replace

ASSIGNING = "Assigning to NDArrays that are already in a computational graph"


def _unrecorded(mx, when=lambda *args: True):
    """A body that runs a call unrecorded where *when* holds for its arguments."""
    def body(original, *args, **kwargs):
        before = mx.autograd.set_recording(mx.autograd.is_recording() and not when(*args))
        try:
            return original(*args, **kwargs)
        finally:
            mx.autograd.set_recording(before)
    return body


@mutant("AUTOGRAD-INPLACE-001", "AUTOGRAD-INPLACE-010")
def multiplying_in_place_is_not_checked(mx):
    """*= on an array of the graph is done, unrecorded."""
    replace(mx.nd.NDArray, "__imul__", _unrecorded(mx))


@mutant("AUTOGRAD-INPLACE-001")
def assigning_to_an_element_is_not_checked(mx):
    """x[0] = v on an array of the graph is done, unrecorded."""
    replace(mx.nd.NDArray, "__setitem__", _unrecorded(mx, lambda self, key, value: key == 0 and value == 5))


@mutant("AUTOGRAD-INPLACE-002")
def refused_addition_spoils_the_gradient(mx):
    def body(original, self, other):
        try:
            return original(self, other)
        except mx.base.MXNetError:
            if self.grad is not None:
                self.grad[:] = 9
            raise

    replace(mx.nd.NDArray, "__iadd__", body)


@mutant("AUTOGRAD-INPLACE-003")
def assignment_under_pause_is_refused(mx):
    paused = depth_of(mx, "pause")

    def body(original, self, key, value):
        if paused:
            raise mx.base.MXNetError(ASSIGNING)
        return original(self, key, value)

    replace(mx.nd.NDArray, "__setitem__", body)


@mutant("AUTOGRAD-INPLACE-003")
def update_loses_the_variable(mx):
    """w -= v outside record gives a new array without gradient."""
    subtract = mx.nd.elemwise_sub

    def body(original, self, other):
        if self.grad is not None and is_array(mx, other) and not mx.autograd.is_recording():
            return subtract(self, other)
        return original(self, other)

    replace(mx.nd.NDArray, "__isub__", body)


@mutant("AUTOGRAD-INPLACE-004")
def float_is_not_written_to_a_variable(mx):
    """x[:] = 2.0 on a variable outside record changes nothing."""

    def body(original, self, key, value):
        if not isinstance(value, float) or self.grad is None or mx.autograd.is_recording():
            original(self, key, value)

    replace(mx.nd.NDArray, "__setitem__", body)


@mutant("AUTOGRAD-INPLACE-006")
def whole_assignment_is_not_recorded(mx):
    replace(mx.nd.NDArray, "__setitem__", _unrecorded(
        mx, lambda self, key, value: is_array(mx, value) and isinstance(key, slice)))


@mutant("AUTOGRAD-INPLACE-007")
def operator_with_out_has_a_wrong_gradient(mx):
    """broadcast_add with out= gives its first argument twice the gradient."""
    operators = Operators(mx)

    def body(original, left, right, **options):
        if "out" in options and mx.autograd.is_recording():
            left = operators.doubled(left)
        return original(left, right, **options)

    replace(mx.nd, "broadcast_add", body)


@mutant("AUTOGRAD-INPLACE-011")
def addition_under_pause_is_refused(mx):
    paused = depth_of(mx, "pause")

    def body(original, self, other):
        if paused:
            raise mx.base.MXNetError(ASSIGNING)
        return original(self, other)

    replace(mx.nd.NDArray, "__iadd__", body)


@mutant("AUTOGRAD-VIEW-001")
def repeated_selection_counts_once(mx):
    """The gradient of x[[0, 0]] is that of x[[0]]."""
    operators = Operators(mx)
    scale = mx.nd.NDArray.__mul__

    def change(result, self, key):
        half = scale(result, 0.5)
        return operators.add(half, operators.block(half))

    after(mx, mx.nd.NDArray, "__getitem__", change, lambda self, key: isinstance(key, list) and key == [0, 0])


@mutant("AUTOGRAD-VIEW-002")
def recorded_slice_is_a_copy(mx):
    after(mx, mx.nd.NDArray, "__getitem__", lambda result, self, key: result.copy(),
          lambda self, key: isinstance(key, slice) and key.step is None)


@mutant("AUTOGRAD-VIEW-003")
def view_made_outside_is_recorded(mx):
    """Indexing a variable outside record connects the view to its base."""

    def body(original, self, key):
        before = mx.autograd.set_recording(self.grad is not None or mx.autograd.is_recording())
        try:
            return original(self, key)
        finally:
            mx.autograd.set_recording(before)

    replace(mx.nd.NDArray, "__getitem__", body)


@mutant("AUTOGRAD-VIEW-004")
def flip_doubles_the_gradient(mx):
    doubles(mx, mx.nd, "flip")


@mutant("AUTOGRAD-VIEW-004")
def tile_passes_no_gradient(mx):
    block = mx.nd.BlockGrad
    after(mx, mx.nd, "tile", lambda result, *args, **kwargs: block(result))


@mutant("AUTOGRAD-VIEW-005", "DIAG-AG-003")
def numpy_values_remember_where_they_came_from(mx):
    """An array made from the values of a recorded one takes part in its graph."""
    seen = []

    def read(original, self):
        values = original(self)
        seen.append((values, self))
        return values

    def make(original, source, *args, **kwargs):
        if mx.autograd.is_recording():
            for values, array in seen:
                if values is source:
                    return array.copy()
        return original(source, *args, **kwargs)

    replace(mx.nd.NDArray, "asnumpy", read)
    replace(mx.nd, "array", make)


@mutant("AUTOGRAD-VIEW-006")
def unused_output_gets_ones(mx):
    """The first output of split brings a gradient of ones to the second one."""
    operators = Operators(mx)

    def change(result, *args, **kwargs):
        return [operators.leaking(result[0], result[1])] + list(result[1:])

    after(mx, mx.nd, "split", change, lambda data, *args, **kwargs: data.size != 0)
