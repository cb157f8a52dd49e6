"""What the operators take and refuse, as the release was seen to do; what is refused changes nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from refengine import MXNetError, autograd, nd, sym
from tests.refengine.ops.test_release_corners import told

HALF, WIDE = 'float16', 'float32'


def row(dtype=WIDE, size=3):
    return nd.array([[0.5, -1.25, 2.0][:size]], dtype=dtype)


def one(dtype=WIDE):
    return nd.array([1.0], dtype=dtype)


# ---- updates of weights ---------------------------------------------------------------------------------------------

RATES = {'lr': 1.0, 'eta': 1.0}
MANY = {'lrs': (1.0,), 'wds': (1.0,), 'num_weights': 1}
REFUSED = {
    'a mean of another shape': lambda: ('contrib.adamw_update', [row(), row(), row(size=2), row(), one()], RATES),
    'a gradient of another shape': lambda: ('contrib.adamw_update', [row(), row(size=2), row(), row(), one()], RATES),
    'a mean of another dtype': lambda: ('contrib.adamw_update', [row(), row(), row('float64'), row(), one()], RATES),
    'a scale of another dtype': lambda: ('contrib.adamw_update', [row(), row(), row(), row(), one('float64')], RATES),
    'a copy of another shape': lambda: (
        'contrib.mp_adamw_update', [row(), row(), row(), row(), row(size=2), one()], RATES),
    'a copy of float16': lambda: (
        'contrib.mp_adamw_update', [row(HALF), row(HALF), row(), row(), row(HALF), one()], RATES),
    'a gradient of float32': lambda: (
        'contrib.mp_adamw_update', [row(HALF), row(), row(), row(), row(), one()], RATES),
    'a gradient of float64': lambda: ('multi_sgd_update', [row(), row('float64')], MANY),
    'a momentum of float64': lambda: ('multi_sgd_mom_update', [row(), row(), row('float64')], MANY),
    'a copy of float16 among many': lambda: ('multi_mp_sgd_update', [row(HALF), row(HALF), row(HALF)], MANY),
    'weights of two dtypes': lambda: (
        'multi_sgd_update', [row(), row(), row('float64'), row('float64')],
        {'lrs': (1.0, 1.0), 'wds': (0.0, 0.0), 'num_weights': 2}),
    'rates of float64': lambda: (
        'preloaded_multi_sgd_update', [row(), row(), one('float64'), one()], {'num_weights': 1}),
    'too many rates': lambda: (
        'preloaded_multi_sgd_update', [row(), row(), nd.ones((2,)), one()], {'num_weights': 1}),
    'an output of another shape': lambda: (
        'lamb_update_phase1', [row(), row(), row(), row()], {'t': 1, 'wd': 0.0, 'out': nd.ones((3, 1))}),
    'a momentum and an output of another shape': lambda: (
        'multi_sgd_mom_update', [row(), row(), row()], {**MANY, 'out': nd.ones((3,))}),
    'two outputs for one weight': lambda: (
        'multi_sgd_mom_update', [row(), row(), row()], {**MANY, 'out': [row(), row()]}),
    'a decay above one': lambda: (
        'ftml_update', [row(), row(), row(), row(), row()], {'lr': 1.0, 't': 1, 'beta1': 1.5}),
    'a decay below zero': lambda: (
        'ftml_update', [row(), row(), row(), row(), row()], {'lr': 1.0, 't': 1, 'beta2': -0.5}),
}


@pytest.mark.parametrize('reason', REFUSED)
def test_an_update_that_is_refused_changes_nothing(reason):
    name, arrays, params = REFUSED[reason]()
    function = nd
    for part in name.split('.'):
        function = getattr(function, part)
    before = [told(array) for array in arrays]
    with pytest.raises(MXNetError, match='expected|inconsistent|expects|exceed bound'):
        function(*arrays, **params)
    assert [told(array) for array in arrays] == before


def test_corrections_of_no_update_at_all_are_infinite():
    """The numbers are those of MXNet 1.9.1; a division of Python's would raise."""
    made = nd.lamb_update_phase1(row(), row(), row(), row(), t=1, wd=1.0, beta1=1.0)
    assert told(made)[2][0][0] == math.inf
    assert math.isnan(told(made)[2][0][1])
    for rates in ({'beta2': 1.0, 't': 1}, {'t': 0}):
        made = nd.ftml_update(row(), row(), row(), row(), row(), lr=1.0, **rates)
        assert np.isnan(made.asnumpy()).all(), rates
    assert np.isnan(nd.ftml_update(row(), row(), row(), row(), row(), lr=0.0, t=1).asnumpy()).all()


