"""Corners in which the release was found to be right: what it answers there, operator by operator."""

from __future__ import annotations

import math

import numpy as np
import pytest

import refengine as mx
from refengine import MXNetError, autograd, dispatch, nd


def told(result):
    """Type, shape and elements of a result."""
    if isinstance(result, (list, tuple)):
        return [told(one) for one in result]
    return np.dtype(result.dtype).name, result.shape, result.asnumpy().tolist()


# ---- precision ------------------------------------------------------------------------------------------------------

def test_a_sigmoid_close_to_zero_keeps_its_digits():
    x = np.array([-8, -10, -17, -20, -30, -80, 0.5, 6.1, 1000, -1000])
    with np.errstate(over='ignore'):
        expected = 1 / (1 + np.exp(-x))
    np.testing.assert_allclose(nd.sigmoid(nd.array(x)).asnumpy(), expected.astype('float32'), rtol=1e-6)
    np.testing.assert_allclose(nd.log(nd.sigmoid(nd.array(x[3:6]))).asnumpy(), x[3:6], rtol=1e-6)
    half = np.array([-8, -6, -10, 6.1, 0.3], dtype='float16')
    exact = (1 / (1 + np.exp(-half.astype('float64')))).astype('float16')
    assert nd.sigmoid(nd.array(half, dtype='float16')).asnumpy().tolist() == exact.tolist()


@pytest.mark.parametrize('size', [1e-30, 1e-20, 1.0, 1e25])
def test_a_norm_whose_squares_are_out_of_range(size):
    x = nd.array([[3 * size, 4 * size], [0, 0], [float('inf'), 1], [float('nan'), 1], [1, 0]])
    rows = nd.norm(x, axis=1)
    np.testing.assert_allclose(rows.asnumpy(), [5 * size, 0, math.inf, math.nan, 1], rtol=1e-6)
    assert nd.norm(x, axis=1, keepdims=True).shape == (5, 1)
    one = x[0].copy()
    one.attach_grad()
    with autograd.record():
        y = one.norm()
    y.backward()
    assert y.shape == (1,)
    np.testing.assert_allclose(one.grad.asnumpy(), [0.6, 0.8], rtol=1e-6)


# ---- integers ------------------------------------------------------------------------------------------------------

def test_whole_numbers_are_divided_by_the_whole_part_of_the_root():
    """div_sqrt_dim: the root of 5 is 2 for integers, and quotients lose their fraction."""
    for dtype in ('int8', 'int32', 'int64'):
        x = nd.array([4, 5, 6, 7, -9], dtype=dtype)
        assert told(nd.contrib.div_sqrt_dim(x)) == (dtype, (5,), [2, 2, 3, 3, -4])
    np.testing.assert_allclose(nd.contrib.div_sqrt_dim(nd.array([4.0, -9.0])).asnumpy(),
                               np.array([4, -9]) / math.sqrt(2), rtol=1e-6)


@pytest.mark.parametrize('dtype', ['int32', 'uint8', 'int64'])
def test_a_polynomial_of_whole_numbers_is_computed_with_fractions(dtype):
    """quadratic: coefficients keep their fraction, the result loses its own."""
    x = nd.array([4, 5, 6], dtype=dtype)
    assert told(nd.contrib.quadratic(x, a=1.5, b=0.5, c=2.7)) == (dtype, (3,), [28, 42, 59])


def test_moments_of_whole_numbers():
    """The variance is around the whole mean."""
    assert told(nd.moments(nd.array([1, 2, 4], dtype='int32'), axes=(0,))) == [
        ('int32', (1,), [2]), ('int32', (1,), [1])]
    assert told(nd.moments(nd.array([[1], [2], [4]], dtype='uint8'), axes=(0,), keepdims=True)) == [
        ('uint8', (1, 1), [[2]]), ('uint8', (1, 1), [[1]])]


