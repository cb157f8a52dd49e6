"""ND-RESHAPE: shapes given by numbers and codes, and which forms share memory."""

import numpy as np

from conformance.case import case
from conformance.suite import kit
from conformance.suite.ndarray._tools import refused, shows_in


def _both(mx, check, source, target, want):
    """The function and the method make the shape *want*, keeping the order of the elements."""
    array = mx.nd.arange(int(np.prod(source))).reshape(source)
    for doing, made in (("nd.reshape", mx.nd.reshape(array, shape=target)), ("x.reshape", array.reshape(target))):
        check.equal(made, np.arange(np.prod(source)).reshape(want), "%s(%s)" % (doing, target))


@case("ND-RESHAPE-001", samples={
    "numbers": {"args": (2, 3), "options": {}}, "tuple": {"args": ((2, 3),), "options": {}},
    "list": {"args": ([2, 3],), "options": {}}, "keyword": {"args": (), "options": {"shape": (2, 3)}}})
def ways_to_give_the_shape(mx, check, args, options):
    check.equal(mx.nd.arange(6).reshape(*args, **options), [[0, 1, 2], [3, 4, 5]], "reshaped")


@case("ND-RESHAPE-001")
def single_number(mx, check):
    check.equal(mx.nd.ones((2, 3)).reshape(-1), [1] * 6, "x.reshape(-1)")


@case("ND-RESHAPE-001")
def shape_is_required(mx, check):
    check.raises(AssertionError, "Shape must be provided", mx.nd.arange(6).reshape)


@case("ND-RESHAPE-001")
def unknown_keyword(mx, check):
    array = mx.nd.arange(6)
    check.raises(TypeError, "unknown keywords in reshape", "order", lambda: array.reshape((3, 2), order="F"))
    check.equal(array, np.arange(6), "array afterwards")


@case("ND-RESHAPE-002", samples={
    "larger": {"target": (4, 2)}, "smaller": {"target": (2, 2)}, "not_divisible": {"target": (-1, 4)}})
def method_refuses_another_size(mx, check, target):
    array = mx.nd.arange(6)
    check.raises((mx.MXNetError, ValueError), array.reshape, target)
    check.equal(array, np.arange(6), "array afterwards")


@case("ND-RESHAPE-003", samples={"larger": {"target": (4, 2)}, "not_divisible": {"target": (-1, 4)}})
def function_refuses_another_size(mx, check, target):
    refused(check, (mx.MXNetError, ValueError), lambda: mx.nd.reshape(mx.nd.arange(6), shape=target))


@case("ND-RESHAPE-004", samples={
    "infer_last": {"target": (0, -1), "want": (2, 12)}, "infer_first": {"target": (-1, 0), "want": (8, 3)},
    "all": {"target": (-2,), "want": (2, 3, 4)}, "rest": {"target": (0, -2), "want": (2, 3, 4)},
    "rest_after_numbers": {"target": (6, 1, -2), "want": (6, 1, 4)},
    "keep_middle": {"target": (4, 0, 2), "want": (4, 3, 2)},
    "trailing_one": {"target": (0, 0, 0, 1), "want": (2, 3, 4, 1)}})
def copy_infer_and_rest(mx, check, target, want):
    _both(mx, check, (2, 3, 4), target, want)


@case("ND-RESHAPE-005", samples={
    "merge_first": {"target": (-3, 4), "want": (6, 4)}, "merge_last": {"target": (0, -3), "want": (2, 12)},
    "merge_and_rest": {"target": (-3, -2), "want": (6, 4)}, "split": {"target": (-4, 1, 2, -2), "want": (1, 2, 3, 4)},
    "split_inferred": {"target": (2, -4, -1, 3, -2), "want": (2, 1, 3, 4)},
    "split_middle": {"target": (2, -4, 1, 3, 4), "want": (2, 1, 3, 4)},
    "split_second_inferred": {"target": (-4, 2, -1, -2), "want": (2, 1, 3, 4)}})
def merge_and_split(mx, check, target, want):
    _both(mx, check, (2, 3, 4), target, want)


@case("ND-RESHAPE-005", samples={
    "both_inferred": {"target": (-4, -1, -1, -2), "fragment": "Split dims cannot both be -1"},
    "indivisible": {"target": (-4, 3, -1, -2), "fragment": "do not divide original dim"}})
def impossible_split(mx, check, target, fragment):
    array = mx.nd.ones((2, 3, 4))
    check.raises(mx.MXNetError, fragment, array.reshape, target)
    check.raises(mx.MXNetError, fragment, lambda: mx.nd.reshape(array, shape=target))


