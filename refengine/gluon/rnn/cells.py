"""The three basic cells: Elman's, LSTM and GRU."""

from __future__ import annotations

from typing import Any

from .. import checks
from .base import HybridRecurrentCell, gate_parameters


class _GatedCell(HybridRecurrentCell):
    """A cell that computes all gates as one affine function of inputs and one of the first state."""

    _gates = 1

    def __init__(self, hidden_size: int, input_size: int, initializers: dict[str, Any], prefix: str | None,
                 params: Any, state_size: int | None = None) -> None:
        checks.whole(self, hidden_size=hidden_size)
        super().__init__(prefix=prefix, params=params)
        self._hidden_size = hidden_size
        self._input_size = input_size
        gate_parameters(self, self._gates, hidden_size, input_size, state_size or hidden_size, initializers)

    def _affine(self, F: Any, which: str, inputs: Any, weight: Any, bias: Any) -> Any:
        return F.FullyConnected(inputs, weight, bias, num_hidden=self._gates * self._hidden_size,
                                name=self._step_prefix() + which)

    def _mapping(self) -> str:
        outputs, inputs = self.i2h_weight.shape
        return f'{inputs or None} -> {outputs}'

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self._mapping()})'


class RNNCell(_GatedCell):
    """h' = activation(W_i x + b_i + W_h h + b_h); output and only state are h', of shape (batch, hidden_size).

    >>> RNNCell(4, input_size=3)
    RNNCell(3 -> 4, tanh)
    """

    def __init__(self, hidden_size: int, activation: Any = 'tanh', i2h_weight_initializer: Any = None,
                 h2h_weight_initializer: Any = None, i2h_bias_initializer: Any = 'zeros',
                 h2h_bias_initializer: Any = 'zeros', input_size: int = 0, prefix: str | None = None,
                 params: Any = None) -> None:
        super().__init__(hidden_size, input_size, {
            'i2h_weight': i2h_weight_initializer, 'h2h_weight': h2h_weight_initializer,
            'i2h_bias': i2h_bias_initializer, 'h2h_bias': h2h_bias_initializer}, prefix, params)
        if isinstance(activation, str):
            checks.activation(self, activation)
        self._activation = activation

    def _alias(self) -> str:
        return 'rnn'

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self._mapping()}, {self._activation})'

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """One state, (batch, hidden_size)."""
        return [{'shape': (batch_size, self._hidden_size), '__layout__': 'NC'}]

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, i2h_weight: Any,  # type: ignore[override]
                       h2h_weight: Any, i2h_bias: Any, h2h_bias: Any) -> tuple[Any, list[Any]]:
        """One step."""
        prefix = self._step_prefix()
        i2h = self._affine(F, 'i2h', inputs, i2h_weight, i2h_bias)
        h2h = self._affine(F, 'h2h', states[0], h2h_weight, h2h_bias)
        total = F.elemwise_add(i2h, h2h, name=f'{prefix}plus0')
        output = self._get_activation(F, total, self._activation, name=f'{prefix}out')
        return output, [output]