# ---- parameters -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('call', [
    lambda: nd.image.normalize(nd.ones((3, 1, 1)), mean=True, std=(1.0,)),
    lambda: nd.image.normalize(nd.ones((3, 1, 1)), mean={}, std=(1.0,)),
    lambda: nd.contrib.MultiBoxPrior(nd.ones((1, 1, 1, 1)), sizes={}),
    lambda: nd.slice(nd.ones((2,)), begin=(0,), end=(1,), step={}),
    lambda: nd.slice(nd.ones((2,)), begin={}, end=(1,)),
    lambda: nd.slice(nd.ones((2,)), begin=True, end=(1,)),
    lambda: nd.contrib.gradientmultiplier(nd.ones((2,)), scalar=True),
    lambda: nd.ones(True), lambda: nd.zeros(True), lambda: nd.random.uniform(shape=True),
    lambda: nd.random.normal(shape=1.5), lambda: nd.random.uniform(shape='x')])
def test_what_is_neither_a_number_nor_a_list_of_them(call):
    with pytest.raises(MXNetError, match='Invalid Parameter format for'):
        call()


def test_none_and_text_in_the_place_of_a_number():
    assert told(nd.slice(nd.array([1.0, 2.0]), begin=(0,), end=(1,), step=None)) == ('float32', (1,), [1.0])
    assert told(nd.slice(nd.array([1.0, 2.0]), begin=(0,), end=(1,), step='None')) == ('float32', (1,), [1.0])
    assert nd.random.uniform(shape='2').shape == (2,)
    assert told(nd.topk(row(), k=1, dtype=None)) == ('float32', (1, 1), [[2.0]])
    assert told(nd.one_hot(one(), 2, dtype=None)) == ('float32', (1, 2), [[0.0, 1.0]])
    assert nd.random.multinomial(nd.array([0.0, 1.0]), dtype=None).dtype == np.int32


def test_a_rate_is_not_given_beside_a_scale():
    with pytest.raises(TypeError, match="got multiple values for argument 'lam'"):
        nd.random.exponential(lam=2.0)


INFINITE = float('inf')


@pytest.mark.parametrize('call', [
    lambda: nd.arange(0, INFINITE), lambda: nd.arange(0, math.nan), lambda: nd.arange(-INFINITE, 3),
    lambda: nd.arange(0, 3, math.nan), lambda: nd.arange(INFINITE), lambda: nd.linspace(0, 1, -1), lambda: nd.eye(-1)])
def test_ranges_without_an_end_and_negative_numbers_of_elements(call):
    with pytest.raises(MXNetError, match='finite numbers|non-negative|negative value'):
        call()


# ---- axes and shapes ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('axis', [-4, -1, 2, 3])
def test_the_rows_of_matrices_are_on_any_axis_but_the_last(axis):
    x = nd.ones((2, 2, 2))
    for call in (lambda: nd.linalg.gemm2(x, x, axis=axis), lambda: nd.linalg.gemm(x, x, x, axis=axis)):
        with pytest.raises(MXNetError, match=rf'Invalid row axis \({axis}\)'):
            call()
    assert nd.linalg.gemm2(x, x, axis=-3).shape == (2, 2, 2)


@pytest.mark.parametrize('name', ['trmm', 'trsm'])
def test_the_leading_axes_of_matrices_do_not_broadcast(name):
    function = getattr(nd.linalg, name)
    for one_shape, other in (((1, 3, 3), (3, 2)), ((2, 3, 3), (1, 3, 2))):
        with pytest.raises(MXNetError, match='leading axes'):
            function(nd.ones(one_shape), nd.ones(other))


