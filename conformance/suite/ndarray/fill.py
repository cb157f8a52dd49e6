"""ND-CREATE, second part: arrays made from a shape, and copyfrom."""

import numpy as np

from conformance.case import case
from conformance.suite.ndarray._tools import expect


@case("ND-CREATE-011", samples={"zeros": {"name": "zeros", "value": 0}, "ones": {"name": "ones", "value": 1}})
def shape_is_an_int_or_a_sequence(mx, check, name, value):
    make = getattr(mx.nd, name)
    expect(check, make(2), [value] * 2, "float32", "%s(2)" % name)
    expect(check, make((2, 1)), [[value], [value]], "float32", "%s((2, 1))" % name)
    expect(check, make([2]), [value] * 2, "float32", "%s([2])" % name)
    expect(check, make((2,), dtype="int32"), [value] * 2, "int32", "%s((2,), dtype='int32')" % name)


@case("ND-CREATE-011")
def full_takes_an_int_or_a_sequence(mx, check):
    expect(check, mx.nd.full(2, 7), [7, 7], "float32", "full(2, 7)")
    expect(check, mx.nd.full((2, 1), 7), [[7], [7]], "float32", "full((2, 1), 7)")
    expect(check, mx.nd.full([2], 7), [7, 7], "float32", "full([2], 7)")


@case("ND-CREATE-011")
def empty_takes_an_int_or_a_sequence(mx, check):
    for shape, want in ((3, (3,)), ((2, 3), (2, 3)), ([2, 3], (2, 3))):
        made = mx.nd.empty(shape)
        check.shape(made, want, "shape of empty(%r)" % (shape,))
        check.dtype(made, "float32", "dtype of empty(%r)" % (shape,))


@case("ND-CREATE-011", samples={name: {"name": name} for name in ("zeros", "ones", "full", "empty")})
def array_is_on_the_current_context(mx, check, name):
    arguments = (2, 7) if name == "full" else (2,)
    check.equal(getattr(mx.nd, name)(*arguments).context, mx.cpu(0), "context")
    with mx.cpu(1):
        check.equal(getattr(mx.nd, name)(*arguments).context, mx.cpu(1), "context inside `with cpu(1)`")
    made = getattr(mx.nd, name)(*arguments, ctx=mx.cpu(2))
    check.equal(made.context, mx.cpu(2), "context with ctx=cpu(2)")


@case("ND-CREATE-012")
def empty_array_can_be_filled(mx, check):
    made = mx.nd.empty((300, 400), ctx=mx.cpu(1), dtype="float64")
    check.equal((made.shape, made.size), ((300, 400), 120000), "shape and size")
    check.dtype(made, "float64")
    check.equal(made.context, mx.cpu(1), "context")
    made[:] = 3
    check.that(bool((made.asnumpy() == 3.0).all()), "every element is 3 after a write")


@case("ND-CREATE-013")
def fill_value_broadcasts_and_converts(mx, check):
    expect(check, mx.nd.full((2, 2), [1, 2]), [[1, 2], [1, 2]], "float32", "full((2, 2), [1, 2])")
    expect(check, mx.nd.full((2,), 7.5, dtype="int32"), [7, 7], "int32", "full((2,), 7.5, dtype='int32')")


@case("ND-CREATE-013")
def full_writes_into_out(mx, check):
    target = mx.nd.zeros(3)
    check.same(mx.nd.full((3,), 5, out=target), target, "result with out=")
    check.equal(target, [5, 5, 5], "array given as out=")


@case("ND-CREATE-014", samples={
    "stop": {"arguments": (3,), "want": [0, 1, 2]},
    "step": {"arguments": (1, 7, 2), "want": [1, 3, 5]},
    "negative_step": {"arguments": (5, 0, -2), "want": [5, 3, 1]},
    "fraction": {"arguments": (0, 3, 0.5), "want": [0, 0.5, 1, 1.5, 2, 2.5]}})
def arange_follows_range(mx, check, arguments, want):
    expect(check, mx.nd.arange(*arguments), want, "float32")


@case("ND-CREATE-014")
def arange_repeats_every_element(mx, check):
    expect(check, mx.nd.arange(3, repeat=2), [0, 0, 1, 1, 2, 2], "float32", "arange(3, repeat=2)")
    expect(check, mx.nd.arange(2, 0, -1, repeat=3), [2, 2, 2, 1, 1, 1], "float32", "arange(2, 0, -1, repeat=3)")


@case("ND-CREATE-014")
def arange_takes_a_dtype(mx, check):
    expect(check, mx.nd.arange(3, dtype="int32"), [0, 1, 2], "int32")