class LSTMCell(_GatedCell):
    """Gates i, f, c, o from inputs and state: c' = f·c + i·activation(c gate), h' = o·activation(c').

    Output is h'; states are h' and c', each (batch, hidden_size). ``recurrent_activation`` serves i, f and o.

    >>> LSTMCell(4, input_size=3)
    LSTMCell(3 -> 16)
    """

    _gates = 4

    def __init__(self, hidden_size: int, i2h_weight_initializer: Any = None, h2h_weight_initializer: Any = None,
                 i2h_bias_initializer: Any = 'zeros', h2h_bias_initializer: Any = 'zeros', input_size: int = 0,
                 prefix: str | None = None, params: Any = None, activation: Any = 'tanh',
                 recurrent_activation: Any = 'sigmoid') -> None:
        super().__init__(hidden_size, input_size, {
            'i2h_weight': i2h_weight_initializer, 'h2h_weight': h2h_weight_initializer,
            'i2h_bias': i2h_bias_initializer, 'h2h_bias': h2h_bias_initializer}, prefix, params)
        for name, function in (('activation', activation), ('recurrent_activation', recurrent_activation)):
            if isinstance(function, str):
                checks.activation(self, function, name)
        self._activation = activation
        self._recurrent_activation = recurrent_activation

    def _alias(self) -> str:
        return 'lstm'

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Two states, each (batch, hidden_size)."""
        return [{'shape': (batch_size, self._hidden_size), '__layout__': 'NC'} for _ in range(2)]

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, i2h_weight: Any,  # type: ignore[override]
                       h2h_weight: Any, i2h_bias: Any, h2h_bias: Any) -> tuple[Any, list[Any]]:
        """One step."""
        prefix = self._step_prefix()
        i2h = self._affine(F, 'i2h', inputs, i2h_weight, i2h_bias)
        h2h = self._affine(F, 'h2h', states[0], h2h_weight, h2h_bias)
        return lstm_step(self, F, i2h, h2h, states[1], prefix, 1)


def lstm_step(cell: Any, F: Any, i2h: Any, h2h: Any, memory: Any, prefix: str, axis: int) -> tuple[Any, list[Any]]:
    """Output and states of an LSTM from the gates' two summands; ``axis`` is where the gates stand side by side."""
    outer, inner = cell._activation, cell._recurrent_activation
    gates = F.elemwise_add(i2h, h2h, name=f'{prefix}plus0')
    part = F.SliceChannel(gates, num_outputs=4, axis=axis, name=f'{prefix}slice')
    enter = cell._get_activation(F, part[0], inner, name=f'{prefix}i')
    forget = cell._get_activation(F, part[1], inner, name=f'{prefix}f')
    fresh = cell._get_activation(F, part[2], outer, name=f'{prefix}c')
    leave = cell._get_activation(F, part[3], inner, name=f'{prefix}o')
    memory = F.elemwise_add(F.elemwise_mul(forget, memory, name=f'{prefix}mul0'),
                            F.elemwise_mul(enter, fresh, name=f'{prefix}mul1'), name=f'{prefix}state')
    shown = cell._get_activation(F, memory, outer, name=f'{prefix}activation0')
    output = F.elemwise_mul(leave, shown, name=f'{prefix}out')
    return output, [output, memory]


class GRUCell(_GatedCell):
    """Gates r, z, n: n = tanh(W x + b + r·(W h + b)), h' = (1 - z)·n + z·h; output and only state are h'.

    >>> GRUCell(4, input_size=3)
    GRUCell(3 -> 12)
    """

    _gates = 3

    def __init__(self, hidden_size: int, i2h_weight_initializer: Any = None, h2h_weight_initializer: Any = None,
                 i2h_bias_initializer: Any = 'zeros', h2h_bias_initializer: Any = 'zeros', input_size: int = 0,
                 prefix: str | None = None, params: Any = None) -> None:
        super().__init__(hidden_size, input_size, {
            'i2h_weight': i2h_weight_initializer, 'h2h_weight': h2h_weight_initializer,
            'i2h_bias': i2h_bias_initializer, 'h2h_bias': h2h_bias_initializer}, prefix, params)

    def _alias(self) -> str:
        return 'gru'

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """One state, (batch, hidden_size)."""
        return [{'shape': (batch_size, self._hidden_size), '__layout__': 'NC'}]

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, i2h_weight: Any,  # type: ignore[override]
                       h2h_weight: Any, i2h_bias: Any, h2h_bias: Any) -> tuple[Any, list[Any]]:
        """One step."""
        prefix = self._step_prefix()
        i2h = self._affine(F, 'i2h', inputs, i2h_weight, i2h_bias)
        h2h = self._affine(F, 'h2h', states[0], h2h_weight, h2h_bias)
        return gru_step(self, F, i2h, h2h, states[0], prefix, 1, 'tanh')


def gru_step(cell: Any, F: Any, i2h: Any, h2h: Any, hidden: Any, prefix: str, axis: int,
             activation: Any) -> tuple[Any, list[Any]]:
    """Output and state of a GRU from the gates' two summands; ``axis`` is where the gates stand side by side."""
    given = F.SliceChannel(i2h, num_outputs=3, axis=axis, name=f'{prefix}i2h_slice')
    known = F.SliceChannel(h2h, num_outputs=3, axis=axis, name=f'{prefix}h2h_slice')
    reset = F.Activation(F.elemwise_add(given[0], known[0], name=f'{prefix}plus0'), act_type='sigmoid',
                         name=f'{prefix}r_act')
    keep = F.Activation(F.elemwise_add(given[1], known[1], name=f'{prefix}plus1'), act_type='sigmoid',
                        name=f'{prefix}z_act')
    bent = F.elemwise_add(given[2], F.elemwise_mul(reset, known[2], name=f'{prefix}mul0'), name=f'{prefix}plus2')
    fresh = cell._get_activation(F, bent, activation, name=f'{prefix}h_act')
    renew = F.elemwise_mul(1. - keep, fresh, name=f'{prefix}mul1')
    stay = F.elemwise_mul(keep, hidden, name=f'{prefix}mul20')
    output = F.elemwise_add(renew, stay, name=f'{prefix}out')
    return output, [output]
