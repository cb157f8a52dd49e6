"""Pooling: the largest element, mean, sum or p-norm of windows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from .. import storage
from ..base import MXNetError, shape_text
from ..op import Bool, Enum, Int, Shape, register
from ._nn import require_float, unshared

_LAYOUTS = ('NCW', 'NCHW', 'NCDHW', 'NWC', 'NHWC', 'NDHWC', 'None')
_NAMES = {3: '3D in (batch, channel, x)', 4: '4D in (batch, channel, y, x)', 5: '5D in (batch, channel, d, y, x)'}


_AT_ONCE = 1 << 20
"""Bytes of the images that a backward pass works on at a time, of arrays that are larger than two of these."""


class Windows:
    """The geometry of a pooling: per spatial axis the size, kernel, stride, padding and number of windows."""

    def __init__(self, shape: tuple[int, ...], kernel: tuple[int, ...], stride: tuple[int, ...], pad: tuple[int, ...],
                 convention: str, global_pool: bool, layout: str | None) -> None:
        first = 1 if layout is not None and layout[-1] == 'C' else 2
        self.axes = tuple(range(first, first + len(shape) - 2))
        self.shape = shape
        self.sizes = tuple(shape[axis] for axis in self.axes)
        count = len(self.sizes)
        if global_pool:
            self.kernel, self.stride, self.pad = self.sizes, (1,) * count, (0,) * count
        else:
            self.kernel, self.stride, self.pad = kernel, stride or (1,) * count, pad or (0,) * count
        self.counts = tuple(self._windows(n, k, s, p, convention) for n, k, s, p in zip(
            self.sizes, self.kernel, self.stride, self.pad))
        self.out_shape = tuple(self.counts[self.axes.index(axis)] if axis in self.axes else n
                               for axis, n in enumerate(shape))
        self.padded = tuple(max(n + 2 * p, (c - 1) * s + k) for n, k, s, p, c in zip(
            self.sizes, self.kernel, self.stride, self.pad, self.counts))

    @staticmethod
    def _windows(n: int, k: int, s: int, p: int, convention: str) -> int:
        if convention == 'valid':
            return (n + 2 * p - k) // s + 1
        if convention == 'full':
            return -((k - n - 2 * p) // s) + 1
        return -(-n // s)

    def padded_shape(self) -> tuple[int, ...]:
        """The shape of the input with its padding."""
        return tuple(self.padded[self.axes.index(axis)] if axis in self.axes else n
                     for axis, n in enumerate(self.shape))

    def inside(self) -> tuple[slice, ...]:
        """Where the input lies in the padded array."""
        return tuple(slice(self.pad[self.axes.index(axis)], self.pad[self.axes.index(axis)] + n)
                     if axis in self.axes else slice(None) for axis, n in enumerate(self.shape))

    def one_axis(self, place: int, offset: int) -> tuple[slice, ...]:
        """The elements at one offset of all windows along one spatial axis."""
        axis, stride = self.axes[place], self.stride[place]
        last = offset + stride * (self.counts[place] - 1) + 1
        return (slice(None),) * axis + (slice(offset, last, stride),)

    def offsets(self) -> Iterator[tuple[slice, ...]]:
        """The elements at each offset of all windows, one slice per offset of the kernel."""
        for offset in itertools.product(*map(range, self.kernel)):
            yield tuple(
                slice(offset[i], offset[i] + self.stride[i] * (self.counts[i] - 1) + 1, self.stride[i])
                if (i := self.axes.index(axis) if axis in self.axes else -1) >= 0 else slice(None)
                for axis in range(len(self.shape)))

    def trivial(self, place: int, shape: tuple[int, ...]) -> bool:
        """Whether each element along a spatial axis is a window of its own."""
        return self.kernel[place] == 1 and self.stride[place] == 1 and self.counts[place] == shape[self.axes[place]]

    def overlap(self) -> bool:
        """Whether an element can be in more than one window."""
        return any(k > s for k, s in zip(self.kernel, self.stride))

    def elements(self, xp: Any, include_pad: bool, dtype: Any) -> Any:
        """How many elements each window has, in a shape that broadcasts to the output.

        With padding: those up to the end of the padded input, which windows of the full convention may exceed.
        """
        total: Any = np.ones((1,) * len(self.shape))
        for axis, n, k, s, p, c in zip(self.axes, self.sizes, self.kernel, self.stride, self.pad, self.counts):
            start = np.arange(c) * s - p
            end = np.minimum(start + k, n + p)
            if not include_pad:
                start, end = np.maximum(start, 0), np.minimum(end, n)
            shape = [1] * len(self.shape)
            shape[axis] = c
            total = total * np.maximum(end - start, 1).reshape(shape)
        return xp.asarray(total.astype(dtype))


def windows(shape: tuple[int, ...], params: dict[str, Any]) -> Windows:
    """The geometry that the parameters of the operator describe."""
    return Windows(shape, params['kernel'], params['stride'], params['pad'], params['pooling_convention'],
                   params['global_pool'], params['layout'])


def _ordered_empty(xp: Any, shape: tuple[int, ...], like: Any) -> Any:
    """An array of a new shape in the memory order of another array."""
    return storage.empty_in_order(shape, like.dtype, like) if xp is np else xp.empty(shape, like.dtype)


def _pad(xp: Any, data: Any, w: Windows, value: Any) -> Any:
    shape = w.padded_shape()
    if shape == data.shape:
        return data
    out = _ordered_empty(xp, shape, data)
    inside = w.inside()
    for axis in w.axes:                                    # only the border needs the value
        for part in (slice(0, inside[axis].start), slice(inside[axis].stop, None)):
            out[(slice(None),) * axis + (part,)] = value
    out[inside] = data
    return out


def _separable(xp: Any, data: Any, w: Windows, combine: Any, out: Any = None) -> Any:
    """Combine the elements of each window, one spatial axis after the other; the last one into ``out``."""
    places = [place for place in range(len(w.axes)) if not w.trivial(place, data.shape)]
    for place in places:
        data = _combine_axis(xp, data, w, place, combine, out if place == places[-1] else None)
    return data


def _combine_axis(xp: Any, data: Any, w: Windows, place: int, combine: Any, out: Any = None) -> Any:
    """Combine the elements of each window along one spatial axis."""
    first = data[w.one_axis(place, 0)]
    if w.kernel[place] == 1:
        return first
    if out is None or xp.may_share_memory(out, data):
        out = _ordered_empty(xp, first.shape, data)
    combine(first, data[w.one_axis(place, 1)], out=out)
    for offset in range(2, w.kernel[place]):
        combine(out, data[w.one_axis(place, offset)], out=out)
    return out


def _largest(xp: Any, data: Any, w: Windows, lowest: float, out: Any = None) -> Any:
    """The largest element of each window, and *lowest* where a window has none."""
    found = _separable(xp, _pad(xp, data, w, lowest), w, xp.maximum, out)
    return found.copy() if found is data else found


def _infer(arrays: Any, params: dict[str, Any]) -> None:
    data = arrays[0]
    require_float('Pooling', data)
    kernel, ndim = params['kernel'], data.ndim
    if ndim < 3:
        raise MXNetError('Error in operator Pooling: Input data should be  3D in (batch, channel, x) Or 4D in '
                         '(batch, channel, '
                         f'y, x)  Or 5D in (batch, channel, d, y, x), got shape {shape_text(data.shape)}')
    if params['pool_type'] == 'lp' and params['p_value'] is None:
        raise MXNetError('Error in operator Pooling: p_value is required for pool_type lp')
    if params['pooling_convention'] == 'same':
        if params['pool_type'] != 'max' or ndim != 3:
            raise MXNetError("Error in operator Pooling: Input data should be 3D in (batch, channel, x). Currently "
                             "'same' supports Max Pooling 1-D")
        if any(params['pad']):
            raise MXNetError('Error in operator Pooling: Same pooling convention disables the use of pad parameter.')
    if not params['global_pool']:
        if not kernel:
            raise MXNetError('Error in operator Pooling: 0D pooling not supported: kernel is required')
        if ndim != len(kernel) + 2:
            raise MXNetError(f'Error in operator Pooling: Input data should be '
                             f'{_NAMES.get(len(kernel) + 2, "3D to 5D")}, '
                             f'got shape {shape_text(data.shape)}')
        for name in ('stride', 'pad'):
            if params[name] and len(params[name]) != len(kernel):
                raise MXNetError(f'Error in operator Pooling: {name} and kernel should have the same length, got '
                                 f'{params[name]} and {kernel}')
        if any(n < 1 for n in kernel):
            raise MXNetError(f'Error in operator Pooling: the parameter kernel must be positive in all dimensions, '
                             f'got {shape_text(kernel)}')
        if any(s < 1 for s in params['stride']):
            raise MXNetError(f'Error in operator Pooling: the parameter stride must be positive in all dimensions, '
                             f'got {shape_text(params["stride"])}')
        w = windows(data.shape, params)
        for n, k, p in zip(w.sizes, w.kernel, w.pad):
            if k > n + 2 * p:
                raise MXNetError(f'Error in operator Pooling: kernel size ({k}) exceeds input ({n} padded to '
                                 f'{n + 2 * p})')
            if p >= k or p < 0:
                raise MXNetError(f'Error in operator Pooling: pad ({p}) must be smaller than kernel ({k}) and not '
                                 f'negative')
    if params['pool_type'] == 'lp' and params['p_value'] not in (1, 2, 3):
        raise MXNetError(f'Error in operator Pooling: p value of {params["p_value"]} is not supported yet...')


_PARAMS = {'kernel': Shape((), 'size of the windows', nonzero=True),
           'pool_type': Enum(('max', 'avg', 'sum', 'lp'), 'max', 'what is taken of each window'),
           'global_pool': Bool(False, 'one window over everything; the kernel does not count'),
           'cudnn_off': Bool(False),
           'pooling_convention': Enum(('valid', 'full', 'same'), 'valid', 'full: windows may reach beyond the end'),
           'stride': Shape((), 'distance of windows', nonzero=True), 'pad': Shape((), 'padding on both sides'),
           'p_value': Int(None, 'the p of lp', none=True),
           'count_include_pad': Bool(None, 'whether avg counts padding', none=True),
           'layout': Enum(_LAYOUTS, None, 'order of the axes')}


def _grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any]:
    data, og, y = inputs[0], ograds[0], outputs[0]
    kind = params['pool_type']
    shared = {key: value for key, value in params.items() if key in _PARAMS}
    if kind == 'max':
        return (F._max_pooling_backward(og, data, y, **shared),)
    shape = {'data_shape': tuple(data.shape)}
    if kind == 'lp' and params['p_value'] > 1:
        power, narrow = params['p_value'] - 1, data.dtype == np.float16
        if narrow:
            og, y, data = (F.cast(x, dtype='float32') for x in (og, y, data))
        share = F.where(y == 0, F.zeros_like(y), og / F.where(y == 0, F.ones_like(y), y) ** power)
        back = F._sum_pooling_backward(share, **{**shared, 'pool_type': 'sum'}, **shape) * data ** power
        return (F.cast(back, dtype='float16') if narrow else back,)
    return (F._sum_pooling_backward(og, **{**shared, 'pool_type': 'avg' if kind == 'avg' else 'sum'}, **shape),)


_SAMPLES = tuple(((shape,), {'kernel': kernel, 'pool_type': kind, **more})
                 for kind in ('max', 'avg', 'sum')
                 for shape, kernel, more in (
                     ((2, 2, 5), (2,), {'stride': (2,)}), ((1, 2, 4, 5), (2, 3), {'pad': (1, 1), 'stride': (1, 2)}),
                     ((1, 1, 2, 3, 3), (2, 2, 2), {})))


@register('Pooling', inputs=('data',), params=_PARAMS, infer=_infer, grad=_grad,
          samples=(*_SAMPLES, (((2, 2, 4),), {'global_pool': True, 'pool_type': 'avg'}),
                   (((1, 2, 4, 4),), {'kernel': (2, 2), 'pool_type': 'lp', 'p_value': 2}, 'positive')))
def _pooling(xp: Any, data: Any, kernel: tuple[int, ...] = (), pool_type: str = 'max', global_pool: bool = False,
             cudnn_off: bool = False, pooling_convention: str = 'valid', stride: tuple[int, ...] = (),
             pad: tuple[int, ...] = (), p_value: int | None = None, count_include_pad: bool | None = None,
             layout: str | None = None, out: Any = None) -> Any:
    """The largest element (max), mean (avg), sum or p-norm (lp) of windows over the spatial axes.

    With pooling_convention full the number of windows is rounded up; windows reach beyond the end then.
    """
    w = Windows(data.shape, kernel, stride, pad, pooling_convention, global_pool, layout)
    out = unshared(xp, out, w.out_shape, data.dtype, data)
    if pool_type == 'max':
        if global_pool:
            return xp.max(data, axis=w.axes, keepdims=True, out=out)
        return _largest(xp, data, w, np.finfo(data.dtype).min, out)
    narrow = data.dtype
    x = data.astype(np.float32) if narrow == np.float16 else data
    if pool_type == 'lp' and p_value != 1:
        x = x ** p_value
    if x is not data:                                      # of another type than the result
        out = None
    if global_pool:
        out = xp.sum(x, axis=w.axes, keepdims=True, out=out)
    else:
        out = _separable(xp, _pad(xp, x, w, 0), w, xp.add, out)
        if out is data or xp.may_share_memory(out, data):
            out = out.copy()
    if pool_type == 'avg':
        out /= w.elements(xp, count_include_pad is not False, out.dtype)
    elif pool_type == 'lp' and p_value != 1:
        out = xp.sqrt(out) if p_value == 2 else xp.cbrt(out)
    return out.astype(narrow, copy=False)


def _chosen(xp: Any, padded: Any, y: Any, w: Windows) -> Iterator[tuple[tuple[slice, ...], Any]]:
    """For each offset of the kernel, where the first largest element of a window lies at this offset."""
    taken = None
    for where in w.offsets():
        here = padded[where] == y
        if taken is None:
            taken = here
        else:
            here &= ~taken
            taken = taken | here
        yield where, here


@register('_max_pooling_backward', inputs=('ograd', 'data', 'output'), params=_PARAMS,
          grad=lambda F, ograds, inputs, outputs, params: (
              F._max_pooling_select(ograds[0], inputs[1], inputs[2], **params), None, None))
def _max_pooling_backward(xp: Any, ograd: Any, data: Any, output: Any, kernel: tuple[int, ...] = (),
                          global_pool: bool = False, pooling_convention: str = 'valid', stride: tuple[int, ...] = (),
                          pad: tuple[int, ...] = (), layout: str | None = None, **ignored: Any) -> Any:
    """Each output gradient at the first largest element of its window, zero elsewhere."""
    if not global_pool and len(data) > 1 and data.nbytes > 2 * _AT_ONCE:
        # Some images after the other: what is in between stays in the cache, and never grows with the batch.
        count = max(1, _AT_ONCE * len(data) // data.nbytes)
        result = _ordered_empty(xp, data.shape, data)
        for start in range(0, len(data), count):
            some = slice(start, start + count)
            w = Windows(data[some].shape, kernel, stride, pad, pooling_convention, False, layout)
            result[some] = _max_windows_backward(xp, ograd[some], data[some], output[some], w)
        return result
    w = Windows(data.shape, kernel, stride, pad, pooling_convention, global_pool, layout)
    if global_pool:
        return _global_max_backward(xp, ograd, data, w)
    return _max_windows_backward(xp, ograd, data, output, w)


def _max_windows_backward(xp: Any, ograd: Any, data: Any, output: Any, w: Windows) -> Any:
    if not w.overlap():
        return _max_places_backward(xp, ograd, data, output, w)
    # One axis after the other, the last one first: going back then finds the first row, and in it the first column.
    stages = [_pad(xp, data, w, np.finfo(data.dtype).min)]
    places = [place for place in reversed(range(len(w.axes))) if not w.trivial(place, data.shape)]
    for place in places:
        stages.append(_combine_axis(xp, stages[-1], w, place, xp.maximum))
    gradient = ograd
    for place, before, after in zip(reversed(places), reversed(stages[:-1]), reversed(stages[1:])):
        gradient = _max_axis_backward(xp, gradient, before, after, w, place)
    if gradient.shape != data.shape:
        gradient = gradient[w.inside()]
    return gradient.copy() if gradient is ograd else gradient


def _max_places_backward(xp: Any, ograd: Any, data: Any, output: Any, w: Windows) -> Any:
    """The same for windows that don't overlap, one place of the window after the other."""
    padded = _pad(xp, data, w, np.finfo(data.dtype).min)
    result = _ordered_empty(xp, padded.shape, data)
    if w.kernel != w.stride or any(c * s != n for c, s, n in zip(w.counts, w.stride, w.padded)):
        result.fill(0)
    rest = ograd
    places = list(w.offsets())
    for where in places[:-1]:
        share = _ordered_empty(xp, output.shape, data)
        xp.equal(padded[where], output, out=share, casting='unsafe')
        share *= rest
        result[where] = share
        rest = rest - share
    result[places[-1]] = rest                              # what no earlier place has taken
    return result[w.inside()] if result.shape != data.shape else result


