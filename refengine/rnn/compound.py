"""Cells that are made of other cells: stacks, two directions, dropout, zoneout, residuals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import symbol as sym
from .base import BaseRNNCell, RNNParams, normalize_sequence


class _Several(BaseRNNCell):
    """A cell with children whose weights and states are those of all of them, one after the other."""

    def __init__(self, prefix: str, params: RNNParams | None, cells: Sequence[BaseRNNCell]) -> None:
        super().__init__(prefix, params)
        self._override_cell_params = params is not None
        self._cells: list[BaseRNNCell] = []
        for cell in cells:
            self._adopt(cell)

    def _adopt(self, cell: BaseRNNCell) -> None:
        if self._override_cell_params:
            assert cell._own_params, \
                f'Either specify params for {type(self).__name__} or child cells, not both.'
            cell._params._params.update(self._params._params)
        self._params._params.update(cell.params._params)
        self._cells.append(cell)

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """Those of all cells."""
        return [info for cell in self._cells for info in cell.state_info]

    def begin_state(self, func: Callable[..., Any] = sym.zeros, **kwargs: Any) -> list[Any]:
        """Those of all cells."""
        self._check_unmodified()
        return [state for cell in self._cells for state in cell.begin_state(func=func, **kwargs)]

    def unpack_weights(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """The weights of all cells taken apart."""
        for cell in self._cells:
            args = cell.unpack_weights(args)
        return dict(args)

    def pack_weights(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """The weights of all cells joined."""
        for cell in self._cells:
            args = cell.pack_weights(args)
        return dict(args)

    def _shares(self, states: Sequence[Any]) -> list[Sequence[Any]]:
        """The states of each cell."""
        shares, at = [], 0
        for cell in self._cells:
            count = len(cell.state_info)
            shares.append(states[at:at + count])
            at += count
        return shares


class SequentialRNNCell(_Several):
    """A stack: every cell reads what the one below puts out."""

    def __init__(self, params: RNNParams | None = None) -> None:
        super().__init__('', params, ())

    def add(self, cell: BaseRNNCell) -> None:
        """Put a cell on top."""
        self._adopt(cell)

    def __call__(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        """One step of all cells."""
        self._counter += 1
        after: list[Any] = []
        for cell, own in zip(self._cells, self._shares(states), strict=True):
            assert not isinstance(cell, BidirectionalCell), 'a cell of two directions cannot be stepped; use unroll'
            inputs, own = cell(inputs, own)
            after += own
        return inputs, after

    def unroll(self, length: int, inputs: Any, begin_state: Sequence[Any] | None = None, layout: str = 'NTC',
               merge_outputs: bool | None = None) -> tuple[Any, list[Any]]:
        """All steps of the lowest cell, then of the next; see ``BaseRNNCell.unroll``."""
        self.reset()
        states = self.begin_state() if begin_state is None else begin_state
        after: list[Any] = []
        for cell, own in zip(self._cells, self._shares(states), strict=True):
            merge = merge_outputs if cell is self._cells[-1] else None
            inputs, own = cell.unroll(length, inputs, own, layout, merge)
            after += own
        return inputs, after


class BidirectionalCell(_Several):
    """One cell runs forward in time and one backward; their outputs stand side by side. Only ``unroll`` works."""

    def __init__(self, l_cell: BaseRNNCell, r_cell: BaseRNNCell, params: RNNParams | None = None,
                 output_prefix: str = 'bi_') -> None:
        super().__init__('', params, (l_cell, r_cell))
        self._output_prefix = output_prefix

    def __call__(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Not possible: the second cell begins at the end."""
        raise NotImplementedError('Bidirectional cannot be stepped. Please use unroll')

    def unroll(self, length: int, inputs: Any, begin_state: Sequence[Any] | None = None, layout: str = 'NTC',
               merge_outputs: bool | None = None) -> tuple[Any, list[Any]]:
        """See ``BaseRNNCell.unroll``; outputs have twice the width, and there are two lists of states."""
        self.reset()
        steps, axis = normalize_sequence(length, inputs, layout, False)
        states = self.begin_state() if begin_state is None else begin_state
        first, second = self._shares(states)
        ahead, ahead_states = self._cells[0].unroll(length, steps, first, layout, merge_outputs)
        back, back_states = self._cells[1].unroll(length, list(reversed(steps)), second, layout, merge_outputs)
        if merge_outputs is None:
            merge_outputs = isinstance(ahead, sym.Symbol) and isinstance(back, sym.Symbol)
            ahead, _ = normalize_sequence(length, ahead, layout, merge_outputs)
            back, _ = normalize_sequence(length, back, layout, merge_outputs)
        outputs: Any
        if merge_outputs:
            back = sym.reverse(back, axis=axis)
            outputs = sym.Concat(ahead, back, dim=2, name=f'{self._output_prefix}out')
        else:
            outputs = [sym.Concat(one, other, dim=1, name=f'{self._output_prefix}t{number}')
                       for number, (one, other) in enumerate(zip(ahead, reversed(back), strict=True))]
        return outputs, [ahead_states, back_states]