def test_axes_of_a_slice_like_another():
    a, b = nd.ones((1, 2)), nd.ones((1, 1))
    assert nd.slice_like(a, b, axes=(-1,)).shape == (1, 1)
    for axis in (-3, 2):
        with pytest.raises(MXNetError, match=f'Slice axis: {axis} '):
            nd.slice_like(a, b, axes=(axis,))
    with pytest.raises(MXNetError, match='exceeds second input: 1'):
        nd.slice_like(a, nd.ones((1,)), axes=(1,))


def test_named_axes_that_are_broadcast_have_length_one():
    assert nd.broadcast_like(nd.ones((2, 1)), nd.ones((5, 4)), lhs_axes=(1,), rhs_axes=(1,)).shape == (2, 4)
    with pytest.raises(MXNetError, match='Input axis 1 of length 4 cannot be broadcasted to 4'):
        nd.broadcast_like(nd.ones((2, 4)), nd.ones((5, 4)), lhs_axes=(1,), rhs_axes=(1,))


@pytest.mark.parametrize('out', [1, 3])
def test_outputs_are_counted_before_anything_is_written(out):
    x = nd.ones((2, 2))
    outs = [nd.zeros((2, 1)) for _ in range(out)]
    with pytest.raises(MXNetError, match=f'expects 2 outputs, but out has {out} arrays'):
        nd.split(x, num_outputs=2, out=outs)
    assert all(not array.asnumpy().any() for array in outs)


@pytest.mark.parametrize('out', [2.5, 'x', [nd.ones((2,)), None], np.ones(2)], ids=['number', 'text', 'list', 'numpy'])
def test_what_a_result_cannot_be_written_to(out):
    with pytest.raises(TypeError, match='out must be an NDArray or a list of them, got'):
        nd.shape_array(nd.ones((2,)), out)
    with pytest.raises(TypeError, match='out must be an NDArray or a list of them, got'):
        nd.sqrt(nd.ones((2,)), out=out)
    with pytest.raises(TypeError, match='out must be an NDArray or a list of them, got'):
        nd.random.uniform(out=out)


def test_arrays_are_looked_at_before_parameters():
    x = nd.ones((1, 1))
    with pytest.raises(AssertionError, match='Argument gamma must have NDArray type, but got 2.5'):
        nd.contrib.SyncBatchNorm(x, 2.5, x, x, x, momentum=())
    with pytest.raises(MXNetError, match='moments does not support boolean type'):
        nd.moments(nd.ones((2, 2), dtype='bool'), axes=(0,))


def test_no_output_is_too_few():
    with pytest.raises(MXNetError, match='expects 1 outputs, but out has 0 arrays'):
        nd.sqrt(nd.ones((2,)), out=[])


@pytest.mark.parametrize(('source', 'codes', 'expected'), [
    ((12, 3), (3, 4, -4, 3), (3, 4, 3)), ((12, 3), (-1, 4, -4, 3), (3, 4, 3)), ((12, 3), (3, -1, -4, 0), (3, 4, 3)),
    ((2, 12, 3), (0, 2, 6, -4, 0), (2, 2, 6, 3)), ((2, 12, 3), (-3, 3, 1, -4), (24, 3, 1)),
    ((2, 12, 3), (-2, 3, 1, -4), (2, 12, 3, 1))])
def test_a_split_is_read_from_the_right_too(source, codes, expected):
    assert nd.reshape(nd.ones(source), shape=codes, reverse=True).shape == expected
    with pytest.raises(MXNetError, match='-4 must be followed by two dimensions'):
        nd.reshape(nd.ones((2, 3)), shape=(2, -4, 1, 3), reverse=True)


