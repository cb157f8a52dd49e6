"""The derivative of the gradient of CTCLoss, in operators that can be differentiated any number of times.

The gradient of the loss is found by fast loops (``nn_ctc``). Its derivative in a direction is the same calculation
with every number accompanied by its rate of change; Hessians are symmetric, so that is also the way back through the
gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

NEVER = -1e30
"""The logarithm of a probability of zero, as a number that has no undefined differences."""


def _log_sum(F: Any, value: Any, rate: Any, axis: Any) -> tuple[Any, Any]:
    """The logarithm of the sum of exponentials along axes that stay with length one, and its rate."""
    most = F.BlockGrad(F.max(value, axis=axis, keepdims=True))
    parts = F.exp(F.broadcast_sub(value, most))
    whole = F.sum(parts, axis=axis, keepdims=True)
    rates = F.sum(F.broadcast_mul(F.broadcast_div(parts, whole), rate), axis=axis, keepdims=True)
    return F.log(whole) + most, rates


def _slices(F: Any, data: Any, count: int) -> list[Any]:
    """The matrices (batch, state) of data (time, batch, state)."""
    return [F.reshape(F.slice_axis(data, axis=0, begin=t, end=t + 1), shape=data.shape[1:]) for t in range(count)]


def _beginnings(F: Any, emit: Sequence[Any], rate: Sequence[Any], start: Any, step: Any) -> tuple[list[Any], list[Any]]:
    """Log probabilities of all beginnings, what the last state emits included, and their rates."""
    alpha, alpha_rate = [start + emit[0]], [rate[0]]
    for now, now_rate in zip(emit[1:], rate[1:]):
        before = F.broadcast_add(F.expand_dims(alpha[-1], axis=2), step)
        found, moved = _log_sum(F, before, F.expand_dims(alpha_rate[-1], axis=2), 1)
        alpha.append(F.reshape(found, shape=now.shape) + now)
        alpha_rate.append(F.reshape(moved, shape=now.shape) + now_rate)
    return alpha, alpha_rate


def _endings(F: Any, emit: Sequence[Any], rate: Sequence[Any], end: Sequence[Any], step: Any) -> tuple[list, list]:
    """Log probabilities of all endings, what the first state emits not included, and their rates."""
    beta, beta_rate = [end[-1]], [F.zeros_like(end[-1])]
    still = F.zeros_like(step)
    for now, now_rate, stop in zip(emit[:0:-1], rate[:0:-1], end[-2::-1]):
        after = F.broadcast_add(F.expand_dims(beta[-1] + now, axis=1), step)
        after_rate = F.broadcast_add(F.expand_dims(beta_rate[-1] + now_rate, axis=1), still)
        stop = F.expand_dims(stop, axis=2)
        found, moved = _log_sum(F, F.Concat(after, stop, dim=2), F.Concat(after_rate, F.zeros_like(stop), dim=2), 2)
        beta.append(F.reshape(found, shape=now.shape))
        beta_rate.append(F.reshape(moved, shape=now.shape))
    return beta[::-1], beta_rate[::-1]


def derivative(F: Any, data: Any, direction: Any, lattice: Sequence[Any]) -> Any:
    """How the gradient of CTCLoss by data changes when data moves in a direction.

    data, direction: (time, batch, class);  lattice: what ``_ctc_lattice`` gives for the labels.
    """
    classes, step, start, end, inside = lattice
    count = data.shape[0]
    logs = F.log_softmax(F.cast(data, dtype='float64'), axis=2)
    shares = F.exp(logs)
    moves = F.cast(direction, dtype='float64')
    moves = F.broadcast_sub(moves, F.sum(shares * moves, axis=2, keepdims=True))

    def by_state(x: Any) -> Any:        # from (time, batch, class) to (time, batch, state)
        return F.transpose(F.batch_dot(F.transpose(x, axes=(1, 0, 2)), classes, transpose_b=True), axes=(1, 0, 2))

    emit, rate = _slices(F, by_state(logs), count), _slices(F, by_state(moves), count)
    alpha, alpha_rate = (F.stack(*parts, axis=0) for parts in _beginnings(F, emit, rate, start, step))
    beta, beta_rate = (F.stack(*parts, axis=0) for parts in _endings(F, emit, rate, _slices(F, end, count), step))
    total, total_rate = _log_sum(F, alpha + end, alpha_rate, (0, 2))
    # What is outside has no share; its logarithm may be any number and must not overflow.
    share = F.exp(F.broadcast_mul(F.broadcast_sub(alpha + beta, total), inside))
    share_rate = F.broadcast_mul(share * F.broadcast_sub(alpha_rate + beta_rate, total_rate), inside)
    by_class = F.transpose(F.batch_dot(F.transpose(share_rate, axes=(1, 0, 2)), classes), axes=(1, 0, 2))
    return F.cast(F.broadcast_mul(shares * moves, inside) - by_class, dtype=_word(data.dtype))


def _word(dtype: Any) -> str:
    return getattr(dtype, 'name', None) or str(dtype.__name__)


def second_gradient(own: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[..., Any]:
    """The gradient of ``_ctc_loss_backward``; ``own`` takes its parameters out of those of a call."""

    def grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
        ograd, data, *labels = inputs
        given = own(params)

        def above() -> Any:
            plain = F._ctc_loss_backward(F.ones_like(ograd), data, *labels, **given)
            return F.sum(ograds[0] * plain, axis=(0, 2))

        def below() -> Any:
            lattice = F._ctc_lattice(data, *labels, **given)
            return derivative(F, data, F.broadcast_mul(ograds[0], F.reshape(ograd, shape=(1, -1, 1))), lattice)

        return (above, below, *(None for _ in labels))

    return grad
