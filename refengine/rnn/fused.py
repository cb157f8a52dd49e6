"""Several layers in one operator, with one vector for all weights."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from .. import initializer
from .. import symbol as sym
from .base import BaseRNNCell, RNNParams, normalize_sequence
from .cells import GRUCell, LSTMCell, RNNCell
from .compound import BidirectionalCell, DropoutCell, SequentialRNNCell

GATES: dict[str, Sequence[str]] = {'rnn_relu': [''], 'rnn_tanh': [''], 'lstm': ['_i', '_f', '_c', '_o'],
                                   'gru': ['_r', '_z', '_o']}


class FusedRNNCell(BaseRNNCell):
    """``num_layers`` layers of one mode ('rnn_relu', 'rnn_tanh', 'lstm', 'gru') in the operator RNN; only ``unroll``.

    dropout: between layers;  get_next_state: whether unroll gives the last states.

    >>> cell = FusedRNNCell(4, num_layers=2, mode='gru', prefix='g_')
    >>> outputs, _ = cell.unroll(3, sym.Variable('data'), layout='TNC')
    >>> outputs.infer_shape(data=(3, 2, 5))[1]
    [(3, 2, 4)]
    """

    def __init__(self, num_hidden: int, num_layers: int = 1, mode: str = 'lstm', bidirectional: bool = False,
                 dropout: float = 0.0, get_next_state: bool = False, forget_bias: float = 1.0,
                 prefix: str | None = None, params: RNNParams | None = None) -> None:
        if mode not in GATES:
            raise ValueError(f'mode must be one of {", ".join(GATES)}, got {mode!r}')
        super().__init__(f'{mode}_' if prefix is None else prefix, params)
        self._num_hidden, self._num_layers, self._mode = num_hidden, num_layers, mode
        self._bidirectional, self._dropout = bidirectional, dropout
        self._get_next_state, self._forget_bias = get_next_state, forget_bias
        self._initializer = initializer.FusedRNN(None, num_hidden, num_layers, mode, bidirectional, forget_bias)
        self._parameter = self._params.get('parameters', init=self._initializer)

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """(layers * directions, batch, num_hidden), one or, for LSTM, two."""
        shape = (self._num_layers * (2 if self._bidirectional else 1), 0, self._num_hidden)
        return [{'shape': shape, '__layout__': 'LNC'} for _ in range(2 if self._mode == 'lstm' else 1)]

    @property
    def _gate_names(self) -> Sequence[str]:
        return GATES[self._mode]

    def __call__(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Not possible."""
        raise NotImplementedError('FusedRNNCell cannot be stepped. Please use unroll')

    def unpack_weights(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """The vector taken apart into the weights that the cells of ``unfuse`` know, gate by gate."""
        args = dict(args)
        vector = args.pop(self._parameter.name)
        at = 0
        for name, shape in self._initializer._parts(vector.size):
            size = prod(shape)
            args[self._prefix + name] = vector[at:at + size].reshape(shape).copy()
            at += size
        return args

    def pack_weights(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """The inverse of ``unpack_weights``."""
        from ..ndarray import concatenate
        args = dict(args)
        columns = args[f'{self._prefix}l0_i2h{self._gate_names[0]}_weight'].shape[1]
        sides, hidden = (2 if self._bidirectional else 1), self._num_hidden
        rows = sides * hidden * len(self._gate_names)
        size = rows * (columns + hidden + 2 + (self._num_layers - 1) * (sides * hidden + hidden + 2))
        parts = [args.pop(self._prefix + name).reshape((-1,)) for name, _ in self._initializer._parts(size)]
        args[self._parameter.name] = concatenate(parts)
        return args

    def unroll(self, length: int, inputs: Any, begin_state: Sequence[Any] | None = None, layout: str = 'NTC',
               merge_outputs: bool | None = None) -> tuple[Any, list[Any]]:
        """See ``BaseRNNCell.unroll``; outputs come in one symbol unless ``merge_outputs`` is False."""
        self.reset()
        inputs, axis = normalize_sequence(length, inputs, layout, True)
        if axis == 1:
            warnings.warn('NTC layout detected. Consider using TNC for FusedRNNCell for faster speed', stacklevel=2)
            inputs = sym.swapaxes(inputs, dim1=0, dim2=1)
        else:
            assert axis == 0, f'unsupported layout {layout!r}: expected NTC or TNC'
        states = self.begin_state() if begin_state is None else begin_state
        given = dict(zip(('state', 'state_cell'), states, strict=False))
        found = sym.RNN(data=inputs, parameters=self._parameter, state_size=self._num_hidden,
                        num_layers=self._num_layers, bidirectional=self._bidirectional, p=self._dropout,
                        state_outputs=self._get_next_state, mode=self._mode, name=f'{self._prefix}rnn',
                        attr={'__layout__': 'LNC'} if self._get_next_state else None, **given)
        outputs, after = (found[0], [found[i + 1] for i in range(len(given))]) if self._get_next_state else (found, [])
        if axis == 1:
            outputs = sym.swapaxes(outputs, dim1=0, dim2=1)
        return normalize_sequence(length, outputs, layout, merge_outputs)[0], after

    def unfuse(self) -> SequentialRNNCell:
        """The same layers as a stack of single cells; weights move with ``unpack_weights`` and its ``pack_weights``."""
        def cell(prefix: str) -> BaseRNNCell:
            if self._mode == 'lstm':
                return LSTMCell(self._num_hidden, prefix=prefix, forget_bias=self._forget_bias)
            if self._mode == 'gru':
                return GRUCell(self._num_hidden, prefix=prefix)
            return RNNCell(self._num_hidden, activation=self._mode[4:], prefix=prefix)

        stack = SequentialRNNCell()
        for layer in range(self._num_layers):
            if self._bidirectional:
                stack.add(BidirectionalCell(cell(f'{self._prefix}l{layer}_'), cell(f'{self._prefix}r{layer}_'),
                                            output_prefix=f'{self._prefix}bi_l{layer}_'))
            else:
                stack.add(cell(f'{self._prefix}l{layer}_'))
            if self._dropout > 0 and layer != self._num_layers - 1:
                stack.add(DropoutCell(self._dropout, prefix=f'{self._prefix}_dropout{layer}_'))
        return stack
