"""Operators whose gradients or results need more than a sample: modes, states, draws, lengths, ranges."""

from __future__ import annotations

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, nd
from refengine.base import MXNetError

RANDOM = np.random.RandomState(3)


def close(found, expected, tolerance=1e-5):
    """Same shape, and values within the tolerance."""
    found = found.asnumpy() if hasattr(found, 'asnumpy') else np.asarray(found)
    expected = np.asarray(expected)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


# ---- BatchNorm and its relatives -----------------------------------------------------------------------------------

def _normalise(function, **params):
    """Output, gradients and moved statistics of one training step on fixed arrays."""
    random = np.random.RandomState(1)
    x, head = nd.array(random.randn(3, 2, 4)), nd.array(random.randn(3, 2, 4))
    gamma, beta, mean, var = nd.array([1.5, 0.5]), nd.array([0.1, 0.2]), nd.array([0.3, -0.3]), nd.array([1.0, 2.0])
    for array in (x, gamma, beta):
        array.attach_grad()
    with autograd.record():
        y = function(x, gamma, beta, mean, var, eps=0.1, momentum=0.7, fix_gamma=False, **params)
    y.backward(head)
    return [a.asnumpy() for a in (y, x.grad, gamma.grad, beta.grad, mean, var)]


def _version_one(x, gamma, beta, mean, var, **params):
    return nd.BatchNorm_v1(x, gamma, beta, moving_mean=mean, moving_var=var, **params)


def _synchronised(x, gamma, beta, mean, var, **params):
    return nd.contrib.SyncBatchNorm(x, gamma, beta, mean, var, key='layer', **params)


@pytest.mark.parametrize('use_global_stats', [False, True])
@pytest.mark.parametrize('function', [_version_one, _synchronised])
def test_relatives_of_batch_norm(function, use_global_stats):
    """They give what BatchNorm gives, gradients and moving statistics included."""
    expected = _normalise(nd.BatchNorm, use_global_stats=use_global_stats)
    for found, wanted in zip(_normalise(function, use_global_stats=use_global_stats), expected):
        close(found, wanted)


def test_the_first_version_gives_the_variance():
    """output_mean_var: mean and variance of the batch, not the inverse deviation."""
    x = nd.array(RANDOM.randn(3, 2, 4))
    with autograd.train_mode():
        _, mean, variance = nd.BatchNorm_v1(x, nd.ones(2), nd.zeros(2), moving_mean=nd.zeros(2), moving_var=nd.ones(2),
                                            output_mean_var=True)
    close(mean, x.asnumpy().mean((0, 2)))
    close(variance, x.asnumpy().var((0, 2)))


def test_states_are_needed():
    """Without its states the first version refuses, as the release does."""
    with pytest.raises(MXNetError, match='expects 5 inputs, but got 3'):
        nd.BatchNorm_v1(nd.ones((2, 2)), nd.ones(2), nd.zeros(2))


def test_sparse_regularisation():
    """The penalty of the moved average is added to the gradient; the numbers are those of the release."""
    x = nd.array(np.random.RandomState(0).rand(3, 4))
    average = nd.array([0.3, 0.4, 0.5, 0.6])
    x.attach_grad()
    with autograd.record():
        y = nd.IdentityAttachKLSparseReg(x, moving_avg=average, sparseness_target=0.2, penalty=0.5, momentum=0.3)
    close(y, x.asnumpy())
    y.backward()
    close(x.grad, [[1.6883302, 1.6560326, 1.7735454, 1.950309]] * 3)
    close(average, [0.5417639, 0.52705586, 0.57748425, 0.6386286])


# ---- Hawkes processes ----------------------------------------------------------------------------------------------

def _hawkes(values, which=None):
    """The sum of both outputs with weights, and gradients if asked for."""
    marks = nd.array([[0, 1, 1], [1, 0, 0]], dtype='int32')
    lengths = nd.array([3, 2], dtype='float64')
    arrays = [nd.array(v, dtype='float64') for v in values]
    if which is not None:
        for array in arrays:
            array.attach_grad()
    with autograd.record():
        *first, horizon = arrays
        likelihood, memory = nd.contrib.hawkesll(*first, marks, lengths, horizon)
        total = (likelihood * nd.array([1.0, 0.5], dtype='float64')).sum() + (memory * memory).sum()
    if which is None:
        return float(total.asscalar())
    total.backward()
    return [a.grad.asnumpy() for a in arrays]


