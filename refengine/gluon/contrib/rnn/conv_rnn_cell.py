"""Recurrent cells that convolve inputs and states, in one, two and three dimensions."""

from __future__ import annotations

from typing import Any

from ... import checks
from ...rnn.base import HybridRecurrentCell
from ...rnn.cells import gru_step, lstm_step


def _numbers(value: Any, dims: int) -> tuple[int, ...]:
    """A setting per spatial axis from one number or several."""
    numbers = (value,) * dims if isinstance(value, int) else tuple(value)
    assert len(numbers) == dims, (f'For {dims}D convolution, the convolution settings can only be either int or '
                                  f'list/tuple of length {dims}')
    return numbers


class _ConvCell(HybridRecurrentCell):
    """What all convolutional cells share; the states have the size of the convolved inputs."""

    _gates = 1
    _states = 1
    _kind = ''

    def __init__(self, dims: int, input_shape: Any, hidden_channels: int, i2h_kernel: Any, h2h_kernel: Any,
                 i2h_pad: Any, i2h_dilate: Any, h2h_dilate: Any, initializers: dict[str, Any], conv_layout: str,
                 activation: Any, prefix: str | None, params: Any) -> None:
        super().__init__(prefix=prefix, params=params)
        self._hidden_channels = hidden_channels
        self._input_shape = tuple(input_shape)
        self._conv_layout = conv_layout
        self._activation = activation
        self._i2h_kernel = _numbers(i2h_kernel, dims)
        self._h2h_kernel = _numbers(h2h_kernel, dims)
        assert all(size % 2 == 1 for size in self._h2h_kernel), \
            f'Only support odd number, get h2h_kernel= {h2h_kernel}'
        self._i2h_pad = _numbers(i2h_pad, dims)
        self._i2h_dilate = _numbers(i2h_dilate, dims)
        self._h2h_dilate = _numbers(h2h_dilate, dims)
        checks.whole(self, hidden_channels=hidden_channels)
        checks.sizes(self, dims, 1, i2h_kernel=self._i2h_kernel, h2h_kernel=self._h2h_kernel,
                     i2h_dilate=self._i2h_dilate, h2h_dilate=self._h2h_dilate)
        checks.sizes(self, dims, 0, i2h_pad=self._i2h_pad)
        if isinstance(activation, str):
            checks.activation(self, activation)
        # The states keep their size: what the kernel takes away at the borders is padded.
        self._h2h_pad = tuple(d * (k - 1) // 2 for d, k in zip(self._h2h_dilate, self._h2h_kernel, strict=True))
        self._channel_axis = conv_layout.index('C')
        place = self._channel_axis - 1
        channels = self._input_shape[place]
        sizes = self._input_shape[:place] + self._input_shape[place + 1:]
        sizes = tuple(n + 2 * p - d * (k - 1) for n, p, d, k in zip(sizes, self._i2h_pad, self._i2h_dilate,
                                                                   self._i2h_kernel, strict=False))
        self._state_shape = (*sizes[:place], hidden_channels, *sizes[place:])
        rows = self._gates * hidden_channels

        def weight_shape(columns: int, kernel: tuple[int, ...]) -> tuple[int, ...]:
            return (rows, *kernel[:place], columns, *kernel[place:])

        shapes = {'i2h_weight': weight_shape(channels, self._i2h_kernel),
                  'h2h_weight': weight_shape(hidden_channels, self._h2h_kernel),
                  'i2h_bias': (rows,), 'h2h_bias': (rows,)}
        for name, shape in shapes.items():
            setattr(self, name, self.params.get(name, shape=shape, init=initializers[name],
                                                allow_deferred_init=True))

    def _alias(self) -> str:
        return f'conv_{self._kind}'

    def __repr__(self) -> str:
        shape = self.i2h_weight.shape
        return (f'{type(self).__name__}({shape[self._channel_axis] or None} -> {shape[0]}, {self._activation}, '
                f'{self._conv_layout})')

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """States of the shape of the convolved inputs, with ``hidden_channels`` channels."""
        return [{'shape': (batch_size, *self._state_shape), '__layout__': self._conv_layout}
                for _ in range(self._states)]

    def _convolved(self, F: Any, prefix: str, inputs: Any, hidden: Any, i2h_weight: Any, h2h_weight: Any,
                   i2h_bias: Any, h2h_bias: Any) -> tuple[Any, Any]:
        common = {'num_filter': self._gates * self._hidden_channels, 'layout': self._conv_layout,
                  'stride': (1,) * len(self._i2h_kernel)}
        i2h = F.Convolution(inputs, i2h_weight, i2h_bias, kernel=self._i2h_kernel, pad=self._i2h_pad,
                            dilate=self._i2h_dilate, name=f'{prefix}i2h', **common)
        h2h = F.Convolution(hidden, h2h_weight, h2h_bias, kernel=self._h2h_kernel, pad=self._h2h_pad,
                            dilate=self._h2h_dilate, name=f'{prefix}h2h', **common)
        return i2h, h2h


class _ConvRNNCell(_ConvCell):
    _kind = 'rnn'

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, **params: Any) -> tuple[Any, list[Any]]:  # type: ignore
        """One step."""
        prefix = self._step_prefix()
        i2h, h2h = self._convolved(F, prefix, inputs, states[0], **params)
        output = self._get_activation(F, i2h + h2h, self._activation, name=f'{prefix}out')
        return output, [output]