def _max_axis_backward(xp: Any, gradient: Any, before: Any, after: Any, w: Windows, place: int) -> Any:
    """The gradient of the largest elements along one axis: to the first of them."""
    kernel, stride = w.kernel[place], w.stride[place]
    result = _ordered_empty(xp, before.shape, before)
    if kernel != stride or w.counts[place] * stride != before.shape[w.axes[place]]:
        result.fill(0)
    rest = gradient
    for offset in range(kernel):
        where = w.one_axis(place, offset)
        if offset == kernel - 1:
            share = rest                                   # what no earlier element has taken
        else:
            share = _ordered_empty(xp, after.shape, before)
            xp.equal(before[where], after, out=share, casting='unsafe')
            share *= rest
            rest = rest - share
        if kernel > stride:
            result[where] += share
        else:
            result[where] = share
    return result


def _global_max_backward(xp: Any, ograd: Any, data: Any, w: Windows) -> Any:
    moved = xp.moveaxis(data, w.axes, tuple(range(-len(w.axes), 0)))
    flat = moved.reshape(*moved.shape[:2], -1)
    place = flat.argmax(axis=2)
    result = xp.zeros(flat.shape, data.dtype)
    index = (xp.arange(flat.shape[0])[:, None], xp.arange(flat.shape[1])[None, :], place)
    result[index] = ograd.reshape(flat.shape[:2])
    return xp.moveaxis(result.reshape(moved.shape), tuple(range(-len(w.axes), 0)), w.axes)


