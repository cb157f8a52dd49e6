"""Convolutions on raw arrays: forward, backward to the data and backward to the weight, for 1 to 3 spatial axes.

Everything works channels-last inside: windows are copied block by block into a matrix that stays in the cache, one
row per output pixel, and BLAS does the rest. Results have the logical order (batch, channels, spatial…) with
channels-last strides. Inputs with few channels (images) are copied plane by plane instead, because runs of a few
elements would be slow.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any

from ._channels import PART, Repeated
from ._nn import channels_first, channels_last, empty, unshared, zeros

BLOCK = 1 << 19
"""Elements of the matrix of windows per block: 2 MiB of float32."""
FEW = 4
"""Up to this many channels, windows are copied plane by plane."""


class Geometry:
    """Kernel, stride, dilation and padding of a convolution, and the sizes that follow."""

    def __init__(self, sizes: Sequence[int], kernel: Sequence[int], stride: Sequence[int], dilate: Sequence[int],
                 pad: Sequence[int]) -> None:
        count = len(kernel)
        self.sizes = tuple(sizes)
        self.kernel = tuple(kernel)
        self.stride = tuple(stride) or (1,) * count
        self.dilate = tuple(dilate) or (1,) * count
        self.pad = tuple(pad) or (0,) * count
        self.reach = tuple(d * (k - 1) + 1 for k, d in zip(self.kernel, self.dilate))
        self.out = tuple((n + 2 * p - r) // s + 1 for n, p, r, s in zip(self.sizes, self.pad, self.reach, self.stride))
        self.pointwise = all(k == 1 and s == 1 and p == 0 for k, s, p in zip(self.kernel, self.stride, self.pad))

    def padded(self) -> tuple[int, ...]:
        """Spatial sizes with padding."""
        return tuple(n + 2 * p for n, p in zip(self.sizes, self.pad))

    def offsets(self) -> Iterator[tuple[slice, ...]]:
        """For each place of the kernel, the elements under it for all windows, along the padded spatial axes."""
        for place in itertools.product(*map(range, self.kernel)):
            yield tuple(slice(k * d, k * d + s * (c - 1) + 1, s)
                        for k, d, s, c in zip(place, self.dilate, self.stride, self.out))

    def inside(self) -> tuple[slice, ...]:
        """Where the data lies along the padded spatial axes."""
        return tuple(slice(p, p + n) for p, n in zip(self.pad, self.sizes))


def _last(x: Any) -> Any:
    return x.transpose(channels_last(x.ndim))


def _first(x: Any) -> Any:
    return x.transpose(channels_first(x.ndim))


def _pad(xp: Any, x: Any, geometry: Geometry, first: int) -> Any:
    """Row-major, with zeros around the spatial axes, which begin at ``first``; a copy only if need be."""
    if not any(geometry.pad):
        if x.flags.c_contiguous:
            return x
        out = empty(xp, x.shape, x.dtype)
        out[...] = x
        return out
    spatial = len(geometry.kernel)
    shape = (*x.shape[:first], *geometry.padded(), *x.shape[first + spatial:])
    out = empty(xp, shape, x.dtype)
    lead = (slice(None),) * first
    for axis, p in enumerate(geometry.pad):
        if p:
            before = (*lead, *(slice(None),) * axis)
            out[(*before, slice(0, p))] = 0
            out[(*before, slice(-p, None))] = 0
    out[(*lead, *geometry.inside())] = x
    return out


def _blocks(count: int, rows: int, per_row: int) -> Iterator[tuple[slice, slice]]:
    """Blocks of images and of rows of output pixels, so that a block of windows has at most BLOCK elements."""
    per_image = rows * per_row
    if per_image <= BLOCK:
        step = max(1, BLOCK // max(per_image, 1))
        for start in range(0, count, step):
            yield slice(start, min(start + step, count)), slice(0, rows)
        return
    step = max(1, BLOCK // per_row)
    for image in range(count):
        for start in range(0, rows, step):
            yield slice(image, image + 1), slice(start, min(start + step, rows))


class _Windows:
    """The matrix of windows of channels-last data, block by block.

    The elements of a row are in the order (kernel, channel), or with ``by_channel`` (channel, kernel), which takes more
    time but is the order of a weight as it comes.
    """

    def __init__(self, xp: Any, x: Any, geometry: Geometry, by_channel: bool = False) -> None:
        self.xp, self.geometry = xp, geometry
        padded = _pad(xp, x, geometry, 1)
        spatial = padded.strides[1:-1]
        self.view = xp.lib.stride_tricks.as_strided(
            padded, (padded.shape[0], *geometry.out, *geometry.kernel, padded.shape[-1]),
            (padded.strides[0], *(s * n for s, n in zip(geometry.stride, spatial)),
             *(d * n for d, n in zip(geometry.dilate, spatial)), padded.strides[-1]))
        if by_channel:
            lead = 1 + len(geometry.out)
            self.view = self.view.transpose((*range(lead), self.view.ndim - 1, *range(lead, self.view.ndim - 1)))
        self.columns = prod(geometry.kernel) * padded.shape[-1]
        self.buffer = None

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Pairs of output pixels and their windows as rows of a matrix."""
        out = self.geometry.out
        inner = prod(out[1:])
        if self.geometry.pointwise and self.view.base is not None and self.view.flags.c_contiguous:
            yield slice(0, self.view.shape[0] * prod(out)), self.view.reshape(-1, self.columns)
            return
        for images, rows in _blocks(self.view.shape[0], out[0], inner * self.columns):
            block = self.view[images, rows]
            pixels = prod(block.shape[:1 + len(out)])
            if self.buffer is None:
                self.buffer = empty(self.xp, (pixels, self.columns), block.dtype)
            matrix = self.buffer[:pixels]
            matrix.reshape(block.shape)[...] = block
            start = (images.start * out[0] + rows.start) * inner
            yield slice(start, start + pixels), matrix


