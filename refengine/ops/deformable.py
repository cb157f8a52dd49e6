"""Deformable convolution: every element of every window is taken at a learned offset, and scaled by a learned mask."""

from __future__ import annotations

from math import prod
from typing import Any

from ..base import MXNetError, shape_text
from ..op import Bool, Enum, Int, Shape, register
from ._conv import Geometry
from ._nn import require_float, require_shape, require_windows
from ._raw import raw
from .points import interpolate, interpolate_grad
from .shapes import completes, merge

_WINDOWS = {'kernel': Shape(doc='size of the windows'), 'stride': Shape((), 'distance of windows'),
            'dilate': Shape((), 'distance of elements of a window'), 'pad': Shape((), 'zeros on both sides')}
_GROUPS = {'num_filter': Int(doc='number of output channels', low=1), 'num_group': Int(1, 'groups of channels', low=1),
           'num_deformable_group': Int(1, 'groups of channels with offsets of their own', low=1),
           'workspace': Int(1024), 'no_bias': Bool(False, 'no bias is added')}
_LAYOUT = {'layout': Enum(('None', 'NCW', 'NCHW', 'NCDHW'), None)}
_PLAIN, _MODULATED = '_contrib_DeformableConvolution', '_contrib_ModulatedDeformableConvolution'


def _geometry(data: Any, p: dict[str, Any]) -> Geometry:
    return Geometry(tuple(data.shape[2:]), p['kernel'], p['stride'], p['dilate'], p['pad'])


