"""RNN: layers of recurrent cells over whole sequences, in one operator.

The forward body runs the cells on raw arrays and keeps what the way back needs as hidden outputs, which the operator
``_rnn_backward`` takes. In a recorded graph the gradient is written against ``F`` and computes the cells again from
the inputs, so that it can be differentiated as often as one likes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import MXNetError, shape_text
from ..op import Bool, Enum, Float, Int, register
from ._nn import empty, require_float, require_shape
from ._rnn_cells import at, layout, layout_of, piece, scan, scan_back, steps
from ._rnn_raw import Settings, back, forward, weights_of
from .shapes import completes, merge

_KEPT = {'rnn_relu': 0, 'rnn_tanh': 0, 'lstm': 3, 'gru': 3}
"""Arrays that are kept for each direction of each layer."""


# ---- the whole stack -------------------------------------------------------------------------------------------------

def _settings(p: dict[str, Any]) -> tuple[int, tuple[float, float] | None]:
    low, high = p['lstm_state_clip_min'], p['lstm_state_clip_max']
    return 2 if p['bidirectional'] else 1, None if low is None or high is None or p['mode'] != 'lstm' else (low, high)


def _live(F: Any, xp_range: Any, lengths: Any) -> list[Any] | None:
    """For each step a column that says which sequences still run."""
    if lengths is None:
        return None
    column = F.reshape(lengths, shape=(-1, 1))
    return [column > t for t in xp_range]


def _project(F: Any, x: Any, weight: Any, bias: Any) -> Any:
    """Gates that the inputs (time, batch, features) feed, for all steps at once."""
    flat = F.dot(F.reshape(x, shape=(-1, x.shape[2])), weight, transpose_b=True)
    return F.reshape(F.broadcast_add(flat, bias), shape=(x.shape[0], x.shape[1], -1))


def _run(F: Any, inputs: tuple[Any, ...], p: dict[str, Any], masks: list[Any]) -> tuple[list[Any], list[Any]]:
    """The forward pass against F: the inputs of each layer and what each direction kept."""
    data, vector, h0, c0, lengths = inputs
    directions, clip = _settings(p)
    parts, _ = layout_of(data, p)
    live = _live(F, range(data.shape[0]), lengths)
    x, layer_inputs, kept = data, [], []
    for layer in range(p['num_layers']):
        layer_inputs.append(x)
        outputs = []
        for d in range(directions):
            index = layer * directions + d
            part = parts[index]
            gates = _project(F, x, piece(F, vector, part.input_weight), piece(F, vector, part.input_bias))
            y, _, _, stacks = scan(
                F, p['mode'], gates, at(F, h0, index), None if c0 is None else at(F, c0, index),
                piece(F, vector, part.state_weight), piece(F, vector, part.state_bias),
                None if part.projection is None else piece(F, vector, part.projection), d == 1, live, clip)
            outputs.append(y)
            kept.append((y, *stacks))
        x = outputs[0] if directions == 1 else F.Concat(*outputs, dim=2)
        if layer < len(masks):
            x = x * masks[layer]
    return layer_inputs, kept


def _split_inputs(inputs: tuple[Any, ...], p: dict[str, Any]) -> tuple[Any, ...]:
    """data, parameters, state, state_cell or None, sequence_length or None."""
    rest = list(inputs[3:])
    cell = rest.pop(0) if p['mode'] == 'lstm' else None
    return (*inputs[:3], cell, rest.pop(0) if p['use_sequence_length'] else None)


def _hidden_count(p: dict[str, Any]) -> int:
    """Outputs: the sequence, states, and for each direction its outputs and what it kept; masks of dropout."""
    directions = 2 if p['bidirectional'] else 1
    masks = p['num_layers'] - 1 if p['p'] > 0 else 0
    return 2 + (p['mode'] == 'lstm') + p['num_layers'] * directions * (1 + _KEPT[p['mode']]) + masks


def _infer(arrays: Any, p: dict[str, Any]) -> None:
    data, vector, state = arrays[:3]
    require_float('RNN', data)
    if data.ndim != 3:
        raise MXNetError(f'Operator RNN: Input data should be rank-3 tensor of dim [sequence length, batch size, input '
                         f'size], got shape {shape_text(data.shape)}')
    projection = p['projection_size']
    if projection is not None and (p['mode'] != 'lstm' or projection <= 0):
        raise MXNetError(f'Operator RNN: projection_size={projection} must be positive and is for mode lstm only')
    directions, size = 2 if p['bidirectional'] else 1, p['state_size']
    count = directions * p['num_layers']
    require_shape('RNN', vector.shape, (layout_of(data, p)[1],))
    require_shape('RNN', state.shape, (count, data.shape[1], projection or size))
    rest = _split_inputs(arrays, p)[3:]
    if rest[0] is not None:
        require_shape('RNN', rest[0].shape, (count, data.shape[1], size))
    if rest[1] is not None:
        require_shape('RNN', rest[1].shape, (data.shape[1],))


@completes('RNN')
def complete_shapes(shapes: list[Any], p: dict[str, Any]) -> list[Any]:
    """Parameters and states from the data, as far as its dimensions are known."""
    data = shapes[0]
    done = list(shapes)
    if data is None or len(data) != 3:
        return done
    directions, size = 2 if p['bidirectional'] else 1, p['state_size']
    count, batch = directions * p['num_layers'], data[1]
    if data[2] > 0:
        done[1] = merge(shapes[1], (layout(p['mode'], data[2], size, p['num_layers'], directions,
                                           p['projection_size'])[1],))
    done[2] = merge(shapes[2], (count, batch, p['projection_size'] or size))
    if p['mode'] == 'lstm':
        done[3] = merge(shapes[3], (count, batch, size))
    if p['use_sequence_length']:
        done[-1] = merge(shapes[-1], (batch,))
    return done


def partial_outputs(shapes: list[Any], p: dict[str, Any]) -> list[Any]:
    """Shapes of the outputs that a caller sees where dimensions of the data are unknown."""
    data = shapes[0]
    if data is None or len(data) != 3:
        return []
    directions, size = 2 if p['bidirectional'] else 1, p['state_size']
    out, count = p['projection_size'] or size, directions * p['num_layers']
    found = [(data[0], data[1], directions * out), (count, data[1], out)]
    return [*found, (count, data[1], size)] if p['mode'] == 'lstm' else found


def _grad(F: Any, ograds: Any, inputs: Any, outputs: Any, p: dict[str, Any]) -> tuple[Any, ...]:
    data, vector, h0, c0, lengths = _split_inputs(inputs, p)
    directions, clip = _settings(p)
    parts, _ = layout_of(data, p)
    lstm, stride = p['mode'] == 'lstm', 1 + _KEPT[p['mode']]
    head = 2 + lstm
    many = p['num_layers'] * directions
    masks = list(outputs[head + many * stride:]) if p.get('is_train') else []
    if not hasattr(data, '_node'):
        heads = [F.zeros_like(y if index == 0 else (h0, c0)[index - 1]) if g is None else g
                 for index, (g, y) in enumerate(zip(ograds[:head], outputs, strict=False))]
        own = {key: p[key] for key in _PARAMS}
        result = list(F._rnn_backward(*inputs, *heads, *outputs[head:], **own))
        return (*result, None) if lengths is not None else tuple(result)
    # A recorded graph: nothing that was kept depends on the inputs.
    layer_inputs, kept = _run(F, (data, vector, h0, c0, lengths), p, masks)
    live = _live(F, range(data.shape[0]), lengths)
    of_sequence = F.zeros_like(outputs[0]) if ograds[0] is None else ograds[0]
    of_h = F.zeros_like(h0) if ograds[1] is None else ograds[1]
    of_c = None if not lstm else F.zeros_like(c0) if ograds[2] is None else ograds[2]
    of_weights: list[tuple[Any, ...]] = []
    to_h, to_c = [None] * many, [None] * many
    for layer in reversed(range(p['num_layers'])):
        if layer < p['num_layers'] - 1 and layer < len(masks):
            of_sequence = of_sequence * masks[layer]
        x = layer_inputs[layer]
        flat = F.reshape(x, shape=(-1, x.shape[2]))
        width = of_sequence.shape[2] // directions
        of_input = None
        for d in range(directions):
            index = layer * directions + d
            part, (y, *stacks) = parts[index], kept[index]
            og = of_sequence if directions == 1 else F.slice_axis(of_sequence, axis=2, begin=d * width,
                                                                  end=(d + 1) * width)
            first = F.slice_axis(h0, axis=0, begin=index, end=index + 1)
            states = _states_before(F, y, first, d == 1, live)
            into, state, dh, dc, of_projection = scan_back(
                F, p['mode'], og, at(F, of_h, index), at(F, of_c, index) if lstm else None,
                None if c0 is None else at(F, c0, index), states, tuple(stacks),
                piece(F, vector, part.state_weight),
                None if part.projection is None else piece(F, vector, part.projection), d == 1, live, clip)
            to_h[index], to_c[index] = dh, dc
            into = F.reshape(into, shape=(-1, into.shape[2]))
            state = F.reshape(state, shape=(-1, state.shape[2]))
            of_weights.append((index, F.dot(into, flat, transpose_a=True),
                               F.dot(state, F.reshape(states, shape=(-1, states.shape[2])), transpose_a=True),
                               of_projection, F.sum(into, axis=0), F.sum(state, axis=0)))
            behind = F.reshape(F.dot(into, piece(F, vector, part.input_weight)), shape=x.shape)
            of_input = behind if of_input is None else of_input + behind
        of_sequence = of_input
    result = [of_sequence, _gathered(F, of_weights), F.stack(*to_h, axis=0)]
    if lstm:
        result.append(F.stack(*to_c, axis=0))
    if lengths is not None:
        result.append(None)
    return tuple(result)


def _states_before(F: Any, y: Any, first: Any, backward: bool, live: list[Any] | None) -> Any:
    """The state before each step: the outputs, one step later."""
    length = y.shape[0]
    if live is not None:
        return _carried(F, y, first, backward, live)
    if length == 1:
        return first
    if backward:
        return F.Concat(F.slice_axis(y, axis=0, begin=1, end=length), first, dim=0)
    return F.Concat(first, F.slice_axis(y, axis=0, begin=0, end=length - 1), dim=0)


def _carried(F: Any, y: Any, first: Any, backward: bool, live: list[Any]) -> Any:
    """The same where sequences end early: a sequence that does not run keeps its state."""
    state = F.reshape(first, shape=first.shape[1:])
    found = [None] * y.shape[0]
    for t in steps(y.shape[0], backward):
        found[t] = state
        state = F.where(F.broadcast_like(live[t], state), at(F, y, t), state)
    return F.stack(*found, axis=0)


def _gathered(F: Any, pieces: list[tuple[Any, ...]]) -> Any:
    """The gradient of the vector of parameters from those of its parts."""
    pieces = sorted(pieces, key=lambda piece: piece[0])
    flat = [F.reshape(x, shape=(-1,)) for piece in pieces for x in piece[1:4] if x is not None]
    return F.Concat(*flat, *(x for piece in pieces for x in piece[4:]), dim=0)


_PARAMS = {'state_size': Int(doc='size of the state', low=0), 'num_layers': Int(doc='number of layers', low=0),
           'bidirectional': Bool(False, 'a second row of cells reads each sequence backward'),
           'mode': Enum(('rnn_relu', 'rnn_tanh', 'lstm', 'gru'), doc='the kind of the cells'),
           'p': Float(0.0, 'share of elements dropped between layers, in training', low=0.0, high=1.0),
           'state_outputs': Bool(False, 'give the last states as well'),
           'projection_size': Int(None, 'size to which lstm outputs are projected', none=True),
           'lstm_state_clip_min': Float(None, 'least cell state; only together with the largest', none=True),
           'lstm_state_clip_max': Float(None, 'largest cell state', none=True),
           'lstm_state_clip_nan': Bool(False, 'NaN in a cell state is clipped as well'),
           'use_sequence_length': Bool(False, 'sequences have lengths of their own')}


def _sample(mode: str, inputs: int, size: int, layers: int, directions: int, **more: Any) -> tuple[Any, ...]:
    out = more.get('projection_size') or size
    vector = (layout(mode, inputs, size, layers, directions, more.get('projection_size'))[1],)
    shapes: list[Any] = [(3, 2, inputs), vector, (layers * directions, 2, out)]
    if mode == 'lstm':
        shapes.append((layers * directions, 2, size))
    if more.get('use_sequence_length'):
        shapes.append('fixed:[2, 3]')
    return tuple(shapes), {'mode': mode, 'state_size': size, 'num_layers': layers, 'bidirectional': directions == 2,
                           'state_outputs': True, **more}, 'unit'


@register('RNN', inputs=('data', 'parameters', 'state', 'state_cell', 'sequence_length'), params=_PARAMS, mixed=True,
          num_inputs=lambda params: 3 + (params['mode'] == 'lstm') + params['use_sequence_length'],
          num_outputs=_hidden_count,
          visible=lambda params: 2 + (params['mode'] == 'lstm') if params['state_outputs'] else 1,
          infer=_infer, grad=_grad, samples=(
              _sample('lstm', 2, 2, 1, 1), _sample('gru', 2, 2, 1, 1), _sample('rnn_tanh', 2, 2, 2, 1),
              _sample('rnn_relu', 2, 2, 1, 2), _sample('lstm', 2, 2, 2, 2), _sample('gru', 1, 2, 1, 2),
              _sample('lstm', 2, 3, 1, 1, projection_size=2), _sample('lstm', 1, 2, 1, 2, use_sequence_length=True),
              _sample('gru', 1, 2, 1, 2, use_sequence_length=True)))
def _rnn(xp: Any, data: Any, parameters: Any, state: Any, *rest: Any, is_train: bool = False, rng: Any = None,
         **p: Any) -> tuple[Any, ...]:
    """Recurrent layers over sequences (time, batch, features): outputs (time, batch, directions · state_size).

    ``parameters`` holds the weights of all layers and directions (for the input, the state, the projection), then
    their biases (for the input, the state). ``state`` and ``state_cell`` are (layers · directions, batch, size); with
    state_outputs the last ones are given as well. With use_sequence_length outputs beyond the length are zero, and
    the backward direction begins at the end of each sequence.
    """
    narrow = data.dtype
    x, vector, h0, c0, lengths = _wide(_split_inputs((data, parameters, state, *rest), p), narrow)
    parts, settings, live = _raw_settings(xp, x, lengths, p)
    directions, keep = 2 if p['bidirectional'] else 1, 1 - p['p']
    last_h, last_c, kept, masks = [], [], [], []
    for layer in range(p['num_layers']):
        outputs = []
        for d in range(directions):
            index = layer * directions + d
            y, h, c, stacks = forward(xp, x, h0[index], None if c0 is None else c0[index],
                                      weights_of(vector, parts[index]), settings, d == 1, live)
            outputs.append(y)
            last_h.append(h)
            last_c.append(c)
            kept += [y, *stacks]
        x = outputs[0] if directions == 1 else xp.concatenate(outputs, axis=2)
        if p['p'] > 0 and layer < p['num_layers'] - 1:
            if is_train:
                chosen = xp.asarray(rng.random(x.shape, dtype=np.float32) < keep)
                masks.append(chosen.astype(x.dtype) / x.dtype.type(keep) if keep else xp.zeros(x.shape, x.dtype))
                x = x * masks[-1]
            else:
                masks.append(xp.ones((1, 1, 1), x.dtype))
    visible = [x, xp.stack(last_h), *([xp.stack(last_c)] if c0 is not None else [])]
    return (*(a.astype(narrow, copy=False) for a in visible), *kept, *masks)


def _wide(arrays: Any, kind: Any) -> Any:
    """Half precision is computed in single precision."""
    return arrays if kind != np.float16 else tuple(a if a is None else a.astype(np.float32) for a in arrays)


def _raw_settings(xp: Any, x: Any, lengths: Any, p: dict[str, Any]) -> tuple[Any, Settings, Any]:
    live = None if lengths is None else (lengths > xp.arange(x.shape[0])[:, None])[:, :, None]
    return layout_of(x, p)[0], Settings(p['mode'], _settings(p)[1], p['lstm_state_clip_nan']), live


@register('_rnn_backward', variadic=True, params=_PARAMS, mixed=True,
          num_outputs=lambda params: 3 + (params['mode'] == 'lstm'))
def _rnn_backward(xp: Any, *arrays: Any, **p: Any) -> tuple[Any, ...]:
    """Gradients of RNN by data, parameters and first states, from its inputs, their gradients and what it kept."""
    lstm, given = p['mode'] == 'lstm', 3 + (p['mode'] == 'lstm') + p['use_sequence_length']
    narrow, arrays = arrays[0].dtype, _wide(arrays, arrays[0].dtype)
    data, vector, h0, c0, lengths = _split_inputs(arrays[:given], p)
    of_y, of_h = arrays[given:given + 2]
    of_c = arrays[given + 2] if lstm else None
    rest = arrays[given + 2 + lstm:]
    parts, settings, live = _raw_settings(xp, data, lengths, p)
    directions, layers, stride = 2 if p['bidirectional'] else 1, p['num_layers'], 1 + _KEPT[p['mode']]
    kept = [rest[i * stride:(i + 1) * stride] for i in range(layers * directions)]
    masks = rest[layers * directions * stride:]
    of_vector = empty(xp, vector.shape, vector.dtype)
    to_h, to_c = xp.empty_like(h0), None if c0 is None else xp.empty_like(c0)
    for layer in reversed(range(layers)):
        x = data
        if layer:
            before = [kept[(layer - 1) * directions + d][0] for d in range(directions)]
            x = before[0] if directions == 1 else xp.concatenate(before, axis=2)
            x = x * masks[layer - 1] if masks else x
        x = xp.ascontiguousarray(x)
        if masks and layer < layers - 1:
            of_y = of_y * masks[layer]
        width, of_input = of_y.shape[2] // directions, None
        for d in range(directions):
            index = layer * directions + d
            y, *stacks = kept[index]
            found = back(xp, x, y, h0[index], None if c0 is None else c0[index], tuple(stacks),
                         of_y[:, :, d * width:(d + 1) * width], of_h[index], None if of_c is None else of_c[index],
                         weights_of(vector, parts[index]), weights_of(of_vector, parts[index]), settings, d == 1, live)
            to_h[index] = found.h
            if to_c is not None:
                to_c[index] = found.c
            of_input = found.input if of_input is None else of_input + found.input
        of_y = of_input
    results = [of_y, of_vector, to_h, *([to_c] if lstm else [])]
    return tuple(a.astype(narrow, copy=False) for a in results)
