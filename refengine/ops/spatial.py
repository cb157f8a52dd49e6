"""Spatial transformers: grids from parameters, and images sampled at the points of a grid."""

from __future__ import annotations

from typing import Any

from ..base import MXNetError, shape_text
from ..op import Bool, Enum, Shape, register
from ._nn import require_float
from .points import interpolate, interpolate_grad

_OFF = Bool(None, 'is for other libraries', none=True)


# ---- BilinearSampler -----------------------------------------------------------------------------------------------

def _sampler_infer(arrays: Any, params: dict[str, Any]) -> None:
    data, grid = arrays
    require_float('BilinearSampler', data)
    if data.ndim != 4 or grid.ndim != 4:
        raise MXNetError(f'Operator BilinearSampler: input data and grid should be 4D in batch-num_filter-y-x, got '
                         f'{shape_text(data.shape)} and {shape_text(grid.shape)}')
    if grid.shape[1] != 2 or grid.shape[0] != data.shape[0]:
        raise MXNetError(f'Operator BilinearSampler: expected a grid of shape ({data.shape[0]}, 2, y, x), got '
                         f'{shape_text(grid.shape)}')


def _sampler_grad(F: Any, og: Any, data: Any, grid: Any) -> tuple[Any, Any]:
    batch, channels, height, width = data.shape
    flat = F.reshape(grid, shape=(batch, 2, -1))
    half_x, half_y = (width - 1) / 2, (height - 1) / 2
    x = (F.reshape(F.slice_axis(flat, axis=1, begin=0, end=1), shape=(batch, -1)) + 1) * half_x
    y = (F.reshape(F.slice_axis(flat, axis=1, begin=1, end=2), shape=(batch, -1)) + 1) * half_y
    of_data, of_y, of_x = interpolate_grad(F, F.reshape(og, shape=(batch, channels, -1)), data, y, x)
    of_grid = F.Concat(F.expand_dims(of_x * half_x, axis=1), F.expand_dims(of_y * half_y, axis=1), dim=1)
    return of_data, F.reshape(of_grid, shape=grid.shape)


@register('BilinearSampler', inputs=('data', 'grid'), infer=_sampler_infer, params={'cudnn_off': _OFF},
          grad=lambda F, ograds, inputs, outputs, params: _sampler_grad(F, ograds[0], *inputs),
          samples=((((2, 2, 3, 4), (2, 2, 2, 3)), {}), (((1, 2, 5, 4), (1, 2, 3, 2)), {}, 'unit')))
def _bilinear_sampler(xp: Any, data: Any, grid: Any, cudnn_off: Any = None) -> Any:
    """Images (batch, channel, y, x) at the points of a grid (batch, 2, y, x): x, then y, from -1 to 1; 0 outside."""
    batch, channels, height, width = data.shape
    kind = grid.dtype.type
    x, y = (grid[:, 0].reshape(batch, -1) + 1) * kind((width - 1) / 2), (grid[:, 1].reshape(batch, -1) + 1) * kind(
        (height - 1) / 2)
    return interpolate(xp, data, y, x).astype(data.dtype, copy=False).reshape(batch, channels, *grid.shape[2:])


# ---- GridGenerator -------------------------------------------------------------------------------------------------

def _grid_infer(arrays: Any, params: dict[str, Any]) -> None:
    data = arrays[0]
    require_float('GridGenerator', data)
    if params['transform_type'] == 'affine':
        if data.ndim != 2 or data.shape[1] != 6:
            raise MXNetError(f'Operator GridGenerator: for transform_type affine data should be (batch, 6), got '
                             f'{shape_text(data.shape)}')
        if min(params['target_shape']) < 1:
            raise MXNetError(f'Operator GridGenerator: incorrect target_shape: {params["target_shape"]}')
    elif data.ndim != 4 or data.shape[1] != 2:
        raise MXNetError(f'Operator GridGenerator: for transform_type warp data should be (batch, 2, y, x), got '
                         f'{shape_text(data.shape)}')


def _target(xp: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """x, y and 1 of each point of the target, from -1 to 1, as (3, points)."""
    height, width = shape
    step_y, step_x = (dtype.type(2.0 / (n - 1)) if n > 1 else dtype.type(0) for n in shape)
    x = -1 + xp.arange(width, dtype=dtype) * step_x
    y = -1 + xp.arange(height, dtype=dtype) * step_y
    return xp.stack((xp.tile(x, height), xp.repeat(y, width), xp.ones(height * width, dtype)))


def _grid_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any]:
    if params['transform_type'] == 'affine':
        return (F._affine_backward(ograds[0]),)
    return (F._warp_scale(ograds[0]),)