def test_gradient_of_hawkes_processes():
    """All differentiable inputs, times included, against central differences."""
    random = np.random.RandomState(2)
    values = [random.rand(2, 2) + 0.5, random.rand(2) * 0.5, random.rand(2) + 0.5, random.rand(2, 2),
              random.rand(2, 3) + 0.2, np.array([4.0, 5.0])]
    found = _hawkes(values, which=True)
    for index, value in enumerate(values):
        for place in np.ndindex(*value.shape):
            moved = [v.copy() for v in values]
            moved[index][place] += 1e-6
            high = _hawkes(moved)
            moved[index][place] -= 2e-6
            close(found[index][place], (high - _hawkes(moved)) / 2e-6, 1e-5)


# ---- images --------------------------------------------------------------------------------------------------------

def test_gradient_of_to_tensor():
    """Each element of the tensor is one of the image divided by 255."""
    x = nd.array(RANDOM.rand(2, 3, 3) * 255)
    head = RANDOM.rand(3, 2, 3)
    x.attach_grad()
    with autograd.record():
        y = nd.image.to_tensor(x)
    y.backward(nd.array(head))
    close(x.grad, head.transpose(1, 2, 0) / 255)


@pytest.mark.parametrize(('function', 'axis'), [(nd.image.random_flip_left_right, 1),
                                                (nd.image.random_flip_top_bottom, 0)])
def test_random_flips_and_their_gradients(function, axis):
    """Both outcomes come, and the gradient goes back the way that the image went."""
    x, head = RANDOM.rand(3, 4, 1).astype('float32'), RANDOM.rand(3, 4, 1).astype('float32')
    seen = set()
    mx.random.seed(5)
    for _ in range(40):
        image = nd.array(x)
        image.attach_grad()
        with autograd.record():
            y = function(image)
        y.backward(nd.array(head))
        turned = not np.array_equal(y.asnumpy(), x)
        close(y, np.flip(x, axis) if turned else x)
        close(image.grad, np.flip(head, axis) if turned else head)
        seen.add(turned)
    assert seen == {False, True}


@pytest.mark.parametrize('name', ['brightness', 'contrast', 'saturation', 'hue'])
def test_draws_of_colour_changes_differ(name):
    """A range of factors gives different images; a range of one value always the same."""
    x = nd.array(RANDOM.rand(4, 5, 3) * 200)
    function = getattr(nd.image, f'random_{name}')
    mx.random.seed(7)
    first, second = (function(x, 0.2, 0.9).asnumpy() for _ in range(2))
    assert not np.allclose(first, second)
    close(function(x, 0.5, 0.5), function(x, 0.5, 0.5).asnumpy())


def test_no_jitter_changes_nothing():
    """Amounts of zero leave the image as it is, bytes too."""
    x = nd.array(RANDOM.randint(0, 256, (4, 5, 3)), dtype='uint8')
    y = nd.image.random_color_jitter(x, 0, 0, 0, 0)
    assert y.dtype == np.uint8
    np.testing.assert_array_equal(y.asnumpy(), x.asnumpy())


