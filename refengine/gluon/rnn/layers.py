"""Recurrent layers that run a whole sequence, all layers and both directions, in one operator."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from ... import ndarray as nd
from ...ndarray import NDArray
from .. import checks, deferred
from ..hybrid_block import HybridBlock
from . import sequence
from .base import make_state
from .cells import GRUCell, LSTMCell, RNNCell
from .modifiers import DropoutCell
from .stacks import BidirectionalCell, HybridSequentialRNNCell

_NAME = re.compile(r'(l|r)(\d+)_(i2h|h2h|h2r)_(weight|bias)\Z')
_GATES = {'rnn_relu': 1, 'rnn_tanh': 1, 'lstm': 4, 'gru': 3}


class _RNNLayer(HybridBlock):
    """What RNN, LSTM and GRU share."""

    def __init__(self, mode: str, hidden_size: int, num_layers: int, layout: str, dropout: float, bidirectional: bool,
                 input_size: int, initializers: dict[str, Any], dtype: Any, projection_size: int | None = None,
                 use_sequence_length: bool = False, **kwargs: Any) -> None:
        checks.whole(self, hidden_size=hidden_size, num_layers=num_layers)
        checks.whole(self, checks.UNKNOWN, input_size=input_size)
        checks.whole(self, 0, projection_size=projection_size or 0)
        checks.number(self, 0, 1, dropout=dropout)
        super().__init__(**kwargs)
        assert layout in ('TNC', 'NTC'), f"Invalid layout {layout}; must be one of ['TNC' or 'NTC']"
        self._mode = mode
        self._hidden_size = hidden_size
        self._projection_size = projection_size or None
        self._num_layers = num_layers
        self._layout = layout
        self._dropout = dropout
        self._dir = 2 if bidirectional else 1
        self._input_size = input_size
        self._initializers = initializers
        self._dtype = dtype
        self._use_sequence_length = use_sequence_length
        self._clip: dict[str, Any] = {}
        self._gates = _GATES[mode]
        self._skip_states = False
        self._other_cache: Any = None
        rows, state = self._gates * hidden_size, self._projection_size or hidden_size
        for layer in range(num_layers):
            columns = state * self._dir if layer else input_size
            for side in 'lr'[:self._dir]:
                shapes = {'i2h_weight': (rows, columns), 'h2h_weight': (rows, state), 'i2h_bias': (rows,),
                          'h2h_bias': (rows,)}
                if self._projection_size:
                    shapes['h2r_weight'] = (state, hidden_size)
                for name, shape in shapes.items():
                    parameter = self.params.get(f'{side}{layer}_{name}', shape=shape, init=initializers[name],
                                                allow_deferred_init=True, dtype=dtype)
                    setattr(self, f'{side}{layer}_{name}', parameter)

    def __repr__(self) -> str:
        inputs = self.l0_i2h_weight.shape[1]
        text = f'{type(self).__name__}({inputs or None} -> {self._hidden_size}, {self._layout}'
        if self._num_layers != 1:
            text += f', num_layers={self._num_layers}'
        if self._dropout != 0:
            text += f', dropout={self._dropout}'
        return text + (', bidirectional)' if self._dir == 2 else ')')

    def _collect_params_with_prefix(self, prefix: str = '') -> dict[str, Any]:
        """Structural names are those of the stack of cells that the layer stands for, as in files of the release."""
        if prefix:
            prefix += '.'
        found = {}
        for name, parameter in self._reg_params.items():
            match = _NAME.match(name)
            assert match is not None, name
            side, layer, which, kind = match.groups()
            cell = f'{side}_cell.' if self._dir == 2 else ''
            found[f'{prefix}_unfused.{layer}.{cell}{which}_{kind}'] = parameter
        for name, child in self._children.items():
            found.update(child._collect_params_with_prefix(prefix + name))
        return found

    def _take_parameters(self, shared: dict[str, Any], used: set[str], prefix: str) -> None:
        plain = {}
        for key, (name, _) in zip(self._collect_params_with_prefix(prefix.rstrip('.')), self._reg_params.items(),
                                  strict=False):
            if key in shared:
                used.add(key)
                plain[prefix + name] = shared[key]
        super()._take_parameters({**shared, **plain}, used, prefix)

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Shape, layout and element type of each state; the first axis counts layers and directions."""
        shape = (self._num_layers * self._dir, batch_size, self._projection_size or self._hidden_size)
        return [{'shape': shape, '__layout__': 'LNC', 'dtype': self._dtype}]

    def begin_state(self, batch_size: int = 0, func: Callable[..., Any] = nd.zeros, **kwargs: Any) -> list[Any]:
        """States for the first step, made by ``func``; ``kwargs``, for example ``ctx``, go to it."""
        return [make_state(func, f'{self.prefix}h0_{index}', {**info, **kwargs})
                for index, info in enumerate(self.state_info(batch_size))]

    def _clear_cached_op(self) -> None:
        self._other_cache = None
        super()._clear_cached_op()

    def cast(self, dtype: Any) -> None:
        """Change the element type of parameters and of the states that are made."""
        super().cast(dtype)
        self._dtype = dtype

    def _unfuse(self) -> HybridSequentialRNNCell:
        """The stack of cells that computes the same; it shares the parameters."""
        assert not self._projection_size, '_unfuse does not support projection layer yet!'
        assert not self._clip, '_unfuse does not support state clipping yet!'
        initializers = {f'{name}_initializer': value for name, value in self._initializers.items()
                        if not name.startswith('h2r')}
        stack = HybridSequentialRNNCell(prefix=self.prefix, params=self.params)
        with stack.name_scope():
            columns = self._input_size
            for layer in range(self._num_layers):
                sides = [self._cell(prefix=f'{side}{layer}_', input_size=columns, **initializers)
                         for side in 'lr'[:self._dir]]
                stack.add(BidirectionalCell(*sides) if self._dir == 2 else sides[0])
                if self._dropout > 0 and layer != self._num_layers - 1:
                    stack.add(DropoutCell(self._dropout))
                columns = self._hidden_size * self._dir
        return stack

    def _cell(self, **kwargs: Any) -> Any:
        if self._mode == 'lstm':
            return LSTMCell(self._hidden_size, **kwargs)
        if self._mode == 'gru':
            return GRUCell(self._hidden_size, **kwargs)
        return RNNCell(self._hidden_size, activation=self._mode[4:], **kwargs)

    # ---- calls -------------------------------------------------------------------------------------------------

    def __call__(self, inputs: Any, states: Any = None, sequence_length: Any = None) -> Any:
        """Outputs alone without ``states``, else outputs and last states."""
        if self._skip_states is not (states is None):
            # The graph without states is another one; both stay compiled, and the last one called is exported.
            self._skip_states, self._cache, self._other_cache = states is None, self._other_cache, self._cache
        if states is None:
            size = sequence.batch_size(inputs, self._layout)
            if isinstance(inputs, NDArray):
                states = self.begin_state(size, ctx=inputs.context, dtype=inputs.dtype)
            else:
                states = self.begin_state(0, func=sequence.operators_for(inputs).zeros)
        if not isinstance(states, list | tuple):
            states = [states]
        states = list(states)
        if self._use_sequence_length:
            return super().__call__(inputs, states, sequence_length)
        return super().__call__(inputs, states)

    def forward(self, x: Any, *args: Any) -> Any:
        """Run the sequence; ValueError for states of a wrong shape."""
        if isinstance(x, NDArray):
            if deferred.state.active:
                self.infer_shape(x)
            size = sequence.batch_size(x, self._layout)
            for state, info in zip(args[0], self.state_info(size), strict=False):
                if state.shape != info['shape']:
                    raise ValueError(f'Invalid recurrent state shape. Expecting {info["shape"]}, got {state.shape}.')
        return super().forward(x, *args)

    def infer_shape(self, inputs: Any, *args: Any) -> None:
        """The number of input features settles the shape of the first weights."""
        for side in 'lr'[:self._dir]:
            weight = getattr(self, f'{side}0_i2h_weight')
            weight.shape = (self._gates * self._hidden_size, inputs.shape[2])

    def _packed(self) -> Iterator[str]:
        """The names of the parameters in the order in which the operator wants them: all weights, then all biases."""
        for kind in ('weight', 'bias'):
            for layer in range(self._num_layers):
                for side in 'lr'[:self._dir]:
                    for which in ('i2h', 'h2h', 'h2r'):
                        name = f'{side}{layer}_{which}_{kind}'
                        if name in self._reg_params:
                            yield name

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, sequence_length: Any = None,  # type: ignore[override]
                       **kwargs: Any) -> Any:
        """One call of the operator RNN."""
        if self._layout == 'NTC':
            inputs = F.swapaxes(inputs, dim1=0, dim2=1)
        packed = F._internal._rnn_param_concat(*[F.reshape(kwargs[name], shape=(-1,)) for name in self._packed()],
                                               dim=0)
        arrays = [*states, sequence_length] if self._use_sequence_length else states
        options = {'projection_size': self._projection_size} if self._projection_size else {}
        results = F.RNN(inputs, packed, *arrays, use_sequence_length=self._use_sequence_length,
                        state_size=self._hidden_size, num_layers=self._num_layers, bidirectional=self._dir == 2,
                        p=self._dropout, state_outputs=True, mode=self._mode, **options, **self._clip)
        outputs = F.swapaxes(results[0], dim1=0, dim2=1) if self._layout == 'NTC' else results[0]
        if self._skip_states:
            return outputs
        return outputs, [results[index] for index in range(1, 3 if self._mode == 'lstm' else 2)]


