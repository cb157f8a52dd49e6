"""Dropout whose decisions hold for a whole sequence."""

from __future__ import annotations

from typing import Any

from ... import checks
from ...rnn import sequence
from ...rnn.modifiers import ModifierCell, refuse_bidirectional
from ...rnn.stacks import HybridSequentialRNNCell, SequentialRNNCell


class VariationalDropoutCell(ModifierCell):
    """Drops inputs, first state and outputs of the base cell, the same elements at every step until ``reset``.

    >>> from refengine.gluon.rnn import GRUCell
    >>> VariationalDropoutCell(GRUCell(4), drop_inputs=0.3)
    VariationalDropoutCell(p_out = 0.0, p_state = 0.0)
    """

    def __init__(self, base_cell: Any, drop_inputs: float = 0., drop_states: float = 0.,
                 drop_outputs: float = 0.) -> None:
        if drop_states:
            stack = isinstance(base_cell, SequentialRNNCell | HybridSequentialRNNCell)
            for cell in base_cell if stack else [base_cell]:
                refuse_bidirectional(cell, 'VariationalDropoutCell', 'variational state dropout')
        checks.number(self, 0, 1, drop_inputs=drop_inputs, drop_states=drop_states, drop_outputs=drop_outputs)
        super().__init__(base_cell)
        self.drop_inputs = drop_inputs
        self.drop_states = drop_states
        self.drop_outputs = drop_outputs
        self._masks: dict[str, Any] = {}

    def _alias(self) -> str:
        return 'vardrop'

    def __repr__(self) -> str:
        return f'{type(self).__name__}(p_out = {self.drop_outputs}, p_state = {self.drop_states})'

    def reset(self) -> None:
        """Decide anew at the next step."""
        super().reset()
        self._masks = {}

    def _dropped(self, F: Any, which: str, value: Any, rate: float) -> Any:
        if not rate:
            return value
        mask = self._masks.get(which)
        if mask is None:
            mask = self._masks[which] = F.Dropout(F.ones_like(value), p=rate)
        return value * mask

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> tuple[Any, list[Any]]:  # type: ignore[override]
        """One step."""
        if self.drop_states:
            states = [self._dropped(F, 'states', states[0], self.drop_states), *states[1:]]
        inputs = self._dropped(F, 'inputs', inputs, self.drop_inputs)
        output, states = self.base_cell(inputs, states)
        return self._dropped(F, 'outputs', output, self.drop_outputs), states

    def unroll(self, length: int, inputs: Any, begin_state: Any = None, layout: str = 'NTC',
               merge_outputs: bool | None = None, valid_length: Any = None) -> tuple[Any, list[Any]]:
        """Without dropout of states inputs and outputs are dropped from as whole sequences."""
        self.reset()
        if self.drop_states:
            return super().unroll(length, inputs, begin_state, layout, merge_outputs, valid_length)
        axis = sequence.time_axis(layout)
        inputs = sequence.to_array(sequence.arranged(length, inputs, layout, True), layout)
        F = sequence.operators_for(inputs)
        if self.drop_inputs:
            inputs = F.Dropout(inputs, p=self.drop_inputs, axes=(axis,))
        self.base_cell._modified = False
        try:
            outputs, states = self.base_cell.unroll(length, inputs, begin_state, layout, True, valid_length)
        finally:
            self.base_cell._modified = True
        if self.drop_outputs:
            outputs = F.Dropout(outputs, p=self.drop_outputs, axes=(axis,))
        return sequence.arranged(length, outputs, layout, merge_outputs), states
