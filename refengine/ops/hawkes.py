"""hawkesll: the log likelihood of marked events whose intensity each event raises for a while (Hawkes processes).

Between events the memory s of a process decays with exp(-beta·time); its intensity is lda + alpha·beta·s.
"""

from __future__ import annotations

from typing import Any

from ..base import MXNetError, shape_text
from ..op import register
from ._nn import require_float, require_shape
from ._raw import raw

_OP = '_contrib_hawkesll'


def _infer(arrays: Any, params: dict[str, Any]) -> None:
    base, alpha, beta, state, lags, marks, lengths, horizon = arrays
    require_float(_OP, base)
    if base.ndim != 2 or lags.ndim != 2:
        raise MXNetError(f'Operator {_OP}: expected lda (batch, processes) and lags (batch, events), got shapes '
                         f'{shape_text(base.shape)} and {shape_text(lags.shape)}')
    batch, processes = base.shape
    for array, shape in ((alpha, (processes,)), (beta, (processes,)), (state, base.shape),
                         (lags, (batch, lags.shape[1])), (marks, lags.shape), (lengths, (batch,)), (horizon, (batch,))):
        require_shape(_OP, array.shape, shape)
    if marks.dtype != 'int32':
        raise MXNetError(f'Operator {_OP}: Type inconsistent, Provided = {marks.dtype}, inferred type = int32')
    for array in (alpha, beta, state, lags, lengths, horizon):
        if array.dtype != base.dtype:
            raise MXNetError(f'Operator {_OP}: Type inconsistent, Provided = {array.dtype}, inferred type = '
                             f'{base.dtype}')


class _Walk:
    """Going through the events, for all samples and processes at once; every array is (batch, processes)."""

    def __init__(self, F: Any, inputs: Any) -> None:
        base, alpha, beta, state, lags, marks, lengths, _ = inputs
        self.F, self.base, self.state, self.lags = F, base, state, lags
        self.alpha, self.beta = F._expand_like(alpha, base), F._expand_like(beta, base)
        self.events = lags.shape[1]
        depth, shape = base.shape[1], (base.shape[0], 1)
        self.mark = [F.one_hot(F.reshape(F.slice_axis(marks, axis=1, begin=j, end=j + 1), shape=(-1,)), depth=depth,
                               dtype='float64') for j in range(self.events)]
        kind = getattr(base.dtype, 'name', None) or base.dtype.__name__
        self.mark = [F.broadcast_mul(F.cast(m, dtype=kind), F.ones_like(F.reshape(lengths, shape=shape))
                                     * (F.reshape(lengths, shape=shape) > j)) for j, m in enumerate(self.mark)]

    def wide(self, column: Any) -> Any:
        """A value per sample for all processes."""
        return self.F._expand_like(self.F.reshape(column, shape=(-1, 1)), self.base)

    def lag(self, j: int) -> Any:
        return self.wide(self.F.slice_axis(self.lags, axis=1, begin=j, end=j + 1))

    def steps(self) -> tuple[list[tuple[Any, ...]], Any, Any, Any]:
        """For each event (mark, age, decay, memory, intensity); then the log likelihood, memory and times so far."""
        F, time = self.F, self.F.zeros_like(self.base)
        last, memory, total, found = time, self.state, time, []
        for j, mark in enumerate(self.mark):
            time = time + self.lag(j)
            age = time - last
            decay = F.exp(-(self.beta * age))
            intensity = self.base + self.alpha * self.beta * memory * decay
            total = total + mark * (F.log(intensity) - self.base * age - self.alpha * memory * (1 - decay))
            found.append((mark, age, decay, memory, intensity))
            memory = mark * (1 + memory * decay) + (1 - mark) * memory
            last = mark * time + (1 - mark) * last
        return found, total, memory, last


def _forward(F: Any, inputs: Any) -> tuple[Any, Any]:
    walk = _Walk(F, inputs)
    _, total, memory, last = walk.steps()
    age = walk.wide(inputs[7]) - last
    decay = F.exp(-(walk.beta * age))
    total = total - walk.base * age - walk.alpha * memory * (1 - decay)
    return F.sum(total, axis=1), memory * decay


def _grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    walk = _Walk(F, inputs)
    found, _, memory, last = walk.steps()
    base, alpha, beta = walk.base, walk.alpha, walk.beta
    g = F.zeros_like(base) if ograds[0] is None else walk.wide(ograds[0])
    h = F.zeros_like(base) if ograds[1] is None else ograds[1]
    age = walk.wide(inputs[7]) - last
    decay = F.exp(-(beta * age))
    of_decay = (h + g * alpha) * memory
    of_memory = h * decay - g * alpha * (1 - decay)
    of_age = -(g * base) - beta * decay * of_decay
    of_base, of_alpha, of_beta = -(g * age), -(g * memory * (1 - decay)), -(age * decay * of_decay)
    of_last, of_horizon = -of_age, F.sum(of_age, axis=1)
    of_times = []
    for mark, age, decay, memory, intensity in reversed(found):
        count = g * mark
        of_intensity = count / intensity
        of_decay = mark * of_memory * memory + of_intensity * alpha * beta * memory + count * alpha * memory
        of_age = -(beta * decay * of_decay) - count * base
        of_base = of_base + of_intensity - count * age
        of_alpha = of_alpha + of_intensity * beta * memory * decay - count * memory * (1 - decay)
        of_beta = of_beta + of_intensity * alpha * memory * decay - age * decay * of_decay
        of_memory = ((1 - mark) * of_memory + mark * of_memory * decay + of_intensity * alpha * beta * decay
                     - count * alpha * (1 - decay))
        of_times.append(F.sum(mark * of_last + of_age, axis=1))
        of_last = (1 - mark) * of_last - of_age
    running, of_lags = None, []
    for part in of_times:            # the time of an event is the sum of the lags up to it
        running = part if running is None else running + part
        of_lags.append(running)
    return (of_base, F.sum(of_alpha, axis=0), F.sum(of_beta, axis=0), of_memory, F.stack(*reversed(of_lags), axis=1),
            None, None, of_horizon)


@register(_OP, inputs=('lda', 'alpha', 'beta', 'state', 'lags', 'marks', 'valid_length', 'max_time'), num_outputs=2,
          mixed=True, infer=_infer, grad=_grad)
def _hawkes(xp: Any, *arrays: Any) -> tuple[Any, Any]:
    """The log likelihood of each sample of a Hawkes process, and the memory at max_time.

    ``lda`` (batch, processes) are the background intensities, ``alpha`` the branching ratios, ``beta`` the decay
    rates, ``state`` the memory at the beginning; ``lags`` (batch, events) the times between events, ``marks`` (int32)
    the process of each; ``valid_length`` how many events count, ``max_time`` when observation ends.
    """
    return _forward(raw(xp), arrays)
