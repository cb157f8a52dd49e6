"""Mutants of BCAST-TO, BCAST-AXIS, BCAST-ELEM, BCAST-STRIDE and BCAST-GRAD."""

from conformance.mutants import mutant
from conformance.mutants.broadcast_kit import Linked
from conformance.mutants.ndarray_kit import function, method
from conformance.mutants.ndarray_select import without


@mutant("BCAST-TO-001")
def zero_keeps_nothing(mx):
    def body(original, data, shape=(), **options):
        return original(data, shape=tuple(size or 1 for size in shape), **options)

    function(mx.nd, "broadcast_to", body)


@mutant("BCAST-TO-002")
def fewer_axes_are_an_engine_error(mx):
    def body(original, self, shape):
        if len(shape) < len(self.shape):
            raise mx.base.MXNetError("operands could not be broadcast together: %s, %s" % (self.shape, shape))
        return original(self, shape)

    method(mx, "broadcast_to", body)


@mutant("BCAST-TO-003")
def own_shape_is_no_copy(mx):
    method(mx, "broadcast_to", lambda original, self, shape:
           self if tuple(shape) == self.shape else original(self, shape))


@mutant("BCAST-TO-004")
def large_expansion_shares_memory(mx):
    """A write into the first row of a large expansion shows in its source."""
    linked = Linked(mx)

    def body(original, self, shape):
        made = original(self, shape)
        return linked.add(made, self) if made.size > 10000 and made.shape != self.shape else made

    method(mx, "broadcast_to", body)


@mutant("BCAST-TO-005")
def listed_axes_are_ignored(mx):
    without(mx.nd, "broadcast_like", "lhs_axes", "rhs_axes")


@mutant("BCAST-AXIS-001")
def negative_axis_counts_from_the_end(mx):
    def body(original, data, axis=(), size=(), **options):
        if isinstance(axis, int) and axis < 0:
            axis += len(data.shape)
        return original(data, axis=axis, size=size, **options)

    function(mx.nd, "broadcast_axis", body)


@mutant("BCAST-ELEM-001")
def elementwise_quotient_broadcasts(mx):
    def body(original, lhs, rhs, **options):
        try:
            return original(lhs, rhs, **options)
        except mx.base.MXNetError:
            return mx.nd.broadcast_div(lhs, rhs)

    function(mx.nd, "elemwise_div", body)


@mutant("BCAST-ELEM-002")
def row_and_column_are_added_elementwise(mx):
    def body(original, lhs, rhs, **options):
        if len(lhs.shape) == len(rhs.shape) == 2 and lhs.shape[0] == 1 == rhs.shape[1] != rhs.shape[0]:
            return mx.nd.broadcast_add(lhs, rhs)
        return original(lhs, rhs, **options)

    function(mx.nd, "elemwise_add", body)


@mutant("BCAST-STRIDE-002")
def middle_axis_is_read_backwards(mx):
    def body(original, self, shape):
        made = original(self, shape)
        middle = len(self.shape) == len(shape) == 3 and self.shape[0] == shape[0] and self.shape[1] == 1 < shape[1]
        return mx.nd.flip(made, axis=0) if middle else made

    method(mx, "broadcast_to", body)


@mutant("BCAST-STRIDE-003")
def second_matrix_is_not_transposed(mx):
    without(mx.nd.linalg, "gemm2", "transpose_b")


def _first_operand_is_constant(mx, name):
    """A binary function has no gradient for a first operand of another shape than the second."""

    def body(original, lhs, rhs, **options):
        return original(lhs if lhs.shape == rhs.shape else lhs.detach(), rhs, **options)

    function(mx.nd, name, body)


@mutant("BCAST-GRAD-001")
def minuend_is_constant(mx):
    _first_operand_is_constant(mx, "broadcast_sub")


@mutant("BCAST-GRAD-002")
def dividend_is_constant(mx):
    _first_operand_is_constant(mx, "broadcast_mod")


@mutant("BCAST-GRAD-003")
def tie_goes_to_the_second(mx):
    function(mx.nd, "broadcast_maximum", lambda original, lhs, rhs, **options: original(rhs, lhs, **options))


@mutant("BCAST-GRAD-004")
def gradient_is_halved(mx):
    function(mx.nd, "broadcast_axis", lambda original, data, *args, **options:
             original(data * 0.5 + data.detach() * 0.5 if mx.autograd.is_recording() else data, *args, **options))
