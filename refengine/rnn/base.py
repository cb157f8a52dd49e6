"""What all symbolic cells share: weights by name, steps, and their repetition over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import symbol as sym


class RNNParams:
    """The variables of a cell, made when they are first asked for; cells that share it share their weights.

    >>> params = RNNParams('lstm_')
    >>> params.get('i2h_weight') is params.get('i2h_weight')
    True
    """

    def __init__(self, prefix: str = '') -> None:
        self._prefix = prefix
        self._params: dict[str, Any] = {}

    def get(self, name: str, **kwargs: Any) -> Any:
        """The variable ``prefix + name``; ``kwargs`` go to ``sym.Variable`` when it is made."""
        name = self._prefix + name
        if name not in self._params:
            self._params[name] = sym.Variable(name, **kwargs)
        return self._params[name]


def normalize_sequence(length: int | None, inputs: Any, layout: str, merge: bool | None) -> tuple[Any, int]:
    """Inputs as one symbol (``merge`` True), as a list of steps (False) or as they are (None); and the time axis."""
    assert inputs is not None, 'unroll needs inputs: one symbol, or a list with one symbol per step'
    axis = layout.find('T')
    if isinstance(inputs, sym.Symbol):
        if merge is False:
            assert len(inputs.list_outputs()) == 1, (
                "unroll doesn't allow grouped symbol as input. Please convert to list with list(inputs) first or let "
                "unroll handle splitting.")
            inputs = list(sym.split(inputs, axis=axis, num_outputs=length, squeeze_axis=1))
    else:
        assert length is None or len(inputs) == length, f'expected {length} inputs, one per step, got {len(inputs)}'
        if merge:
            inputs = sym.Concat(*[sym.expand_dims(one, axis=axis) for one in inputs], dim=axis)
    return inputs, axis


class BaseRNNCell:
    """Base of the cells: called with the inputs of one step and the states before it, it gives output and new states.

    prefix: of all names;  params: an RNNParams to share weights with another cell.
    """

    def __init__(self, prefix: str = '', params: RNNParams | None = None) -> None:
        self._own_params = params is None
        self._params = RNNParams(prefix) if params is None else params
        self._prefix = prefix
        self._modified = False
        self.reset()

    def reset(self) -> None:
        """Count steps from 0 again: before a graph is built once more."""
        self._init_counter = -1
        self._counter = -1
        for cell in getattr(self, '_cells', ()):
            cell.reset()

    def __call__(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        """One step: (output, states after it)."""
        raise NotImplementedError(f'{type(self).__name__} does not define a step')

    @property
    def params(self) -> RNNParams:
        """The variables of the cell; from now on another cell may use them."""
        self._own_params = False
        return self._params

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """Shape (0 where the batch decides) and layout of every state."""
        raise NotImplementedError(f'{type(self).__name__} does not say what its states are')

    @property
    def state_shape(self) -> list[tuple[int, ...]]:
        """The shapes of the states."""
        return [info['shape'] for info in self.state_info]

    @property
    def _gate_names(self) -> Sequence[str]:
        return ()

    def begin_state(self, func: Callable[..., Any] = sym.zeros, **kwargs: Any) -> list[Any]:
        """Symbols of the states before the first step; ``func`` makes them: zeros, Variable, …"""
        self._check_unmodified()
        states = []
        for info in self.state_info:
            self._init_counter += 1
            states.append(func(name=f'{self._prefix}begin_state_{self._init_counter}', **{**kwargs, **info}))
        return states

    def _check_unmodified(self) -> None:
        assert not self._modified, (
            'After applying modifier cells (e.g. DropoutCell) the base cell cannot be called directly. '
            'Call the modifier cell instead.')

    def unpack_weights(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments with the joined weights of all gates taken apart, one entry for each gate.

        ``lstm_i2h_weight`` becomes ``lstm_i2h_i_weight``, ``lstm_i2h_f_weight`` and so on; other entries stay.
        """
        args = dict(args)
        for group in ('i2h', 'h2h') if self._gate_names else ():
            for kind in ('weight', 'bias'):
                joined = args.pop(f'{self._prefix}{group}_{kind}')
                size = joined.shape[0] // len(self._gate_names)
                for number, gate in enumerate(self._gate_names):
                    part = joined[number * size:(number + 1) * size]
                    args[f'{self._prefix}{group}{gate}_{kind}'] = part.copy()
        return args

    def pack_weights(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """The inverse of ``unpack_weights``."""
        from ..ndarray import concatenate
        args = dict(args)
        for group in ('i2h', 'h2h') if self._gate_names else ():
            for kind in ('weight', 'bias'):
                parts = [args.pop(f'{self._prefix}{group}{gate}_{kind}') for gate in self._gate_names]
                args[f'{self._prefix}{group}_{kind}'] = concatenate(parts)
        return args

    def unroll(self, length: int, inputs: Any, begin_state: Sequence[Any] | None = None, layout: str = 'NTC',
               merge_outputs: bool | None = None) -> tuple[Any, list[Any]]:
        """``length`` steps: (outputs, last states).

        inputs: one symbol of the given layout, or a list with one (N, C) symbol per step;  begin_state: zeros if it is
        left out;  merge_outputs: True gives one symbol of the layout, False a list, None what comes by itself.
        """
        self.reset()
        steps, _ = normalize_sequence(length, inputs, layout, False)
        states = self.begin_state() if begin_state is None else begin_state
        outputs = []
        for step in steps:
            output, states = self(step, states)
            outputs.append(output)
        return normalize_sequence(length, outputs, layout, merge_outputs)[0], list(states)

    @staticmethod
    def _activate(inputs: Any, activation: Any, **kwargs: Any) -> Any:
        if isinstance(activation, str):
            return sym.Activation(inputs, act_type=activation, **kwargs)
        return activation(inputs, **kwargs)

    def _step(self) -> str:
        """The prefix of the names of the next step."""
        self._counter += 1
        return f'{self._prefix}t{self._counter}_'
