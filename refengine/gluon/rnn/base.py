"""RecurrentCell: what all cells share: states, stepping and unrolling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import ndarray as nd
from ...ndarray import NDArray
from .. import checks
from ..block import Block
from ..hybrid_block import HybridBlock
from ..nn import LeakyReLU
from . import sequence


class RecurrentCell(Block):
    """A block that maps (inputs of one step, states) to (output, new states).

    ``begin_state`` makes the states before the first step, ``unroll`` runs a whole sequence.

    >>> import refengine as mx
    >>> cell = mx.gluon.rnn.GRUCell(4)
    >>> cell.initialize()
    >>> output, states = cell(mx.nd.ones((2, 3)), cell.begin_state(batch_size=2))
    >>> output.shape, [state.shape for state in states]
    ((2, 4), [(2, 4)])
    """

    def __init__(self, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self._modified = False
        self.reset()

    def reset(self) -> None:
        """Forget what is left from earlier sequences; ``unroll`` calls it."""
        self._init_counter = -1
        self._counter = -1
        for child in self._children.values():
            if isinstance(child, RecurrentCell):
                child.reset()

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Shape and layout of each state."""
        raise NotImplementedError

    def begin_state(self, batch_size: int = 0, func: Callable[..., Any] = nd.zeros, **kwargs: Any) -> list[Any]:
        """States for the first step, made by ``func``; ``kwargs``, for example ``ctx``, go to it.

        AssertionError for a cell that another cell modifies: that one must be used then.
        """
        self._require_unmodified()
        states = []
        for info in self.state_info(batch_size):
            self._init_counter += 1
            states.append(make_state(func, f'{self._prefix}begin_state_{self._init_counter}', {**info, **kwargs}))
        return states

    def _require_unmodified(self) -> None:
        assert not self._modified, \
            ('After applying modifier cells (e.g. ZoneoutCell) the base cell cannot be called directly. '
             'Call the modifier cell instead.')

    def _first_states(self, inputs: Any, layout: str, begin_state: Any) -> Any:
        """The states that were given, or fresh ones that fit the inputs."""
        if begin_state is not None:
            return begin_state
        size = sequence.batch_size(inputs, layout)
        first = inputs[0] if sequence.is_list(inputs) else inputs
        if isinstance(first, NDArray):
            return self.begin_state(func=nd.zeros, batch_size=size, ctx=first.context, dtype=first.dtype)
        return self.begin_state(func=sequence.operators_for(first).zeros, batch_size=size)

    def unroll(self, length: int, inputs: Any, begin_state: Any = None, layout: str = 'NTC',
               merge_outputs: bool | None = None, valid_length: Any = None) -> tuple[Any, list[Any]]:
        """Run ``length`` steps; ``inputs`` is one array in ``layout`` or a list of steps.

        Returns outputs and last states. Outputs are one array with ``merge_outputs=True``, a list with False; with
        None a list, or one array where ``valid_length`` is given. ``valid_length`` (N,) says how many steps of each
        sample count: outputs behind are 0, states are those after the last one that counts.
        """
        self.reset()
        steps = sequence.to_steps(length, inputs, layout)
        states = self._first_states(steps, layout, begin_state)
        outputs, history = [], []
        for step in steps:
            output, states = self(step, states)
            outputs.append(output)
            history.append(states)
        if valid_length is None:
            return (sequence.to_array(outputs, layout) if merge_outputs else outputs), states
        last = [sequence.last_valid(list(values), valid_length) for values in zip(*history, strict=True)]
        merged = sequence.masked(outputs, valid_length, layout)
        return sequence.arranged(length, merged, layout, merge_outputs), last

    def _get_activation(self, F: Any, inputs: Any, activation: Any, **kwargs: Any) -> Any:
        """Apply an activation that is given by name, as a block or as a function."""
        if isinstance(activation, str):
            if activation in ('tanh', 'relu', 'sigmoid', 'softsign'):
                return getattr(F, activation)(inputs, **kwargs)
            return F.Activation(inputs, act_type=activation, **kwargs)
        if isinstance(activation, LeakyReLU):
            return F.LeakyReLU(inputs, act_type='leaky', slope=activation._alpha, **kwargs)
        return activation(inputs)

    def forward(self, inputs: Any, states: Any) -> Any:  # type: ignore[override]
        """One step: output and new states."""
        self._counter += 1
        return super().forward(inputs, states)

    def _step_prefix(self) -> str:
        """What the names of the operators of the current step begin with."""
        return f't{self._counter}_'


class HybridRecurrentCell(RecurrentCell, HybridBlock):
    """A recurrent cell that says its step as ``hybrid_forward(F, inputs, states, **parameters)``."""

    def __init__(self, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """The step; every cell says its own."""
        raise NotImplementedError


def make_state(func: Callable[..., Any], name: str, info: dict[str, Any]) -> Any:
    """One state by a function such as ``nd.zeros``; the layout is told only to functions that make Symbols."""
    if (getattr(func, '__module__', None) or '').startswith('refengine.ndarray'):
        info.pop('__layout__', None)
    return func(name=name, **info)


def gate_parameters(cell: Block, gates: int, hidden_size: int, input_size: int, state_size: int,
                    initializers: dict[str, Any]) -> None:
    """Register the weights and biases of a cell: ``i2h`` for inputs and ``h2h`` for states, all gates together."""
    checks.whole(cell, hidden_size=hidden_size, state_size=state_size)
    checks.whole(cell, checks.UNKNOWN, input_size=input_size)
    shapes = {'i2h_weight': (gates * hidden_size, input_size), 'h2h_weight': (gates * hidden_size, state_size),
              'h2r_weight': (state_size, hidden_size), 'i2h_bias': (gates * hidden_size,),
              'h2h_bias': (gates * hidden_size,)}
    for name, shape in shapes.items():
        if name in initializers:
            setattr(cell, name, cell.params.get(name, shape=shape, init=initializers[name], allow_deferred_init=True))