@register('GridGenerator', infer=_grid_infer, grad=_grid_grad,
          params={'transform_type': Enum(('affine', 'warp'), doc='matrices (batch, 6), or a flow (batch, 2, y, x)'),
                  'target_shape': Shape((0, 0), 'height and width of the grid for affine', ndim=2)},
          samples=((((2, 6),), {'transform_type': 'affine', 'target_shape': (2, 3)}),
                   (((2, 2, 3, 2),), {'transform_type': 'warp'})))
def _grid_generator(xp: Any, data: Any, transform_type: str = 'affine', target_shape: tuple[int, ...] = (0, 0)) -> Any:
    """A grid (batch, 2, y, x) of the points at which BilinearSampler samples: x, then y, from -1 to 1."""
    if transform_type == 'affine':
        grid = xp.matmul(data.reshape(-1, 2, 3), _target(xp, target_shape, data.dtype))
        return grid.reshape(len(data), 2, *target_shape)
    height, width = data.shape[2:]
    out = xp.empty_like(data)
    for axis, size, places in ((0, width, xp.arange(width)), (1, height, xp.arange(height)[:, None])):
        out[:, axis] = (data[:, axis] + places.astype(data.dtype)) * data.dtype.type(_warp_step(size)) - 1
    return out


def _warp_step(size: int) -> float:
    return 2.0 / (size - 1) if size > 1 else float('inf')


@register('_affine_backward', inputs=('ograd',),
          grad=lambda F, ograds, inputs, outputs, params: (
              F.GridGenerator(ograds[0], transform_type='affine', target_shape=tuple(inputs[0].shape[2:])),))
def _affine_backward(xp: Any, ograd: Any) -> Any:
    """The gradient of affine grids by their matrices."""
    batch, _, *shape = ograd.shape
    return xp.matmul(ograd.reshape(batch, 2, -1), _target(xp, tuple(shape), ograd.dtype).T).reshape(batch, 6)


@register('_warp_scale', inputs=('ograd',),
          grad=lambda F, ograds, inputs, outputs, params: (F._warp_scale(ograds[0]),))
def _warp_scale(xp: Any, ograd: Any) -> Any:
    """Grid coordinates per pixel times an array (batch, 2, y, x): the gradient of a grid by its flow."""
    steps = xp.asarray([_warp_step(ograd.shape[3]), _warp_step(ograd.shape[2])], ograd.dtype)
    return ograd * steps.reshape(1, 2, 1, 1)


# ---- SpatialTransformer --------------------------------------------------------------------------------------------

def _transformer_infer(arrays: Any, params: dict[str, Any]) -> None:
    data, loc = arrays
    require_float('SpatialTransformer', data)
    if data.ndim != 4:
        raise MXNetError(f'Operator SpatialTransformer: input data should be 4D in batch-num_filter-y-x, got '
                         f'{shape_text(data.shape)}')
    if loc.ndim != 2 or loc.shape != (data.shape[0], 6):
        raise MXNetError(f'Operator SpatialTransformer: expected localisation parameters of shape '
                         f'({data.shape[0]}, 6), got {shape_text(loc.shape)}')
    if min(params['target_shape']) < 1:
        raise MXNetError(f'Operator SpatialTransformer: incorrect target_shape: {params["target_shape"]}')


def _transformer_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, Any]:
    grid = F.GridGenerator(inputs[1], transform_type='affine', target_shape=params['target_shape'])
    of_data, of_grid = _sampler_grad(F, ograds[0], inputs[0], grid)
    return of_data, F._affine_backward(of_grid)


@register('SpatialTransformer', inputs=('data', 'loc'), infer=_transformer_infer, grad=_transformer_grad,
          params={'target_shape': Shape((0, 0), 'height and width of the result', ndim=2),
                  'transform_type': Enum(('affine',)), 'sampler_type': Enum(('bilinear',)), 'cudnn_off': _OFF},
          samples=((((2, 2, 3, 4), (2, 6)), {'target_shape': (2, 3), 'transform_type': 'affine',
                                             'sampler_type': 'bilinear'}),))
def _spatial_transformer(xp: Any, data: Any, loc: Any, target_shape: tuple[int, ...] = (0, 0),
                         transform_type: str = 'affine', sampler_type: str = 'bilinear', cudnn_off: Any = None) -> Any:
    """Images sampled at the affine grid with the matrices ``loc`` (batch, 6)."""
    return _bilinear_sampler(xp, data, _grid_generator(xp, loc, 'affine', target_shape))