@pytest.mark.parametrize(('params', 'expected'), [
    ({'target_shape': (0, 2)}, (6, 2)), ({'target_shape': (4, 0)}, (4, 3)), ({'target_shape': (0,)}, (12,)),
    ({'target_shape': (1, 12)}, (1, 12)), ({'target_shape': (7, 0), 'keep_highest': True}, (2, 6)),
    ({'target_shape': (-1, 3, 0), 'keep_highest': True}, (2, 3, 2)), ({'shape': (3, 4), 'target_shape': (9,)}, (3, 4)),
])
def test_the_old_target_of_a_reshape_infers_zero(params, expected):
    """As in the release: one 0 is inferred, and the first dimension stays where that is asked for."""
    data = nd.arange(12).reshape((2, 6))
    result = nd.reshape(data, **params)
    assert result.shape == expected
    np.testing.assert_array_equal(result.asnumpy().ravel(), np.arange(12))


@pytest.mark.parametrize('params', [
    {'target_shape': (4, -1)}, {'target_shape': (-2,)}, {'target_shape': (0, 0)}, {'target_shape': (5, 0)},
    {'target_shape': (2, 5)}, {'keep_highest': True}, {'target_shape': (0, 0, 0), 'keep_highest': True},
])
def test_the_old_target_of_a_reshape_knows_no_codes(params):
    with pytest.raises(MXNetError):
        nd.reshape(nd.arange(12).reshape((2, 6)), **params)


def test_an_array_stands_for_its_element_type():
    """Wherever an element type is named, as in the release."""
    kind = nd.array([0, 1], dtype='int32')
    made = [nd.zeros((1,), dtype=kind), nd.full((1,), 2, dtype=kind), nd.array([1.5], dtype=kind),
            nd.arange(2, dtype=kind), nd.linspace(0, 1, 2, dtype=kind), nd.eye(2, dtype=kind),
            nd.array([1.5]).astype(kind), nd.cast(nd.array([1.5]), kind), nd.cumsum(nd.array([1.5]), dtype=kind)]
    assert {array.dtype for array in made} == {np.int32}
    assert sym.zeros((1,), dtype=kind).attr('dtype') == 'int32'
    assert sym.var('a', dtype=kind).attr('__dtype__') == '4'


@pytest.mark.parametrize('out', [1, [1, 2], 'x'])
def test_what_is_no_array_is_refused_as_output_first(out):
    with pytest.raises(TypeError, match='out must be an NDArray'):
        nd.Flatten(None, out=out)


@pytest.mark.parametrize(('value', 'dtype', 'expected'), [
    (-2.5, 'uint8', 254), (300, 'uint8', 44), (1e6, 'int8', 64), (1e30, 'int32', -2**31), (math.inf, 'int64', -2**63),
    (1e10, 'int32', -2**31),
])
def test_numbers_that_an_integer_cannot_hold_are_cast_as_in_c(value, dtype, expected):
    """Wherever a parameter becomes an element, as in the release."""
    ones = nd.ones((2, 1), dtype=dtype)
    made = [nd.one_hot(nd.array([0]), depth=1, on_value=value, dtype=dtype),
            nd.one_hot(nd.array([9]), depth=1, off_value=value, dtype=dtype),
            nd.SequenceMask(ones, nd.array([1]), use_sequence_length=True, value=value)[1],
            nd.full((1,), value, dtype=dtype), nd.zeros((1,), dtype=dtype) + value, ones[0] * value]
    assert [int(array.asnumpy().ravel()[0]) for array in made] == [expected] * len(made)


@pytest.mark.parametrize('shape', [(1, 2, 4, 4), (1, 2, 4, 4, 4)])
@pytest.mark.parametrize('everything', [False, True])
def test_the_same_size_is_for_maxima_of_a_line(shape, everything):
    with pytest.raises(MXNetError, match='Max Pooling 1-D'):
        nd.Pooling(nd.ones(shape), kernel=(9,) * (len(shape) - 2), pooling_convention='same', global_pool=everything)


def test_responses_are_normalised_in_floating_point_only():
    with pytest.raises(MXNetError, match='only support floating point'):
        nd.LRN(nd.ones((1, 2, 2, 2), dtype='int8'), nsize=3)