def test_truth_values_are_counted():
    """cumsum, and the multiplication by a whole number, of truth values are int64."""
    x = nd.array([True, False, True], dtype='bool')
    assert told(nd.cumsum(x)) == ('int64', (3,), [1, 1, 2])
    assert told(nd.contrib.backward_gradientmultiplier(x, scalar=2)) == ('int64', (3,), [2, 0, 2])
    assert nd.contrib.backward_gradientmultiplier(nd.array([1], dtype='int32'), is_int=False).dtype == np.float64


def test_images_of_whole_numbers():
    """normalize computes with fractions and drops them at the end."""
    x = nd.array([[[-5, 7]], [[5, 7]], [[5, 7]]], dtype='int8')
    assert told(nd.image.normalize(x, mean=(2.5, 0, 9), std=(3, 0.2, 1.5))) == (
        'int8', (3, 1, 2), [[[-2, 1]], [[25, 35]], [[-2, -1]]])


def test_convolutions_of_bytes_stay_within_their_range():
    x, w, b = (nd.array(v, dtype='int8') for v in ([[[100, 100, -100, 50]]], [[[1, 1]]], [3]))
    assert told(nd.Convolution(x, w, b, kernel=(2,), num_filter=1)) == ('int8', (1, 1, 3), [[[127, 3, -47]]])
    with pytest.raises(MXNetError, match='floating point'):
        nd.Convolution(x.astype('int32'), w.astype('int32'), b.astype('int32'), kernel=(2,), num_filter=1)


def test_bytes_that_are_quantised_again():
    """quantize_v2 of bytes changes their type, not their content."""
    assert told(nd.contrib.quantize_v2(nd.array([1, 3], dtype='uint8')))[0] == ('int8', (2,), [1, 3])
    known = {'out_type': 'auto', 'min_calib_range': 0.0, 'max_calib_range': 5.0}
    assert told(nd.contrib.quantize_v2(nd.array([1, 3], dtype='int8'), **known))[0] == ('uint8', (2,), [1, 3])


def test_bounds_beyond_the_type():
    x = nd.array([0, 5, 6], dtype='uint8')
    assert told(x.clip(-1, 3)) == ('uint8', (3,), [0, 3, 3])
    assert told(x.clip(1, 300)) == ('uint8', (3,), [1, 5, 6])
    assert told(x.clip(-2, -1)) == ('uint8', (3,), [0, 0, 0])


# ---- limits of parameters ------------------------------------------------------------------------------------------

def test_steps_at_rate_zero_are_no_error():
    """0/0 is NaN in the weight, not an exception of Python."""
    z, n = nd.array([1.0]), nd.array([1.0])
    assert math.isnan(nd.ftrl_update(nd.array([1.0]), nd.array([1.0]), z, n, lr=0.0).asscalar())


def test_a_temperature_of_zero():
    for function in (nd.softmax, nd.log_softmax, nd.softmin):
        assert np.isnan(function(nd.array([1.0, 2.0]), temperature=0.0).asnumpy()).all()


def test_a_smooth_loss_without_a_linear_part():
    assert told(nd.smooth_l1(nd.array([1.0, -3.0]), scalar=0.0)) == ('float32', (2,), [0.0, 0.0])


def test_distributions_of_a_single_value():
    """In arrays the limits of scale, rate and shape are allowed; below them nothing is."""
    zero = nd.array([0.0])
    assert nd.sample_normal(nd.array([2.0]), zero).asscalar() == 2.0
    assert nd.sample_exponential(zero).asscalar() == math.inf
    assert nd.sample_gamma(zero, nd.array([1.0])).asscalar() == 0.0
    for draw in (lambda: nd.sample_normal(zero, nd.array([-1.0])), lambda: nd.random.normal(0, 0, shape=(1,))):
        with pytest.raises(MXNetError, match='has to be positive'):
            draw().asnumpy()


@pytest.mark.parametrize('dtype', ['float16', 'float64', 'int32'])
def test_draws_are_float32_whatever_the_type_of_their_parameters(dtype):
    assert nd.sample_exponential(nd.array([1], dtype=dtype)).dtype == np.float32
    assert nd.sample_exponential(nd.array([1], dtype=dtype), dtype='float64').dtype == np.float64