class _ConvLSTMCell(_ConvCell):
    _kind = 'lstm'
    _gates = 4
    _states = 2
    _recurrent_activation = 'sigmoid'

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, **params: Any) -> tuple[Any, list[Any]]:  # type: ignore
        """One step."""
        prefix = self._step_prefix()
        i2h, h2h = self._convolved(F, prefix, inputs, states[0], **params)
        return lstm_step(self, F, i2h, h2h, states[1], prefix, self._channel_axis)


class _ConvGRUCell(_ConvCell):
    _kind = 'gru'
    _gates = 3

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, **params: Any) -> tuple[Any, list[Any]]:  # type: ignore
        """One step."""
        prefix = self._step_prefix()
        i2h, h2h = self._convolved(F, prefix, inputs, states[0], **params)
        return gru_step(self, F, i2h, h2h, states[0], prefix, self._channel_axis, self._activation)


def _cell(base: type[_ConvCell], dims: int, layout: str, what: str) -> type[_ConvCell]:
    """The class for one kind and number of dimensions; only defaults differ."""

    class Cell(base):  # type: ignore[valid-type,misc]
        def __init__(self, input_shape: Any, hidden_channels: int, i2h_kernel: Any, h2h_kernel: Any,
                     i2h_pad: Any = (0,) * dims, i2h_dilate: Any = (1,) * dims, h2h_dilate: Any = (1,) * dims,
                     i2h_weight_initializer: Any = None, h2h_weight_initializer: Any = None,
                     i2h_bias_initializer: Any = 'zeros', h2h_bias_initializer: Any = 'zeros',
                     conv_layout: str = layout, activation: Any = 'tanh', prefix: str | None = None,
                     params: Any = None) -> None:
            super().__init__(dims, input_shape, hidden_channels, i2h_kernel, h2h_kernel, i2h_pad, i2h_dilate,
                             h2h_dilate, {'i2h_weight': i2h_weight_initializer, 'h2h_weight': h2h_weight_initializer,
                                          'i2h_bias': i2h_bias_initializer, 'h2h_bias': h2h_bias_initializer},
                             conv_layout, activation, prefix, params)

    Cell.__name__ = Cell.__qualname__ = f'Conv{dims}D{base._kind.upper()}Cell'
    Cell.__doc__ = (f'{what} with {dims}-dimensional convolutions in place of matrix products.\n\n'
                    f'    ``input_shape`` is the shape of one input without the batch, in ``conv_layout``.\n    ')
    return Cell


Conv1DRNNCell = _cell(_ConvRNNCell, 1, 'NCW', "Elman's cell")
Conv2DRNNCell = _cell(_ConvRNNCell, 2, 'NCHW', "Elman's cell")
Conv3DRNNCell = _cell(_ConvRNNCell, 3, 'NCDHW', "Elman's cell")
Conv1DLSTMCell = _cell(_ConvLSTMCell, 1, 'NCW', 'LSTM')
Conv2DLSTMCell = _cell(_ConvLSTMCell, 2, 'NCHW', 'LSTM')
Conv3DLSTMCell = _cell(_ConvLSTMCell, 3, 'NCDHW', 'LSTM')
Conv1DGRUCell = _cell(_ConvGRUCell, 1, 'NCW', 'GRU')
Conv2DGRUCell = _cell(_ConvGRUCell, 2, 'NCHW', 'GRU')
Conv3DGRUCell = _cell(_ConvGRUCell, 3, 'NCDHW', 'GRU')