@pytest.mark.parametrize(('kind', 'size', 'name'), [('nearest', 2, 'arg1'), ('bilinear', 4, 'weight')])
def test_images_are_enlarged_together_in_one_type_only(kind, size, name):
    with pytest.raises(MXNetError, match=f"uniform type. Expected 'float32' v.s. given 'float16' at '{name}'"):
        nd.UpSampling(nd.ones((1, 1, 2, 2)), nd.ones((1, 1, size, size), dtype=HALF), scale=2, sample_type=kind,
                      num_filter=1)


@pytest.mark.parametrize('dtype', [HALF, WIDE, 'float64'])
def test_the_largest_of_nothing(dtype):
    """The last window lies behind the end: the first version of the pooling has no smallest finite number for it."""
    data = nd.ones((1, 1, 3, 2), dtype=dtype)
    params = {'kernel': (2, 2), 'stride': (3, 1), 'pool_type': 'max', 'pooling_convention': 'full'}
    data.attach_grad()
    with autograd.record():
        first = nd.Pooling_v1(data, **params)
    first.backward()
    assert first.asnumpy().ravel().tolist() == [1, -math.inf]
    assert data.grad.asnumpy().ravel().tolist() == [1, 0, 0, 0, 0, 0]
    assert nd.Pooling(data, **params).asnumpy().ravel().tolist() == [1, np.finfo(dtype).min]


def test_an_ellipsis_for_no_axis_keeps_no_index_arrays_apart():
    data = nd.arange(12).reshape((2, 3, 2))
    for places in ([1, 1, 0], nd.array([1, 1, 0])):
        assert data[-2:, 1, ..., places].asnumpy().tolist() == [[3, 3, 2], [9, 9, 8]]
        data[:, 1, ..., places] = nd.array([[3, 3, 2], [9, 9, 8]])
    assert data[1, ..., [0, 1]].shape == (2, 3)     # numpy's order, where it stands for an axis


@pytest.mark.parametrize(('name', 'instead'), [('nansum', 0), ('nanprod', 1)])
def test_no_number_counts_along_no_axis_either(name, instead):
    data = nd.array([3, math.nan])
    for params in ({'axis': 0, 'exclude': True}, {'axis': 0, 'exclude': True, 'keepdims': True}):
        assert getattr(nd, name)(data, **params).asnumpy().tolist() == [3, instead]


def test_the_gradient_of_a_hypotenuse_keeps_small_sides():
    """The smallest numbers of float16 have no digits to lose in a product."""
    side = nd.array([1e-7], dtype=HALF)
    side.attach_grad()
    with autograd.record():
        result = nd.broadcast_hypot(nd.zeros((1,), dtype=HALF), side)
    result.backward(nd.array([1.25], dtype=HALF))
    assert side.grad.asnumpy().tolist() == [1.25]


@pytest.mark.parametrize(('compute', 'expected'), [
    (lambda a, b: a ** 0.3, 21078), (lambda a, b: nd.broadcast_power(a, b), 1)])
def test_gradients_whose_parts_are_beyond_float16(compute, expected):
    """A large power times a small number, as in the release."""
    first, second = nd.array([1e-7], dtype=HALF), nd.array([1e-7], dtype=HALF)
    first.attach_grad()
    with autograd.record():
        result = compute(first, second)
    result.backward()
    assert first.grad.dtype == np.float16
    np.testing.assert_allclose(first.grad.asnumpy(), np.float16(expected), rtol=2e-3)


def test_the_gradient_of_a_divisor_in_float16():
    """The square of the divisor is 0 in the type."""
    data = nd.array([1e-4], dtype=HALF)
    divisor = nd.array([1e-4], dtype=HALF)
    divisor.attach_grad()
    with autograd.record():
        result = data / divisor
    result.backward()
    np.testing.assert_allclose(divisor.grad.asnumpy(), [-1e4], rtol=2e-3)


