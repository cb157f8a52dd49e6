"""Mutants of BCAST-RULE, BCAST-ERR and BCAST-INPLACE."""

from conformance.mutants import mutant
from conformance.mutants.broadcast_kit import operator, refuse
from conformance.mutants.ndarray_kit import function, is_array, method


def _row_beside_rows(x, other):
    return len(x.shape) == len(other.shape) == 2 and x.shape[0] > 1 == other.shape[0] and x.shape[1] == other.shape[1]


@mutant("BCAST-RULE-001")
def vector_does_not_meet_a_column(mx):
    operator(mx, "__mul__", lambda x, other: len(x.shape) == 2 and x.shape[1] == 1 == len(other.shape) < other.shape[0],
             lambda original, x, other: refuse(mx, x, other))


@mutant("BCAST-RULE-002")
def row_is_added_once(mx):
    """Only the first row of the other operand gets the row."""
    operator(mx, "__add__", _row_beside_rows, lambda original, x, other:
             original(x, mx.nd.concat(other, *[mx.nd.zeros_like(other)] * (x.shape[0] - 1), dim=0)))


@mutant("BCAST-RULE-003")
def comparison_function_needs_equal_shapes(mx):
    function(mx.nd, "lesser_equal", lambda original, lhs, rhs, **options:
             original(lhs, rhs, **options) if not is_array(rhs) or lhs.shape == rhs.shape else refuse(mx, lhs, rhs))


@mutant("BCAST-RULE-004")
def minus_is_reversed(mx):
    function(mx.nd, "broadcast_minus", lambda original, lhs, rhs, **options: original(rhs, lhs, **options))


@mutant("BCAST-RULE-005")
def empty_array_swallows_the_other(mx):
    operator(mx, "__add__", lambda x, other: 0 in x.shape, lambda original, x, other: mx.nd.zeros(x.shape))


@mutant("BCAST-RULE-007")
def row_multiplies_once(mx):
    """Only the first row of the other operand is multiplied by the row."""
    operator(mx, "__mul__", _row_beside_rows, lambda original, x, other:
             original(x, mx.nd.concat(other, *[mx.nd.ones_like(other)] * (x.shape[0] - 1), dim=0)))


@mutant("BCAST-ERR-001")
def comparison_raises_a_value_error(mx):
    def body(original, self, other):
        try:
            return original(self, other)
        except mx.base.MXNetError as error:
            raise ValueError(str(error)) from None

    method(mx, "__gt__", body)


@mutant("BCAST-ERR-002")
def column_counts_once(mx):
    """A column added to a matrix adds its first element everywhere."""
    operator(mx, "__add__", lambda x, other: len(x.shape) == len(other.shape) == 2
             and x.shape[0] == other.shape[0] > 1 == other.shape[1] < x.shape[1],
             lambda original, x, other: original(x, other[0:1]))


@mutant("BCAST-ERR-003")
def target_is_cleared_before_the_error(mx):
    def body(original, *args, **options):
        try:
            return original(*args, **options)
        except mx.base.MXNetError:
            if is_array(options.get("out")):
                options["out"][:] = 0
            raise

    function(mx.nd, "broadcast_add", body)


@mutant("BCAST-INPLACE-001")
def target_grows(mx):
    def body(original, self, other):
        try:
            return original(self, other)
        except mx.base.MXNetError:
            return self + other

    method(mx, "__iadd__", body)