@pytest.mark.parametrize('call', [
    lambda x: nd.one_hot(x, depth=True), lambda x: nd.topk(x, k=True), lambda x: nd.Dropout(x, p=True),
    lambda x: nd.sum(x, axis=True), lambda x: nd.sum(x, keepdims=-1), lambda x: nd.squeeze(x, axis={}),
    lambda x: nd.BatchNorm_v1(x, x, x, x), lambda x: nd.random.gamma_like(x, x), lambda x: nd.one_hot(x, depth=-4),
    lambda x: nd.khatri_rao(x), lambda x: nd.amp_multicast(x, num_outputs=2), lambda x: nd.depth_to_space(x, 1),
])
def test_what_is_no_number_is_refused(call):
    """A truth value or an array where a number belongs, wrong counts and ranks: MXNetError, as for any wrong text."""
    with pytest.raises(MXNetError):
        call(nd.array([1.0]))


def test_an_empty_tuple_of_axes_means_all_of_them_with_exclude_too():
    x = nd.array([[1.0, 2.0], [3.0, 4.0]])
    assert told(nd.sum(x, axis=(), exclude=True)) == ('float32', (1,), [10.0])
    assert told(nd.max(x, axis=(), exclude=True, keepdims=True)) == ('float32', (1, 1), [[4.0]])


def test_legacy_functions_give_one_element_for_no_dimension():
    with mx.util.np_shape(True):
        x = nd.array(np.array(2.5))
        assert nd.sum(x).shape == x.sum(axis=()).shape == nd.squeeze(nd.array([[5.0]])).shape == (1,)
        assert nd.sum(x, keepdims=True).shape == ()


@pytest.mark.parametrize('call', [
    lambda: nd.LRN(nd.ones((1, 3, 1, 1)), nsize=4),
    lambda: nd.linalg.gemm(nd.ones((2, 2)), nd.ones((2, 2)), nd.ones((2, 1))),
    lambda: nd.sample_normal(nd.ones((1, 1)), nd.ones((1,))),
])
def test_shapes_and_windows_that_do_not_fit(call):
    with pytest.raises(MXNetError):
        call()


def test_a_step_that_is_refused_has_moved_nothing():
    """Shapes are looked at before the momentum of the first weight is written."""
    weight, gradient, momentum = nd.ones((2, 1)), nd.ones((1, 1, 1)), nd.ones((1, 1, 1))
    with pytest.raises(MXNetError, match='Shape inconsistent'):
        nd.multi_sgd_mom_update(weight, gradient, momentum, lrs=(0.1,), wds=(1.0,))
    assert momentum.asscalar() == 1.0


# ---- orders and gradients ------------------------------------------------------------------------------------------

def test_upper_triangles_are_packed_column_by_column():
    a = nd.array(np.arange(16.0).reshape(4, 4))
    assert nd.linalg.extracttrian(a, offset=1).asnumpy().tolist() == [1, 2, 6, 3, 7, 11]
    assert nd.linalg.extracttrian(a, offset=-1).asnumpy().tolist() == [4, 8, 9, 12, 13, 14]
    packed = nd.array([1.0, 2, 3, 4, 5, 6])
    assert nd.linalg.maketrian(packed, lower=False).asnumpy().tolist() == [[1, 2, 4], [0, 3, 5], [0, 0, 6]]
    for options in ({'offset': 2}, {'lower': False}, {'offset': -1}, {}):
        back = nd.linalg.extracttrian(nd.linalg.maketrian(packed, **options), **options)
        assert back.asnumpy().tolist() == packed.asnumpy().tolist()


def gradient(function, *values):
    """The gradients of the sum of a function at some arrays."""
    arrays = [nd.array(value) for value in values]
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        result = function(*arrays)
    result.backward()
    return [array.grad.asnumpy().tolist() for array in arrays]