class ModifierCell(BaseRNNCell):
    """Base of the cells that change what another cell does; that one can then only be used through it."""

    def __init__(self, base_cell: BaseRNNCell) -> None:
        super().__init__()
        base_cell._modified = True
        self.base_cell = base_cell

    @property
    def params(self) -> RNNParams:
        """Those of the cell below."""
        self._own_params = False
        return self.base_cell.params

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """Those of the cell below."""
        return self.base_cell.state_info

    def begin_state(self, init_sym: Callable[..., Any] = sym.zeros, **kwargs: Any) -> list[Any]:
        """Those of the cell below; the function may also be given as ``func``, as to other cells."""
        assert not self._modified, 'a modified cell can only be used through the cell that modifies it'
        self.base_cell._modified = False
        try:
            return self.base_cell.begin_state(**{'func': init_sym, **kwargs})
        finally:
            self.base_cell._modified = True

    def unpack_weights(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """As the cell below."""
        return self.base_cell.unpack_weights(args)

    def pack_weights(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """As the cell below."""
        return self.base_cell.pack_weights(args)

    def reset(self) -> None:
        """Count steps from 0 again, also below."""
        super().reset()
        if hasattr(self, 'base_cell'):
            self.base_cell.reset()


class DropoutCell(BaseRNNCell):
    """Sets a part ``dropout`` of its inputs to zero while training; it has no states."""

    def __init__(self, dropout: float, prefix: str = 'dropout_', params: RNNParams | None = None) -> None:
        super().__init__(prefix, params)
        assert isinstance(dropout, (int, float)), 'dropout probability must be a number'
        self.dropout = dropout

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """None."""
        return []

    def __call__(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        """One step."""
        return (sym.Dropout(inputs, p=self.dropout) if self.dropout > 0 else inputs), list(states)

    def unroll(self, length: int, inputs: Any, begin_state: Sequence[Any] | None = None, layout: str = 'NTC',
               merge_outputs: bool | None = None) -> tuple[Any, list[Any]]:
        """All steps at once where they come in one symbol; see ``BaseRNNCell.unroll``."""
        self.reset()
        inputs, _ = normalize_sequence(length, inputs, layout, merge_outputs)
        if isinstance(inputs, sym.Symbol):
            return self(inputs, [])
        return super().unroll(length, inputs, begin_state, layout, merge_outputs)


class ZoneoutCell(ModifierCell):
    """While training, a part of outputs and of states keeps the value of the step before."""

    def __init__(self, base_cell: BaseRNNCell, zoneout_outputs: float = 0.0, zoneout_states: float = 0.0) -> None:
        from .fused import FusedRNNCell
        assert not isinstance(base_cell, FusedRNNCell), "FusedRNNCell doesn't support zoneout. Please unfuse first."
        assert not isinstance(base_cell, BidirectionalCell), (
            "BidirectionalCell doesn't support zoneout since it doesn't support step. Please add ZoneoutCell to the "
            "cells underneath instead.")
        assert not isinstance(base_cell, SequentialRNNCell) or not any(
            isinstance(cell, BidirectionalCell) for cell in base_cell._cells), \
            "Bidirectional SequentialRNNCell doesn't support zoneout. Please add ZoneoutCell to the cells underneath."
        super().__init__(base_cell)
        self.zoneout_outputs, self.zoneout_states = zoneout_outputs, zoneout_states
        self.prev_output: Any = None

    def reset(self) -> None:
        """Begin without an output before."""
        super().reset()
        self.prev_output = None

    def __call__(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        """One step."""
        output, after = self.base_cell(inputs, states)
        if self.zoneout_outputs:
            before = sym.zeros((0, 0)) if self.prev_output is None else self.prev_output
            output = self._mixed(self.zoneout_outputs, output, before)
        if self.zoneout_states:
            after = [self._mixed(self.zoneout_states, new, old) for new, old in zip(after, states, strict=True)]
        self.prev_output = output
        return output, after

    @staticmethod
    def _mixed(part: float, new: Any, old: Any) -> Any:
        return sym.where(sym.Dropout(sym.ones_like(new), p=part), new, old)


class ResidualCell(ModifierCell):
    """Adds its inputs to the outputs of the cell below."""

    def __call__(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        """One step."""
        output, after = self.base_cell(inputs, states)
        return self._added(output, inputs), after

    @staticmethod
    def _added(output: Any, inputs: Any) -> Any:
        return sym.elemwise_add(output, inputs, name=f'{output.name}_plus_residual')

    def unroll(self, length: int, inputs: Any, begin_state: Sequence[Any] | None = None, layout: str = 'NTC',
               merge_outputs: bool | None = None) -> tuple[Any, list[Any]]:
        """See ``BaseRNNCell.unroll``."""
        self.reset()
        self.base_cell._modified = False
        try:
            outputs, states = self.base_cell.unroll(length, inputs, begin_state, layout, merge_outputs)
        finally:
            self.base_cell._modified = True
        merged = isinstance(outputs, sym.Symbol)
        inputs, _ = normalize_sequence(length, inputs, layout, merged)
        if merged:
            return self._added(outputs, inputs), states
        return [self._added(one, other) for one, other in zip(outputs, inputs, strict=True)], states
