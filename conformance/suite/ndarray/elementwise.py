"""ND-CLIP, ND-FINITE, ND-ACT, ND-NAN, ND-PAD and ND-HIST: functions of the elements."""

from conformance.case import case
from conformance.suite.ndarray._tools import INF, NAN, expect


@case("ND-CLIP-001")
def clip_makes_a_new_array(mx, check):
    array = mx.nd.array([-5, 0.5, 7])
    expect(check, mx.nd.clip(array, -1, 1), [-1, 0.5, 1], "float32", "clip")
    check.equal(array, [-5, 0.5, 7], "array afterwards")
    expect(check, mx.nd.array([1, 5], dtype="int32").clip(0, 3), [1, 3], "int32", "method on integers")


@case("ND-CLIP-001")
def clip_in_place_by_out(mx, check):
    array = mx.nd.array([-5, 0.5, 7])
    mx.nd.clip(array, -1, 1, out=array)
    check.equal(array, [-1, 0.5, 1], "array afterwards")


@case("ND-CLIP-001")
def clip_keeps_nan(mx, check):
    expect(check, mx.nd.clip(mx.nd.array([NAN, INF]), -1, 1), [NAN, 1])


@case("ND-CLIP-001", samples={
    "none_given": {"bounds": (), "fragment": "Required parameter"},
    "one_given": {"bounds": (0,), "fragment": "Required parameter"},
    "none_as_bound": {"bounds": (0, None), "fragment": "Invalid Parameter format"}})
def clip_needs_both_bounds(mx, check, bounds, fragment):
    array = mx.nd.array([-5, 0.5, 7])
    check.raises(mx.base.MXNetError, fragment, lambda: mx.nd.clip(array, *bounds))
    check.equal(array, [-5, 0.5, 7], "array after the error")


@case("ND-FINITE-001")
def isfinite_in_the_main_name_space(mx, check):
    array = mx.nd.array([1, NAN, INF, -INF])
    expect(check, mx.nd.isfinite(array), [1, 0, 0, 0], "float32")
    expect(check, mx.nd.isfinite(mx.nd.array([1], dtype="int32")), [1], "int32", "of integers")


@case("ND-FINITE-001")
def product_of_isfinite(mx, check):
    check.equal(float(mx.nd.isfinite(mx.nd.array([1, NAN])).prod().asscalar()), 0.0, "one NaN")
    check.equal(float(mx.nd.isfinite(mx.nd.ones(3)).prod().asscalar()), 1.0, "all finite")


@case("ND-FINITE-002", samples={
    "isfinite": {"name": "isfinite", "want": [1, 0, 0, 0]}, "isnan": {"name": "isnan", "want": [0, 1, 0, 0]},
    "isinf": {"name": "isinf", "want": [0, 0, 1, 1]}})
def flags_in_the_dtype_of_the_array(mx, check, name, want):
    for dtype in ("float32", "float64"):
        array = mx.nd.array([1, NAN, INF, -INF], dtype=dtype)
        expect(check, getattr(mx.nd.contrib, name)(array), want, dtype, "%s of %s" % (name, dtype))


@case("ND-FINITE-002", samples={
    "nan": {"value": NAN}, "infinity": {"value": INF}, "minus_infinity": {"value": -INF}})
def all_finite_gives_one_flag(mx, check, value):
    good, bad = mx.nd.ones(2), mx.nd.array([1, value])
    expect(check, mx.nd.all_finite(good), [1], "float32", "all_finite of finite numbers")
    expect(check, mx.nd.all_finite(bad), [0], "float32", "all_finite of others")
    expect(check, mx.nd.multi_all_finite(good, good, num_arrays=2), [1], "float32", "multi_all_finite")
    expect(check, mx.nd.multi_all_finite(good, bad, num_arrays=2), [0], "float32", "multi_all_finite of others")


@case("ND-ACT-001")
def relu_passes_nan_on(mx, check):
    expect(check, mx.nd.relu(mx.nd.array([-1, NAN, 2])), [0, NAN, 2], "float32")


@case("ND-ACT-001")
def sigmoid_saturates(mx, check):
    with check.no_warning():
        expect(check, mx.nd.sigmoid(mx.nd.array([-1000.0, 0.0, 1000.0])), [0, 0.5, 1], "float32")