@case("ND-CREATE-015", samples={
    "backwards": {"arguments": (5, 0), "fragment": "Invalid range"},
    "no_element": {"arguments": (0,), "fragment": "Invalid range"},
    "step_of_zero": {"arguments": (0, 5, 0), "fragment": "Range does not support step=0"}})
def arange_refuses(mx, check, arguments, fragment):
    check.raises(mx.base.MXNetError, fragment, mx.nd.arange, *arguments)


@case("ND-CREATE-016")
def linspace_includes_the_stop(mx, check):
    expect(check, mx.nd.linspace(0, 1, 5), [0, 0.25, 0.5, 0.75, 1], "float32")
    expect(check, mx.nd.linspace(3, 1, 3), [3, 2, 1], "float32", "linspace(3, 1, 3)")


@case("ND-CREATE-016")
def linspace_without_the_stop(mx, check):
    made = mx.nd.linspace(0, 1, 5, endpoint=False)
    check.close(made, [0, 0.2, 0.4, 0.6, 0.8])
    check.dtype(made, "float32")


@case("ND-CREATE-017", samples={
    "square": {"arguments": (2,), "want": [[1, 0], [0, 1]]},
    "above": {"arguments": (2, 3, 1), "want": [[0, 1, 0], [0, 0, 1]]},
    "below": {"arguments": (3, 0, -1), "want": [[0, 0, 0], [1, 0, 0], [0, 1, 0]]}})
def eye_shifts_the_diagonal(mx, check, arguments, want):
    expect(check, mx.nd.eye(*arguments), want, "float32")


@case("ND-CREATE-018", samples={
    "zeros_like": {"name": "zeros_like", "value": 0}, "ones_like": {"name": "ones_like", "value": 1}})
def like_keeps_shape_dtype_and_context(mx, check, name, value):
    made = getattr(mx.nd, name)(mx.nd.full((1, 2), 5, dtype="int32", ctx=mx.cpu(3)))
    expect(check, made, [[value, value]], "int32")
    check.equal(made.context, mx.cpu(3), "context")
    with mx.cpu(1):
        made = getattr(mx.nd, name)(mx.nd.full((2,), 5, dtype="float64", ctx=mx.cpu(2)))
        expect(check, made, [value, value], "float64", "result inside `with cpu(1)`")
        check.equal(made.context, mx.cpu(2), "context inside `with cpu(1)`")


@case("ND-CREATE-019")
def full_like_keeps_shape_dtype_and_context(mx, check):
    made = mx.nd.full_like(mx.nd.ones((2, 2), dtype="float64", ctx=mx.cpu(1)), 5)
    expect(check, made, [[5, 5], [5, 5]], "float64")
    check.equal(made.context, mx.cpu(1), "context")


@case("ND-CREATE-019")
def full_like_converts_the_value(mx, check):
    expect(check, mx.nd.full_like(mx.nd.ones(2, dtype="int32"), 7.9), [7, 7], "int32")


@case("ND-CREATE-020")
def zeros_refuses_a_negative_dimension(mx, check):
    check.raises(mx.base.MXNetError, "inferring shapes failed", mx.nd.zeros, (-1, 2))


@case("ND-CREATE-020")
def empty_refuses_a_negative_dimension(mx, check):
    # 2.0.0b1 notices only when the content is asked for.
    check.raises((OverflowError, ValueError, mx.base.MXNetError), "negative", lambda: mx.nd.empty((-1,)).asnumpy())


@case("ND-CREATE-023")
def copyfrom_overwrites_and_returns_the_array(mx, check):
    target = mx.nd.empty((2, 2))
    check.same(target.copyfrom([[1, 2], [3, 4]]), target, "result of copyfrom")
    expect(check, target, [[1, 2], [3, 4]], "float32", "after a list")
    target.copyfrom(np.ones((2, 2)))
    expect(check, target, [[1, 1], [1, 1]], "float32", "after a float64 numpy array")
    target.copyfrom(mx.nd.zeros((2, 2), ctx=mx.cpu(1)))
    expect(check, target, [[0, 0], [0, 0]], "float32", "after an array of another context")
    check.equal(target.context, mx.cpu(0), "context")


@case("ND-CREATE-023")
def copyfrom_refuses_another_shape(mx, check):
    target = mx.nd.ones((2, 2))
    check.raises(ValueError, "Shape inconsistent", target.copyfrom, [1, 2])
    check.equal(target, [[1, 1], [1, 1]], "array after the error")


@case("ND-CREATE-023")
def copyfrom_counts_as_a_write_for_autograd(mx, check):
    variable = mx.nd.ones((1,))
    variable.attach_grad()
    with mx.autograd.record():
        check.raises(mx.base.MXNetError, "already in a computational graph", variable.copyfrom, [2])
    check.equal(variable, [1], "array after the error")