class RNN(_RNNLayer):
    """Elman's recurrent network: h' = activation(W_i x + b_i + W_h h + b_h) with relu or tanh.

    Inputs are (time, batch, features), or (batch, time, features) with layout NTC; outputs likewise, with
    hidden_size features per direction. ``layer(x)`` starts with zeros and gives the outputs; ``layer(x, states)``
    gives (outputs, [states]); states are (layers · directions, batch, hidden_size).

    >>> import refengine as mx
    >>> layer = RNN(5, num_layers=2); layer.initialize()
    >>> layer(mx.nd.ones((3, 2, 4))).shape
    (3, 2, 5)
    """

    def __init__(self, hidden_size: int, num_layers: int = 1, activation: str = 'relu', layout: str = 'TNC',
                 dropout: float = 0, bidirectional: bool = False, i2h_weight_initializer: Any = None,
                 h2h_weight_initializer: Any = None, i2h_bias_initializer: Any = 'zeros',
                 h2h_bias_initializer: Any = 'zeros', input_size: int = 0, dtype: Any = 'float32',
                 **kwargs: Any) -> None:
        assert activation in ('relu', 'tanh'), f"activation must be 'relu' or 'tanh', got {activation!r}"
        super().__init__(f'rnn_{activation}', hidden_size, num_layers, layout, dropout, bidirectional, input_size, {
            'i2h_weight': i2h_weight_initializer, 'h2h_weight': h2h_weight_initializer,
            'i2h_bias': i2h_bias_initializer, 'h2h_bias': h2h_bias_initializer}, dtype, **kwargs)