@register('_max_pooling_select', inputs=('values', 'data', 'output'), params=_PARAMS,
          grad=lambda F, ograds, inputs, outputs, params: (
              F._max_pooling_backward(ograds[0], inputs[1], inputs[2], **params), None, None))
def _max_pooling_select(xp: Any, values: Any, data: Any, output: Any, kernel: tuple[int, ...] = (),
                        global_pool: bool = False, pooling_convention: str = 'valid', stride: tuple[int, ...] = (),
                        pad: tuple[int, ...] = (), layout: str | None = None, **ignored: Any) -> Any:
    """The value that stands where each window has its first largest element."""
    w = Windows(data.shape, kernel, stride, pad, pooling_convention, global_pool, layout)
    padded, spread = _pad(xp, data, w, np.finfo(data.dtype).min), _pad(xp, values, w, 0)
    result = xp.zeros(output.shape, values.dtype)
    for where, here in _chosen(xp, padded, output, w):
        result += spread[where] * here
    return result


@register('_sum_pooling_backward', inputs=('ograd',), params={**_PARAMS, 'data_shape': Shape(doc='shape of the input')},
          grad=lambda F, ograds, inputs, outputs, params: (
              F.Pooling(ograds[0], **{key: value for key, value in params.items() if key != 'data_shape'}),))
