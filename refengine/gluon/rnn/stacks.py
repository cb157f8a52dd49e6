"""Cells made of cells: one above the other, and one for each direction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..block import indent
from . import sequence
from .base import HybridRecurrentCell, RecurrentCell


class _Stack(RecurrentCell):
    """What SequentialRNNCell and HybridSequentialRNNCell share: each cell takes the outputs of the one below."""

    def __repr__(self) -> str:
        cells = '\n'.join(f'({key}): {indent(repr(cell), 2)}' for key, cell in self._children.items())
        return f'{type(self).__name__}(\n{cells}\n)'

    def add(self, cell: Any) -> None:
        """Put a cell on top."""
        self.register_child(cell)

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """The states of all cells, from bottom to top."""
        return [info for cell in self._children.values() for info in cell.state_info(batch_size)]

    def begin_state(self, **kwargs: Any) -> list[Any]:  # type: ignore[override]
        """First states of all cells."""
        self._require_unmodified()
        return [state for cell in self._children.values() for state in cell.begin_state(**kwargs)]

    def _shares(self, states: list[Any]) -> Iterator[tuple[RecurrentCell, list[Any]]]:
        """Each cell with its part of the states."""
        place = 0
        for cell in self._children.values():
            count = len(cell.state_info())  # type: ignore[attr-defined]
            yield cell, states[place:place + count]  # type: ignore[misc]
            place += count

    def unroll(self, length: int, inputs: Any, begin_state: Any = None, layout: str = 'NTC',
               merge_outputs: bool | None = None, valid_length: Any = None) -> tuple[Any, list[Any]]:
        """Unroll the cells one after the other, each over the whole sequence."""
        self.reset()
        states = self._first_states(inputs, layout, begin_state)
        results: list[Any] = []
        top = len(self._children) - 1
        for level, (cell, own) in enumerate(self._shares(states)):
            inputs, own = cell.unroll(length, inputs, own, layout, merge_outputs if level == top else None,
                                      valid_length)
            results.extend(own)
        return inputs, results

    def __getitem__(self, index: int) -> Any:
        return list(self._children.values())[index]

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._children.values())

    def _step(self, inputs: Any, states: Any) -> tuple[Any, list[Any]]:
        assert not any(isinstance(cell, BidirectionalCell) for cell in self._children.values()), \
            'a stack that holds a BidirectionalCell cannot be stepped, only unrolled'
        results: list[Any] = []
        for cell, own in self._shares(states):
            inputs, own = cell(inputs, own)
            results.extend(own)
        return inputs, results


class SequentialRNNCell(_Stack):
    """Cells one above the other.

    >>> import refengine as mx
    >>> stack = SequentialRNNCell()
    >>> stack.add(mx.gluon.rnn.LSTMCell(4))
    >>> stack.add(mx.gluon.rnn.GRUCell(3))
    >>> stack.initialize()
    >>> outputs, states = stack.unroll(5, mx.nd.ones((2, 5, 6)), merge_outputs=True)
    >>> outputs.shape, [state.shape for state in states]
    ((2, 5, 3), [(2, 4), (2, 4), (2, 3)])
    """

    def __init__(self, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def forward(self, inputs: Any, states: Any) -> Any:  # type: ignore[override]
        """One step through all cells."""
        self._counter += 1
        return self._step(inputs, states)


class HybridSequentialRNNCell(_Stack, HybridRecurrentCell):
    """SequentialRNNCell for hybrid cells only."""

    def __init__(self, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:  # type: ignore[override]
        """One step through all cells."""
        return self._step(inputs, states)


class BidirectionalCell(HybridRecurrentCell):
    """Two cells, the second of which runs from the end to the beginning; their outputs are joined.

    It can be unrolled, not stepped.

    >>> import refengine as mx
    >>> cell = BidirectionalCell(mx.gluon.rnn.GRUCell(4), mx.gluon.rnn.GRUCell(4))
    >>> cell.initialize()
    >>> cell.unroll(3, mx.nd.ones((2, 3, 5)), merge_outputs=True)[0].shape
    (2, 3, 8)
    """

    def __init__(self, l_cell: Any, r_cell: Any, output_prefix: str = 'bi_') -> None:
        super().__init__(prefix='', params=None)
        self.register_child(l_cell, 'l_cell')
        self.register_child(r_cell, 'r_cell')
        self._output_prefix = output_prefix

    def __repr__(self) -> str:
        forward, backward = self._children.values()
        return f'{type(self).__name__}(forward={forward!r}, backward={backward!r})'

    def __call__(self, inputs: Any, states: Any) -> Any:
        """NotImplementedError: the backward cell needs the whole sequence."""
        raise NotImplementedError('Bidirectional cannot be stepped. Please use unroll')

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """The states of both cells."""
        return [info for cell in self._children.values() for info in cell.state_info(batch_size)]  # type: ignore

    def begin_state(self, **kwargs: Any) -> list[Any]:  # type: ignore[override]
        """First states of both cells."""
        self._require_unmodified()
        return [state for cell in self._children.values() for state in cell.begin_state(**kwargs)]  # type: ignore

    def unroll(self, length: int, inputs: Any, begin_state: Any = None, layout: str = 'NTC',
               merge_outputs: bool | None = None, valid_length: Any = None) -> tuple[Any, list[Any]]:
        """Run both cells; with ``valid_length`` the backward cell starts at the last valid step of each sample."""
        self.reset()
        steps = sequence.to_steps(length, inputs, layout)
        states = self._first_states(steps, layout, begin_state)
        forward, backward = self._children.values()
        count = len(forward.state_info())  # type: ignore[attr-defined]
        left, left_states = forward.unroll(length, steps, states[:count], layout, None,  # type: ignore[attr-defined]
                                           valid_length)
        right, right_states = backward.unroll(length, sequence.backwards(steps, valid_length),  # type: ignore
                                              states[count:], layout, False, valid_length)
        merge = not sequence.is_list(left) if merge_outputs is None else merge_outputs
        left = sequence.arranged(length, left, layout, merge)
        right = sequence.arranged(length, sequence.backwards(right, valid_length), layout, merge)
        F = sequence.operators_for(left)
        if merge:
            outputs = F.concat(left, right, dim=2, name=f'{self._output_prefix}out')
        else:
            outputs = [F.concat(*pair, dim=1, name=f'{self._output_prefix}t{step}')
                       for step, pair in enumerate(zip(left, right, strict=True))]
        return outputs, [*left_states, *right_states]
