"""The three basic cells: Elman's, LSTM and GRU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import initializer
from .. import symbol as sym
from .base import BaseRNNCell, RNNParams


class GatedCell(BaseRNNCell):
    """A cell whose gates are one map of the inputs and one of the first state."""

    def __init__(self, prefix: str, params: RNNParams | None, num_hidden: int, states: int = 1, **bias: Any) -> None:
        super().__init__(prefix, params)
        self._num_hidden = num_hidden
        self._states = states
        self._weights = {'i2h': (self._params.get('i2h_weight'), self._params.get('i2h_bias', **bias)),
                         'h2h': (self._params.get('h2h_weight'), self._params.get('h2h_bias'))}

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """(batch, num_hidden) each."""
        return [{'shape': (0, self._num_hidden), '__layout__': 'NC'} for _ in range(self._states)]

    def _affine(self, which: str, inputs: Any, name: str) -> Any:
        weight, bias = self._weights[which]
        return sym.FullyConnected(inputs, weight=weight, bias=bias, num_hidden=self._num_hidden * len(self._gate_names),
                                  name=name + which)


class RNNCell(GatedCell):
    """h' = activation(W_i x + b_i + W_h h + b_h); output and only state are h'.

    >>> cell = RNNCell(4)
    >>> outputs, states = cell.unroll(2, sym.Variable('data'), merge_outputs=True)
    >>> outputs.infer_shape(data=(3, 2, 5))[1]
    [(3, 2, 4)]
    """

    def __init__(self, num_hidden: int, activation: Any = 'tanh', prefix: str = 'rnn_',
                 params: RNNParams | None = None) -> None:
        super().__init__(prefix, params, num_hidden)
        self._activation = activation

    @property
    def _gate_names(self) -> Sequence[str]:
        return ('',)

    def __call__(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        """One step."""
        name = self._step()
        i2h = self._affine('i2h', inputs, name)
        h2h = self._affine('h2h', states[0], name)
        output = self._activate(i2h + h2h, self._activation, name=f'{name}out')
        return output, [output]


def lstm_step(gates: Any, cell: Any, activation: Any, name: str, axis: dict[str, int]) -> tuple[Any, list[Any]]:
    """Output and states of an LSTM from its four joined gates and the content of its cell."""
    parts = sym.SliceChannel(gates, num_outputs=4, name=f'{name}slice', **axis)
    write = sym.Activation(parts[0], act_type='sigmoid', name=f'{name}i')
    keep = sym.Activation(parts[1], act_type='sigmoid', name=f'{name}f')
    new = BaseRNNCell._activate(parts[2], activation, name=f'{name}c')
    show = sym.Activation(parts[3], act_type='sigmoid', name=f'{name}o')
    content = sym.elemwise_add(keep * cell, write * new, name=f'{name}state')
    output = sym.elemwise_mul(show, BaseRNNCell._activate(content, activation), name=f'{name}out')
    return output, [output, content]


def gru_step(i2h: Any, h2h: Any, state: Any, activation: Any, name: str) -> tuple[Any, list[Any]]:
    """Output and state of a GRU from the three joined maps of its inputs and of its state."""
    from_input = sym.SliceChannel(i2h, num_outputs=3, name=f'{name}_i2h_slice')
    from_state = sym.SliceChannel(h2h, num_outputs=3, name=f'{name}_h2h_slice')
    reset = sym.Activation(from_input[0] + from_state[0], act_type='sigmoid', name=f'{name}_r_act')
    keep = sym.Activation(from_input[1] + from_state[1], act_type='sigmoid', name=f'{name}_z_act')
    new = BaseRNNCell._activate(from_input[2] + reset * from_state[2], activation, name=f'{name}_h_act')
    output = sym.elemwise_add((1.0 - keep) * new, keep * state, name=f'{name}out')
    return output, [output]


class LSTMCell(GatedCell):
    """Gates i, f, c, o: content' = f * content + i * tanh(c), output = o * tanh(content').

    States are output and content; the bias of the forget gate starts at ``forget_bias``.
    """

    def __init__(self, num_hidden: int, prefix: str = 'lstm_', params: RNNParams | None = None,
                 forget_bias: float = 1.0) -> None:
        super().__init__(prefix, params, num_hidden, states=2, init=initializer.LSTMBias(forget_bias=forget_bias))

    @property
    def _gate_names(self) -> Sequence[str]:
        return ['_i', '_f', '_c', '_o']

    def __call__(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        """One step."""
        name = self._step()
        i2h = self._affine('i2h', inputs, name)
        h2h = self._affine('h2h', states[0], name)
        return lstm_step(i2h + h2h, states[1], 'tanh', name, {})


class GRUCell(GatedCell):
    """Gates r, z, o: output = (1 - z) * tanh(o from input + r * o from state) + z * state."""

    def __init__(self, num_hidden: int, prefix: str = 'gru_', params: RNNParams | None = None) -> None:
        super().__init__(prefix, params, num_hidden)

    @property
    def _gate_names(self) -> Sequence[str]:
        return ['_r', '_z', '_o']

    def __call__(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        """One step."""
        name = self._step()
        i2h = self._affine('i2h', inputs, f'{name}_')
        h2h = self._affine('h2h', states[0], f'{name}_')
        return gru_step(i2h, h2h, states[0], 'tanh', name)