def test_imdecode(tmp_path):
    """An image file as array: all of it, a part, grey, with a mean, into a batch."""
    Image = pytest.importorskip('PIL.Image')
    pixels = (np.arange(24) * 10).reshape(2, 4, 3).astype('uint8')
    file = tmp_path / 'image.png'
    Image.fromarray(pixels).save(file)
    data, planes = file.read_bytes(), pixels.transpose(2, 0, 1).astype('float32')
    close(nd.imdecode(data), planes[None])
    close(nd.imdecode(data, clip_rect=(1, 0, 3, 2)), planes[None, :, 0:2, 1:3])
    close(nd.imdecode(data, mean=nd.ones((3, 2, 4))), planes[None] - 1)
    assert nd.imdecode(data, channels=1).shape == (1, 1, 2, 4)
    batch = nd.zeros((2, 3, 2, 4))
    assert nd.imdecode(data, out=batch, index=1) is batch
    close(batch, np.stack([np.zeros_like(planes), planes]))
    with pytest.raises(MXNetError, match='out must be'):
        nd.imdecode(data, out=nd.zeros((1, 3, 2, 4)), index=1)
    with pytest.raises(MXNetError, match='failed to decode'):
        nd.imdecode(b'no image')


# ---- RNN -----------------------------------------------------------------------------------------------------------

def _lstm(lengths=None, **params):
    """Arrays of a call of RNN, two layers both ways."""
    random = np.random.RandomState(4)
    time, batch, features, size = 4, 3, 2, 3
    count = sum(2 * 4 * size * (width + size + 2) for width in (features, 2 * size))
    arrays = [nd.array(random.randn(*shape) * 0.5) for shape in (
        (time, batch, features), (count,), (4, batch, size), (4, batch, size))]
    if lengths is not None:
        arrays.append(nd.array(lengths))
    return nd.RNN(*arrays, state_size=size, num_layers=2, bidirectional=True, mode='lstm', state_outputs=True,
                  use_sequence_length=lengths is not None, **params), arrays


def test_lengths_of_sequences():
    """A short sequence has the outputs and last states of the sequence cut to its length, and zeros after it."""
    (outputs, last_h, last_c), arrays = _lstm([2, 4, 1])
    for index, length in enumerate((2, 4, 1)):
        cut = [arrays[0][:length, index:index + 1], arrays[1], arrays[2][:, index:index + 1],
               arrays[3][:, index:index + 1]]
        alone = nd.RNN(*cut, state_size=3, num_layers=2, bidirectional=True, mode='lstm', state_outputs=True)
        close(outputs[:length, index], alone[0][:, 0].asnumpy())
        assert not outputs.asnumpy()[length:, index].any()
        close(last_h[:, index], alone[1][:, 0].asnumpy())
        close(last_c[:, index], alone[2][:, 0].asnumpy())


def test_full_lengths_change_nothing():
    """Lengths that are all full give what a call without lengths gives."""
    for found, expected in zip(_lstm([4, 4, 4])[0], _lstm()[0]):
        close(found, expected.asnumpy())


def test_cell_states_are_clipped():
    """No cell state leaves the limits, and limits that none reaches change nothing."""
    (_, _, cells), _ = _lstm(lstm_state_clip_min=-0.1, lstm_state_clip_max=0.1)
    assert abs(cells.asnumpy()).max() <= np.float32(0.1)
    for found, expected in zip(_lstm(lstm_state_clip_min=-50, lstm_state_clip_max=50)[0], _lstm()[0]):
        close(found, expected.asnumpy())


def test_dropout_between_layers():
    """In training a share of the elements between layers is dropped; outside of it none is."""
    close(_lstm(p=0.5)[0][0], _lstm()[0][0].asnumpy())
    with autograd.train_mode():
        mx.random.seed(1)
        first, second = (_lstm(p=0.5)[0][0].asnumpy() for _ in range(2))
    assert not np.allclose(first, second)


# ---- quantisation --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('out_type', ['int8', 'uint8'])
def test_bytes_and_back(out_type):
    """Quantised and dequantised numbers differ from the first ones by half a step at most."""
    x = RANDOM.rand(5, 6) * 3 if out_type == 'uint8' else RANDOM.randn(5, 6)
    quantised, low, high = nd.contrib.quantize_v2(nd.array(x), out_type=out_type)
    back = nd.contrib.dequantize(quantised, low, high).asnumpy()
    step = max(abs(low.asscalar()), abs(high.asscalar())) / (255 if out_type == 'uint8' else 127)
    assert abs(back - x).max() <= step * 0.51


