"""Corners of the operators of networks: sizes that windows cannot have, and what the release answers beside them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from refengine import MXNetError, autograd, nd


def with_gradients(function, *arrays, head=None):
    """The result of a recorded call and the gradients of the arrays, as nested lists."""
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        y = function(*arrays)
    y.backward(head)
    return y.asnumpy().tolist(), *(array.grad.asnumpy().tolist() for array in arrays)


# ---- windows --------------------------------------------------------------------------------------------------------

IMAGES = nd.ones((1, 2, 4, 3))
LAYERS = {
    'Convolution': lambda **p: nd.Convolution(IMAGES, nd.ones((3, 2, 2, 2)), num_filter=3, no_bias=True, **p),
    'Deconvolution': lambda **p: nd.Deconvolution(IMAGES, nd.ones((2, 3, 2, 2)), num_filter=3, **p),
    'im2col': lambda **p: nd.im2col(IMAGES, **p),
    'col2im': lambda **p: nd.col2im(nd.ones((1, 8, 6)), output_size=(4, 3), **p),
    'DeformableConvolution': lambda **p: nd.contrib.DeformableConvolution(
        IMAGES, nd.zeros((1, 8, 3, 2)), nd.ones((3, 2, 2, 2)), num_filter=3, no_bias=True, **p),
    'ModulatedDeformableConvolution': lambda **p: nd.contrib.ModulatedDeformableConvolution(
        IMAGES, nd.zeros((1, 8, 3, 2)), nd.ones((1, 4, 3, 2)), nd.ones((3, 2, 2, 2)), num_filter=3, no_bias=True, **p)}


@pytest.mark.parametrize('layer', LAYERS)
def test_sizes_that_windows_cannot_have(layer):
    call = LAYERS[layer]
    assert call(kernel=(2, 2)).size
    for name, values in (('kernel', ((0, 2), (-1, 2), (2, 0))), ('stride', ((0, 1), (1, -1))),
                         ('dilate', ((0, 1), (1, -1), (0, 0))), ('pad', ((-1, 0), (0, -2)))):
        for value in values:
            with pytest.raises(MXNetError, match=rf'incorrect {name} size: \[{value[0]},{value[1]}\]'):
                call(**{'kernel': (2, 2), name: value})
    for name in ('stride', 'dilate', 'pad'):
        for value in ((1,), (1, 1, 1)):
            with pytest.raises(MXNetError, match='must have the same number of dimensions with kernel_size'):
                call(**{'kernel': (2, 2), name: value})


def test_columns_of_windows_have_one_to_three_axes():
    for kernel in ((), (2, 2, 2, 2)):
        with pytest.raises(MXNetError, match='kernel must have 1, 2 or 3 dimensions'):
            nd.im2col(nd.ones((1,) * (len(kernel) + 2)), kernel=kernel)
        with pytest.raises(MXNetError, match='kernel must have 1, 2 or 3 dimensions'):
            nd.col2im(nd.ones((1, 8, 6)), output_size=(4, 3), kernel=kernel)


@pytest.mark.parametrize('size', [(4,), (4, 3, 1), (4, 3, 0), ()])
def test_the_images_of_columns_have_the_axes_of_the_kernel(size):
    with pytest.raises(MXNetError, match='Output size must have the same number of dimensions with kernel_size'):
        nd.col2im(nd.ones((1, 8, 6)), output_size=size, kernel=(2, 2))
    with pytest.raises(MXNetError, match=r'incorrect output size: \[0,3\]'):
        nd.col2im(nd.ones((1, 8, 6)), output_size=(0, 3), kernel=(2, 2))


@pytest.mark.parametrize('name', ['kernel', 'stride'])
@pytest.mark.parametrize('pooling', [nd.Pooling, nd.Pooling_v1])
def test_a_pooling_with_a_size_of_nothing(name, pooling):
    """Not even where one window covers everything, and the sizes do not count."""
    for everything in (False, True):
        with pytest.raises(MXNetError, match=rf'value \[0,2\]for Parameter {name} is invalid'):
            pooling(IMAGES, **{'kernel': (2, 2), 'global_pool': everything, name: (0, 2)})
    with pytest.raises(MXNetError, match=f'{name} must be positive in all dimensions'):
        nd.Pooling(IMAGES, **{'kernel': (2, 2), name: (-1, 2)})


def test_what_a_target_leaves_over_is_an_adjustment():
    """An odd surplus is adjusted by one, which is less than the stride unless that is 1."""
    def sizes(**p):
        spatial = len(p['kernel'])
        return nd.Deconvolution(nd.ones((1, 2) + (3,) * spatial), nd.ones((2, 3, *p['kernel'])), num_filter=3,
                                **p).shape[2:]

    for target in ((1, 2), (2, 3), (3, 2), (-1, 2), (3, 4)):
        with pytest.raises(MXNetError, match='parameter adj must be smaller than stride'):
            sizes(kernel=(2, 2), target_shape=target)
    for target in ((3,), (1,), (-1,)):
        with pytest.raises(MXNetError, match='parameter adj must be smaller than stride'):
            sizes(kernel=(2,), target_shape=target)
    with pytest.raises(MXNetError, match='parameter adj must be smaller than stride'):
        sizes(kernel=(2, 2, 2), target_shape=(2, 2, 3))
    assert sizes(kernel=(2, 2), target_shape=(2, 4)) == (2, 4)
    assert sizes(kernel=(2, 2), target_shape=(5, 4), stride=(2, 2)) == (5, 4)
    assert sizes(kernel=(2, 2), target_shape=(3, 3), stride=(2, 2)) == (3, 3)
    assert sizes(kernel=(2, 2), target_shape=(4, 2), adj=(1, 1)) == (4, 2)       # the target decides
    assert sizes(kernel=(2, 2), target_shape=(0, 0), pad=(1, 1)) == (2, 2)       # no target
    for adj in ((1, 0), (-1, 0)):
        with pytest.raises(MXNetError, match='parameter adj must be smaller than stride and not negative'):
            sizes(kernel=(2, 2), adj=adj)
    with pytest.raises(MXNetError, match='parameter target_shape must have the same number of dimensions'):
        sizes(kernel=(2, 2), target_shape=(4, 4, 4))


def test_columns_are_computed_in_steps_of_at_least_one_image():
    call = LAYERS['ModulatedDeformableConvolution']
    assert call(kernel=(2, 2), im2col_step=1).shape == (1, 3, 3, 2)
    for step in (0, -1):
        with pytest.raises(MXNetError, match='im2col_step should be greater equal to 1'):
            call(kernel=(2, 2), im2col_step=step)


# ---- regions --------------------------------------------------------------------------------------------------------

REGIONS = nd.array([[0, 0, 0, 3, 2], [0, 1, 1, 4, 3]])
ROTATED = nd.array([[0, 1, 1, 2, 2, 0]])
POOLINGS = {
    'ROIPooling': lambda size: nd.ROIPooling(nd.ones((1, 8, 4, 5)), REGIONS, pooled_size=size, spatial_scale=1.0),
    'ROIAlign': lambda size: nd.contrib.ROIAlign(nd.ones((1, 8, 4, 5)), REGIONS, pooled_size=size, spatial_scale=1.0),
    'position': lambda size: nd.contrib.ROIAlign(nd.ones((1, 8, 4, 5)), REGIONS, pooled_size=size, spatial_scale=1.0,
                                                 position_sensitive=True),
    'RROIAlign': lambda size: nd.contrib.RROIAlign(nd.ones((1, 8, 4, 5)), ROTATED, pooled_size=size,
                                                   spatial_scale=1.0)}


@pytest.mark.parametrize('pooling', POOLINGS)
def test_regions_without_bins(pooling):
    call = POOLINGS[pooling]
    assert call((2, 2)).shape[2:] == (2, 2)
    for size in ((0, 2), (2, 0), (0, 0), (-1, 0)):
        with pytest.raises(MXNetError, match='for Parameter pooled_size is invalid, the input shape must be nonzero'):
            call(size)
    for size in ((-1, 2), (2, -2)):
        with pytest.raises(MXNetError, match='parameter pooled_size must not be negative'):
            call(size)


def test_bins_of_position_sensitive_pooling():
    def pool(x, **p):
        return nd.contrib.PSROIPooling(x, REGIONS, **{'spatial_scale': 1.0, 'output_dim': 2, 'pooled_size': 2,
                                                      'group_size': 2, **p})

    x = nd.ones((1, 8, 4, 5))
    assert pool(x, pooled_size=0).shape == (2, 2, 0, 0)
    assert not np.any(with_gradients(lambda a: pool(a, pooled_size=0), x)[1])
    for name in ('pooled_size', 'output_dim', 'group_size'):
        with pytest.raises(MXNetError, match=f'parameter {name} must not be negative, got -1'):
            pool(x, **{name: -1})


@pytest.mark.parametrize('given', [{'output_dim': 0}, {'output_dim': -1}, {'group_size': 0}, {'group_size': -2},
                                   {'pooled_size': 0}, {'sample_per_part': 0}, {'sample_per_part': -1},
                                   {'part_size': -1}])
def test_sizes_that_a_deformable_pooling_cannot_have(given):
    p = {'spatial_scale': 1.0, 'output_dim': 2, 'group_size': 2, 'pooled_size': 2}
    assert nd.contrib.DeformablePSROIPooling(nd.ones((1, 8, 4, 5)), REGIONS, no_trans=True, **p).shape == (2, 2, 2, 2)
    name, = given
    with pytest.raises(MXNetError, match=f'parameter {name} must be at least'):
        nd.contrib.DeformablePSROIPooling(nd.ones((1, 8, 4, 5)), REGIONS, no_trans=True, **{**p, **given})


def test_without_a_best_box_the_boxes_stay_as_they_are():
    boxes = nd.array([[[0, 0.9, 0.1, 0.1, 0.4, 0.4], [0, -0.5, 0.1, 0.1, 0.4, 0.4]]])
    for more in ({}, {'valid_thresh': 2}, {'in_format': 'center', 'out_format': 'corner'}):
        y, gradient = with_gradients(lambda x, p=more: nd.contrib.box_nms(x, topk=0, **p), boxes)
        assert y == boxes.asnumpy().tolist()
        assert gradient == np.ones((1, 2, 6)).tolist()
    assert nd.contrib.box_nms(boxes, topk=-5).asnumpy()[0, 1].tolist() == [-1] * 6


def test_the_scale_of_regions_has_single_precision():
    """And coordinates that of their array: 4.5 is the border between two pixels."""
    image = np.arange(20.0).reshape(1, 1, 4, 5)
    for dtype, expected in (('float16', 0.0), ('float32', 0.0), ('float64', 4.0)):
        y = nd.ROIPooling(nd.array(image, dtype=dtype), nd.array([[0, 5, 0, 5, 0]], dtype=dtype), spatial_scale=0.9,
                          pooled_size=(1, 1))
        assert y.asscalar() == expected
    for dtype, expected in (('float16', 6.0), ('float32', 6.0), ('float64', 9.0)):
        y = nd.contrib.PSROIPooling(nd.array(image, dtype=dtype), nd.array([[0, 0, 0, 9, 9]], dtype=dtype),
                                    spatial_scale=0.3, output_dim=1, pooled_size=1)
        np.testing.assert_allclose(y.asscalar(), expected, rtol=1e-3)
    for dtype, expected in (('float16', [2.5, 7.5, 12.5]), ('float32', [0.0, 0.0, 0.0])):
        y = nd.contrib.PSROIPooling(nd.array(image, dtype=dtype), nd.array([[0, -1, 0, -1, 2.7]], dtype=dtype),
                                    spatial_scale=0.9, output_dim=1, pooled_size=3, group_size=1)
        assert y.asnumpy()[0, 0, :, 2].tolist() == expected


def test_anchors_of_ratios_that_boxes_cannot_have():
    found = nd.contrib.MultiBoxPrior(nd.ones((1, 1, 1, 1)), ratios=(1, -1, 0, 4)).asnumpy()[0]
    np.testing.assert_array_equal(found, [[0, 0, 1, 1], [math.nan] * 4, [0.5, -math.inf, 0.5, math.inf],
                                          [-0.5, 0.25, 1.5, 0.75]])


# ---- images ---------------------------------------------------------------------------------------------------------

def test_a_single_line_of_a_resized_image_is_the_first_one():
    image = nd.array(np.arange(12.0).reshape(1, 1, 3, 4))

    def resize(x, **p):
        return nd.contrib.BilinearResize2D(x, **p)

    for align in (False, True):
        assert resize(image, height=2, width=1, align_corners=align).asnumpy()[0, 0, :, 0].tolist() == [
            [1.0, 7.0], [0.0, 8.0]][align]
    np.testing.assert_allclose(resize(image, height=1, width=5, align_corners=False).asnumpy()[0, 0, 0],
                               [0, 0.7, 1.5, 2.3, 3], rtol=1e-6)
    y, gradient = with_gradients(lambda x: resize(x, height=1, width=2, align_corners=False), image)
    assert y == [[[[0.5, 2.5]]]]
    assert gradient == [[[[0.5] * 4, [0.0] * 4, [0.0] * 4]]]
    like = nd.contrib.BilinearResize2D(image, nd.ones((1, 1, 1, 1)), mode='like', align_corners=False)
    assert like.asnumpy().tolist() == [[[[0.0]]]]


def test_whole_numbers_are_normalised_in_single_precision():
    image = nd.array(np.full((1, 1, 1), 2**31 - 1), dtype='int32')
    assert nd.image.normalize(image, mean=0, std=3).asscalar() == 715827904


def test_the_slope_of_a_constant_image_in_half_precision():
    grid = nd.array([[[[-0.4849, 0.2401], [0.7817, -0.2682]], [[0.4567, -0.8099], [-0.3766, 0.5651]]]], dtype='float16')
    _, gradient = with_gradients(lambda b: nd.BilinearSampler(nd.ones((1, 2, 5, 4), dtype='float16'), b), grid)
    assert not np.any(gradient)


@pytest.mark.parametrize(('p', 'values', 'expected'), [
    (2, [0, 0, 1], [0, 0, 1]), (3, [0, 0, 1], [0, 0, 1]), (2, [1e-25, 1e-25, 1], [0, 0, 1]),
    (3, [-1, -1, 1], [0.629961, 0.629961, 0]), (3, [-1, 1, 2], [0, 0.23112, 0.924482])])
def test_the_gradient_of_a_norm_that_is_zero(p, values, expected):
    """A window whose norm is 0, or less than the type can hold, has no slope."""
    _, gradient = with_gradients(lambda x: nd.Pooling(x, kernel=(2,), pool_type='lp', p_value=p), nd.array([[values]]))
    np.testing.assert_allclose(gradient[0][0], expected, rtol=1e-5, atol=1e-9)


def test_the_gradient_of_a_norm_in_half_precision():
    for p, expected in ((2, 0.7071), (3, 0.63)):
        x = nd.array([[[1e-7, 1e-7]]], dtype='float16')
        _, gradient = with_gradients(lambda a, n=p: nd.Pooling(a, kernel=(2,), pool_type='lp', p_value=n), x)
        np.testing.assert_allclose(gradient[0][0], expected, rtol=0.3)


@pytest.mark.parametrize('amount', [math.inf, 1e38, 0.5])
def test_any_amount_of_colour_jitter(amount):
    image = nd.array([[[1, 1, 0]]])
    for name in ('brightness', 'contrast', 'saturation', 'hue'):
        given = {'brightness': 0, 'contrast': 0, 'saturation': 0, 'hue': 0, name: amount}
        assert nd.image.random_color_jitter(image, **given).asnumpy().shape == (1, 1, 3)


# ---- parameters -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('value', [True, {}, {0.1}, (True, False, True), ('1', '2', '3'), (math.inf, 0, 0),
                                   (math.nan,), math.inf, 'inf', 'x'])
def test_what_is_no_tuple_of_numbers(value):
    with pytest.raises(MXNetError, match='Invalid Parameter format for mean expect tuple of <float>'):
        nd.image.normalize(nd.ones((3, 2, 2)), mean=value, std=1)
    with pytest.raises(MXNetError, match='Invalid Parameter format for variances expect tuple of <float>'):
        nd.contrib.MultiBoxTarget(nd.ones((1, 1, 4)), nd.ones((1, 1, 5)), nd.ones((1, 2, 1)), variances=value)


def test_what_is_a_tuple_of_numbers():
    for value in (1, '1', (1,), [1.0], '[1]', np.float32(1), (1, 1, 1), '(1, 1, 1)'):
        assert not nd.image.normalize(nd.ones((3, 2, 2)), mean=value, std=1).asnumpy().any()


@pytest.mark.parametrize('value', [math.inf, -math.inf, math.nan, 'inf', 1e400])
def test_a_number_that_may_be_left_out_is_finite(value):
    x = nd.array([1.0, 2.0])
    for name in ('softmax', 'log_softmax', 'softmin'):
        with pytest.raises(MXNetError, match='Invalid Parameter format for temperature'):
            getattr(nd, name)(x, temperature=value)
    with pytest.raises(MXNetError, match='Invalid Parameter format for min_calib_range'):
        nd.contrib.quantize_v2(x, min_calib_range=value, max_calib_range=1)
    with pytest.raises(MXNetError, match='Invalid Parameter format for scale_width'):
        nd.contrib.BilinearResize2D(nd.ones((1, 1, 2, 2)), scale_height=1.0, scale_width=value)
    with pytest.raises(MXNetError, match='Invalid Parameter format for lstm_state_clip_max'):
        nd.RNN(nd.ones((1, 1, 1)), nd.ones(4), nd.ones((1, 1, 1)), mode='rnn_relu', state_size=1, num_layers=1,
               lstm_state_clip_max=value)
    assert nd.softmax(x, temperature=1e300).asnumpy().tolist() == [0.5, 0.5]


def test_members_of_a_shape_are_no_truth_values():
    with pytest.raises(MXNetError, match=r'Invalid Parameter format for axes expect Shape\(tuple\)'):
        nd.transpose(nd.ones((1, 2, 3)), axes=(True, False, 2))


# ---- slopes, labels, bytes ------------------------------------------------------------------------------------------

@pytest.mark.parametrize(('gamma', 'expected'), [
    ([[1, 2, 3], [4, 5, 6]], [[1, 2, 3], [4, 5, 6]]), ([[1, 2, 3]], [[1, 2, 3]] * 2), ([[1], [4]], [[1] * 3, [4] * 3]),
    ([1, 2, 3], [[1, 2, 3]] * 2), ([1, 2], [[1] * 3, [2] * 3]), ([[2]], [[2] * 3] * 2), ([2], [[2] * 3] * 2)])
def test_slopes_belong_to_channels_and_instances(gamma, expected):
    x = -np.ones((2, 3, 2))
    y, of_x, of_gamma = with_gradients(lambda a, b: nd.LeakyReLU(a, b, act_type='prelu'), nd.array(x), nd.array(gamma))
    slopes = np.array(expected, dtype=float)[:, :, None] * np.ones(2)
    assert y == (-slopes).tolist()
    assert of_x == slopes.tolist()
    shape = np.shape(gamma)
    assert of_gamma == np.full(shape, -12.0 / np.prod(shape)).tolist()


@pytest.mark.parametrize('shape', [(1, 1, 1), (1, 3, 1), (2, 3, 2), (3, 1), (1, 2), (4,), (1, 1, 1, 1)])
def test_slopes_that_belong_to_nothing(shape):
    with pytest.raises(MXNetError, match='Cannot broadcast gamma to data'):
        nd.LeakyReLU(nd.ones((2, 3, 2)), nd.ones(shape), act_type='prelu')


def test_scores_of_a_support_vector_machine_in_several_places():
    scores = np.arange(12.0).reshape(2, 3, 2) % 5 * 0.25
    label = nd.array([[0, 1, 1], [1, 1, 0]])
    y, gradient = with_gradients(lambda x: nd.SVMOutput(x, label), nd.array(scores))
    flat = with_gradients(lambda x: nd.SVMOutput(x, nd.reshape(label, shape=(-1,))), nd.array(scores.reshape(6, 2)))
    assert y == scores.tolist()
    assert gradient == np.reshape(flat[1], (2, 3, 2)).tolist()
    assert gradient[0] == [[-2.0, 2.5], [3.0, -0.5], [4.0, -2.0]]
    for shape in ((2,), (2, 2), (2, 3, 2), (6,)):
        with pytest.raises(MXNetError, match='Shape inconsistent'):
            nd.SVMOutput(nd.array(scores), nd.ones(shape))
    with pytest.raises(MXNetError, match='expected data of shape'):
        nd.SVMOutput(nd.ones(2), nd.ones(2))


@pytest.mark.parametrize('dtype', ['int8', 'uint8', 'int32', 'float32', 'float16'])
def test_elements_of_any_type_are_flattened(dtype):
    y, low, high = nd.contrib.quantized_flatten(nd.array([[[1, 2], [3, 4]]], dtype=dtype), nd.array([0]), nd.array([9]))
    assert (np.dtype(y.dtype).name, y.asnumpy().tolist()) == (dtype, [[1, 2, 3, 4]])
    assert (low.asscalar(), high.asscalar()) == (0, 9)


def test_bytes_of_a_range_without_width():
    """What is not in it is the largest or the smallest byte."""
    y = nd.contrib.quantize_v2(nd.array([1, -2, 0]), min_calib_range=0, max_calib_range=0)[0]
    assert y.asnumpy().tolist() == [127, -128, 0]
    y = nd.contrib.quantize_v2(nd.array([1, -2, 0]), min_calib_range=0, max_calib_range=0, out_type='uint8')[0]
    assert y.asnumpy().tolist() == [255, 0, 0]
    zero = nd.array([0])
    y = nd.contrib.quantize(nd.array([1, -1, 0]), zero, zero, out_type='int8')[0]
    assert y.asnumpy().tolist() == [127, -128, 0]
    assert not nd.contrib.quantize_v2(nd.array([0, 0]))[0].asnumpy().any()