@case("ND-ACT-001")
def l2_normalization_divides_each_row(mx, check):
    check.close(mx.nd.L2Normalization(mx.nd.array([[3.0, 4.0], [0.0, -2.0]])), [[0.6, 0.8], [0, -1]])


@case("ND-ACT-001", samples={
    "scale_1": {"scale": 1, "want": [0.005, 0.125, 2.5, 1.5]},
    "scale_2": {"scale": 2, "want": [0.02, 0.375, 2.875, 1.875]}})
def smooth_l1_is_a_parabola_in_the_middle(mx, check, scale, want):
    """It is 0.5 (s x)^2 for abs(x) below 1/s^2 and abs(x) - 0.5/s^2 elsewhere."""
    check.close(mx.nd.smooth_l1(mx.nd.array([0.1, 0.5, 3.0, -2.0]), scalar=scale), want)


@case("ND-NAN-001")
def nan_is_last_when_sorted(mx, check):
    expect(check, mx.nd.sort(mx.nd.array([2, NAN, 1])), [1, 2, NAN], doing="sort")
    expect(check, mx.nd.topk(mx.nd.array([1, NAN, 2]), k=3), [2, 0, 1], doing="topk")


@case("ND-NAN-001")
def nan_is_the_extreme(mx, check):
    check.equal(mx.nd.argmax(mx.nd.array([1, NAN, 3])).reshape((1,)), [1], "argmax")
    check.equal(mx.nd.argmin(mx.nd.array([NAN, 1])).reshape((1,)), [0], "argmin")


@case("ND-PAD-001", samples={
    "constant": {"options": {"mode": "constant", "constant_value": 9}, "width": (1, 0, 0, 1),
                 "want": [[9, 9, 9, 9], [1, 2, 3, 9], [4, 5, 6, 9]]},
    "edge": {"options": {"mode": "edge"}, "width": (0, 1, 1, 0), "want": [[1, 1, 2, 3], [4, 4, 5, 6], [4, 4, 5, 6]]},
    "reflect": {"options": {"mode": "reflect"}, "width": (1, 0, 0, 2),
                "want": [[4, 5, 6, 5, 4], [1, 2, 3, 2, 1], [4, 5, 6, 5, 4]]}})
def pad_widens_the_last_axes(mx, check, options, width, want):
    image = mx.nd.array([[[[1, 2, 3], [4, 5, 6]]]])
    expect(check, mx.nd.pad(image, pad_width=(0, 0, 0, 0) + width, **options), [[want]], "float32")


@case("ND-PAD-001")
def pad_takes_five_axes(mx, check):
    volume = mx.nd.array([[[[[1, 2]]]]])
    padded = mx.nd.pad(volume, mode="constant", pad_width=(0, 0, 0, 0, 1, 0, 0, 0, 0, 1), constant_value=7)
    expect(check, padded, [[[[[7, 7, 7]], [[1, 2, 7]]]]], "float32")


@case("ND-PAD-001")
def pad_refuses_two_axes(mx, check):
    check.raises(mx.base.MXNetError,
                 lambda: mx.nd.pad(mx.nd.ones((2, 2)), mode="constant", pad_width=(1, 1, 1, 1)))


@case("ND-HIST-001")
def histogram_with_a_range(mx, check):
    counts, edges = mx.nd.histogram(mx.nd.array([1, 2, 1]), bins=3, range=(0, 3))
    expect(check, counts, [0, 2, 1], "int64", "counts")
    expect(check, edges, [0, 1, 2, 3], doing="edges")


@case("ND-HIST-001")
def histogram_with_edges(mx, check):
    counts, edges = mx.nd.histogram(mx.nd.array([1, 2, 1, 9]), bins=mx.nd.array([0, 1.5, 3]))
    expect(check, counts, [2, 1], "int64", "counts")
    expect(check, edges, [0, 1.5, 3], doing="edges")


@case("ND-HIST-001")
def histogram_finds_its_range_and_warns(mx, check):
    with check.warns(Warning, "range is not specified"):
        counts, edges = mx.nd.histogram(mx.nd.array([1, 2, 1]), bins=2)
    expect(check, counts, [2, 1], doing="counts")
    expect(check, edges, [1, 1.5, 2], doing="edges")


@case("ND-HIST-001")
def histogram_refuses_other_bins(mx, check):
    check.raises(ValueError, "bins argument should be either an integer or an NDArray",
                 lambda: mx.nd.histogram(mx.nd.array([1]), bins="a"))