def test_a_layer_on_bytes():
    """Convolution and FullyConnected on bytes come near to those on numbers, with either type of data."""
    for name, data, weight, params in (
            ('conv', RANDOM.rand(1, 4, 6, 6), RANDOM.randn(3, 4, 2, 2), {'kernel': (2, 2), 'num_filter': 3}),
            ('fully_connected', RANDOM.rand(3, 8), RANDOM.randn(5, 8), {'num_hidden': 5})):
        plain = nd.Convolution if name == 'conv' else nd.FullyConnected
        expected = plain(nd.array(data), nd.array(weight), no_bias=True, **params).asnumpy()
        for out_type in ('int8', 'uint8'):
            x = nd.contrib.quantize_v2(nd.array(data), out_type=out_type)
            w = nd.contrib.quantize_v2(nd.array(weight), out_type='int8')
            layer = getattr(nd.contrib, f'quantized_{name}')
            result = layer(x[0], w[0], x[1], x[2], w[1], w[2], no_bias=True, **params)
            assert result[0].dtype == np.int32
            found = nd.contrib.dequantize(*nd.contrib.requantize(*result)).asnumpy()
            assert abs(found - expected).max() < 0.05 * abs(expected).max()


def test_asymmetric_bytes_feed_an_rnn():
    """quantize_asym uses the whole range, and quantized_rnn gives what RNN gives for the numbers behind the bytes."""
    random = np.random.RandomState(6)
    x = random.rand(3, 2, 4) * 2 - 0.5
    data, scale, shift = nd.contrib.quantize_asym(nd.array(x))
    assert data.asnumpy().min() == 0
    assert data.asnumpy().max() == 255
    numbers = (data.asnumpy() - shift.asscalar()) / scale.asscalar()
    assert abs(numbers - x).max() <= 0.51 / scale.asscalar()
    weights = [nd.array(random.randn(*s) * 0.3) for s in ((4 * 3 * (4 + 3 + 2),), (1, 2, 3), (1, 2, 3))]
    params = {'state_size': 3, 'num_layers': 1, 'mode': 'lstm'}
    close(nd.contrib.quantized_rnn(data, *weights, scale, shift, **params),
          nd.RNN(nd.array(numbers), *weights, **params).asnumpy())


# ---- what has no counterpart on a CPU in the release -----------------------------------------------------------------

def test_fourier_transforms():
    """Pairs of real and imaginary parts; the inverse lacks the factor 1/n."""
    x = RANDOM.randn(2, 6)
    pairs = nd.contrib.fft(nd.array(x)).asnumpy()
    expected = np.fft.fft(x)
    close(pairs[:, 0::2], expected.real, 1e-4)
    close(pairs[:, 1::2], expected.imag, 1e-4)
    close(nd.contrib.ifft(nd.array(pairs)).asnumpy() / 6, x, 1e-4)


def test_count_sketch():
    """The example of the documentation."""
    found = nd.contrib.count_sketch(nd.array([[1.2, 2.5, 3.4], [3.2, 5.7, 6.6]]), nd.array([[0, 3, 4]]),
                                    nd.array([[1, -1, 1]]), out_dim=5)
    close(found, [[1.2, 0, 0, -2.5, 3.4], [3.2, 0, 0, -5.7, 6.6]])


def test_a_mask_of_ones_changes_nothing():
    """ModulatedDeformableConvolution with a mask of ones is DeformableConvolution, where all points lie inside."""
    random = np.random.RandomState(8)
    data, weight = nd.array(random.randn(1, 2, 6, 6)), nd.array(random.randn(3, 2, 2, 2))
    offset = nd.array(random.rand(1, 8, 5, 5) * 0.4 - 0.2)
    offset[:, :, 0], offset[:, :, -1], offset[:, :, :, 0], offset[:, :, :, -1] = 0, 0, 0, 0
    params = {'kernel': (2, 2), 'num_filter': 3, 'no_bias': True}
    close(nd.contrib.ModulatedDeformableConvolution(data, offset, nd.ones((1, 4, 5, 5)), weight, **params),
          nd.contrib.DeformableConvolution(data, offset, weight, **params).asnumpy())
