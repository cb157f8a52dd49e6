"""ND-NPSHAPE: legacy and numpy shape semantics, arrays without axes and without elements."""

from conformance.case import case
from conformance.suite import kit
from conformance.suite.ndarray._tools import NAN, expect

INFERENCE = "inferring shapes failed"


@case("ND-NPSHAPE-001")
def legacy_semantics_are_in_force(mx, check):
    check.equal(mx.util.is_np_shape(), False, "is_np_shape() at the start")


@case("ND-NPSHAPE-001")
def numpy_semantics_hold_for_a_block(mx, check):
    check.equal(mx.util.is_np_shape(), False, "is_np_shape() before")
    with mx.util.np_shape(True):
        check.equal(mx.util.is_np_shape(), True, "is_np_shape() inside")
        with mx.util.np_shape(False):
            check.equal(mx.util.is_np_shape(), False, "is_np_shape() in a block of legacy semantics inside")
        check.equal(mx.util.is_np_shape(), True, "is_np_shape() after that block")
    check.equal(mx.util.is_np_shape(), False, "is_np_shape() afterwards")


@case("ND-NPSHAPE-002", samples={"legacy": {"on": False}, "numpy": {"on": True}})
def full_reductions_have_one_axis(mx, check, on):
    with kit.legacy_mode(mx), mx.util.np_shape(on):
        vector = mx.nd.array([1, 2])
        for name, found, want in (
                ("sum", vector.sum(), 3), ("mean", vector.mean(), 1.5), ("max", vector.max(), 2),
                ("dot", mx.nd.dot(vector, vector), 5), ("argmax", vector.argmax(), 1)):
            expect(check, found, [want], doing=name)
        check.close(vector.norm(), [5 ** 0.5], "norm")


@case("ND-NPSHAPE-003")
def one_element_by_index_has_one_axis(mx, check):
    with kit.legacy_mode(mx):
        expect(check, mx.nd.array([1, 2])[1], [2], doing="v[1]")
        expect(check, mx.nd.array([1, 2])[-1], [2], doing="v[-1]")
        expect(check, mx.nd.array([[1, 2], [3, 4]])[0, 1], [2], doing="m[0, 1]")


@case("ND-NPSHAPE-003")
def items_of_a_vector_have_one_axis(mx, check):
    with kit.legacy_mode(mx):
        check.equal([item.shape for item in mx.nd.array([1, 2])], [(1,), (1,)], "shapes of the items")


@case("ND-NPSHAPE-004")
def arrays_without_axes_are_refused(mx, check):
    with kit.legacy_mode(mx):
        scalar = mx.nd.array(5)
        check.raises(mx.base.MXNetError, INFERENCE, lambda: scalar + 1)
        check.raises(mx.base.MXNetError, INFERENCE, mx.nd.zeros, ())


@case("ND-NPSHAPE-004")
def arrays_without_elements_are_refused(mx, check):
    with kit.legacy_mode(mx):
        empty = mx.nd.array([])
        check.raises(mx.base.MXNetError, INFERENCE, lambda: empty + 1)
        check.raises(mx.base.MXNetError, INFERENCE, mx.nd.zeros, (0, 3))


@case("ND-NPSHAPE-005")
def arrays_without_axes_work(mx, check):
    with mx.util.np_shape(True):
        expect(check, mx.nd.array(5) + 1, 6.0, "float32", "array(5) + 1")
        expect(check, mx.nd.zeros(()), 0.0, "float32", "zeros(())")
        expect(check, mx.nd.array(3) * mx.nd.array([1, 2]), [3, 6], "float32", "array(3) * array([1, 2])")


@case("ND-NPSHAPE-005")
def arrays_without_elements_work(mx, check):
    with mx.util.np_shape(True):
        empty = mx.nd.zeros((0, 3))
        check.shape(empty, (0, 3))
        check.shape(empty * 2, (0, 3), "shape of the product with a number")
        expect(check, empty.sum(axis=0), [0, 0, 0], doing="sum over the empty axis")
        expect(check, mx.nd.concat(empty, mx.nd.ones((2, 3)), dim=0), [[1, 1, 1], [1, 1, 1]], doing="concat")


@case("ND-NPSHAPE-006")
def array_without_axes_is_indexed_by_nothing(mx, check):
    with mx.util.np_shape(True):
        scalar = mx.nd.array(5)
        check.same(scalar[()], scalar, "s[()]")
        check.raises(IndexError, lambda: scalar[0])
        check.raises((IndexError, TypeError), len, scalar)
        check.raises((IndexError, TypeError), list, scalar)


@case("ND-NPSHAPE-006")
def array_without_axes_is_written_as_a_whole(mx, check):
    with mx.util.np_shape(True):
        scalar = mx.nd.array(5)
        scalar[()] = 3
        expect(check, scalar, 3.0, doing="after s[()] = 3")
        scalar[:] = 4
        expect(check, scalar, 4.0, doing="after s[:] = 4")
        with check.raises(IndexError, "scalar tensor can only accept"):
            scalar[0] = 1
        with check.raises(ValueError, "setting an array element with a sequence"):
            scalar[:] = mx.nd.array([3, 4])
        expect(check, scalar, 4.0, doing="after the errors")


@case("ND-NPSHAPE-006")
def reductions_over_no_element(mx, check):
    with mx.util.np_shape(True):
        check.raises(mx.base.MXNetError, "Reduction input's size should > 0", lambda: mx.nd.zeros((0,)).max())
        with check.no_warning():
            expect(check, mx.nd.zeros((0,)).mean(), [NAN], doing="mean of no element")


@case("ND-NPSHAPE-007")
def dot_over_an_axis_of_length_zero_gives_zeros(mx, check):
    del mx
    status, out, err = check.python(
        "with mx.util.np_shape(True):\n"
        "    print(mx.nd.dot(mx.nd.zeros((2, 0)), mx.nd.zeros((0, 3))).asnumpy().tolist())")
    check.equal(status, 0, "exit status of the process (%s)" % err[-200:])
    check.equal(out.strip(), "[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]", "product")


def _observe(mx):
    return mx.util.is_np_shape(), mx.nd.ones((2, 0)).shape


@case("ND-NPSHAPE-008")
def decorated_function_has_numpy_semantics(mx, check):
    with kit.legacy_mode(mx):
        check.equal(mx.util.use_np_shape(_observe)(mx), (True, (2, 0)), "is_np_shape() and a shape in the function")
        check.equal(mx.util.is_np_shape(), False, "is_np_shape() afterwards")


@case("ND-NPSHAPE-008")
def state_is_restored_after_an_error(mx, check):
    def fail():
        raise KeyError(mx.util.is_np_shape())

    with kit.legacy_mode(mx):
        check.raises(KeyError, "True", mx.util.use_np_shape(fail))
        check.equal(mx.util.is_np_shape(), False, "is_np_shape() after the error")


@case("ND-NPSHAPE-008")
def decorated_class_has_numpy_semantics(mx, check):
    class Observer(object):
        def look(self):
            return _observe(mx)

    with kit.legacy_mode(mx):
        decorated = mx.util.use_np_shape(Observer)
        check.equal(decorated().look(), (True, (2, 0)), "is_np_shape() and a shape in a method")
        check.equal(mx.util.is_np_shape(), False, "is_np_shape() afterwards")