def _sum_pooling_backward(xp: Any, ograd: Any, data_shape: tuple[int, ...] = (), kernel: tuple[int, ...] = (),
                          pool_type: str = 'sum', global_pool: bool = False, pooling_convention: str = 'valid',
                          stride: tuple[int, ...] = (), pad: tuple[int, ...] = (),
                          count_include_pad: bool | None = None, layout: str | None = None, **ignored: Any) -> Any:
    """Each output gradient added to all elements of its window, divided by their number for avg."""
    w = Windows(data_shape, kernel, stride, pad, pooling_convention, global_pool, layout)
    if pool_type == 'avg':
        ograd = ograd / w.elements(xp, count_include_pad is not False, ograd.dtype)
    if global_pool:
        result = _ordered_empty(xp, data_shape, ograd)
        result[...] = ograd
        return result
    result = _ordered_empty(xp, w.padded_shape(), ograd)
    result.fill(0)
    overlap = w.overlap()
    for where in w.offsets():
        if overlap:
            result[where] += ograd
        else:
            result[where] = ograd
    return result[w.inside()] if result.shape != data_shape else result


_V1 = {key: _PARAMS[key] for key in ('kernel', 'global_pool', 'stride', 'pad')} | {
    'pool_type': Enum(('max', 'avg', 'sum'), 'max', 'what is taken of each window'),
    'pooling_convention': Enum(('valid', 'full'), 'valid', 'full: windows may reach beyond the end')}