class _Planes:
    """The same for data with few channels in the order (batch, channels, spatial…), by planes."""

    def __init__(self, xp: Any, x: Any, geometry: Geometry) -> None:
        self.xp, self.geometry = xp, geometry
        self.padded = _pad(xp, x, geometry, 2)
        self.columns = prod(geometry.kernel) * x.shape[1]
        self.buffer = None

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Pairs of output pixels and their windows, transposed: the row of a window is a column of memory."""
        geometry, padded = self.geometry, self.padded
        pixels = prod(geometry.out)
        count, channels = padded.shape[:2]
        step = max(1, BLOCK // (pixels * self.columns))
        for start in range(0, count, step):
            stop = min(start + step, count)
            if self.buffer is None or stop - start < step:
                self.buffer = empty(self.xp, (self.columns, stop - start, *geometry.out), padded.dtype)
            matrix = self.buffer
            for index, where in enumerate(geometry.offsets()):
                for channel in range(channels):
                    matrix[index * channels + channel] = padded[(slice(start, stop), channel, *where)]
            yield slice(start * pixels, stop * pixels), matrix.reshape(self.columns, -1).T


def _windows(xp: Any, x: Any, geometry: Geometry) -> Any:
    """The source of windows for data in the order (batch, channels, spatial…)."""
    if x.shape[1] <= FEW and not geometry.pointwise:
        return _Planes(xp, x, geometry)
    return _Windows(xp, _last(x), geometry)


def _matrix(xp: Any, weight: Any) -> Any:
    """The weight (outputs, inputs, kernel…) as a matrix (outputs, kernel · inputs), row-major or column-major."""
    last = _last(weight)
    if not last.flags.c_contiguous:
        turned = last.transpose((*range(1, last.ndim), 0))
        if turned.flags.c_contiguous:
            return turned.reshape(-1, weight.shape[0]).T
        copy = empty(xp, last.shape, last.dtype)          # the page faults of a fresh copy would cost more than it
        copy[...] = last
        last = copy
    return last.reshape(weight.shape[0], -1)


def _rows(xp: Any, x: Any) -> Any:
    """(batch, channels, spatial…) as a row-major matrix (pixels, channels)."""
    last = _last(x)
    if not last.flags.c_contiguous:
        copy = empty(xp, last.shape, last.dtype)
        copy[...] = last
        last = copy
    return last.reshape(-1, x.shape[1])


def _depthwise(weight: Any, groups: int) -> bool:
    return groups > 1 and weight.shape[1] == 1


Post = Callable[[slice, Any], None]
"""What is done with rows of the result, one row per output pixel, while they are in the cache: ``(rows, matrix)``."""



def forward(xp: Any, x: Any, weight: Any, geometry: Geometry, groups: int = 1, bias: Any = None, out: Any = None,
            post: Post | None = None) -> Any:
    """The convolution of x (batch, channels, spatial…) with weight (outputs, channels / groups, kernel…).

    The result is ``out`` where that has the shape, type and memory order that the result would have and shares no
    memory with the inputs. ``post`` works on the elements of channels-last results in place, block by block.
    """
    count, outputs = x.shape[0], weight.shape[0]
    out = unshared(xp, out, (count, outputs, *geometry.out), x.dtype, x, weight)
    if planar(x, geometry, groups) and post is None:
        if out is None or not out.flags.c_contiguous:
            out = empty(xp, (count, outputs, *geometry.out), x.dtype)
        xp.matmul(weight.reshape(outputs, -1), x.reshape(count, x.shape[1], -1), out=out.reshape(count, outputs, -1))
        if bias is not None:
            out += bias.reshape(-1, *(1,) * len(geometry.out))
        return out
    if out is None or not _last(out).flags.c_contiguous:
        rows = empty(xp, (count * prod(geometry.out), outputs), x.dtype)
        out = _first(rows.reshape(count, *geometry.out, outputs))
    else:
        rows = _last(out).reshape(-1, outputs)
    if _depthwise(weight, groups):
        _depthwise_forward(xp, x, weight, geometry, groups, _last(out))
        if bias is not None:
            out += bias.reshape(-1, *(1,) * len(geometry.out))
        _afterwards(rows, post)
        return out
    step_in, step_out = x.shape[1] // groups, outputs // groups
    repeated = None if bias is None else Repeated(xp, bias, rows.size)
    # With few pixels the windows are smaller than the weight: it is they that are brought into its order then.
    by_channel = (groups == 1 and 2 * rows.shape[0] <= outputs and x.shape[1] > FEW and weight.flags.c_contiguous
                  and not geometry.pointwise)
    for group in range(groups):
        part = x if groups == 1 else x[:, group * step_in:(group + 1) * step_in]
        columns = slice(group * step_out, (group + 1) * step_out)
        if by_channel:
            matrix, source = weight.reshape(outputs, -1).T, _Windows(xp, _last(x), geometry, True)
        else:
            matrix, source = _matrix(xp, weight[columns]).T, _windows(xp, part, geometry)
        for pixels, windows in source.blocks():
            target = rows[pixels, columns]
            if groups == 1:
                xp.dot(windows, matrix, out=target)
                if repeated is not None:                   # while the block is in the cache
                    repeated.apply(xp.add, target)
                _afterwards(target, post, pixels.start)
            else:
                target[...] = xp.dot(windows, matrix)
    if groups > 1:
        if bias is not None:
            rows += bias
        _afterwards(rows, post)
    return out


def images_at_once(geometry: Geometry, channels: int, outputs: int) -> int:
    """How many images a block of windows has in ``forward``; 0 where the number of images changes how it goes about.

    Parts of as many images give the same bits as all images together.
    """
    pixels = prod(geometry.out)
    if 2 * pixels <= outputs or geometry.pointwise:
        return 0
    return max(1, BLOCK // (pixels * prod(geometry.kernel) * channels))


def planar(x: Any, geometry: Geometry, groups: int) -> bool:
    """Whether the result is row-major: that of a product of matrices with row-major data."""
    return groups == 1 and geometry.pointwise and x.flags.c_contiguous and not _last(x).flags.c_contiguous


def _afterwards(rows: Any, post: Post | None, first: int = 0) -> None:
    if post is not None:
        step = max(1, PART // rows.shape[1])
        for start in range(0, rows.shape[0], step):
            stop = min(start + step, rows.shape[0])
            post(slice(first + start, first + stop), rows[start:stop])


def backward_data(xp: Any, ograd: Any, weight: Any, geometry: Geometry, groups: int = 1, out: Any = None) -> Any:
    """The gradient of the data: each output gradient spread over its window through the weight.

    It is in ``out`` where that can take it, as in ``forward``; not every way of computing it can.
    """
    if _depthwise(weight, groups):
        return _depthwise_backward_data(xp, ograd, weight, geometry, groups)
    if groups > 1:
        return _by_groups(xp, ograd, weight, geometry, groups)
    if (all(s == 1 for s in geometry.stride) and all(r > p for r, p in zip(geometry.reach, geometry.pad))
            and prod(geometry.sizes) <= 1.3 * prod(geometry.out)):
        # With stride 1 it is a convolution itself: of the gradients, with the reversed kernel.
        flip = weight[(slice(None), slice(None), *(slice(None, None, -1),) * len(geometry.kernel))].swapaxes(0, 1)
        turned = Geometry(geometry.out, geometry.kernel, geometry.stride, geometry.dilate,
                          tuple(r - 1 - p for r, p in zip(geometry.reach, geometry.pad)))
        return forward(xp, ograd, flip, turned, out=out)
    count, channels = ograd.shape[0], weight.shape[1]
    rows = _rows(xp, ograd)
    if channels <= FEW:
        return _scatter_planes(xp, rows, weight, geometry, count)
    result = zeros(xp, (count, *geometry.padded(), channels), ograd.dtype)
    matrix = _matrix(xp, weight)                           # (outputs, places · channels)
    pixels, places = prod(geometry.out), prod(geometry.kernel)
    step = max(1, BLOCK // max(1, pixels * matrix.shape[1]))
    buffer = empty(xp, (min(step, count) * pixels, matrix.shape[1]), ograd.dtype)
    for start in range(0, count, step):
        stop = min(start + step, count)
        windows = buffer[:(stop - start) * pixels]
        xp.dot(rows[start * pixels:stop * pixels], matrix, out=windows)
        windows = windows.reshape(stop - start, *geometry.out, places, channels)
        for place, where in enumerate(geometry.offsets()):
            result[(slice(start, stop), *where)] += windows[..., place, :]
    return _first(result[(slice(None), *geometry.inside())])


def _scatter_planes(xp: Any, rows: Any, weight: Any, geometry: Geometry, count: int) -> Any:
    """The gradient of data with few channels, plane by plane."""
    channels = weight.shape[1]
    result = zeros(xp, (count, channels, *geometry.padded()), rows.dtype)
    matrix = _matrix(xp, weight).T                         # (places · channels, outputs)
    pixels = prod(geometry.out)
    step = max(1, BLOCK // max(1, pixels * matrix.shape[0]))
    for start in range(0, count, step):
        stop = min(start + step, count)
        windows = xp.dot(matrix, rows[start * pixels:stop * pixels].T)
        windows = windows.reshape(-1, channels, stop - start, *geometry.out)
        for place, where in enumerate(geometry.offsets()):
            for channel in range(channels):
                result[(slice(start, stop), channel, *where)] += windows[place, channel]
    return result[(slice(None), slice(None), *geometry.inside())]


def _by_groups(xp: Any, ograd: Any, weight: Any, geometry: Geometry, groups: int) -> Any:
    step = ograd.shape[1] // groups
    parts = [_last(backward_data(xp, ograd[:, g * step:(g + 1) * step], weight[g * step:(g + 1) * step], geometry))
             for g in range(groups)]
    return _first(xp.concatenate(parts, axis=-1))


def backward_weight(xp: Any, x: Any, ograd: Any, geometry: Geometry, groups: int = 1) -> Any:
    """The gradient of the weight: every window times its output gradient, added up."""
    outputs, inputs = ograd.shape[1], x.shape[1] // groups
    if groups > 1 and inputs == 1:
        return _depthwise_backward_weight(xp, x, ograd, geometry, groups)
    if groups == 1 and geometry.pointwise and x.flags.c_contiguous and ograd.flags.c_contiguous:
        total = xp.matmul(ograd.reshape(*ograd.shape[:2], -1), x.reshape(*x.shape[:2], -1).swapaxes(1, 2)).sum(axis=0)
        return total.reshape(outputs, inputs, *geometry.kernel)
    rows = _rows(xp, ograd)
    step = outputs // groups
    result = None
    parts = []
    for group in range(groups):
        part = x if groups == 1 else x[:, group * inputs:(group + 1) * inputs]
        gradients = rows if groups == 1 else rows[:, group * step:(group + 1) * step]
        result = product = None
        for pixels, windows in _windows(xp, part, geometry).blocks():
            shape = (step, windows.shape[1])
            if result is None:
                result = xp.dot(gradients[pixels].T, windows, out=empty(xp, shape, x.dtype))
                continue
            if product is None:
                product = empty(xp, shape, x.dtype)
            result += xp.dot(gradients[pixels].T, windows, out=product)
        parts.append(result)
    total = parts[0] if groups == 1 else xp.concatenate(parts)
    gradient = empty(xp, (outputs, inputs, *geometry.kernel), total.dtype)
    gradient[...] = _first(total.reshape(outputs, *geometry.kernel, inputs))
    return gradient


# ---- one input channel per group ---------------------------------------------------------------------------------

def _per_place(weight: Any, geometry: Geometry, groups: int) -> Iterator[tuple[tuple[slice, ...], Any]]:
    """For each place of the kernel: the elements under it, and the weights there as (groups, outputs per group)."""
    places = itertools.product(*map(range, geometry.kernel))
    for where, place in zip(geometry.offsets(), places):
        yield where, weight[(slice(None), 0, *place)].reshape(groups, -1)


def _depthwise_forward(xp: Any, x: Any, weight: Any, geometry: Geometry, groups: int, out: Any) -> None:
    """Fill ``out`` (batch, spatial…, outputs)."""
    padded = _pad(xp, _last(x), geometry, 1)
    multiple = weight.shape[0] // groups
    total = out.reshape(x.shape[0], *geometry.out, groups, multiple)
    total.fill(0)
    for where, weights in _per_place(weight, geometry, groups):
        total += padded[(slice(None), *where)][..., None] * weights


def _depthwise_backward_data(xp: Any, ograd: Any, weight: Any, geometry: Geometry, groups: int) -> Any:
    multiple = weight.shape[0] // groups
    gradients = _last(ograd).reshape(ograd.shape[0], *geometry.out, groups, multiple)
    result = zeros(xp, (ograd.shape[0], *geometry.padded(), groups), ograd.dtype)
    for where, weights in _per_place(weight, geometry, groups):
        product = gradients[..., 0] * weights[:, 0] if multiple == 1 else (gradients * weights).sum(axis=-1)
        result[(slice(None), *where)] += product
    return _first(result[(slice(None), *geometry.inside())])


def _depthwise_backward_weight(xp: Any, x: Any, ograd: Any, geometry: Geometry, groups: int) -> Any:
    multiple = ograd.shape[1] // groups
    padded = _pad(xp, _last(x), geometry, 1)
    gradients = _rows(xp, ograd).reshape(-1, groups, multiple)
    result = xp.empty((prod(geometry.kernel), groups, multiple), x.dtype)
    for index, where in enumerate(geometry.offsets()):
        under = padded[(slice(None), *where)].reshape(-1, groups)
        result[index] = xp.einsum('pg,pgm->gm', under, gradients)
    return xp.moveaxis(result, 0, -1).reshape(groups * multiple, 1, *geometry.kernel)
