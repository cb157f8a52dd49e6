"""Senseless parameters of layers: an error where the layer is made that names layer, parameter, expected and given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine import MXNetError
from refengine.gluon import contrib, loss, nn, rnn

NAN = float('nan')
AT_LEAST_1 = 'must be a whole number of at least 1, got'

WRONG_VALUES: dict[str, Callable[[], Any]] = {
    f'Dense: units {AT_LEAST_1} 0': lambda: nn.Dense(0),
    f'Dense: units {AT_LEAST_1} -1': lambda: nn.Dense(-1),
    'Dense: in_units must be a whole number of at least -1, got -2': lambda: nn.Dense(3, in_units=-2),
    "Dense: activation must be one of 'relu', .*, got 'foo'": lambda: nn.Dense(3, activation='foo'),
    "Activation: activation must be one of .*'tanh', got 'foo'": lambda: nn.Activation('foo'),
    f'PReLU: in_channels {AT_LEAST_1} 0': lambda: nn.PReLU(in_channels=0),
    'Dropout: rate must be a number from 0 to 1, got 1.5': lambda: nn.Dropout(1.5),
    'Dropout: rate must be a number from 0 to 1, got -0.1': lambda: nn.Dropout(-0.1),
    'Dropout: rate must be a number from 0 to 1, got nan': lambda: nn.Dropout(NAN),
    'BatchNorm: epsilon must be a number of at least 0, got -1.0': lambda: nn.BatchNorm(epsilon=-1.0),
    'BatchNorm: epsilon must be a number of at least 0, got nan': lambda: nn.BatchNorm(epsilon=NAN),
    'BatchNorm: momentum must be a number from 0 to 1, got 2.0': lambda: nn.BatchNorm(momentum=2.0),
    'BatchNorm: in_channels must be a whole number of at least -1, got -2': lambda: nn.BatchNorm(in_channels=-2),
    'LayerNorm: epsilon must be a number of at least 0, got -1': lambda: nn.LayerNorm(epsilon=-1),
    'InstanceNorm: epsilon must be a number of at least 0, got -1': lambda: nn.InstanceNorm(epsilon=-1),
    'GroupNorm: epsilon must be a number of at least 0, got -1': lambda: nn.GroupNorm(epsilon=-1),
    f'GroupNorm: num_groups {AT_LEAST_1} 0': lambda: nn.GroupNorm(num_groups=0),
    f'SyncBatchNorm: num_devices {AT_LEAST_1} 0': lambda: contrib.nn.SyncBatchNorm(num_devices=0),
    f'SyncBatchNorm: num_devices {AT_LEAST_1} -2': lambda: contrib.nn.SyncBatchNorm(num_devices=-2),
    f'Embedding: input_dim {AT_LEAST_1} 0': lambda: nn.Embedding(0, 3),
    f'Embedding: output_dim {AT_LEAST_1} -1': lambda: nn.Embedding(3, -1),
    f'Conv2D: channels {AT_LEAST_1} 0': lambda: nn.Conv2D(0, 3),
    r'Conv2D: kernel_size must be 2 whole numbers of at least 1, got \(0, 0\)': lambda: nn.Conv2D(2, 0),
    r'Conv2D: kernel_size must be .* got \(3, -1\)': lambda: nn.Conv2D(2, (3, -1)),
    r'Conv1D: strides must be 1 whole number of at least 1, got \(0,\)': lambda: nn.Conv1D(2, 3, strides=0),
    r'Conv2D: strides .* same number of dimensions .* got \(1, 1, 1\)': lambda: nn.Conv2D(2, 3, strides=(1, 1, 1)),
    r'Conv2D: padding must be 2 whole numbers of at least 0, got \(-1, -1\)': lambda: nn.Conv2D(2, 3, padding=-1),
    r'Conv3D: dilation must be 3 whole numbers of at least 1, got \(0, 0, 0\)': lambda: nn.Conv3D(2, 3, dilation=0),
    f'Conv2D: groups {AT_LEAST_1} 0': lambda: nn.Conv2D(2, 3, groups=0),
    'Conv2D: channels must be a multiple of groups, got channels=3 and groups=2': lambda: nn.Conv2D(3, 3, groups=2),
    'Conv2D: in_channels must be a multiple of groups, got in_channels=4 and groups=3':
        lambda: nn.Conv2D(3, 3, groups=3, in_channels=4),
    "Conv2D: activation must be one of .*, got 'foo'": lambda: nn.Conv2D(2, 3, activation='foo'),
    r'Conv2DTranspose: output_padding must be smaller than strides, got .*\(5, 5\) and strides=\(1, 1\)':
        lambda: nn.Conv2DTranspose(2, 3, output_padding=5),
    r'Conv2DTranspose: output_padding must be .* got \(-1, -1\)': lambda: nn.Conv2DTranspose(2, 3, output_padding=-1),
    'Conv1DTranspose: channels must be a multiple of groups': lambda: nn.Conv1DTranspose(3, 3, groups=2),
    r'MaxPool2D: pool_size must be 2 whole numbers of at least 1, got \(0, 0\)': lambda: nn.MaxPool2D(0),
    r'AvgPool2D: strides must be .* got \(-1, -1\)': lambda: nn.AvgPool2D(2, strides=-1),
    r'MaxPool2D: strides must have the same .* got \(1,\)': lambda: nn.MaxPool2D(2, strides=(1,)),
    r'MaxPool1D: padding must be smaller than pool_size, got padding=\(2,\)': lambda: nn.MaxPool1D(2, padding=2),
    r'ReflectionPad2D: padding must be .* got \(0, 0, 0, 0, -1': lambda: nn.ReflectionPad2D(-1),
    f'LSTM: hidden_size {AT_LEAST_1} 0': lambda: rnn.LSTM(0),
    f'GRU: num_layers {AT_LEAST_1} -1': lambda: rnn.GRU(3, num_layers=-1),
    'RNN: dropout must be a number from 0 to 1, got 2.0': lambda: rnn.RNN(3, num_layers=2, dropout=2.0),
    'LSTM: projection_size must be .* got -1': lambda: rnn.LSTM(3, projection_size=-1),
    f'LSTMCell: hidden_size {AT_LEAST_1} -1': lambda: rnn.LSTMCell(-1),
    "RNNCell: activation must be one of .* got 'foo'": lambda: rnn.RNNCell(3, activation='foo'),
    "LSTMCell: recurrent_activation must be .* got 'foo'": lambda: rnn.LSTMCell(3, recurrent_activation='foo'),
    'DropoutCell: rate must be a number from 0 to 1, got 2.0': lambda: rnn.DropoutCell(2.0),
    'ZoneoutCell: zoneout_states must be .* got -1.0': lambda: rnn.ZoneoutCell(rnn.RNNCell(3), zoneout_states=-1.0),
    f'LSTMPCell: projection_size {AT_LEAST_1} 0': lambda: contrib.rnn.LSTMPCell(3, 0),
    f'Conv2DLSTMCell: hidden_channels {AT_LEAST_1} 0':
        lambda: contrib.rnn.Conv2DLSTMCell((3, 8, 8), 0, i2h_kernel=3, h2h_kernel=3),
    r'PixelShuffle2D: factor must be 2 whole numbers of at least 1, got \(0, 0\)':
        lambda: contrib.nn.PixelShuffle2D(0),
    f'DeformableConvolution: num_deformable_group {AT_LEAST_1} 0':
        lambda: contrib.cnn.DeformableConvolution(2, num_deformable_group=0),
    'HuberLoss: rho must be a number greater than 0, got 0': lambda: loss.HuberLoss(rho=0),
}

WRONG_KINDS: dict[str, Callable[[], Any]] = {
    f'Dense: units {AT_LEAST_1} 2.5 of type float': lambda: nn.Dense(2.5),  # type: ignore[arg-type]
    f"Dense: units {AT_LEAST_1} '3' of type str": lambda: nn.Dense('3'),  # type: ignore[arg-type]
    f'Dense: units {AT_LEAST_1} True of type bool': lambda: nn.Dense(True),
    'Dense: activation must be one of .* got 3 of type int': lambda: nn.Dense(3, activation=3),  # type: ignore[arg-type]
    'Dropout: rate must be .* got None of type NoneType': lambda: nn.Dropout(None),  # type: ignore[arg-type]
    'ELU: alpha must be a number, got': lambda: nn.ELU('q'),  # type: ignore[arg-type]
    'LeakyReLU: alpha must be a number, got': lambda: nn.LeakyReLU('q'),  # type: ignore[arg-type]
    'BatchNorm: axis must be a whole number, got 1.0 of type float': lambda: nn.BatchNorm(axis=1.0),  # type: ignore[arg-type]
    'BatchNorm: axis must be a whole number, got None': lambda: nn.BatchNorm(axis=None),  # type: ignore[arg-type]
    r'LayerNorm: axis must be a whole number, got \(0, 1\)': lambda: nn.LayerNorm(axis=(0, 1)),  # type: ignore[arg-type]
    f'SyncBatchNorm: num_devices {AT_LEAST_1} 1.5': lambda: contrib.nn.SyncBatchNorm(num_devices=1.5),  # type: ignore[arg-type]
    'Conv2D: kernel_size must be a whole number or 2 of them, got None': lambda: nn.Conv2D(2, None),
    'Conv2D: kernel_size must be a whole number or 2 of them, got 3.0': lambda: nn.Conv2D(2, 3.0),
    r'Conv2D: kernel_size must be 2 whole numbers .* got \(3, 3.0\)': lambda: nn.Conv2D(2, (3, 3.0)),
    f'Conv2D: groups {AT_LEAST_1} 1.0 of type float': lambda: nn.Conv2D(2, 3, groups=1.0),  # type: ignore[arg-type]
    'MaxPool2D: pool_size must be a whole number or 2 of them': lambda: nn.MaxPool2D(2.0),
    f'LSTM: num_layers {AT_LEAST_1} 1.5 of type float': lambda: rnn.LSTM(3, num_layers=1.5),  # type: ignore[arg-type]
}

NOT_MADE: dict[str, Callable[[], Any]] = {       # classes and wording of the releases
    "Conv2D: Only supports 'NCHW' and 'NHWC' layout for now, got 'foo'": lambda: nn.Conv2D(2, 3, layout='foo'),
    "AvgPool1D: Only supports .* got 'NCHW'": lambda: nn.AvgPool1D(2, layout='NCHW'),
    r'Conv2D: kernel_size must be a number or a list of 2 ints, got \(3,\)': lambda: nn.Conv2D(2, (3,)),
    r'MaxPool2D: pool_size must be a number or a list of 2 ints, got \(2, 2, 2\)': lambda: nn.MaxPool2D((2, 2, 2)),
    'Slope coefficient for LeakyReLU must be no less than 0': lambda: nn.LeakyReLU(-1),
    'Invalid layout foo': lambda: rnn.LSTM(3, layout='foo'),
}


@pytest.mark.parametrize('message', WRONG_VALUES)
def test_wrong_values(message: str) -> None:
    with pytest.raises(ValueError, match=message) as raised:
        WRONG_VALUES[message]()
    assert isinstance(raised.value, MXNetError)


@pytest.mark.parametrize('message', WRONG_KINDS)
def test_wrong_kinds_of_values(message: str) -> None:
    with pytest.raises(TypeError, match=message) as raised:
        WRONG_KINDS[message]()
    assert isinstance(raised.value, MXNetError)


@pytest.mark.parametrize('message', NOT_MADE)
def test_what_the_releases_refuse_with_an_assertion(message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        NOT_MADE[message]()


@pytest.mark.parametrize(('layer', 'error', 'message'), [
    (lambda: nn.BatchNorm(axis=7), ValueError, 'BatchNorm: Channel axis out of range: axis=7, ndim=4'),
    (lambda: nn.LayerNorm(axis=-5), ValueError, 'LayerNorm: Channel axis out of range: axis=-5, ndim=4'),
    (lambda: nn.InstanceNorm(axis=7), ValueError, 'axis 7 is out of range for 4 dimensions'),
    (lambda: nn.GroupNorm(3), MXNetError, 'GroupNorm.* 4 channels and 3 groups'),
    (lambda: nn.Conv2D(3, 3, groups=3), MXNetError, 'Convolution.*4 input channels, 3 filters, 3 groups'),
    (lambda: nn.Conv2D(2, 9), MXNetError, 'Convolution.*reaches over 9, input with padding has 6'),
    (lambda: nn.Dropout(0.5, axes=(7,)), MXNetError, 'Dropout: axis = 7'),
    (lambda: nn.ReflectionPad2D(7), MXNetError, 'padding sizes smaller than the input size'),
])
def test_what_only_the_input_can_tell_is_told_at_the_call(layer: Callable[[], Any], error: type[Exception],
                                                          message: str) -> None:
    made = layer()
    made.initialize()
    with pytest.raises(error, match=message), mx.autograd.train_mode():
        made(mx.nd.ones((2, 4, 6, 6))).wait_to_read()


def test_numbers_of_numpy_and_unknown_sizes_are_taken() -> None:
    layer = nn.Dense(np.int64(3), in_units=-1)
    layer.initialize()
    assert layer(mx.nd.ones((2, 5))).shape == (2, 3)
    assert nn.Conv2D(np.int32(2), (np.int64(3), 3), in_channels=-1)._kwargs['kernel'] == (3, 3)
    for taken in (nn.Dropout(np.float32(0.5)), nn.Dropout(0), nn.Dropout(1), nn.BatchNorm(momentum=1, epsilon=0),
                  rnn.LSTM(3, projection_size=None), contrib.nn.PixelShuffle1D(2.0)):
        assert taken is not None