_V1 = {key: _V1[key] for key in ('kernel', 'pool_type', 'global_pool', 'pooling_convention', 'stride', 'pad')}
_V1_REST = {'layout': None, 'p_value': None, 'count_include_pad': None, 'cudnn_off': False}


def _v1_size(data: Any, params: dict[str, Any]) -> int:
    return prod(data.shape[2:] if params['global_pool'] else params['kernel'])


def _v1_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> Any:
    if params['pool_type'] == 'avg':
        size, params = _v1_size(inputs[0], params), {**params, 'pool_type': 'sum'}
        ograds = [ograds[0] / size]
    return _grad(F, ograds, inputs, outputs, {**_V1_REST, **params})


@register('Pooling_v1', inputs=('data',), params=_V1,
          infer=lambda arrays, params: _infer(arrays, {**_V1_REST, **params}),
          grad=_v1_grad, samples=(
              (((1, 2, 4, 5),), {'kernel': (2, 2), 'stride': (2, 1), 'pool_type': 'avg'}),
              (((1, 2, 3, 3),), {'kernel': (2, 2), 'stride': (2, 1), 'pool_type': 'avg',
                                 'pooling_convention': 'full'})))
def _pooling_v1(xp: Any, data: Any, **params: Any) -> Any:
    """Pooling as in the first releases: an average is the sum over the size of the window, also where that ends.

    The maximum of a window without elements is -inf.
    """
    if params['pool_type'] == 'max' and not params['global_pool']:
        return _largest(xp, data, windows(data.shape, {**_V1_REST, **params}), -np.inf)
    if params['pool_type'] != 'avg':
        return _pooling(xp, data, **params)
    return _pooling(xp, data, **{**params, 'pool_type': 'sum'}) / data.dtype.type(_v1_size(data, params))