@pytest.mark.parametrize('compute', [lambda a: a % 2, lambda a: 5 % a, lambda a: nd.modulo(a, a + 1)])
@pytest.mark.parametrize(('dtype', 'zero'), [('int32', True), ('uint8', True), (WIDE, False)])
def test_remainders_of_integers_have_no_gradient(compute, dtype, zero):
    data = nd.array([4, 1, 3], dtype=dtype)
    data.attach_grad()
    with autograd.record():
        result = compute(data)
    result.backward()
    assert (not data.grad.asnumpy().any()) == zero


def test_gradients_of_powers_of_integers():
    base, exponent = nd.array([1, 2, 3], dtype='int32'), nd.array([0, 1, 2], dtype='int32')
    base.attach_grad()
    for power, expected in ((lambda: base ** -2, [-2, 0, 0]), (lambda: nd.power(base, exponent), [0, 1, 6]),
                            (lambda: base ** 2, [2, 4, 6])):
        with autograd.record():
            result = power()
        result.backward()
        assert base.grad.asnumpy().tolist() == expected


@pytest.mark.parametrize('shape', [{}, {2: 1}, {2}, range(2, 3), 'x', True, 2.0])
def test_what_is_no_shape(shape):
    for make in (nd.zeros, nd.ones):
        with pytest.raises(MXNetError, match='inferring shapes failed|Invalid Parameter format for shape'):
            make(shape)


@pytest.mark.parametrize('shape', ['2', '(2,)', '[2]', [2], np.array([2]), 2, np.int64(2), np.array(2)])
def test_what_is_a_shape(shape):
    assert nd.zeros(shape).shape == nd.ones(shape).shape == (2,)


def test_an_array_without_dimensions_cannot_be_filled_under_legacy_shapes():
    with pytest.raises(MXNetError, match='inferring shapes failed'):
        nd.full((), 1)


@pytest.mark.parametrize(('key', 'whole'), [
    (slice(None), True), (slice(None, None, 1), True), (slice(0, None), False), (slice(None, 3), False),
    (slice(None, None, -1), False), (..., False), ((slice(None),), False)])
def test_which_slice_is_the_array_itself(key, whole):
    data = nd.array([1, 2, 3])
    assert (data[key] is data) == whole


@pytest.mark.parametrize('place', [-0.46, 1.7, 2, -1])
def test_fractions_outside_are_no_positions(place):
    for axis, data in ((0, nd.array([1, 2])), (1, nd.array([[1, 2]]))):
        with pytest.raises(MXNetError, match='out of bound'):
            nd.take(data, nd.array([place]), axis=axis, mode='raise').asnumpy()
    assert nd.take(nd.array([1, 2]), nd.array([0.7]), mode='raise').asnumpy().tolist() == [1]


BOXES = {'samples': (2, 1), 'matches': (2, 1), 'anchors': (2, 1, 4), 'refs': (2, 3, 4), 'means': (4,), 'stds': (4,)}


def encoded(**shapes):
    return nd.contrib.box_encode(**{name: nd.ones(shape) for name, shape in {**BOXES, **shapes}.items()})


@pytest.mark.parametrize(('name', 'shape'), [
    ('samples', (2,)), ('samples', (2, 2)), ('matches', (2,)), ('matches', (1, 1)), ('anchors', (1, 4)),
    ('anchors', (1, 1, 4)), ('anchors', (2, 1, 3)), ('refs', (2, 4)), ('refs', (2, 3, 3)), ('refs', (1, 3, 4)),
    ('means', (3,)), ('means', (1, 4)), ('stds', (3,)),
])
def test_shapes_of_boxes_to_encode(name, shape):
    assert [array.shape for array in encoded()] == [(2, 1, 4)] * 2
    with pytest.raises(MXNetError, match=name):
        encoded(**{name: shape})


def test_a_steep_smooth_loss_in_float16():
    """The square of the slope alone is beyond the type."""
    data = nd.array([0, 1e-6, -3], dtype=HALF)
    data.attach_grad()
    with autograd.record():
        loss = nd.smooth_l1(data, scalar=300)
    loss.backward()
    assert loss.asnumpy().tolist() == [0, np.float16(6e-8), 3]
    assert data.grad.asnumpy().tolist() == [0, np.float16(0.0912), -1]


