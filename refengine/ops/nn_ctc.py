"""CTCLoss: connectionist temporal classification."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import MXNetError
from ..op import Bool, Enum, register
from ._nn import require_float, require_shape
from .nn_ctc_second import NEVER, second_gradient

_PARAMS = {'use_data_lengths': Bool(False, 'data_lengths says how long each sequence is'),
           'use_label_lengths': Bool(False, 'label_lengths says how long each label is'),
           'blank_label': Enum(('first', 'last'), 'first', 'which class is the blank')}


def _count(params: dict[str, Any]) -> int:
    return 2 + params['use_data_lengths'] + params['use_label_lengths']


def _parts(arrays: Any, params: dict[str, Any]) -> tuple[Any, Any, Any, Any]:
    """data, label, data lengths or None, label lengths or None."""
    rest = list(arrays[2:])
    data_lengths = rest.pop(0) if params['use_data_lengths'] and rest else None
    label_lengths = rest.pop(0) if params['use_label_lengths'] and rest else None
    return arrays[0], arrays[1], data_lengths, label_lengths


def _infer(arrays: Any, params: dict[str, Any]) -> None:
    data, label, data_lengths, label_lengths = _parts(arrays, params)
    require_float('CTCLoss', data)
    if data.ndim != 3:
        raise MXNetError(f'Error in operator CTCLoss: The data array must be of rank 3, got shape {data.shape}')
    if label.ndim != 2 or label.shape[0] != data.shape[1]:
        raise MXNetError(f'Error in operator CTCLoss: The labels array must be of rank 2 with the batch size of the '
                         f'data {data.shape[1]} first, got shape {label.shape}')
    for lengths in (data_lengths, label_lengths):
        if lengths is not None:
            require_shape('CTCLoss', lengths.shape, (data.shape[1],))


def _check_range(name: str, values: np.ndarray, low: int, high: int) -> None:
    if values.size and not (low <= values.min() and values.max() <= high):
        raise MXNetError(f'Error in operator CTCLoss: {name} must be from {low} to {high}, got {values.tolist()}')


class _Layout:
    """What labels say: the states of their sequences, blanks around and between the labels, and which may follow."""

    def __init__(self, steps: int, classes: int, label: np.ndarray, data_lengths: Any, label_lengths: Any,
                 blank_label: str) -> None:
        batch = label.shape[0]
        self.blank = 0 if blank_label == 'first' else classes - 1
        label = label.astype(np.int64)
        if label_lengths is None:
            padding = label == (0 if blank_label == 'first' else -1)
            lengths = np.where(padding.any(axis=1), padding.argmax(axis=1), label.shape[1])
        else:
            lengths = label_lengths.astype(np.int64)
        self.times = np.full(batch, steps) if data_lengths is None else data_lengths.astype(np.int64)
        self.lengths = lengths
        _check_range('data_lengths', self.times, 1, steps)
        _check_range('label_lengths', lengths, 0, label.shape[1])
        within = np.arange(label.shape[1])[None, :] < lengths[:, None]
        _check_range('label', label[within], 0, classes - 1)
        self.states = np.full((batch, 2 * label.shape[1] + 1), self.blank)
        self.states[:, 1::2] = np.clip(label, 0, classes - 1)
        positions = np.arange(self.states.shape[1])
        self.used = positions[None, :] < (2 * lengths + 1)[:, None]
        # A state may be reached from the one before the last if that skips a blank between different labels.
        self.skip = np.zeros(self.states.shape, bool)
        self.skip[:, 2:] = (self.states[:, 2:] != self.blank) & (self.states[:, 2:] != self.states[:, :-2])


class _Lattice(_Layout):
    """The states of all label sequences, with what each of them emits at each time."""

    def __init__(self, data: np.ndarray, label: np.ndarray, data_lengths: Any, label_lengths: Any,
                 blank_label: str) -> None:
        steps, batch, classes = data.shape
        super().__init__(steps, classes, label, data_lengths, label_lengths, blank_label)
        shifted = data.astype(np.float64)
        shifted = shifted - shifted.max(axis=2, keepdims=True)
        self.logs = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
        rows = np.arange(batch)[:, None]
        self.emit = self.logs[:, rows, self.states]           # (time, batch, state)
        self.emit[:, ~self.used] = -np.inf

    def forward(self) -> tuple[np.ndarray, np.ndarray]:
        """Log probabilities of all beginnings, and of the whole labels."""
        steps, batch, states = self.emit.shape
        alpha = np.full((steps, batch, states), -np.inf)
        alpha[0, :, :2] = self.emit[0, :, :2]
        for t in range(1, steps):
            alpha[t] = self._step(alpha[t - 1]) + self.emit[t]
        rows = np.arange(batch)
        last = alpha[self.times - 1, rows]
        end = 2 * self.lengths
        total = last[rows, end]
        label_end = np.where(self.lengths > 0, last[rows, np.maximum(end - 1, 0)], -np.inf)
        return alpha, np.logaddexp(total, label_end)

    def _step(self, before: np.ndarray) -> np.ndarray:
        stay = before.copy()
        stay[:, 1:] = np.logaddexp(stay[:, 1:], before[:, :-1])
        skipped = np.where(self.skip[:, 2:], before[:, :-2], -np.inf)
        stay[:, 2:] = np.logaddexp(stay[:, 2:], skipped)
        return stay

    def backward(self) -> np.ndarray:
        """Log probabilities of all endings, what each state emits not included."""
        steps, batch, states = self.emit.shape
        beta = np.full((steps, batch, states), -np.inf)
        rows = np.arange(batch)
        last = self.times - 1
        beta[last, rows, 2 * self.lengths] = 0
        some = self.lengths > 0
        beta[last[some], rows[some], 2 * self.lengths[some] - 1] = 0
        for t in range(steps - 2, -1, -1):
            after = beta[t + 1] + self.emit[t + 1]
            value = after.copy()
            value[:, :-1] = np.logaddexp(value[:, :-1], after[:, 1:])
            skipped = np.where(self.skip[:, 2:], after[:, 2:], -np.inf)
            value[:, :-2] = np.logaddexp(value[:, :-2], skipped)
            inside = t < last
            beta[t, inside] = value[inside]
        return beta


def _host_parts(xp: Any, arrays: Any, params: dict[str, Any]) -> list[Any]:
    return [a if a is None or xp is np else a.get() for a in _parts(arrays, params)]


def _lattice(xp: Any, arrays: Any, params: dict[str, Any]) -> _Lattice:
    data, label, data_lengths, label_lengths = _host_parts(xp, arrays, params)
    return _Lattice(data, label, data_lengths, label_lengths, params['blank_label'])


def _own(params: dict[str, Any]) -> dict[str, Any]:
    return {key: params[key] for key in _PARAMS}


def _grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    back = F._ctc_loss_backward(ograds[0], *inputs, **_own(params))
    return (back, *(F.zeros_like(x) for x in inputs[1:]))


@register('CTCLoss', 'ctc_loss', '_contrib_CTCLoss', '_contrib_ctc_loss',
          inputs=('data', 'label', 'data_lengths', 'label_lengths'), num_inputs=_count, params=_PARAMS, mixed=True,
          infer=_infer, grad=_grad,
          samples=((((4, 2, 3), 'fixed:[[1, 2], [1, 0]]'), {}),
                   (((4, 2, 3), 'fixed:[[0, 0], [1, 0]]', 'fixed:[4, 3]', 'fixed:[1, 2]'),
                    {'blank_label': 'last', 'use_data_lengths': True, 'use_label_lengths': True})))
def _ctc_loss(xp: Any, *arrays: Any, **params: Any) -> Any:
    """Minus the log probability that data (time, batch, class), after softmax, gives each label by some alignment.

    Labels (batch, length) are padded with 0 where the first class is the blank, with -1 where the last one is. A
    label that is longer than its sequence has no alignment: the loss is 0 then, and so is its gradient, as in the
    releases.
    """
    _, total = _lattice(xp, arrays, {**_DEFAULTS, **params}).forward()
    losses = np.where(np.isfinite(total), -total, 0.0).astype(arrays[0].dtype)
    return xp.asarray(losses)


_DEFAULTS = {'use_data_lengths': False, 'use_label_lengths': False, 'blank_label': 'first'}


@register('_ctc_loss_backward', inputs=('ograd', 'data', 'label', 'data_lengths', 'label_lengths'), params=_PARAMS,
          num_inputs=lambda params: 1 + _count(params), mixed=True, grad=second_gradient(_own))
def _ctc_loss_backward(xp: Any, ograd: Any, *arrays: Any, **params: Any) -> Any:
    """The gradient of CTCLoss by its data: probabilities minus the expected share of each class at each time."""
    lattice = _lattice(xp, arrays, {**_DEFAULTS, **params})
    alpha, total = lattice.forward()
    beta = lattice.backward()
    with np.errstate(invalid='ignore'):
        share = np.exp(alpha + beta - total[None, :, None])
    possible = np.isfinite(total)
    share[:, ~possible] = 0
    result = np.exp(lattice.logs)
    batch = np.arange(result.shape[1])
    for state in range(lattice.states.shape[1]):
        result[:, batch, lattice.states[:, state]] -= share[:, :, state]
    inside = np.arange(result.shape[0])[:, None] < lattice.times[None, :]
    result *= (inside & possible[None, :])[:, :, None]
    return xp.asarray((result * _host(xp, ograd)[None, :, None]).astype(arrays[0].dtype))


def _host(xp: Any, x: Any) -> Any:
    return x if xp is np else x.get()


@register('_ctc_lattice', inputs=('data', 'label', 'data_lengths', 'label_lengths'), params=_PARAMS, num_inputs=_count,
          num_outputs=5, mixed=True)
def _ctc_lattice(xp: Any, *arrays: Any, **params: Any) -> Any:
    """The labels of CTCLoss as arrays of double precision that sums and products can use.

    The class of each state, as zeros and ones (batch, state, class). Then logarithms, 0 for what is possible: steps
    (batch, from, to), first states (batch, state) and last states (time, batch, state). Last, ones at the times of
    sequences that have an alignment (time, batch, 1).
    """
    params = {**_DEFAULTS, **params}
    data, label, data_lengths, label_lengths = _host_parts(xp, arrays, params)
    times, batch, count = data.shape
    layout = _Layout(times, count, label, data_lengths, label_lengths, params['blank_label'])
    states = layout.states.shape[1]
    rows, lengths = np.arange(batch), layout.lengths
    step = np.full((batch, states, states), NEVER)
    for ahead in (0, 1, 2):
        place = np.arange(states - ahead)
        allowed = layout.used[:, ahead:] & (layout.skip[:, 2:] if ahead == 2 else True)
        step[:, place, place + ahead] = np.where(allowed, 0.0, NEVER)
    start = np.full((batch, states), NEVER)
    start[:, :2] = np.where(layout.used[:, :2], 0.0, NEVER)
    end = np.full((times, batch, states), NEVER)
    end[layout.times - 1, rows, 2 * lengths] = 0
    some = lengths > 0
    end[layout.times[some] - 1, rows[some], 2 * lengths[some] - 1] = 0
    # Equal neighbours need a blank between them.
    repeated = layout.used & ~layout.skip
    needed = lengths + repeated[:, 3::2].sum(axis=1)
    inside = (np.arange(times)[:, None] < layout.times[None, :]) & (needed <= layout.times)[None, :]
    classes = (layout.states[:, :, None] == np.arange(count)).astype(np.float64)
    return tuple(xp.asarray(a) for a in (classes, step, start, end, inside[:, :, None].astype(np.float64)))
