"""Products of multi-head attention on interleaved projections: (time, batch, heads · parts · size of a head)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..base import MXNetError, shape_text
from ..op import Int, register
from ._nn import require_float
from ._raw import raw

_HEADS = {'heads': Int(low=1, doc='number of heads')}


def _split(F: Any, x: Any, heads: int, parts: int) -> list[Any]:
    """The parts (queries, keys, values) of interleaved projections, each (batch · heads, time, size)."""
    length, batch = x.shape[0], x.shape[1]
    whole = F.reshape(x, shape=(length, batch, heads, parts, -1))
    found = []
    for index in range(parts):
        part = F.reshape(F.slice_axis(whole, axis=3, begin=index, end=index + 1), shape=(length, batch, heads, -1))
        found.append(F.reshape(F.transpose(part, axes=(1, 2, 0, 3)), shape=(batch * heads, length, -1)))
    return found


def _join(F: Any, parts: Sequence[Any], like: Any, heads: int) -> Any:
    """The inverse of ``_split``; None is a part of zeros."""
    known = next(part for part in parts if part is not None)
    length, batch = like.shape[0], like.shape[1]
    found = []
    for part in parts:
        part = F.zeros_like(known) if part is None else part
        turned = F.transpose(F.reshape(part, shape=(batch, heads, length, -1)), axes=(2, 0, 1, 3))
        found.append(F.reshape(turned, shape=(length, batch, heads, 1, -1)))
    return F.reshape(F.Concat(*found, dim=3) if len(found) > 1 else found[0], shape=(length, batch, -1))


def _scale(x: Any) -> float:
    return 1 / math.sqrt(x.shape[2])


def _check(op: str, name: str, x: Any, unit: int) -> None:
    require_float(op, x)
    if x.ndim != 3:
        raise MXNetError(f'Operator {op}: Input {name} should be 3D in seq_length-batch-proj_dim, currently is: '
                         f'{x.ndim}D')
    if x.shape[2] % unit:
        raise MXNetError(f'Operator {op}: the last axis of {name} must be a multiple of {unit}, got shape '
                         f'{shape_text(x.shape)}')


def _check_attention(op: str, projections: Any, attention: Any, heads: int) -> None:
    if attention.ndim != 3 or attention.shape[0] != heads * projections.shape[1]:
        raise MXNetError(f'Operator {op}: attention should be (batch · heads, time, time) with batch · heads = '
                         f'{heads * projections.shape[1]}, got shape {shape_text(attention.shape)}')
    if attention.shape[2] != projections.shape[0]:
        raise MXNetError(f'Operator {op}: keys and attention.shape[2] should be the same length, currently are '
                         f'{projections.shape[0]} and {attention.shape[2]}')


# ---- self-attention --------------------------------------------------------------------------------------------------

def _self_scores(F: Any, x: Any, heads: int) -> Any:
    queries, keys, _ = _split(F, x, heads, 3)
    return F.batch_dot(queries * _scale(queries), keys, transpose_b=True)


def _self_scores_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any]:
    queries, keys, _ = _split(F, inputs[0], params['heads'], 3)
    of_queries = F.batch_dot(ograds[0], keys) * _scale(queries)
    of_keys = F.batch_dot(ograds[0], queries, transpose_a=True) * _scale(queries)
    return (_join(F, (of_queries, of_keys, None), inputs[0], params['heads']),)


@register('_contrib_interleaved_matmul_selfatt_qk', inputs=('queries_keys_values',), params=_HEADS,
          infer=lambda arrays, params: _check('interleaved_matmul_selfatt_qk', 'queries_keys_values', arrays[0],
                                              3 * params['heads']),
          grad=_self_scores_grad, samples=((((3, 2, 12),), {'heads': 2}),))
def _selfatt_qk(xp: Any, queries_keys_values: Any, heads: int = 1) -> Any:
    """Scores (batch · heads, time, time) of scaled dot-product self-attention."""
    return _self_scores(raw(xp), queries_keys_values, heads)


def _values_grad(F: Any, og: Any, projections: Any, attention: Any, heads: int, parts: int) -> tuple[Any, Any]:
    values = _split(F, projections, heads, parts)[-1]
    by_head = _split(F, og, heads, 1)[0]
    of_values = F.batch_dot(attention, by_head, transpose_a=True)
    return (_join(F, (*(None,) * (parts - 1), of_values), projections, heads),
            F.batch_dot(by_head, values, transpose_b=True))


def _weighted(F: Any, projections: Any, attention: Any, heads: int, parts: int) -> Any:
    values = _split(F, projections, heads, parts)[-1]
    out = F.batch_dot(attention, values)
    batch = projections.shape[1]
    turned = F.transpose(F.reshape(out, shape=(batch, heads, out.shape[1], -1)), axes=(2, 0, 1, 3))
    return F.reshape(turned, shape=(out.shape[1], batch, -1))


def _values_infer(op: str, name: str, parts: int) -> Any:
    def infer(arrays: Any, params: dict[str, Any]) -> None:
        _check(op, name, arrays[0], parts * params['heads'])
        _check_attention(op, arrays[0], arrays[1], params['heads'])
        if parts == 3 and arrays[0].shape[0] != arrays[1].shape[1]:
            raise MXNetError(f'Operator {op}: {name}.shape[0] and attention.shape[1] should be the same, currently are '
                             f'{arrays[0].shape[0]} and {arrays[1].shape[1]}')

    return infer


@register('_contrib_interleaved_matmul_selfatt_valatt', inputs=('queries_keys_values', 'attention'), params=_HEADS,
          infer=_values_infer('interleaved_matmul_selfatt_valatt', 'queries_keys_values', 3),
          grad=lambda F, ograds, inputs, outputs, params: _values_grad(F, ograds[0], *inputs, params['heads'], 3),
          samples=((((3, 2, 12), (4, 3, 3)), {'heads': 2}),))
def _selfatt_valatt(xp: Any, queries_keys_values: Any, attention: Any, heads: int = 1) -> Any:
    """The values weighted with attention: (time, batch, heads · size)."""
    return _weighted(raw(xp), queries_keys_values, attention, heads, 3)


# ---- attention to an encoder ---------------------------------------------------------------------------------------

def _encoder_infer(arrays: Any, params: dict[str, Any]) -> None:
    op = 'interleaved_matmul_encdec_qk'
    queries, keys = arrays
    _check(op, 'queries', queries, params['heads'])
    _check(op, 'keys_values', keys, 2 * params['heads'])
    if keys.shape[1:] != (queries.shape[1], 2 * queries.shape[2]):
        raise MXNetError(f'Operator {op}: keys_values.shape[2] should be equal to queries.shape[2] * 2, currently are: '
                         f'{keys.shape[2]} and {queries.shape[2]}; batches are {keys.shape[1]} and {queries.shape[1]}')


def _encoder_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, Any]:
    heads = params['heads']
    queries, keys = _split(F, inputs[0], heads, 1)[0], _split(F, inputs[1], heads, 2)[0]
    of_queries = F.batch_dot(ograds[0], keys) * _scale(queries)
    of_keys = F.batch_dot(ograds[0], queries, transpose_a=True) * _scale(queries)
    return _join(F, (of_queries,), inputs[0], heads), _join(F, (of_keys, None), inputs[1], heads)


@register('_contrib_interleaved_matmul_encdec_qk', inputs=('queries', 'keys_values'), params=_HEADS,
          infer=_encoder_infer, grad=_encoder_grad, samples=((((3, 2, 4), (2, 2, 8)), {'heads': 2}),))
def _encdec_qk(xp: Any, queries: Any, keys_values: Any, heads: int = 1) -> Any:
    """Scores (batch · heads, time, time of the encoder) of scaled dot-product attention to an encoder."""
    F = raw(xp)
    own, keys = _split(F, queries, heads, 1)[0], _split(F, keys_values, heads, 2)[0]
    return F.batch_dot(own * _scale(own), keys, transpose_b=True)


@register('_contrib_interleaved_matmul_encdec_valatt', inputs=('keys_values', 'attention'), params=_HEADS,
          infer=_values_infer('interleaved_matmul_encdec_valatt', 'keys_values', 2),
          grad=lambda F, ograds, inputs, outputs, params: _values_grad(F, ograds[0], *inputs, params['heads'], 2),
          samples=((((2, 2, 8), (4, 3, 2)), {'heads': 2}),))
def _encdec_valatt(xp: Any, keys_values: Any, attention: Any, heads: int = 1) -> Any:
    """The values of an encoder weighted with attention: (time, batch, heads · size)."""
    return _weighted(raw(xp), keys_values, attention, heads, 2)