def test_nothing_is_passed_back_from_a_determinant_of_zero():
    assert gradient(nd.linalg.det, [[1.0, 2.0], [2.0, 4.0]]) == [[[0, 0], [0, 0]]]
    np.testing.assert_allclose(gradient(nd.linalg.det, [[2.0, 1.0], [1.0, 3.0]])[0], [[3, -1], [-1, 2]], rtol=1e-5)


def test_a_batch_of_losses_counts_rows():
    assert gradient(lambda x: nd.MakeLoss(x, normalization='batch'), np.ones((1, 1, 2, 4)).tolist()) == [
        np.full((1, 1, 2, 4), 0.5).tolist()]


@pytest.mark.parametrize('output', [nd.LinearRegressionOutput, nd.LogisticRegressionOutput, nd.MAERegressionOutput])
def test_labels_of_regression_outputs_get_no_gradient(output):
    of_data, of_label = gradient(output, [[1.0, 2.0]], [[1.5, 3.0]])
    assert of_label == [[0.0, 0.0]]
    assert all(value != 0 for value in of_data[0])


def test_a_histogram_is_a_list():
    assert isinstance(nd.histogram(nd.array([1.0]), bins=1, range=(-2, 2)), list)


# ---- exceptions of numpy -------------------------------------------------------------------------------------------

RAISED = [ValueError('operands could not be broadcast together'), IndexError('index 3 is out of bounds'),
          TypeError('ufunc not supported'), ZeroDivisionError('division by zero'),
          np.linalg.LinAlgError('Singular matrix'), KeyError('missing')]


@pytest.mark.parametrize('plain', [True, False], ids=['short way', 'long way'])
@pytest.mark.parametrize('error', RAISED, ids=lambda error: type(error).__name__)
def test_an_exception_of_numpy_in_a_body_is_the_engines_own_error(temporary, error, plain):
    def infer(arrays, params):
        """Takes everything."""

    @temporary('failing', **({} if plain else {'infer': infer}))
    def _failing(xp, data):
        """Fails as numpy does."""
        raise error

    x = nd.ones((2, 3))
    with pytest.raises(MXNetError, match='operator failing') as caught:
        dispatch.call('failing', x)
    assert caught.value.__cause__ is error
    assert x.asnumpy().tolist() == np.ones((2, 3)).tolist()


@pytest.mark.parametrize('error', RAISED, ids=lambda error: type(error).__name__)
def test_an_exception_of_numpy_in_a_shape_rule_is_the_engines_own_error(temporary, error):
    def infer(arrays, params):
        """Fails as a rule that meets a shape it did not think of."""
        raise error

    @temporary('failing', infer=infer)
    def _failing(xp, data):
        """Is not reached."""
        raise AssertionError

    with pytest.raises(MXNetError, match='operator failing'):
        dispatch.call('failing', nd.ones((2, 3)))


def test_other_exceptions_pass(temporary):
    """What is no complaint about arrays is not hidden behind the engine's error."""
    @temporary('interrupted')
    def _interrupted(xp, data):
        """Is interrupted."""
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dispatch.call('interrupted', nd.ones((2, 3)))


def test_real_calls_that_would_fail_inside_numpy():
    with pytest.raises(MXNetError, match='heads'):
        nd.contrib.interleaved_matmul_selfatt_qk(nd.ones((1, 2, 4)), heads=0)
    with pytest.raises(MXNetError, match='group_adagrad'):
        nd.contrib.group_adagrad_update(nd.ones((2, 2)), nd.ones((2, 2)), nd.ones((3,)), lr=1.0)


def test_an_output_of_another_type_is_left_alone():
    x = nd.array([[1.0, 2.0]], dtype='float64')
    with pytest.raises(MXNetError, match='expected float16'):
        nd.log_softmax(x, dtype='float16', out=x)
    assert x.asnumpy().tolist() == [[1.0, 2.0]]


