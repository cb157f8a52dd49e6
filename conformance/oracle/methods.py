"""Methods, conversions and functions that change shapes: templates whose gaps are filled in by choice.

``{a}`` is an array of a random shape and dtype; the other gaps are described at :class:`_Gaps`.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from conformance.oracle.families import recorded
from conformance.oracle.maker import DTYPES, Maker
from conformance.oracle.program import Program

TEMPLATES = (
    "{a}.reshape({codes})", "{a}.reshape({codes}, reverse=True)", "mx.nd.reshape({a}, shape={codes})",
    "mx.nd.reshape({a}, shape={codes}, reverse={yes})", "{a}.reshape(*{codes})", "{a}.reshape(shape={codes})",
    "{a}.flatten()", "{a}.squeeze()", "{a}.squeeze(axis={axis})", "{a}.squeeze(({axis}, {axis}))",
    "{a}.expand_dims({any})", "{a}.expand_dims(axis={axis})", "{a}.transpose()", "{a}.transpose({order})",
    "mx.nd.transpose({a}, axes={order})", "{a}.T", "{a}.swapaxes({axis}, {axis})", "{a}.flip(axis={axis})",
    "mx.nd.reverse({a}, axis=({axis}, {axis}))", "{a}.tile(reps={reps})", "{a}.repeat({count})",
    "{a}.repeat({count}, axis={axis})", "mx.nd.moveaxis({a}, {axis}, {axis})", "mx.nd.diag({a}, k={small})",
    "{a}.slice_axis(axis={axis}, begin={small}, end={end})", "{a}.slice(begin={bounds}, end={bounds})",
    "{a}.slice(begin={bounds}, end={bounds}, step={bounds})", "{a}.split(num_outputs={count}, axis={axis})",
    "{a}.split(num_outputs={count}, axis={axis}, squeeze_axis={yes})", "mx.nd.split_v2({a}, {count}, axis={axis})",
    "mx.nd.split_v2({a}, {places}, axis={axis}, squeeze_axis={yes})", "{a}.broadcast_to({wider})",
    "{a}.broadcast_axes(axis={axis}, size={count})", "{a}.broadcast_like(mx.nd.ones({partner}))",
    "{a}.reshape_like(mx.nd.ones({same_size}))", "mx.nd.slice_like({a}, mx.nd.ones({partner}), axes=({axis},))",
    "mx.nd.slice_like({a}, mx.nd.ones({partner}))", "{a}.clip({low}, {high})", "{a}.sort(axis={axis}, is_ascend={yes})",
    "{a}.sort(axis=None)", "{a}.argsort(axis={axis}, is_ascend={yes})", "{a}.argsort(axis=None, dtype='int32')",
    "{a}.topk(k={count}, axis={axis}, ret_typ={ret}, is_ascend={yes})", "{a}.topk(k={count}, axis=None, ret_typ={ret})",
    "mx.nd.topk({a}, k={count}, dtype={dtype})", "{a}.one_hot({count})", "{a}.one_hot({count}, dtype={dtype})",
    "{a}.one_hot({count}, on_value=2, off_value=-1)", "{a}.take(mx.nd.array({whole}), axis={axis}, mode={mode})",
    "{a}.take(mx.nd.array([{whole}, {whole}], dtype='int32'))", "{a}.pick(mx.nd.array({whole}), axis={axis})",
    "{a}.pick(mx.nd.array({whole}), axis={axis}, keepdims={yes}, mode={mode})", "{a}.astype({dtype})",
    "{a}.astype({dtype}, copy=False)", "mx.nd.cast({a}, dtype={dtype})", "float({a})", "int({a})", "bool({a})",
    "len({a})", "{a}.asscalar()", "{a}.size", "{a}.ndim", "{a}.shape", "{a}.dtype", "{a}.stype", "{a}.copy()",
    "{a}.context.device_type", "{a}.asnumpy()", "{a}.round()", "{a}.zeros_like()", "{a}.ones_like()", "{a}.abs()",
    "{a}.as_in_context(mx.cpu(0))", "{a}.detach()", "mx.nd.stack({a}, {a}, axis={any})",
    "mx.nd.concat({a}, {a}, dim={axis})", "mx.nd.where({a}, {a} * 2, {a})", "mx.nd.where({a} > 0, {a}, {a} + 1)",
    "mx.nd.dot({a}, {a}.T)", "mx.nd.dot({a}, {a}, transpose_a={yes}, transpose_b={yes})",
    "mx.nd.batch_dot({a}, {a}, transpose_a={yes}, transpose_b={yes})", "mx.nd.cumsum({a})",
    "mx.nd.cumsum({a}, axis={axis})", "mx.nd.cumsum({a}, axis={axis}, dtype='float64')", "{a}[{axis}]",
    "[i for i in {a}]", "1 in {a}", "2.5 in {a}", "repr({a})", "hash({a}) == hash({a})", "{a}.copyto(mx.cpu(1))",
    "{a}.copyto(mx.nd.zeros({own}, dtype={dtype}))", "{a}.copyto(mx.nd.zeros((7,)))",
    "mx.nd.depth_to_space({a}, {count})",
    "mx.nd.space_to_depth({a}, {count})", "mx.nd.pad({a}, mode={pad}, pad_width={widths}, constant_value=2)",
    "mx.nd.argmax_channel({a})", "mx.nd.gather_nd({a}, mx.nd.array([{whole}, {whole}]))",
    "mx.nd.scatter_nd({a}, mx.nd.array([{whole}]), shape=({count}, 4))", "mx.nd.linspace({small}, {small}, {count})",
    "mx.nd.linspace({small}, {small}, {count}, endpoint={yes}, dtype={dtype})", "mx.nd.arange({steps}, dtype={dtype})",
    "mx.nd.arange({steps}, repeat={count})", "mx.nd.full({own}, {low}, dtype={dtype})",
    "mx.nd.zeros({own}, dtype={dtype})",
    "mx.nd.ones({own}, dtype={dtype})", "mx.nd.eye({count}, {small}, {small}, dtype={dtype})",
    "mx.nd.contrib.isnan({a})", "mx.nd.contrib.isinf({a})", "mx.nd.contrib.isfinite({a})", "{a}.norm()",
    "{a}.norm(ord=1, axis={axis}, keepdims={yes})", "mx.nd.shape_array({a})", "mx.nd.size_array({a})",
    "mx.nd.softmax({a}, axis={axis}, temperature=2.0)", "mx.nd.log_softmax({a}, axis={axis})", "mx.nd.array({a})",
    "mx.nd.array({a}.asnumpy(), dtype={dtype})", "mx.nd.concat(*[{a}[i] for i in range(2)], dim=0)",
    "mx.nd.SequenceMask({a}, mx.nd.array({whole}), use_sequence_length=True, value=-1)",
    "mx.nd.smooth_l1({a}, scalar={low})",
    "mx.nd.Embedding(mx.nd.array({whole}), {a}, input_dim={rows}, output_dim={columns})", "{a}.slice_like({a})",
    "mx.nd.FullyConnected({a}, mx.nd.ones(({count}, {columns})), no_bias=True, num_hidden={count})",
    "mx.nd.ElementWiseSum({a}, {a})", "mx.nd.maximum({a}, {low})", "mx.nd.add_n({a}, {a}, {a})", "{a} * {a}.sum()",
    "mx.nd.batch_take({a}, mx.nd.array({whole}, dtype='int32'))", "mx.nd.ravel_multi_index({a}, shape=(3, 4))",
    "mx.nd.unravel_index({a}, shape=(3, 4))", "mx.nd.histogram({a}, bins={count}, range=(-2, 2))",
    "mx.nd.moments({a}, axes=({axis},), keepdims={yes})", "mx.nd.khatri_rao({a}, {a})", "mx.nd.L2Normalization({a})",
)


class _Gaps(Mapping[str, Any]):
    """The choices for the gaps of a template; each is made anew where it occurs again."""

    def __init__(self, maker: Maker, a: str, shape: tuple[int, ...]) -> None:
        ndim, least = len(shape), 0 if maker.np_shape else 1
        far = maker.chance(5)
        last = max(ndim - 1, 0)
        self._fillers: dict[str, Callable[[], Any]] = {
            "a": lambda: a,
            "axis": lambda: maker.integer(-ndim - far, last + far),
            "any": lambda: maker.integer(-ndim - 2, ndim + 1),
            "count": lambda: maker.integer(least, 3),
            "small": lambda: maker.integer(-3, 3),
            "end": lambda: maker.choice((None, 1, 2, -1, 3, 9)),
            "yes": lambda: maker.choice((True, False)),
            "dtype": lambda: repr(maker.choice(DTYPES)),
            "order": lambda: _order(maker, ndim),
            "reps": lambda: tuple(maker.integer(least, 3) for _ in range(maker.integer(1, 3))),
            "bounds": lambda: tuple(maker.choice((None, 0, 1, -1, 2, 3)) for _ in range(maker.integer(1, last + 1))),
            "places": lambda: maker.choice(((1,), (1, 2), (0, 2), ())),
            "own": lambda: shape,
            "wider": lambda: tuple(n if n != 1 or maker.chance(30) else 3 for n in shape),
            "partner": lambda: maker.partner(shape),
            "same_size": lambda: maker.choice((shape[::-1], (int(np.prod(shape)),), (2, 3))),
            "low": lambda: maker.choice((-1, 0, 0.5, 3, True, 300)),
            "high": lambda: maker.choice((1, 0, 2.5, -2)),
            "ret": lambda: repr(maker.choice(("indices", "value", "mask", "both"))),
            "mode": lambda: repr(maker.choice(("clip", "wrap"))),
            "pad": lambda: repr(maker.choice(("constant", "edge", "reflect"))),
            "widths": lambda: (0, 0) * min(ndim, 2) + (1, maker.integer(0, 2)) * max(ndim - 2, 0),
            "whole": lambda: [maker.integer(0, 2) for _ in range(shape[0] if shape else 1)],
            "steps": lambda: maker.choice(("5", "1, 4", "0, 3, 0.5", "5, 1, -2", "0.5, 2.5", "3, None", "0")),
            "rows": lambda: shape[0] if shape else 1,
            "columns": lambda: shape[-1] if shape else 1,
            "codes": lambda: _codes(maker, shape),
        }

    def __getitem__(self, name: str) -> Any:
        return self._fillers[name]()

    def __iter__(self) -> Any:
        return iter(self._fillers)

    def __len__(self) -> int:
        return len(self._fillers)


def _order(maker: Maker, ndim: int) -> tuple[int, ...]:
    axes = list(range(ndim))
    return maker.choice((tuple(axes[::-1]), tuple(axes[1:] + axes[:1]), (0, *axes[:-1]), (-1, *axes[:-1]), tuple(axes)))


def _codes(maker: Maker, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A new shape for reshape: plain, or with its codes, or any at all."""
    total = int(np.prod(shape))
    options: list[tuple[int, ...]] = [
        (-1,), (total,), (0, -1), (-1, 0), (-2,), (1, -1), (*shape, 1), shape[::-1], (-3, -2), (-1, 1), (0, 0, -1),
        (-2, 1), (1, *shape), (-4, 1, -1, -2), (2, -1), (-3,), (0, -3)]
    if total % 2 == 0:
        options += [(2, total // 2), (total // 2, 2)]
    if maker.chance(25):
        return tuple(maker.choice((0, 1, -1, -2, 2, 3, -3, -4)) for _ in range(maker.integer(0, 4)))
    return maker.choice(options)


def method(maker: Maker) -> Program:
    """A template with its gaps filled in."""
    maker.np_shape = maker.chance(12)
    dtype = maker.choice(DTYPES)
    shape = maker.shape()
    array = maker.values(shape, dtype, special=maker.chance(10))
    template = maker.choice(TEMPLATES)
    a = maker.view(array) if maker.chance(15) else maker.put(array)
    text = string.Formatter().vformat(template, (), _Gaps(maker, a, shape))
    return recorded(maker, [a], text, dtype, f"method:{template}", 30)
