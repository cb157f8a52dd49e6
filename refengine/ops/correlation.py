"""Correlation of two images: how alike windows of one are to displaced windows of the other.

The product form is linear in both images and in the output gradient; its gradients are two more operators that are
linear in the same three. The difference form has signs in the place of factors.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from ..base import MXNetError, shape_text
from ..op import Bool, Int, register
from ._nn import require_float, require_shape

_PARAMS = {'kernel_size': Int(1, 'size of the windows; odd', low=0), 'max_displacement': Int(1, low=0),
           'stride1': Int(1, 'distance of windows in the first image', low=1),
           'stride2': Int(1, 'distance of displacements', low=1), 'pad_size': Int(0, 'zeros on all sides', low=0),
           'is_multiply': Bool(True, 'products, else absolute differences')}


class _Grid:
    """Where the windows lie."""

    def __init__(self, shape: tuple[int, ...], p: dict[str, Any]) -> None:
        self.shape, self.kernel, self.step, self.pad = tuple(shape), p['kernel_size'], p['stride1'], p['pad_size']
        self.reach = p['max_displacement']
        self.padded = tuple(n + 2 * self.pad for n in shape[2:])
        border = self.reach + (self.kernel - 1) // 2
        self.counts = tuple(-((2 * border - n) // self.step) for n in self.padded)
        radius = self.reach // p['stride2']
        moves = [m * p['stride2'] for m in range(-radius, radius + 1)]
        self.moves = list(product(moves, moves))
        self.span = tuple((c - 1) * self.step + self.kernel for c in self.counts)
        self.share = self.kernel * self.kernel * shape[1]

    def widen(self, xp: Any, x: Any) -> Any:
        if not self.pad:
            return x
        out = xp.zeros(self.shape[:2] + self.padded, x.dtype)
        out[self.inside()] = x
        return out

    def inside(self) -> tuple[slice, ...]:
        return (slice(None), slice(None), *(slice(self.pad, self.pad + n) for n in self.shape[2:]))

    def region(self, move: tuple[int, int] = (0, 0)) -> tuple[slice, ...]:
        """What the displaced windows cover."""
        return (slice(None), slice(None), *(slice(self.reach + m, self.reach + m + n)
                                            for m, n in zip(move, self.span)))

    def places(self) -> Iterator[tuple[Any, ...]]:
        """For each element of a window, where it lies in the covered region, over all windows."""
        for place in product(range(self.kernel), repeat=2):
            yield (Ellipsis, *(slice(o, o + (c - 1) * self.step + 1, self.step)
                               for o, c in zip(place, self.counts)))

    def gather(self, values: Any) -> Any:
        """The sum over each window of values (batch, y, x) of the region."""
        return sum(values[place] for place in self.places()) / self.share

    def spread(self, xp: Any, og: Any) -> Any:
        """The transpose of ``gather``, for all channels alike."""
        out = xp.zeros(og.shape[:1] + self.span, og.dtype)
        for place in self.places():
            out[place] += og
        return (out / self.share)[:, None]


def _infer(arrays: Any, params: dict[str, Any]) -> None:
    data = arrays[0]
    require_float('Correlation', data)
    if data.ndim != 4:
        raise MXNetError(f'Operator Correlation: data should be a 4D tensor, got shape {shape_text(data.shape)}')
    require_shape('Correlation', arrays[1].shape, data.shape)
    if params['kernel_size'] % 2 == 0:
        raise MXNetError(f'Operator Correlation: kernel size should be odd number, got {params["kernel_size"]}')
    if min(_Grid(data.shape, params).counts) < 1:
        raise MXNetError(f"Operator Correlation: Correlation cannot be done with current settings. Neighborhood and "
                         f"kernel don't fit in blob: {params} with shape {shape_text(data.shape)}")


def _grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, Any]:
    a, b = inputs
    if params['is_multiply']:
        return F._correlate_first(ograds[0], b, **params), F._correlate_second(ograds[0], a, **params)
    return tuple(F._correlate_signs(ograds[0], a, b, **params))     # type: ignore[return-value]


@register('Correlation', inputs=('data1', 'data2'), params=_PARAMS, infer=_infer, grad=_grad, samples=(
    (((2, 2, 4, 5), (2, 2, 4, 5)), {'pad_size': 1}),
    (((1, 2, 5, 6), (1, 2, 5, 6)), {'kernel_size': 3, 'max_displacement': 2, 'stride1': 2, 'stride2': 2,
                                    'pad_size': 3}),
    (((1, 2, 4, 4), (1, 2, 4, 4)), {'pad_size': 1, 'is_multiply': False})))
def _correlation(xp: Any, data1: Any, data2: Any, is_multiply: bool = True, **p: Any) -> Any:
    """For each displacement (a channel) the mean product, or mean absolute difference, of windows of two images."""
    grid = _Grid(data1.shape, p)
    a, b = grid.widen(xp, data1)[grid.region()], grid.widen(xp, data2)
    out = xp.empty((len(data1), len(grid.moves), *grid.counts), data1.dtype)
    for index, move in enumerate(grid.moves):
        other = b[grid.region(move)]
        out[:, index] = grid.gather((a * other if is_multiply else xp.abs(a - other)).sum(axis=1))
    return out


def _shared(F: Any, head: Any, inputs: Any, params: dict[str, Any], first: bool) -> tuple[Any, Any]:
    og, other = inputs
    if first:
        return F.Correlation(head, other, **params), F._correlate_second(og, head, **params)
    return F.Correlation(other, head, **params), F._correlate_first(og, head, **params)


@register('_correlate_first', inputs=('ograd', 'data2'), params=_PARAMS,
          grad=lambda F, ograds, inputs, outputs, params: _shared(F, ograds[0], inputs, params, True))
def _correlate_first(xp: Any, ograd: Any, data2: Any, **p: Any) -> Any:
    """The gradient of Correlation by its first image."""
    grid = _Grid(data2.shape, p)
    b = grid.widen(xp, data2)
    out = xp.zeros(grid.shape[:2] + grid.padded, ograd.dtype)
    for index, move in enumerate(grid.moves):
        out[grid.region()] += grid.spread(xp, ograd[:, index]) * b[grid.region(move)]
    return out[grid.inside()].copy()


@register('_correlate_second', inputs=('ograd', 'data1'), params=_PARAMS,
          grad=lambda F, ograds, inputs, outputs, params: _shared(F, ograds[0], inputs, params, False))
def _correlate_second(xp: Any, ograd: Any, data1: Any, **p: Any) -> Any:
    """The gradient of Correlation by its second image."""
    grid = _Grid(data1.shape, p)
    a = grid.widen(xp, data1)[grid.region()]
    out = xp.zeros(grid.shape[:2] + grid.padded, ograd.dtype)
    for index, move in enumerate(grid.moves):
        out[grid.region(move)] += grid.spread(xp, ograd[:, index]) * a
    return out[grid.inside()].copy()


@register('_correlate_signs', inputs=('ograd', 'data1', 'data2'), params=_PARAMS, num_outputs=2,
          grad=lambda F, ograds, inputs, outputs, params: (
              F._correlate_signed(*ograds, inputs[1], inputs[2], **params), None, None))
def _correlate_signs(xp: Any, ograd: Any, data1: Any, data2: Any, **p: Any) -> tuple[Any, Any]:
    """The gradients of the difference form by both images."""
    grid = _Grid(data1.shape, p)
    a, b = grid.widen(xp, data1)[grid.region()], grid.widen(xp, data2)
    first, second = (xp.zeros(grid.shape[:2] + grid.padded, ograd.dtype) for _ in range(2))
    for index, move in enumerate(grid.moves):
        part = grid.spread(xp, ograd[:, index]) * _signs(xp, a, b[grid.region(move)])
        first[grid.region()] += part
        second[grid.region(move)] -= part
    return first[grid.inside()].copy(), second[grid.inside()].copy()


def _signs(xp: Any, a: Any, b: Any) -> Any:
    return xp.where(a >= b, 1, -1).astype(a.dtype)


@register('_correlate_signed', inputs=('head1', 'head2', 'data1', 'data2'), params=_PARAMS,
          grad=lambda F, ograds, inputs, outputs, params: (
              *F._correlate_signs(ograds[0], inputs[2], inputs[3], **params), None, None))
def _correlate_signed(xp: Any, head1: Any, head2: Any, data1: Any, data2: Any, **p: Any) -> Any:
    """The change of the difference form along a change of both images."""
    grid = _Grid(data1.shape, p)
    a, b = grid.widen(xp, data1)[grid.region()], grid.widen(xp, data2)
    da, db = grid.widen(xp, head1)[grid.region()], grid.widen(xp, head2)
    out = xp.empty((len(data1), len(grid.moves), *grid.counts), head1.dtype)
    for index, move in enumerate(grid.moves):
        where = grid.region(move)
        out[:, index] = grid.gather(((da - db[where]) * _signs(xp, a, b[where])).sum(axis=1))
    return out