class LSTM(_RNNLayer):
    """Long short-term memory; a second state holds the memories. With ``projection_size`` outputs are projected.

    ``state_clip_min`` and ``state_clip_max`` bound the memories, ``state_clip_nan`` replaces NaN in them.

    >>> import refengine as mx
    >>> layer = LSTM(5, bidirectional=True, layout='NTC'); layer.initialize()
    >>> outputs, states = layer(mx.nd.ones((2, 3, 4)), layer.begin_state(batch_size=2))
    >>> outputs.shape, [state.shape for state in states]
    ((2, 3, 10), [(2, 2, 5), (2, 2, 5)])
    """

    def __init__(self, hidden_size: int, num_layers: int = 1, layout: str = 'TNC', dropout: float = 0,
                 bidirectional: bool = False, input_size: int = 0, i2h_weight_initializer: Any = None,
                 h2h_weight_initializer: Any = None, i2h_bias_initializer: Any = 'zeros',
                 h2h_bias_initializer: Any = 'zeros', projection_size: int | None = None,
                 h2r_weight_initializer: Any = None, state_clip_min: float | None = None,
                 state_clip_max: float | None = None, state_clip_nan: bool = False, dtype: Any = 'float32',
                 **kwargs: Any) -> None:
        super().__init__('lstm', hidden_size, num_layers, layout, dropout, bidirectional, input_size, {
            'i2h_weight': i2h_weight_initializer, 'h2h_weight': h2h_weight_initializer,
            'i2h_bias': i2h_bias_initializer, 'h2h_bias': h2h_bias_initializer,
            'h2r_weight': h2r_weight_initializer}, dtype, projection_size, **kwargs)
        if state_clip_min is not None or state_clip_max is not None or state_clip_nan:
            self._clip = {'lstm_state_clip_min': state_clip_min, 'lstm_state_clip_max': state_clip_max,
                          'lstm_state_clip_nan': state_clip_nan}

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Two states: outputs and memories."""
        shape = (self._num_layers * self._dir, batch_size, self._hidden_size)
        return [*super().state_info(batch_size), {'shape': shape, '__layout__': 'LNC', 'dtype': self._dtype}]


class GRU(_RNNLayer):
    """Gated recurrent units.

    >>> import refengine as mx
    >>> layer = GRU(5); layer.initialize()
    >>> layer(mx.nd.ones((3, 2, 4))).shape
    (3, 2, 5)
    """

    def __init__(self, hidden_size: int, num_layers: int = 1, layout: str = 'TNC', dropout: float = 0,
                 bidirectional: bool = False, input_size: int = 0, i2h_weight_initializer: Any = None,
                 h2h_weight_initializer: Any = None, i2h_bias_initializer: Any = 'zeros',
                 h2h_bias_initializer: Any = 'zeros', dtype: Any = 'float32', **kwargs: Any) -> None:
        super().__init__('gru', hidden_size, num_layers, layout, dropout, bidirectional, input_size, {
            'i2h_weight': i2h_weight_initializer, 'h2h_weight': h2h_weight_initializer,
            'i2h_bias': i2h_bias_initializer, 'h2h_bias': h2h_bias_initializer}, dtype, **kwargs)