def test_what_is_no_array_is_named():
    one = nd.array([1.0])
    with pytest.raises(AssertionError, match='Argument grad must have NDArray type, but got 2.5'):
        nd.contrib.adamw_update(one, 2.5, one, one, one, lr=1, eta=1)
    with pytest.raises(MXNetError, match='expects 5 inputs, but got 4'):
        nd.contrib.adamw_update(one, one, one, None, one, lr=1, eta=1)
    with pytest.raises(MXNetError, match='Type inconsistent'):
        nd.contrib.quantized_flatten(*(nd.array([1], dtype='uint8') for _ in range(3)))


@pytest.mark.parametrize('error', RAISED, ids=lambda error: type(error).__name__)
def test_an_exception_of_numpy_in_a_gradient_is_the_engines_own_error(temporary, error):
    def failing(F, ograds, inputs, outputs, params):
        raise error

    @temporary('one_way', grad=failing)
    def _one_way(xp, data):
        """Has no way back."""
        return data * 2

    x = nd.ones((2,))
    x.attach_grad()
    with autograd.record():
        y = dispatch.call('one_way', x)
    with pytest.raises(MXNetError, match='gradient') as caught:
        y.backward()
    assert caught.value.__cause__ is error


@pytest.mark.parametrize('name', ['rcbrt', 'rsqrt', 'sin', 'cos', 'power', 'subtract', 'abs'])
def test_gradients_of_bytes(name):
    """Negative constants do not stand in their way."""
    x = nd.array([1, 2], dtype='uint8')
    x.attach_grad()
    with autograd.record():
        y = getattr(nd, name)(*[x] * (2 if name in ('power', 'subtract') else 1))
    y.backward()
    assert x.grad.dtype == np.uint8


@pytest.mark.parametrize(('name', 'values', 'gradient'), [
    ('arcsinh', [0, 1, -3], [1, 0, 0]), ('arccosh', [2, 3], [0, 0])])
def test_the_derivative_of_whole_numbers_loses_its_fraction_itself(name, values, gradient):
    """It is rounded before it is multiplied, and not the root below it."""
    x = nd.array(values, dtype='int32')
    x.attach_grad()
    with autograd.record():
        y = getattr(nd, name)(x)
    y.backward()
    assert told(x.grad) == ('int32', (len(values),), gradient)


@pytest.mark.parametrize(('dtype', 'scalar', 'expected'), [
    ('uint8', -1.0, [252, 253]), ('uint8', 300, [176, 132]), ('int8', 300, [-80, -124]), ('int32', -1.5, [-4, -3])])
def test_numbers_that_multiply_whole_gradients_wrap_around(dtype, scalar, expected):
    x = nd.array([4, 3], dtype=dtype)
    assert told(nd.contrib.backward_gradientmultiplier(x, scalar=scalar)) == (dtype, (2,), expected)
    assert nd.contrib.backward_gradientmultiplier(x, scalar=float('nan')).dtype == np.dtype(dtype)


def test_what_does_not_count_is_zero_beside_not_a_number():
    x = nd.array([[float('nan'), 0.0]])
    length = nd.array([1], dtype='int32')
    x.attach_grad()
    with autograd.record():
        y = nd.softmax(x, length, use_length=True)
    y.backward()
    for found in (y, x.grad):
        assert math.isnan(found.asnumpy()[0, 0])
        assert found.asnumpy()[0, 1] == 0


def test_a_histogram_over_one_number():
    counts, edges = nd.histogram(nd.array([1.0, 2.0, 2.0]), bins=4, range=(2, 2))
    assert told(counts) == ('int64', (4,), [0, 0, 2, 0])
    assert told(edges) == ('float32', (5,), [1.5, 1.75, 2.0, 2.25, 2.5])
    with pytest.raises(MXNetError, match='left end'):
        nd.histogram(nd.array([1.0]), bins=2, range=(2, 1))
    with pytest.raises(MXNetError, match='negative'):
        nd.histogram(nd.array([1.0]), bins=-1, range=(1, 2))


def test_dropout_along_no_axes():
    x = nd.ones((2, 3))
    for axes in (None, 'None', ()):
        with autograd.record():
            y = nd.Dropout(x, axes=axes)
        assert y.shape == (2, 3)
        assert set(y.asnumpy().ravel()) <= {0.0, 2.0}


