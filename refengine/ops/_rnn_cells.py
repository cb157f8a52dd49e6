"""Recurrent cells: the layout of their parameters, one direction of one layer over a sequence, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

GATES = {'rnn_relu': 1, 'rnn_tanh': 1, 'lstm': 4, 'gru': 3}
"""Gates of each kind of cell: lstm input, forget, cell, output; gru reset, update, new."""


# ---- the vector of parameters --------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Part:
    """Where the weights and biases of one direction of one layer lie in the vector of parameters."""

    input_weight: tuple[int, tuple[int, int]]
    state_weight: tuple[int, tuple[int, int]]
    projection: tuple[int, tuple[int, int]] | None
    input_bias: tuple[int, tuple[int]]
    state_bias: tuple[int, tuple[int]]


def layout(mode: str, inputs: int, size: int, layers: int, directions: int, projection: int | None) -> tuple[
        list[Part], int]:
    """The parts of the vector, layer by layer and direction by direction, and its length: weights, then biases."""
    gates, out = GATES[mode] * size, projection or size
    place, weights = 0, []
    for layer in range(layers):
        width = inputs if layer == 0 else directions * out
        for _ in range(directions):
            shapes: list[tuple[int, int]] = [(gates, width), (gates, out)]
            if projection:
                shapes.append((projection, size))
            found = []
            for shape in shapes:
                found.append((place, shape))
                place += shape[0] * shape[1]
            weights.append(found)
    parts = []
    for found in weights:
        parts.append(Part(found[0], found[1], found[2] if projection else None, (place, (gates,)),
                           (place + gates, (gates,))))
        place += 2 * gates
    return parts, place


def layout_of(data: Any, p: dict[str, Any]) -> tuple[list[Part], int]:
    """The layout for the parameters of a call."""
    return layout(p['mode'], data.shape[2], p['state_size'], p['num_layers'], 2 if p['bidirectional'] else 1,
                  p['projection_size'])


def piece(F: Any, vector: Any, where: tuple[int, tuple[int, ...]]) -> Any:
    """A part of the vector of parameters in its shape."""
    begin, shape = where
    return F.reshape(F.slice_axis(vector, axis=0, begin=begin, end=begin + int(np.prod(shape))), shape=shape)


# ---- cells: one direction of one layer over a sequence, against F ----------------------------------------------------

def at(F: Any, x: Any, index: int) -> Any:
    """Entry of the first axis."""
    return F.reshape(F.slice_axis(x, axis=0, begin=index, end=index + 1), shape=x.shape[1:])


def columns(F: Any, x: Any, count: int) -> list[Any]:
    """The gates side by side."""
    width = x.shape[1] // count
    return [F.slice_axis(x, axis=1, begin=i * width, end=(i + 1) * width) for i in range(count)]


def steps(length: int, backward: bool) -> list[int]:
    """The steps in the order of their computation."""
    return list(range(length - 1, -1, -1)) if backward else list(range(length))


def scan(F: Any, mode: str, x: Any, h: Any, c: Any, weight: Any, bias: Any, projection: Any, backward: bool,
          live: list[Any] | None, clip: tuple[float, float] | None) -> tuple[Any, ...]:
    """Run the cells over input gates ``x`` (time, batch, gates): outputs, last states and what is kept, as stacks.

    ``live`` says for each step which sequences of the batch still run; the others keep their state and give zeros.
    """
    length = x.shape[0]
    outputs, kept = [None] * length, [None] * length
    for t in steps(length, backward):
        xt = at(F, x, t)
        state = F.broadcast_add(F.dot(h, weight, transpose_b=True), bias)
        if mode == 'lstm':
            i, f, g, o = columns(F, xt + state, 4)
            i, f, g, o = F.sigmoid(i), F.sigmoid(f), F.tanh(g), F.sigmoid(o)
            new_c = f * c + i * g
            if clip is not None:
                new_c = F.clip(new_c, a_min=clip[0], a_max=clip[1])
            if live is not None:
                new_c = F.where(F.broadcast_like(live[t], new_c), new_c, c)
            new_h = o * F.tanh(new_c)
            kept[t] = (F.Concat(i, f, g, o, dim=1), new_c, new_h)
            c = new_c
            if projection is not None:
                new_h = F.dot(new_h, projection, transpose_b=True)
        elif mode == 'gru':
            (xr, xz, xn), (hr, hz, hn) = columns(F, xt, 3), columns(F, state, 3)
            r, z = F.sigmoid(xr + hr), F.sigmoid(xz + hz)
            n = F.tanh(xn + r * hn)
            new_h = (1 - z) * n + z * h
            kept[t] = (F.Concat(r, z, n, dim=1), hn, new_h)
        else:
            new_h = F.tanh(xt + state) if mode == 'rnn_tanh' else F.relu(xt + state)
            kept[t] = (new_h,)
        if live is not None:
            running = F.broadcast_like(live[t], new_h)
            outputs[t] = F.where(running, new_h, F.zeros_like(new_h))
            h = F.where(running, new_h, h)
        else:
            outputs[t] = h = new_h
    stacks = tuple(F.stack(*column, axis=0) for column in zip(*kept))
    return F.stack(*outputs, axis=0), h, c, stacks


def scan_back(F: Any, mode: str, og: Any, oh: Any, oc: Any, c0: Any, states: Any, kept: tuple[Any, ...],
               weight: Any, projection: Any, backward: bool, live: list[Any] | None,
               clip: tuple[float, float] | None) -> tuple[Any, ...]:
    """Gradients by input gates, state gates, first states and projection; ``states`` are h before each step."""
    length = og.shape[0]
    to_input, to_state, to_projection = [None] * length, [None] * length, None
    dh, dc = oh, oc
    for t in reversed(steps(length, backward)):
        before = t + 1 if backward else t - 1
        first = not 0 <= before < length
        h_before = at(F, states, t)
        if live is None:
            dh = dh + at(F, og, t)
            passed = None
        else:
            running = F.broadcast_like(live[t], dh)
            passed = F.where(running, F.zeros_like(dh), dh)
            dh = F.where(running, dh + at(F, og, t), F.zeros_like(dh))
        if mode == 'lstm':
            i, f, g, o = columns(F, at(F, kept[0], t), 4)
            c, h = at(F, kept[1], t), at(F, kept[2], t)
            c_before = c0 if first else at(F, kept[1], before)
            if projection is not None:
                part = F.dot(dh, h, transpose_a=True)
                to_projection = part if to_projection is None else to_projection + part
                dh = F.dot(dh, projection)
            squashed = F.tanh(c)
            dc = dc + dh * o * (1 - squashed * squashed)
            kept_c = None
            if live is not None:
                running = F.broadcast_like(live[t], dc)
                kept_c, dc = F.where(running, F.zeros_like(dc), dc), F.where(running, dc, F.zeros_like(dc))
            if clip is not None:
                dc = dc * ((c > clip[0]) * (c < clip[1]))
            gates = F.Concat(dc * g * i * (1 - i), dc * c_before * f * (1 - f), dc * i * (1 - g * g),
                             dh * squashed * o * (1 - o), dim=1)
            to_input[t] = to_state[t] = gates
            dc = dc * f
            if kept_c is not None:
                dc = dc + kept_c
            dh = F.dot(gates, weight)
        elif mode == 'gru':
            r, z, n = columns(F, at(F, kept[0], t), 3)
            hn = at(F, kept[1], t)
            dn = dh * (1 - z) * (1 - n * n)
            dz, dr = dh * (h_before - n) * z * (1 - z), dn * hn * r * (1 - r)
            to_input[t], to_state[t] = F.Concat(dr, dz, dn, dim=1), F.Concat(dr, dz, dn * r, dim=1)
            dh = dh * z + F.dot(to_state[t], weight)
        else:
            y = at(F, kept[0], t)
            gates = dh * (1 - y * y) if mode == 'rnn_tanh' else dh * (y > 0)
            to_input[t] = to_state[t] = gates
            dh = F.dot(gates, weight)
        if passed is not None:
            dh = dh + passed
    into = F.stack(*to_input, axis=0)
    return into, F.stack(*to_state, axis=0) if mode == 'gru' else into, dh, dc, to_projection
