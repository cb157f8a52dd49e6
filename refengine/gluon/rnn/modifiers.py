"""Cells that change other cells: dropout, zoneout, residual connections."""

from __future__ import annotations

from typing import Any

from ... import ndarray as nd
from .. import checks
from . import sequence
from .base import HybridRecurrentCell
from .stacks import BidirectionalCell


class DropoutCell(HybridRecurrentCell):
    """Drops elements of its input in training, as the layer Dropout does; it has no states.

    >>> DropoutCell(0.5)
    DropoutCell(rate=0.5, axes=())
    """

    def __init__(self, rate: float, axes: Any = (), prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix, params)
        assert isinstance(rate, int | float), f'rate must be a number, got {rate!r}'
        checks.number(self, 0, 1, rate=rate)
        self._rate = rate
        self._axes = axes

    def __repr__(self) -> str:
        return f'{type(self).__name__}(rate={self._rate}, axes={self._axes})'

    def _alias(self) -> str:
        return 'dropout'

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """No states."""
        return []

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> tuple[Any, Any]:  # type: ignore[override]
        """One step, or a whole sequence at once."""
        if self._rate > 0:
            inputs = F.Dropout(inputs, p=self._rate, axes=self._axes, name=f't{self._counter}_fwd')
        return inputs, states

    def unroll(self, length: int, inputs: Any, begin_state: Any = None, layout: str = 'NTC',
               merge_outputs: bool | None = None, valid_length: Any = None) -> tuple[Any, list[Any]]:
        """A sequence that is one array is dropped from at once, a list step by step."""
        self.reset()
        inputs = sequence.arranged(length, inputs, layout, merge_outputs)
        if sequence.is_list(inputs):
            return super().unroll(length, inputs, begin_state, layout, merge_outputs, valid_length)
        return self.hybrid_forward(sequence.operators_for(inputs), inputs, begin_state or [])


class ModifierCell(HybridRecurrentCell):
    """Base of cells that wrap a cell; parameters and states are those of ``base_cell``."""

    def __init__(self, base_cell: Any) -> None:
        assert not base_cell._modified, \
            f'Cell {base_cell.name} is already modified. One cell cannot be modified twice'
        base_cell._modified = True
        super().__init__(prefix=base_cell.prefix + self._alias(), params=None)
        self.base_cell = base_cell

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self.base_cell!r})'

    @property
    def params(self) -> Any:
        """The parameters of the base cell."""
        return self.base_cell.params

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """The states of the base cell."""
        return self.base_cell.state_info(batch_size)

    def begin_state(self, func: Any = nd.zeros, **kwargs: Any) -> list[Any]:
        """First states of the base cell; ``batch_size`` is a keyword, or comes first as in other cells."""
        if isinstance(func, int):
            kwargs['batch_size'], func = func, kwargs.pop('func', nd.zeros)
        batch_size = kwargs.pop('batch_size', 0)
        self._require_unmodified()
        self.base_cell._modified = False
        try:
            return self.base_cell.begin_state(func=func, batch_size=batch_size, **kwargs)
        finally:
            self.base_cell._modified = True

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:  # type: ignore[override]
        """The step; every modifier says its own."""
        raise NotImplementedError


class ZoneoutCell(ModifierCell):
    """Keeps, in training, some elements of the previous output and states in place of the new ones.

    >>> from refengine.gluon.rnn import RNNCell
    >>> ZoneoutCell(RNNCell(4, input_size=3), zoneout_states=0.1)
    ZoneoutCell(p_out=0.0, p_state=0.1, RNNCell(3 -> 4, tanh))
    """

    def __init__(self, base_cell: Any, zoneout_outputs: float = 0., zoneout_states: float = 0.) -> None:
        refuse_bidirectional(base_cell, 'ZoneoutCell', "zoneout since it doesn't support step")
        checks.number(self, 0, 1, zoneout_outputs=zoneout_outputs, zoneout_states=zoneout_states)
        super().__init__(base_cell)
        self._zoneout_outputs = zoneout_outputs
        self._zoneout_states = zoneout_states
        self._prev_output: Any = None

    def __repr__(self) -> str:
        return (f'{type(self).__name__}(p_out={self._zoneout_outputs}, p_state={self._zoneout_states}, '
                f'{self.base_cell!r})')

    def _alias(self) -> str:
        return 'zoneout'

    def reset(self) -> None:
        """Forget the previous output too."""
        super().reset()
        self._prev_output = None

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> tuple[Any, list[Any]]:  # type: ignore[override]
        """One step."""
        output, new_states = self.base_cell(inputs, states)
        if self._zoneout_outputs:
            before = self._prev_output
            output = _zoned(F, output, F.zeros_like(output) if before is None else before, self._zoneout_outputs)
        if self._zoneout_states:
            new_states = [_zoned(F, new, old, self._zoneout_states)
                          for new, old in zip(new_states, states, strict=True)]
        self._prev_output = output
        return output, new_states


def _zoned(F: Any, new: Any, old: Any, rate: float) -> Any:
    return F.where(F.Dropout(F.ones_like(new), p=rate), new, old)


def refuse_bidirectional(cell: Any, kind: str, what: str) -> None:
    """AssertionError for a BidirectionalCell, which has no single steps to modify."""
    assert not isinstance(cell, BidirectionalCell), \
        f"BidirectionalCell doesn't support {what}. Please add {kind} to the cells underneath instead."


class ResidualCell(ModifierCell):
    """Adds the input to the output of the base cell.

    >>> from refengine.gluon.rnn import RNNCell
    >>> ResidualCell(RNNCell(3, input_size=3))
    ResidualCell(RNNCell(3 -> 3, tanh))
    """

    def __init__(self, base_cell: Any) -> None:
        super().__init__(base_cell)

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> tuple[Any, list[Any]]:  # type: ignore[override]
        """One step."""
        output, states = self.base_cell(inputs, states)
        return F.elemwise_add(output, inputs, name=f't{self._counter}_fwd'), states

    def unroll(self, length: int, inputs: Any, begin_state: Any = None, layout: str = 'NTC',
               merge_outputs: bool | None = None, valid_length: Any = None) -> tuple[Any, list[Any]]:
        """Unroll the base cell and add the inputs at the end."""
        self.reset()
        self.base_cell._modified = False
        try:
            outputs, states = self.base_cell.unroll(length, inputs, begin_state, layout, merge_outputs, valid_length)
        finally:
            self.base_cell._modified = True
        merge = not sequence.is_list(outputs) if merge_outputs is None else merge_outputs
        if valid_length is not None:
            inputs = sequence.masked(inputs, valid_length, layout)
        inputs = sequence.arranged(length, inputs, layout, merge)
        F = sequence.operators_for(outputs)
        if merge:
            return F.elemwise_add(outputs, inputs), states
        return [F.elemwise_add(*pair) for pair in zip(outputs, inputs, strict=True)], states
