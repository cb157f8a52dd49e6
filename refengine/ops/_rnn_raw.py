"""Recurrent layers on raw arrays, forth and back, with few passes over memory.

What does not depend on the step is done for all steps at once: the gates that the inputs feed, the factors of the way
back, and the gradients of weights. A step is one product with the state's weights and a few operations in place. One
tanh gives all gates, for sigmoid(x) = tanh(x / 2) / 2 + 1 / 2; the halves are in the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._nn import empty
from ._rnn_cells import Part, steps


@dataclass(frozen=True)
class Weights:
    """The weights and biases of one direction of one layer."""

    input: Any
    state: Any
    projection: Any
    input_bias: Any
    state_bias: Any


def weights_of(vector: Any, part: Part) -> Weights:
    """Views of the parts of the vector of parameters."""
    def view(where: tuple[int, tuple[int, ...]]) -> Any:
        begin, shape = where
        size = shape[0] * shape[1] if len(shape) == 2 else shape[0]
        return vector[begin:begin + size].reshape(shape)

    return Weights(view(part.input_weight), view(part.state_weight),
                   None if part.projection is None else view(part.projection), view(part.input_bias),
                   view(part.state_bias))


@dataclass(frozen=True)
class Settings:
    """What a call says about the cells."""

    mode: str
    clip: tuple[float, float] | None
    clip_nan: bool


# ---- forth -----------------------------------------------------------------------------------------------------

def forward(xp: Any, x: Any, h: Any, c: Any, w: Weights, s: Settings, backward: bool, live: Any) -> tuple[Any, ...]:
    """One direction of one layer: outputs, last states and what the way back needs.

    ``live`` is (time, batch, 1) and says which sequences still run at a step, or None: the others keep their state and
    give zeros.
    """
    x = xp.ascontiguousarray(x)
    order = steps(x.shape[0], backward)
    if s.mode == 'lstm':
        return _lstm(xp, x, h, c, w, s, order, live)
    return (_gru if s.mode == 'gru' else _plain)(xp, x, h, w, s, order, live)


def _feed(xp: Any, x: Any, weight: Any, bias: Any) -> Any:
    """What the inputs of all steps feed into gates: (time, batch, gates)."""
    length, batch, features = x.shape
    gates = empty(xp, (length * batch, weight.shape[0]), x.dtype)
    xp.dot(x.reshape(length * batch, features), weight.T, out=gates)
    gates += bias
    return gates.reshape(length, batch, -1)


def _scaled(xp: Any, weight: Any, factor: Any) -> Any:
    return xp.multiply(weight, factor, out=empty(xp, weight.shape, weight.dtype))


def _turned(xp: Any, weight: Any, factor: Any = 1) -> Any:
    """The transposed weight, row by row in memory: products with it need not turn it once for every step."""
    return xp.multiply(weight.T, factor, out=empty(xp, weight.shape[::-1], weight.dtype))


_ORDER = (0, 1, 3, 2)
"""Gates of an LSTM as they are kept: input, forget and output, which are sigmoids, then the cell gate."""


def _lstm(xp: Any, x: Any, h: Any, c: Any, w: Weights, s: Settings, order: list[int], live: Any) -> tuple[Any, ...]:
    length, batch, features = x.shape
    cells, kind = w.state.shape[0] // 4, x.dtype
    half, flat = kind.type(0.5), x.reshape(length * batch, features)
    # Gate by gate, so that every operation of a step goes through memory in one run.
    stack, state_weights = empty(xp, (length, 4, batch, cells), kind), empty(xp, (4, h.shape[1], cells), kind)
    bias, spare = w.input_bias + w.state_bias, empty(xp, (length * batch, cells), kind)
    for place, gate in enumerate(_ORDER):
        rows, factor = slice(gate * cells, (gate + 1) * cells), 1 if gate == 2 else half
        xp.multiply(w.state[rows].T, factor, out=state_weights[place])
        xp.dot(flat, _scaled(xp, w.input[rows], factor).T, out=spare)
        xp.add(spare.reshape(length, batch, cells), bias[rows] * factor, out=stack[:, place])
    projection = None if w.projection is None else _turned(xp, w.projection)
    all_c, all_t = empty(xp, (length, batch, cells), kind), empty(xp, (length, batch, cells), kind)
    outputs = empty(xp, (length, batch, h.shape[1]), kind)
    fed, product = xp.empty((4, batch, cells), kind), xp.empty((batch, cells), kind)
    dot, tanh, multiply, add = xp.dot, xp.tanh, xp.multiply, xp.add
    for t in order:
        xp.matmul(h, state_weights, out=fed)
        gates = stack[t]
        add(gates, fed, out=gates)
        tanh(gates, out=gates)
        sigmoids = gates[:3]
        multiply(sigmoids, half, out=sigmoids)
        add(sigmoids, half, out=sigmoids)
        i, f, o, g = gates
        new_c = multiply(f, c, out=all_c[t])
        add(new_c, multiply(i, g, out=product), out=new_c)
        if s.clip is not None:
            low, high = (xp.fmax, xp.fmin) if s.clip_nan else (xp.maximum, xp.minimum)
            low(new_c, kind.type(s.clip[0]), out=new_c)
            high(new_c, kind.type(s.clip[1]), out=new_c)
        if live is not None:
            new_c[...] = xp.where(live[t], new_c, c)
        c = new_c
        squashed = tanh(c, out=all_t[t])
        if projection is None:
            new_h = multiply(squashed, o, out=outputs[t])
        else:
            new_h = dot(multiply(squashed, o, out=product), projection, out=outputs[t])
        h = new_h if live is None else _hold(xp, live[t], new_h, h)
    return outputs, h, c, (stack, all_c, all_t)


def _hold(xp: Any, running: Any, new_h: Any, h: Any) -> Any:
    """The state where only some sequences run; the outputs of the others become zero in place."""
    held = xp.where(running, new_h, h)
    new_h[...] = xp.where(running, new_h, 0)
    return held


def _gru(xp: Any, x: Any, h: Any, w: Weights, s: Settings, order: list[int], live: Any) -> tuple[Any, ...]:
    length, batch, features = x.shape
    cells, kind = w.state.shape[0] // 3, x.dtype
    half, flat = x.dtype.type(0.5), x.reshape(length * batch, features)
    both, state_weights = empty(xp, (length, 2, batch, cells), kind), empty(xp, (3, cells, cells), kind)
    spare = empty(xp, (length * batch, cells), kind)
    for gate in range(3):
        rows, factor = slice(gate * cells, (gate + 1) * cells), half if gate < 2 else kind.type(1)
        xp.multiply(w.state[rows].T, factor, out=state_weights[gate])
        if gate < 2:
            xp.dot(flat, _scaled(xp, w.input[rows], factor).T, out=spare)
            xp.add(spare.reshape(length, batch, cells), (w.input_bias[rows] + w.state_bias[rows]) * half,
                   out=both[:, gate])
    new, new_bias = _feed(xp, x, w.input[2 * cells:], w.input_bias[2 * cells:]), w.state_bias[2 * cells:]
    all_n, outputs = empty(xp, (length, batch, cells), kind), empty(xp, (length, batch, cells), kind)
    fed, product = xp.empty((3, batch, cells), kind), xp.empty((batch, cells), kind)
    fed_gates, fed_new = fed[:2], fed[2]
    tanh, multiply, add = xp.tanh, xp.multiply, xp.add
    for t in order:
        xp.matmul(h, state_weights, out=fed)
        gates = both[t]
        add(gates, fed_gates, out=gates)
        tanh(gates, out=gates)
        multiply(gates, half, out=gates)
        add(gates, half, out=gates)
        state, n = add(fed_new, new_bias, out=all_n[t]), new[t]
        reset, update = gates
        add(n, multiply(reset, state, out=product), out=n)
        tanh(n, out=n)
        new_h = xp.subtract(h, n, out=outputs[t])
        multiply(new_h, update, out=new_h)
        add(new_h, n, out=new_h)
        h = new_h if live is None else _hold(xp, live[t], new_h, h)
    return outputs, h, None, (both, new, all_n)


def _plain(xp: Any, x: Any, h: Any, w: Weights, s: Settings, order: list[int], live: Any) -> tuple[Any, ...]:
    outputs = _feed(xp, x, w.input, w.input_bias + w.state_bias)
    state_weight = _turned(xp, w.state)
    fed = xp.empty(outputs.shape[1:], x.dtype)
    zero = x.dtype.type(0)
    for t in order:
        new_h = outputs[t]
        xp.dot(h, state_weight, out=fed)
        xp.add(new_h, fed, out=new_h)
        if s.mode == 'rnn_tanh':
            xp.tanh(new_h, out=new_h)
        else:
            xp.maximum(new_h, zero, out=new_h)
        h = new_h if live is None else _hold(xp, live[t], new_h, h)
    return outputs, h, None, ()


# ---- back ------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Gradients:
    """What one direction of one layer gives back: by its inputs and first states; weights are written in place."""

    input: Any
    h: Any
    c: Any


def _before(xp: Any, values: Any, first: Any, backward: bool, live: Any = None) -> Any:
    """The values one step earlier; where nothing ran before they are the first ones."""
    found = empty(xp, values.shape, values.dtype)
    if backward:
        found[:-1], found[-1] = values[1:], first
        if live is not None and len(live) > 1:
            found[:-1] = xp.where(live[1:], found[:-1], first)
    else:
        found[1:], found[0] = values[:-1], first
    return found


def back(xp: Any, x: Any, y: Any, h0: Any, c0: Any, kept: tuple[Any, ...], ograd: Any, dh: Any, dc: Any, w: Weights,
         into: Weights, s: Settings, backward: bool, live: Any) -> Gradients:
    """The way back through one direction of one layer; the gradients of weights are written to ``into``."""
    length, batch, _ = x.shape
    order = steps(length, backward)[::-1]
    before = _before(xp, y, h0, backward, live)
    dh = dh.copy()
    if live is not None:
        ograd = xp.where(live, ograd, 0)
    if s.mode == 'lstm':
        gates, dh, dc = _lstm_back(xp, kept, c0, ograd, dh, dc.copy(), w, into, s, order, live)
        to_input = gates
    elif s.mode == 'gru':
        gates, to_input, dh = _gru_back(xp, kept, before, ograd, dh, w, order, live)
    else:
        gates, dh = _plain_back(xp, y, ograd, dh, w, s, order, live)
        to_input = gates
    flat, flat_input = (g.reshape(length * batch, -1) for g in (gates, to_input))
    xp.dot(flat_input.T, x.reshape(length * batch, -1), out=into.input)
    xp.dot(flat.T, before.reshape(length * batch, -1), out=into.state)
    xp.sum(flat_input, axis=0, out=into.input_bias)
    if flat is flat_input or gates is to_input:
        into.state_bias[...] = into.input_bias
    else:
        xp.sum(flat, axis=0, out=into.state_bias)
    of_input = empty(xp, x.shape, x.dtype)
    xp.dot(flat_input, w.input, out=of_input.reshape(length * batch, -1))
    return Gradients(of_input, dh, dc)


def _lstm_back(xp: Any, kept: tuple[Any, ...], c0: Any, ograd: Any, dh: Any, dc: Any, w: Weights, into: Weights,
               s: Settings, order: list[int], live: Any) -> tuple[Any, Any, Any]:
    stack, all_c, all_t = kept
    length, batch, cells = all_c.shape
    i, f, o, g = (stack[:, place] for place in range(4))
    # By dc: the input, forget and cell gates and, one step on, dc itself; by dh: dc and the output gate.
    factors = empty(xp, (length, batch, 4, cells), stack.dtype)
    of_i, of_f, of_g, of_o = (factors[:, :, gate] for gate in range(4))
    spare = empty(xp, all_c.shape, all_c.dtype)
    multiply, subtract = xp.multiply, xp.subtract
    backward = order[0] < order[-1]
    for target, gate, other in ((of_i, i, g), (of_f, f, _before(xp, all_c, c0, backward)), (of_o, o, all_t)):
        subtract(1, gate, out=spare)
        multiply(spare, gate, out=spare)
        multiply(spare, other, out=target)
    multiply(g, g, out=spare)
    subtract(1, spare, out=spare)
    multiply(spare, i, out=of_g)
    by_h = multiply(all_t, all_t, out=spare)
    subtract(1, by_h, out=by_h)
    multiply(by_h, o, out=by_h)
    through = f
    if s.clip is not None:
        inside = (all_c > s.clip[0]) & (all_c < s.clip[1])
        factors[:, :, :3] *= inside[:, :, None]
        through = f * inside
    dead = None
    if live is not None:
        factors *= live[:, :, None]
        by_h *= live
        through = xp.where(live, through, 1)
        dead = ~live
    all_h = None
    if w.projection is not None:
        all_h = empty(xp, (length, *dh.shape), dh.dtype)
    product = xp.empty((batch, cells), dh.dtype)
    gates = factors.reshape(length, batch, 4 * cells)
    held = dh
    for t in order:
        xp.add(held, ograd[t], out=held)
        passed = held * dead[t] if dead is not None else None
        dh = held
        if all_h is not None:
            all_h[t] = held
            dh = xp.dot(held, w.projection)
        multiply(dh, by_h[t], out=product)
        xp.add(dc, product, out=dc)
        first = factors[t]
        multiply(first[:, :3], dc[:, None], out=first[:, :3])
        multiply(first[:, 3], dh, out=first[:, 3])
        multiply(dc, through[t], out=dc)
        xp.dot(gates[t], w.state, out=held)
        if passed is not None:
            xp.add(held, passed, out=held)
    if all_h is not None:
        if live is not None:
            all_h *= live
        xp.dot(all_h.reshape(length * batch, -1).T, (o * all_t).reshape(length * batch, cells), out=into.projection)
    return gates, held, dc


def _gru_back(xp: Any, kept: tuple[Any, ...], before: Any, ograd: Any, dh: Any, w: Weights, order: list[int],
              live: Any) -> tuple[Any, Any, Any]:
    both, new, all_n = kept
    length, batch, cells = new.shape
    reset, update = both[:, 0], both[:, 1]
    # Every gate is a factor times dh: for the state reset, update and new gate, for the input another new gate.
    gates = empty(xp, (length, batch, 3, cells), new.dtype)
    of_r, of_z, of_n = (gates[:, :, gate] for gate in range(3))
    by_n = xp.multiply(new, new, out=empty(xp, new.shape, new.dtype))
    xp.subtract(1, by_n, out=by_n)
    spare = xp.subtract(1, update, out=empty(xp, new.shape, new.dtype))
    xp.multiply(by_n, spare, out=by_n)
    xp.multiply(spare, update, out=spare)
    xp.multiply(spare, xp.subtract(before, new, out=of_z), out=of_z)
    xp.multiply(by_n, reset, out=of_n)
    xp.subtract(1, reset, out=spare)
    xp.multiply(spare, all_n, out=spare)
    xp.multiply(spare, of_n, out=of_r)
    through = update
    if live is not None:
        gates *= live[:, :, None]
        by_n *= live
        through = xp.where(live, update, 1)
    flat = gates.reshape(length, batch, 3 * cells)
    kept_part = xp.empty((batch, cells), new.dtype)
    for t in order:
        xp.add(dh, ograd[t], out=dh)
        xp.multiply(gates[t], dh[:, None], out=gates[t])
        xp.multiply(by_n[t], dh, out=by_n[t])
        xp.multiply(dh, through[t], out=kept_part)
        xp.dot(flat[t], w.state, out=dh)
        xp.add(dh, kept_part, out=dh)
    to_input = empty(xp, flat.shape, flat.dtype)
    to_input[:, :, :2 * cells] = flat[:, :, :2 * cells]
    to_input[:, :, 2 * cells:] = by_n
    return flat, to_input, dh


def _plain_back(xp: Any, y: Any, ograd: Any, dh: Any, w: Weights, s: Settings, order: list[int],
                live: Any) -> tuple[Any, Any]:
    if s.mode == 'rnn_tanh':
        gates = xp.multiply(y, y, out=empty(xp, y.shape, y.dtype))
        xp.subtract(1, gates, out=gates)
    else:
        gates = (y > 0).astype(y.dtype)
    dead = None
    if live is not None:
        gates *= live
        dead = ~live
    for t in order:
        xp.add(dh, ograd[t], out=dh)
        passed = dh * dead[t] if dead is not None else None
        xp.multiply(gates[t], dh, out=gates[t])
        xp.dot(gates[t], w.state, out=dh)
        if passed is not None:
            xp.add(dh, passed, out=dh)
    return gates, dh