@case("ND-RESHAPE-006", samples={
    "two_inferred": {"target": (-1, -1), "fragment": "One and only one dim can be inferred"},
    "below_four": {"target": (-5,), "fragment": "shape dim size must be >= -1"}})
def impossible_code(mx, check, target, fragment):
    array = mx.nd.arange(6)
    check.raises(mx.MXNetError, fragment, array.reshape, target)
    check.raises(mx.MXNetError, fragment, lambda: mx.nd.reshape(array, shape=target))


@case("ND-RESHAPE-007", samples={
    "left_to_right": {"target": (-1, 0), "reverse": False, "want": (40, 5)},
    "right_to_left": {"target": (-1, 0), "reverse": True, "want": (50, 4)},
    "inferred_last": {"target": (0, -1), "reverse": True, "want": (5, 40)}})
def direction_of_inference(mx, check, target, reverse, want):
    array = mx.nd.arange(200).reshape((10, 5, 4))
    expected = np.arange(200).reshape(want)
    check.equal(mx.nd.reshape(array, shape=target, reverse=reverse), expected, "nd.reshape")
    check.equal(array.reshape(target, reverse=reverse), expected, "x.reshape")


@case("ND-RESHAPE-008", samples={
    "reshape": {"method": "reshape", "options": {"shape": (4, 3)}},
    "flat": {"method": "reshape", "options": {"shape": (-1,)}},
    "expand_dims": {"method": "expand_dims", "options": {"axis": 0, "inplace": True}},
    "squeeze": {"method": "squeeze", "options": {"inplace": True}},
    "flatten": {"method": "flatten", "options": {"inplace": True}}})
def view_of_the_same_memory(mx, check, method, options):
    base = mx.nd.arange(12).reshape((3, 1, 4))
    view = getattr(base, method)(**options)
    check.that(shows_in(view, base), "a write into the result shows in the array")


@case("ND-RESHAPE-008")
def new_axis_by_index_is_a_view(mx, check):
    base = mx.nd.arange(12)
    check.that(shows_in(base[None], base), "a write into x[None] shows in x")


@case("ND-RESHAPE-008", samples={
    "reshape": {"name": "reshape", "options": {"shape": (4, 3)}}, "flatten": {"name": "flatten", "options": {}},
    "expand_dims": {"name": "expand_dims", "options": {"axis": 0}}, "squeeze": {"name": "squeeze", "options": {}}})
def function_gives_a_copy(mx, check, name, options):
    base = mx.nd.arange(12).reshape((3, 1, 4))
    check.that(not shows_in(getattr(mx.nd, name)(base, **options), base), "a write into the result stays there")


@case("ND-RESHAPE-008", samples={
    "flatten": {"method": "flatten", "options": {}}, "expand_dims": {"method": "expand_dims", "options": {"axis": 0}},
    "squeeze": {"method": "squeeze", "options": {}}})
def method_without_inplace_gives_a_copy(mx, check, method, options):
    base = mx.nd.arange(12).reshape((3, 1, 4))
    check.that(not shows_in(getattr(base, method)(**options), base), "a write into the result stays there")


@case("ND-RESHAPE-008")
def reshape_like_gives_a_copy(mx, check):
    base = mx.nd.arange(12)
    check.that(not shows_in(mx.nd.reshape_like(base, mx.nd.ones((4, 3))), base),
               "a write into nd.reshape_like stays there")
    check.that(not shows_in(base.reshape_like(mx.nd.ones((4, 3))), base), "a write into x.reshape_like stays there")


@case("ND-RESHAPE-009")
def shape_of_another_array(mx, check):
    check.equal(mx.nd.reshape_like(mx.nd.arange(6), mx.nd.ones((2, 3))), [[0, 1, 2], [3, 4, 5]], "nd.reshape_like")


@case("ND-RESHAPE-009")
def other_array_has_another_size(mx, check):
    check.raises(mx.MXNetError, "because they have different size",
                 lambda: mx.nd.reshape_like(mx.nd.ones((5,)), mx.nd.ones((2, 3))))


@case("ND-RESHAPE-009", samples={"cube": {"source": (2, 3, 4), "want": (2, 12)},
                                 "vector": {"source": (3,), "want": (3, 1)},
                                 "matrix": {"source": (2, 3), "want": (2, 3)}})
def flatten_keeps_the_first_axis(mx, check, source, want):
    with kit.legacy_mode(mx):
        array = mx.nd.arange(int(np.prod(source))).reshape(source)
        check.equal(mx.nd.flatten(array), np.arange(np.prod(source)).reshape(want), "nd.flatten")