def test_attention_of_another_length():
    with pytest.raises(MXNetError, match=r'attention.shape\[1\] should be the same, currently are 1 and 2'):
        nd.contrib.interleaved_matmul_selfatt_valatt(nd.ones((1, 2, 12)), nd.ones((4, 2, 1)), heads=2)


def test_borders_of_negative_size():
    with pytest.raises(MXNetError, match='pad_width must have numbers in the range from 0'):
        nd.pad(nd.ones((1, 1, 2, 3)), mode='edge', pad_width=(0, 0, 0, 0, 1, -1, 2, 1))


def test_the_way_back_through_a_root_of_whole_numbers():
    x = nd.array([1, 1], dtype='int32')
    x.attach_grad()
    with autograd.record():
        y = nd.contrib.div_sqrt_dim(x)
    y.backward()
    assert told(x.grad) == ('int32', (2,), [1, 1])


def test_shapes_of_the_second_phase_of_lamb():
    weight, one = nd.array([[1.0, 2.0]]), nd.array([1.0])
    for g, norm in ((nd.array([1.0, 2.0]), one), (nd.array([[1.0]]), one), (weight, nd.array([1.0, 2.0]))):
        with pytest.raises(MXNetError, match='shape'):
            nd.lamb_update_phase2(weight, g, norm, one, lr=2)
        with pytest.raises(MXNetError, match='shape'):
            nd.mp_lamb_update_phase2(weight.astype('float16'), g, norm, one, weight.copy(), lr=2)
    assert told(nd.lamb_update_phase2(weight, weight, one, one, lr=2)) == ('float32', (1, 2), [[-1.0, -2.0]])


@pytest.mark.parametrize('name', ['log', 'log1p', 'sqrt', 'arctan', 'cbrt', 'reciprocal'])
def test_gradients_of_whole_numbers_lose_their_fractions_one_by_one(name):
    once = {'log': [1, 0], 'reciprocal': [-1, 0]}.get(name, [0, 0])
    x = nd.array([1, 2], dtype='int8')
    x.attach_grad('add')
    function = getattr(nd, name)
    for passes in (1, 2):
        with autograd.record():
            y = function(x)
        y.backward()
        assert told(x.grad) == ('int8', (2,), [passes * one for one in once])
    x.attach_grad()
    with autograd.record():
        y = function(x) + function(x)
    y.backward()
    assert told(x.grad) == ('int8', (2,), [2 * one for one in once])


def test_whole_numbers_divided_by_a_root_are_exact():
    largest = 2 ** 63 - 1
    for values, expected in (([largest, -largest], [largest, -largest]),
                             ([largest, -7, 7, -8], [largest // 2, -3, 3, -4])):
        assert nd.contrib.div_sqrt_dim(nd.array(values, dtype='int64')).asnumpy().tolist() == expected


def test_a_score_at_the_threshold_matches_nothing():
    for ascending in (False, True):
        rows, columns = nd.contrib.bipartite_matching(nd.array([[0.5]]), threshold=0.5, is_ascend=ascending)
        assert rows.asnumpy().tolist() == columns.asnumpy().tolist() == [-1.0]
    rows, _ = nd.contrib.bipartite_matching(nd.array([[0.5, 0.6]]), threshold=0.5)
    assert rows.asnumpy().tolist() == [1.0]


def test_the_class_of_a_box_is_not_its_score():
    with pytest.raises(MXNetError, match='id_index=1 conflicts with score_index=1'):
        nd.contrib.box_nms(nd.ones((1, 6)), id_index=1)
    with pytest.raises(MXNetError, match='does not support boolean type'):
        nd.contrib.box_nms(nd.ones((1, 6), dtype='bool'))


def test_a_negative_number_of_repetitions_counts_down():
    x = nd.ones((4,))
    assert nd.contrib.arange_like(x, repeat=-2).asnumpy().tolist() == [0, 0, -1, -1]
    assert nd.contrib.arange_like(x, repeat=2).asnumpy().tolist() == [0, 0, 1, 1]