def _infer(op: str, masked: bool) -> Any:
    def infer(arrays: Any, p: dict[str, Any]) -> None:
        data, offset, *rest = arrays
        require_float(op, data)
        if data.ndim != 4 or len(p['kernel']) != 2:
            raise MXNetError(f'Operator {op}: not implemented but for images (batch, channel, y, x) and kernels of two '
                             f'axes, got {shape_text(data.shape)} and {p["kernel"]}')
        require_windows(op, p)
        for name in ('num_group', 'num_deformable_group'):
            if data.shape[1] % p[name]:
                raise MXNetError(f'Operator {op}: {data.shape[1]} input channels cannot be divided by {name}={p[name]}')
        if p['num_filter'] % p['num_group']:
            raise MXNetError(f'Operator {op}: num_filter={p["num_filter"]} cannot be divided by num_group')
        geometry = _geometry(data, p)
        size = prod(geometry.kernel) * p['num_deformable_group']
        require_shape(op, offset.shape, (data.shape[0], 2 * size, *geometry.out))
        if masked:
            require_shape(op, rest.pop(0).shape, (data.shape[0], size, *geometry.out))
        require_shape(op, rest[0].shape, (p['num_filter'], data.shape[1] // p['num_group'], *geometry.kernel))
        if len(rest) > 1:
            require_shape(op, rest[1].shape, (p['num_filter'],))

    return infer


@completes(_PLAIN, _MODULATED)
def _complete(shapes: list[Any], p: dict[str, Any]) -> list[Any]:
    channels = shapes[0][1] // p['num_group'] if shapes[0] else 0
    weight = 3 if 'im2col_step' in p else 2
    done = list(shapes)
    done[weight] = merge(shapes[weight], (p['num_filter'], channels, *p['kernel']))
    if len(done) > weight + 1:
        done[weight + 1] = merge(done[weight + 1], (p['num_filter'],))
    return done


# ---- where the elements are ----------------------------------------------------------------------------------------

@register('_deformable_points', inputs=('offset',), num_outputs=2,
          params={**_WINDOWS, 'groups': Int(1), 'sizes': Shape(doc='height and width of the images')},
          grad=lambda F, ograds, inputs, outputs, params: (_offsets_grad(F, ograds, inputs[0], params),))
def _deformable_points(xp: Any, offset: Any, groups: int = 1, sizes: tuple[int, ...] = (), **p: Any) -> Any:
    """Coordinates y and x (batch · groups, elements · windows): those of the plain convolution plus the offsets."""
    geometry = Geometry(sizes, p['kernel'], p['stride'], p['dilate'], p['pad'])
    pairs = offset.reshape(len(offset) * groups, prod(geometry.kernel), 2, -1)
    found = []
    for axis in (0, 1):
        shape = [1, 1]
        shape[axis] = -1
        inner = (xp.arange(geometry.kernel[axis]) * geometry.dilate[axis]).reshape(*shape, 1, 1)
        outer = (xp.arange(geometry.out[axis]) * geometry.stride[axis] - geometry.pad[axis]).reshape(1, 1, *shape)
        base = xp.broadcast_to(inner + outer, (*geometry.kernel, *geometry.out)).reshape(1, *pairs.shape[1:2], -1)
        found.append((pairs[:, :, axis] + base.astype(offset.dtype)).reshape(len(pairs), -1))
    return tuple(found)


def _offsets_grad(F: Any, ograds: Any, offset: Any, p: dict[str, Any]) -> Any:
    shape = (offset.shape[0] * p['groups'], prod(p['kernel']), 1, -1)
    return F.reshape(F.Concat(*(F.reshape(g, shape=shape) for g in ograds), dim=2), shape=offset.shape)


# ---- the windows as columns ----------------------------------------------------------------------------------------

def _reach(F: Any, y: Any, x: Any, sizes: tuple[int, ...], masked: bool) -> tuple[Any, Any, Any]:
    """Coordinates that interpolation may take, and which of the points count.

    The plain operator takes no point above or left of the image, and repeats its last line and column; the modulated
    one fades to zero over one pixel all around.
    """
    if masked:
        return y, x, (y > -1) * (y < sizes[0]) * (x > -1) * (x < sizes[1])
    inside = (y >= 0) * (y < sizes[0]) * (x >= 0) * (x < sizes[1])
    return F.clip(y, a_min=0, a_max=sizes[0] - 1), F.clip(x, a_min=0, a_max=sizes[1] - 1), inside


@register('_deformable_columns', inputs=('data', 'y', 'x'), params={'masked': Bool(False)},
          grad=lambda F, ograds, inputs, outputs, params: _columns_grad(F, ograds[0], *inputs, **params))
def _deformable_columns(xp: Any, data: Any, y: Any, x: Any, masked: bool = False) -> Any:
    """Values (batch, channel, point) of images at points."""
    y, x, inside = _reach(raw(xp), y, x, data.shape[2:], masked)
    return interpolate(xp, data, y, x) * inside[:, None, :].astype(data.dtype)


def _columns_grad(F: Any, og: Any, data: Any, y: Any, x: Any, masked: bool) -> tuple[Any, Any, Any]:
    near_y, near_x, inside = _reach(F, y, x, data.shape[2:], masked)
    of_data, of_y, of_x = interpolate_grad(F, F.broadcast_mul(og, F.expand_dims(inside * F.ones_like(y), axis=1)), data,
                                           near_y, near_x)
    if not masked:      # beyond the last line nothing changes with the coordinate
        of_y, of_x = of_y * (y < data.shape[2] - 1), of_x * (x < data.shape[3] - 1)
    return of_data, of_y, of_x


# ---- the convolution -----------------------------------------------------------------------------------------------

def _together(F: Any, columns: Any, shape: tuple[int, ...], p: dict[str, Any]) -> Any:
    """Columns (batch · groups, channels, elements · windows) as (groups of weights, elements, batch · windows)."""
    batch, size, groups = shape[0], prod(p['kernel']), p['num_group']
    whole = F.reshape(columns, shape=(batch, groups, shape[1] // groups * size, -1))
    return F.reshape(F.transpose(whole, axes=(1, 2, 0, 3)), shape=(groups, shape[1] // groups * size, -1))


def _apart(F: Any, columns: Any, shape: tuple[int, ...], p: dict[str, Any]) -> Any:
    """The inverse of ``_together``."""
    batch, size, groups, parts = shape[0], prod(p['kernel']), p['num_group'], p['num_deformable_group']
    whole = F.reshape(columns, shape=(groups, shape[1] // groups * size, batch, -1))
    return F.reshape(F.transpose(whole, axes=(2, 0, 1, 3)),
                     shape=(batch * parts, shape[1] // parts, -1))


def _sampled(F: Any, data: Any, offset: Any, mask: Any, p: dict[str, Any]) -> Any:
    """Points and columns of a call; the columns without and with the mask."""
    parts, size = p['num_deformable_group'], prod(p['kernel'])
    images = F.reshape(data, shape=(data.shape[0] * parts, data.shape[1] // parts, *data.shape[2:]))
    y, x = F._deformable_points(offset, groups=parts, sizes=tuple(data.shape[2:]), **{key: p[key] for key in _WINDOWS})
    columns = F._deformable_columns(images, y, x, masked=mask is not None)
    if mask is None:
        return images, y, x, columns, columns
    shape = (data.shape[0] * parts, 1, size * (mask.shape[2] * mask.shape[3]))
    return images, y, x, columns, F.broadcast_mul(columns, F.reshape(mask, shape=shape))


def _convolve(F: Any, data: Any, offset: Any, mask: Any, weight: Any, p: dict[str, Any]) -> Any:
    groups, filters = p['num_group'], p['num_filter']
    together = _together(F, _sampled(F, data, offset, mask, p)[4], data.shape, p)
    product = F.batch_dot(F.reshape(weight, shape=(groups, filters // groups, -1)), together)
    whole = F.reshape(product, shape=(filters, data.shape[0], *offset.shape[2:]))
    return F.transpose(whole, axes=(1, 0, 2, 3))


def _grad(F: Any, ograds: Any, inputs: Any, outputs: Any, p: dict[str, Any]) -> tuple[Any, ...]:
    masked = 'im2col_step' in p
    data, offset, mask = inputs[0], inputs[1], inputs[2] if masked else None
    weight, *bias = inputs[3 if masked else 2:]
    og, groups, filters = ograds[0], p['num_group'], p['num_filter']
    images, y, x, bare, columns = _sampled(F, data, offset, mask, p)
    flat = F.reshape(F.transpose(og, axes=(1, 0, 2, 3)), shape=(groups, filters // groups, -1))
    of_weight = F.batch_dot(flat, _together(F, columns, data.shape, p), transpose_b=True)
    back = F.batch_dot(F.reshape(weight, shape=(groups, filters // groups, -1)), flat, transpose_a=True)
    of_columns = _apart(F, back, data.shape, p)
    result = []
    if masked:
        shape = (columns.shape[0], 1, columns.shape[2])
        of_mask = F.sum(of_columns * bare, axis=1)
        of_columns = F.broadcast_mul(of_columns, F.reshape(mask, shape=shape))
        result = [F.reshape(of_mask, shape=mask.shape)]
    of_images, of_y, of_x = _columns_grad(F, of_columns, images, y, x, masked)
    of_offset = _offsets_grad(F, (of_y, of_x), offset, {'groups': p['num_deformable_group'], 'kernel': p['kernel']})
    result = [F.reshape(of_images, shape=data.shape), of_offset, *result, F.reshape(of_weight, shape=weight.shape)]
    if bias:
        result.append(F.sum(og, axis=(0, 2, 3)))
    return tuple(result)


_SHAPES = ((1, 4, 4, 5), (1, 16, 3, 4), (4, 2, 2, 2), (4,))
_SAMPLE = {'kernel': (2, 2), 'num_filter': 4, 'num_group': 2, 'num_deformable_group': 2}


@register(_PLAIN, inputs=('data', 'offset', 'weight', 'bias'), infer=_infer(_PLAIN, False), grad=_grad,
          num_inputs=lambda params: 3 if params['no_bias'] else 4, params={**_WINDOWS, **_GROUPS, **_LAYOUT},
          samples=((_SHAPES, _SAMPLE), (((1, 2, 3, 3), (1, 8, 2, 2), (2, 2, 2, 2)), {
              'kernel': (2, 2), 'num_filter': 2, 'no_bias': True}, 'positive')))
def _deformable(xp: Any, data: Any, offset: Any, weight: Any, bias: Any = None, **p: Any) -> Any:
    """A convolution of images (batch, channel, y, x) whose windows are bent.

    ``offset`` (batch, 2 · elements of the kernel, y, x) moves each element of each window down and across.
    """
    out = _convolve(raw(xp), data, offset, None, weight, p)
    return out.copy() if bias is None else out + bias.reshape(1, -1, 1, 1)


@register(_MODULATED, inputs=('data', 'offset', 'mask', 'weight', 'bias'), infer=_infer(_MODULATED, True), grad=_grad,
          num_inputs=lambda params: 4 if params['no_bias'] else 5, samples=(
              ((_SHAPES[0], _SHAPES[1], (1, 8, 3, 4), *_SHAPES[2:]), _SAMPLE),),
          params={**_WINDOWS, **_GROUPS, 'im2col_step': Int(64, 'has no effect', low=1), **_LAYOUT})
def _modulated(xp: Any, data: Any, offset: Any, mask: Any, weight: Any, bias: Any = None, **p: Any) -> Any:
    """DeformableConvolution whose elements are scaled by ``mask`` (batch, elements of the kernel, y, x) as well."""
    out = _convolve(raw(xp), data, offset, mask, weight, p)
    return out.copy() if bias is None else out + bias.reshape(1, -1, 1, 1)