def test_a_number_of_numpy_is_as_wide_as_the_array():
    """0.1 / -0.01 is -10 in float32 and beyond it in float64."""
    data = nd.array([-0.01])
    data.attach_grad()
    with autograd.record():
        rest = np.float64(0.1) % data
    rest.backward()
    assert data.grad.asnumpy().tolist() == [10]


def test_gradients_of_truth_values_are_added_to():
    data = nd.array([True, False], dtype='bool')
    data.attach_grad('add')
    with autograd.record():
        result = nd.prod(data)
    result.backward()
    assert data.grad.dtype == np.bool_


def test_averages_of_the_first_pooling_count_the_whole_window():
    """The numbers are those of MXNet 1.9.1."""
    x = nd.array(np.arange(1, 10).reshape(1, 1, 3, 3))
    x.attach_grad()
    with autograd.record():
        y = nd.Pooling_v1(x, kernel=(2, 2), stride=(2, 1), pool_type='avg', pooling_convention='full')
    y.backward()
    assert told(y)[2] == [[[[3.0, 4.0], [3.75, 4.25]]]]
    assert told(x.grad)[2] == [[[[0.25, 0.5, 0.25]] * 3]]
    whole = nd.Pooling_v1(x, kernel=(2, 2), global_pool=True, pool_type='avg')
    assert told(whole)[2] == [[[[5.0]]]]


# ---- gradients ------------------------------------------------------------------------------------------------------

def test_an_infinite_slope_counts_only_between_the_bounds():
    x = row()
    x.attach_grad()
    with autograd.record():
        y = nd.hard_sigmoid(x, alpha=math.inf)
    y.backward()
    assert told(x.grad) == ('float32', (1, 3), [[0.0, 0.0, 0.0]])


def through_softmax(name, outputs, heads):
    """The gradient of a softmax in float64, from its outputs as they were rounded."""
    if name == 'log_softmax':
        return heads - np.exp(outputs) * heads.sum()
    return outputs * (heads - (heads * outputs).sum()) * (-1 if name == 'softmin' else 1)


@pytest.mark.parametrize('name', ['softmax', 'softmin', 'log_softmax'])
def test_the_gradient_of_a_softmax_in_float16_keeps_the_digits_of_its_input(name):
    """The rule in float64, on the output as it was rounded."""
    values, heads = np.array([-0.4833, -1.6167, 1.6167]), np.array([0.5, 0.75, 1.0])
    x = nd.array(values)
    x.attach_grad()
    with autograd.record():
        y = getattr(nd, name)(x, dtype='float16')
    y.backward(nd.array(heads, dtype='float16'))
    expected = through_softmax(name, y.asnumpy().astype('float64'), heads)
    np.testing.assert_allclose(x.grad.asnumpy(), expected, rtol=1e-5, atol=1e-6)
    assert x.grad.dtype == np.float32


def test_the_gradient_of_a_product_of_small_numbers():
    """1.617 * -1.617 / 2 is -1.307; multiplied first, the smallest numbers of float16 lose it."""
    x = nd.array([1.617, 1.192e-7, -1.617], dtype='float16')
    x.attach_grad()
    with autograd.record():
        y = nd.prod(x)
    y.backward(nd.array([0.5], dtype='float16'))
    assert x.grad.asnumpy().tolist()[1] == -1.25


@pytest.mark.parametrize('name', ['softmax', 'softmin', 'log_softmax'])
def test_the_gradient_of_a_softmax_of_float16_is_computed_in_float32(name):
    values, heads = np.array([0.4834, -1.617, 1.05], dtype='float16'), np.array([0.5, 0.75, 1.0])
    x = nd.array(values, dtype='float16')
    x.attach_grad()
    with autograd.record():
        y = getattr(nd, name)(x)
    y.backward(nd.array(heads, dtype='float16'))
    expected = through_softmax(name, y.asnumpy().astype('float64'), heads)
    assert x.grad.asnumpy().tolist() == expected.astype('float16').tolist()
