"""Cells whose maps are convolutions: their states are images."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from .. import symbol as sym
from ..base import MXNetError
from .base import BaseRNNCell, RNNParams
from .cells import gru_step, lstm_step

LEAKY = functools.partial(sym.LeakyReLU, act_type='leaky', slope=0.2)


class BaseConvRNNCell(BaseRNNCell):
    """What the three cells share.

    input_shape: of the data of one step, with the batch;  num_hidden: channels of a state. The map of the state keeps
    its size, so that its kernel must be odd.
    """

    def __init__(self, input_shape: Sequence[int], num_hidden: int, h2h_kernel: Sequence[int],
                 h2h_dilate: Sequence[int], i2h_kernel: Sequence[int], i2h_stride: Sequence[int],
                 i2h_pad: Sequence[int], i2h_dilate: Sequence[int], i2h_weight_initializer: Any,
                 h2h_weight_initializer: Any, i2h_bias_initializer: Any, h2h_bias_initializer: Any,
                 activation: Any, prefix: str = '', params: RNNParams | None = None,
                 conv_layout: str = 'NCHW') -> None:
        super().__init__(prefix, params)
        assert all(side % 2 == 1 for side in h2h_kernel), f'Only support odd number, get h2h_kernel= {h2h_kernel}'
        self._num_hidden, self._activation, self._layout = num_hidden, activation, conv_layout
        self._maps = {
            'i2h': {'kernel': i2h_kernel, 'stride': i2h_stride, 'pad': i2h_pad, 'dilate': i2h_dilate},
            'h2h': {'kernel': h2h_kernel, 'stride': (1, 1), 'dilate': h2h_dilate,
                    'pad': tuple(d * (k - 1) // 2 for d, k in zip(h2h_dilate, h2h_kernel, strict=True))}}
        probe = sym.Convolution(sym.Variable('data'), num_filter=num_hidden, layout=conv_layout, **self._maps['i2h'])
        if 0 in input_shape:
            raise MXNetError(f'input_shape must be that of a batch of images in layout {conv_layout}, every dimension '
                             f'known, got {tuple(input_shape)}')
        self._state_shape = (0, *probe.infer_shape(data=tuple(input_shape))[1][0][1:])
        self._weights = {
            'i2h': (self._params.get('i2h_weight', init=i2h_weight_initializer),
                    self._params.get('i2h_bias', init=i2h_bias_initializer)),
            'h2h': (self._params.get('h2h_weight', init=h2h_weight_initializer),
                    self._params.get('h2h_bias', init=h2h_bias_initializer))}

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """(batch, num_hidden, height, width)."""
        return [{'shape': self._state_shape, '__layout__': self._layout}]

    @property
    def _num_gates(self) -> int:
        return len(self._gate_names)

    def _convolved(self, which: str, inputs: Any, name: str) -> Any:
        weight, bias = self._weights[which]
        return sym.Convolution(data=inputs, weight=weight, bias=bias, num_filter=self._num_hidden * self._num_gates,
                               layout=self._layout, name=name + which, **self._maps[which])


def _signature(prefix: str) -> Any:
    """The constructor that the three cells share, with their own prefix."""
    def __init__(self: BaseConvRNNCell, input_shape: Sequence[int], num_hidden: int,
                 h2h_kernel: Sequence[int] = (3, 3), h2h_dilate: Sequence[int] = (1, 1),
                 i2h_kernel: Sequence[int] = (3, 3), i2h_stride: Sequence[int] = (1, 1),
                 i2h_pad: Sequence[int] = (1, 1), i2h_dilate: Sequence[int] = (1, 1),
                 i2h_weight_initializer: Any = None, h2h_weight_initializer: Any = None,
                 i2h_bias_initializer: Any = 'zeros', h2h_bias_initializer: Any = 'zeros', activation: Any = LEAKY,
                 prefix: str = prefix, params: RNNParams | None = None, conv_layout: str = 'NCHW') -> None:
        BaseConvRNNCell.__init__(self, input_shape, num_hidden, h2h_kernel, h2h_dilate, i2h_kernel, i2h_stride, i2h_pad,
                                 i2h_dilate, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
                                 h2h_bias_initializer, activation, prefix, params, conv_layout)
    return __init__


class ConvRNNCell(BaseConvRNNCell):
    """``RNNCell`` with convolutions.

    >>> cell = ConvRNNCell((1, 3, 8, 8), 5)
    >>> output, states = cell(sym.Variable('data'), cell.begin_state())
    >>> output.infer_shape(data=(2, 3, 8, 8))[1]
    [(2, 5, 8, 8)]
    """

    __init__ = _signature('ConvRNN_')

    @property
    def _gate_names(self) -> Sequence[str]:
        return ('',)

    def __call__(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        """One step."""
        name = self._step()
        i2h = self._convolved('i2h', inputs, name)
        h2h = self._convolved('h2h', states[0], name)
        output = self._activate(i2h + h2h, self._activation, name=f'{name}out')
        return output, [output]


class ConvLSTMCell(BaseConvRNNCell):
    """``LSTMCell`` with convolutions."""

    __init__ = _signature('ConvLSTM_')

    @property
    def _gate_names(self) -> Sequence[str]:
        return ['_i', '_f', '_c', '_o']

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """Two images, of the output and of the content."""
        return [*super().state_info, *super().state_info]

    def __call__(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        """One step."""
        name = self._step()
        i2h = self._convolved('i2h', inputs, name)
        h2h = self._convolved('h2h', states[0], name)
        return lstm_step(i2h + h2h, states[1], self._activation, name, {'axis': self._layout.find('C')})


class ConvGRUCell(BaseConvRNNCell):
    """``GRUCell`` with convolutions."""

    __init__ = _signature('ConvGRU_')

    @property
    def _gate_names(self) -> Sequence[str]:
        return ['_r', '_z', '_o']

    def __call__(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        """One step."""
        name = self._step()
        i2h = self._convolved('i2h', inputs, name)
        h2h = self._convolved('h2h', states[0], name)
        return gru_step(i2h, h2h, states[0], self._activation, name)
