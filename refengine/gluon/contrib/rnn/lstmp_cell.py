"""LSTM with a projection of the output."""

from __future__ import annotations

from typing import Any

from ... import checks
from ...rnn.base import HybridRecurrentCell, gate_parameters


class LSTMPCell(HybridRecurrentCell):
    """An LSTM whose output is projected: r = W_r h; r, not h, goes to the output and to the next step.

    States are r (batch, projection_size) and c (batch, hidden_size).

    >>> LSTMPCell(4, 2, input_size=3)
    LSTMPCell(3 -> 16 -> 2)
    """

    def __init__(self, hidden_size: int, projection_size: int, i2h_weight_initializer: Any = None,
                 h2h_weight_initializer: Any = None, h2r_weight_initializer: Any = None,
                 i2h_bias_initializer: Any = 'zeros', h2h_bias_initializer: Any = 'zeros', input_size: int = 0,
                 prefix: str | None = None, params: Any = None) -> None:
        checks.whole(self, hidden_size=hidden_size, projection_size=projection_size)
        super().__init__(prefix=prefix, params=params)
        self._hidden_size = hidden_size
        self._input_size = input_size
        self._projection_size = projection_size
        gate_parameters(self, 4, hidden_size, input_size, projection_size, {
            'i2h_weight': i2h_weight_initializer, 'h2h_weight': h2h_weight_initializer,
            'h2r_weight': h2r_weight_initializer, 'i2h_bias': i2h_bias_initializer,
            'h2h_bias': h2h_bias_initializer})

    def _alias(self) -> str:
        return 'lstmp'

    def __repr__(self) -> str:
        rows, columns = self.i2h_weight.shape
        return f'{type(self).__name__}({columns or None} -> {rows} -> {self._projection_size})'

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Two states: the projected output and the memory."""
        return [{'shape': (batch_size, size), '__layout__': 'NC'}
                for size in (self._projection_size, self._hidden_size)]

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, i2h_weight: Any,  # type: ignore[override]
                       h2h_weight: Any, h2r_weight: Any, i2h_bias: Any, h2h_bias: Any) -> tuple[Any, list[Any]]:
        """One step."""
        prefix = self._step_prefix()
        rows = 4 * self._hidden_size
        i2h = F.FullyConnected(inputs, i2h_weight, i2h_bias, num_hidden=rows, name=f'{prefix}i2h')
        h2h = F.FullyConnected(states[0], h2h_weight, h2h_bias, num_hidden=rows, name=f'{prefix}h2h')
        part = F.SliceChannel(i2h + h2h, num_outputs=4, name=f'{prefix}slice')
        enter = F.Activation(part[0], act_type='sigmoid', name=f'{prefix}i')
        forget = F.Activation(part[1], act_type='sigmoid', name=f'{prefix}f')
        fresh = F.Activation(part[2], act_type='tanh', name=f'{prefix}c')
        leave = F.Activation(part[3], act_type='sigmoid', name=f'{prefix}o')
        memory = F.elemwise_add(forget * states[1], enter * fresh, name=f'{prefix}state')
        hidden = F.elemwise_mul(leave, F.Activation(memory, act_type='tanh'), name=f'{prefix}hidden')
        output = F.FullyConnected(hidden, h2r_weight, num_hidden=self._projection_size, no_bias=True,
                                  name=f'{prefix}out')
        return output, [output, memory]
