"""Operators on batches of sequences of different length."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import MXNetError, shape_text
from ..op import Bool, Float, Int, register
from .binary import element


def _count(params: dict[str, Any]) -> int:
    return 2 if params['use_sequence_length'] else 1


def _check(name: str) -> Any:
    def infer(arrays: Any, params: Any) -> None:
        data = arrays[0]
        if params['axis'] not in (0, 1):
            raise MXNetError(f'Operator {name}: axis must be 0 or 1, got {params["axis"]}')
        if data.ndim < 2:
            raise MXNetError(f'Operator {name}: the data must have at least 2 dimensions, got {shape_text(data.shape)}')
        if len(arrays) > 1:
            batch = data.shape[1 - params['axis']]
            if arrays[1].shape != (batch,):
                raise MXNetError(f'Operator {name}: Shape inconsistent, Provided = {shape_text(arrays[1].shape)}, '
                                 f'inferred shape=[{batch}]')

    return infer


_PARAMS = {'use_sequence_length': Bool(False, 'whether the lengths are given'), 'axis': Int(0, 'the time axis')}


def _valid(xp: Any, data: Any, lengths: Any, axis: int) -> Any:
    """A mask over time and batch that broadcasts to the data: whether a step belongs to its sequence."""
    steps = xp.arange(data.shape[axis])
    inside = steps[:, None] < lengths.astype(np.int64)[None, :]
    if axis == 1:
        inside = inside.T
    return inside.reshape(inside.shape + (1,) * (data.ndim - 2))


def _mask_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, ...]:
    if len(inputs) == 1:
        return (ograds[0],)
    return (F.SequenceMask(ograds[0], inputs[1], use_sequence_length=True, value=0.0, axis=params['axis']),
            F.zeros_like(inputs[1]))


@register('SequenceMask', inputs=('data', 'sequence_length'), mixed=True, num_inputs=_count,
          params={'use_sequence_length': _PARAMS['use_sequence_length'], 'value': Float(0.0), 'axis': _PARAMS['axis']},
          infer=_check('SequenceMask'), grad=_mask_grad, rules=('ND-SEQ-001', 'ND-SEQ-002'),
          samples=((((3, 2, 2), 'fixed:[1, 2]'), {'use_sequence_length': True}), (((2, 3),), {}),
                   (((2, 3, 2), 'fixed:[1, 3]'), {'use_sequence_length': True, 'axis': 1, 'value': 2.0})))
def _sequence_mask(xp: Any, data: Any, sequence_length: Any = None, use_sequence_length: bool = False,
                   value: float = 0.0, axis: int = 0) -> Any:
    """The steps at and after the length of each sequence replaced by a value."""
    if sequence_length is None:
        return data.copy()
    return xp.where(_valid(xp, data, sequence_length, axis), data, element(data.dtype, value))


def _last(xp: Any, data: Any, lengths: Any, axis: int) -> Any:
    size = data.shape[axis]
    batch = data.shape[1 - axis]
    if lengths is None:
        return xp.full(batch, size - 1)
    return xp.clip(lengths.astype(np.int64) - 1, 0, size - 1)


def _last_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, ...]:
    rest = inputs[1:]
    return (F._sequence_last_backward(ograds[0], inputs[0], *rest, **{k: params[k] for k in _PARAMS}),
            *(F.zeros_like(x) for x in rest))


@register('SequenceLast', inputs=('data', 'sequence_length'), mixed=True, num_inputs=_count, params=_PARAMS,
          infer=_check('SequenceLast'), grad=_last_grad, rules=('ND-SEQ-003',),
          samples=((((3, 2, 2), 'fixed:[1, 2]'), {'use_sequence_length': True}), (((3, 2),), {}),
                   (((2, 3, 2), 'fixed:[1, 3]'), {'use_sequence_length': True, 'axis': 1})))
def _sequence_last(xp: Any, data: Any, sequence_length: Any = None, use_sequence_length: bool = False,
                   axis: int = 0) -> Any:
    """The last step of each sequence."""
    places = _last(xp, data, sequence_length, axis)
    moved = data if axis == 0 else xp.moveaxis(data, 1, 0)
    return moved[places, xp.arange(moved.shape[1])]


@register('_sequence_last_backward', inputs=('data', 'like', 'sequence_length'), mixed=True,
          num_inputs=lambda params: 1 + _count(params), params=_PARAMS,
          grad=lambda F, ograds, inputs, outputs, params: (
              F.SequenceLast(ograds[0], *inputs[2:], **{k: params[k] for k in _PARAMS}), *(None for _ in inputs[1:])))
def _sequence_last_backward(xp: Any, data: Any, like: Any, sequence_length: Any = None,
                            use_sequence_length: bool = False, axis: int = 0) -> Any:
    """Zeros with the gradients of the last steps where they came from."""
    result = xp.zeros(like.shape, data.dtype)
    moved = result if axis == 0 else xp.moveaxis(result, 1, 0)
    moved[_last(xp, like, sequence_length, axis), xp.arange(moved.shape[1])] = data
    return result


def _reverse_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, ...]:
    return (F.SequenceReverse(ograds[0], *inputs[1:], **{k: params[k] for k in _PARAMS}),
            *(F.zeros_like(x) for x in inputs[1:]))


@register('SequenceReverse', inputs=('data', 'sequence_length'), mixed=True, num_inputs=_count, params=_PARAMS,
          infer=_check('SequenceReverse'), grad=_reverse_grad, rules=('ND-SEQ-003',),
          samples=((((3, 2, 2), 'fixed:[1, 2]'), {'use_sequence_length': True}), (((3, 2),), {})))
def _sequence_reverse(xp: Any, data: Any, sequence_length: Any = None, use_sequence_length: bool = False,
                      axis: int = 0) -> Any:
    """The steps of each sequence in reverse order; what lies behind its length stays."""
    if axis != 0:
        raise MXNetError(f'Operator SequenceReverse: axis must be 0, got {axis}')
    size = data.shape[0]
    if sequence_length is None:
        return xp.ascontiguousarray(data[::-1])
    steps = xp.arange(size)[:, None]
    lengths = sequence_length.astype(np.int64)[None, :]
    places = xp.where(steps < lengths, lengths - 1 - steps, steps)
    return data[places, xp.arange(data.shape[1])[None, :]]
