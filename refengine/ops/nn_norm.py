"""LayerNorm, InstanceNorm, GroupNorm: normalisations with the statistics of their input."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..base import MXNetError
from ..op import Bool, Float, Int, Shape, normal_axis, register
from . import _moments
from ._nn import channel_shape, require_float, require_shape
from ._sums import total, total_of_products
from .shapes import completes, merge


def sum_to(xp: Any, x: Any, shape: Sequence[int]) -> Any:
    """The sum over all axes where the shape has length 1."""
    axes = tuple(axis for axis, n in enumerate(shape) if n == 1 and x.shape[axis] != 1)
    return total(xp, x, axes) if axes else x


def norm_second_gradient(F: Any, ograds: Any, og: Any, data: Any, gamma: Any, axes: tuple[int, ...],
                         eps: float) -> tuple[Any, Any, Any]:
    """Gradients of the backward pass of a normalisation by og, data and gamma.

    The backward pass is r · P(g) with g = gamma · og and P(v) = v - mean(v) - n · mean(n · v), n the normalised input.
    P is symmetric, which gives the derivatives by og and gamma; the input enters through n and through r. All of
    gamma and of the cotangents ``ograds`` of (data, gamma, beta) have as many axes as data.
    """
    of_input, of_gamma, of_beta = ograds

    def mean(x: Any) -> Any:
        return F.mean(x, axis=axes, keepdims=True)

    centred = F.broadcast_sub(data, mean(data))
    scale = 1 / F.sqrt(mean(F.square(centred)) + eps)
    normal = F.broadcast_mul(centred, scale)

    def project(x: Any, extra: Any = 0.0) -> Any:
        along = mean(x * normal) + extra
        return F.broadcast_mul(F.broadcast_sub(x, mean(x)) - F.broadcast_mul(normal, along), scale)

    g = F.broadcast_mul(og, gamma)
    back = project(of_input)
    by_og = F.broadcast_add(F.broadcast_mul(back, gamma) + F.broadcast_mul(normal, of_gamma), of_beta)
    by_gamma = F._sum_like(og * back, gamma)
    along_a, along_g = mean(of_input * normal), mean(g * normal)
    by_normal = (F.broadcast_mul(og, of_gamma)
                 - F.broadcast_mul(F.broadcast_mul(of_input, along_g) + F.broadcast_mul(g, along_a), scale))
    product = mean(of_input * g) - mean(of_input) * mean(g) - along_a * along_g
    return by_og, project(by_normal, product * scale), by_gamma


def _affine_backward_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    return (*norm_second_gradient(F, ograds, *inputs[:3], params['axes'], params['eps']), None, None)


@register('_affine_norm_backward', inputs=('ograd', 'data', 'gamma', 'mean', 'scale'), num_outputs=3, mixed=True,
          params={'axes': Shape(doc='the axes of the statistics'), 'eps': Float(doc='what was added to the variance')},
          grad=_affine_backward_grad)
def affine_norm_backward(xp: Any, ograd: Any, data: Any, gamma: Any, mean: Any, scale: Any, axes: tuple[int, ...] = (),
                         eps: float = 0.0) -> tuple[Any, ...]:
    """Gradients of n · gamma + beta by data, gamma and beta, where n is data normalised over axes.

    ``gamma`` has as many axes as data, ``mean`` and ``scale`` = 1 / sqrt(variance + eps) keep the axes with length 1.
    """
    normal = _moments.normalise(xp, data, mean, scale, axes)
    og = ograd.astype(normal.dtype, copy=False)
    if all(gamma.shape[axis] == 1 for axis in axes):
        # One gamma per group of elements: the sums that gamma and beta need are those of the projection.
        kind = normal.dtype.type
        count = kind(math.prod(data.shape[axis] for axis in axes))
        along = total_of_products(xp, og, normal, axes)
        whole = total(xp, og, axes)
        factor = scale * gamma
        normal *= -(along / count) * factor
        out = og * factor
        out += normal
        out -= whole / count * factor
        of_gamma, of_beta = sum_to(xp, along, gamma.shape), sum_to(xp, whole, gamma.shape)
    else:
        of_gamma, of_beta = sum_to(xp, og * normal, gamma.shape), sum_to(xp, og, gamma.shape)
        out = _moments.project(xp, og * gamma, normal, scale, axes)
    kept = gamma.dtype
    return out.astype(data.dtype, copy=False), of_gamma.astype(kept, copy=False), of_beta.astype(kept, copy=False)


def _affine(xp: Any, data: Any, gamma: Any, beta: Any, axes: tuple[int, ...], eps: float) -> tuple[Any, ...]:
    """The normalised input times gamma plus beta, mean, standard deviation and its inverse."""
    centre, rest, mean, variance, scale = _moments.centred(xp, data, axes, eps)
    out = _moments.affine(xp, centre, rest, scale, gamma, beta, all(gamma.shape[axis] == 1 for axis in axes))
    return out.astype(data.dtype, copy=False), mean, xp.sqrt(variance + mean.dtype.type(eps)), scale


def _backward(F: Any, og: Any, data: Any, gamma: Any, mean: Any, scale: Any, axes: tuple[int, ...],
              eps: float) -> tuple[Any, Any, Any]:
    return tuple(F._affine_norm_backward(og, data, gamma, mean, scale, axes=axes, eps=eps))  # type: ignore[return-value]


def _check_vectors(name: str, arrays: Sequence[Any], size: int) -> None:
    require_float(name, arrays[0])
    for vector in arrays[1:3]:
        require_shape(name, vector.shape, (size,))


# ---- LayerNorm -------------------------------------------------------------------------------------------------

def _layer_axis(ndim: int, params: dict[str, Any]) -> int:
    return normal_axis(params['axis'], ndim, f'Operator LayerNorm: Channel axis out of range: axis={params["axis"]}, '
                                            f'ndim={ndim}')


def _layer_infer(arrays: Any, params: dict[str, Any]) -> None:
    _check_vectors('LayerNorm', arrays, arrays[0].shape[_layer_axis(arrays[0].ndim, params)])


@completes('LayerNorm')
def _layer_complete(shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    vector = (shapes[0][_layer_axis(len(shapes[0]), params)],)
    return [shapes[0], merge(shapes[1], vector), merge(shapes[2], vector)]


def _layer_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    data, gamma = inputs[0], inputs[1]
    axis = params['axis'] % data.ndim
    shape = channel_shape(data.ndim, axis, data.shape[axis])
    kept = tuple(1 if i == axis else n for i, n in enumerate(data.shape))
    mean, scale = F.reshape(outputs[1], shape=kept), F.reshape(outputs[3], shape=kept)
    of_data, of_gamma, of_beta = _backward(F, ograds[0], data, F.reshape(gamma, shape=shape), mean, scale, (axis,),
                                           params['eps'])
    return of_data, F.reshape(of_gamma, shape=gamma.shape), F.reshape(of_beta, shape=gamma.shape)


@register('LayerNorm', inputs=('data', 'gamma', 'beta'), num_outputs=4,
          visible=lambda params: 3 if params['output_mean_var'] else 1,
          params={'axis': Int(-1, 'the axis to normalise over'), 'eps': Float(1e-5, 'is added to the variance'),
                  'output_mean_var': Bool(False, 'give mean and standard deviation too')},
          infer=_layer_infer, grad=_layer_grad,
          samples=((((3, 4), (4,), (4,)), {}), (((2, 3, 4), (3,), (3,)), {'axis': 1})))
def _layer_norm(xp: Any, data: Any, gamma: Any, beta: Any, axis: int = -1, eps: float = 1e-5,
                output_mean_var: bool = False) -> tuple[Any, ...]:
    """(x - mean) / sqrt(variance + eps) · gamma + beta with the moments over one axis of each sample."""
    axis %= data.ndim
    shape = channel_shape(data.ndim, axis, data.shape[axis])
    out, mean, deviation, scale = _affine(xp, data, gamma.reshape(shape), beta.reshape(shape), (axis,), eps)
    return out, mean.astype(data.dtype, copy=False), deviation.astype(data.dtype, copy=False), scale


# ---- InstanceNorm ----------------------------------------------------------------------------------------------

def _instance_infer(arrays: Any, params: dict[str, Any]) -> None:
    if arrays[0].ndim < 3:
        raise MXNetError(f'Error in operator InstanceNorm: expected data with at least 3 axes (batch, channel, '
                         f'spatial), got shape {arrays[0].shape}')
    _check_vectors('InstanceNorm', arrays, arrays[0].shape[1])


@completes('InstanceNorm')
def _instance_complete(shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    vector = (shapes[0][1],)
    return [shapes[0], merge(shapes[1], vector), merge(shapes[2], vector)]


def _instance_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    data, gamma = inputs[0], inputs[1]
    shape = channel_shape(data.ndim, 1, data.shape[1])
    of_data, of_gamma, of_beta = _backward(F, ograds[0], data, F.reshape(gamma, shape=shape), outputs[1], outputs[2],
                                           tuple(range(2, data.ndim)), params['eps'])
    return of_data, F.reshape(of_gamma, shape=gamma.shape), F.reshape(of_beta, shape=gamma.shape)


@register('InstanceNorm', inputs=('data', 'gamma', 'beta'), num_outputs=3, visible=1,
          params={'eps': Float(1e-3, 'is added to the variance')}, infer=_instance_infer, grad=_instance_grad,
          samples=((((2, 3, 4), (3,), (3,)), {}), (((2, 2, 3, 2), (2,), (2,)), {'eps': 0.1})))
def _instance_norm(xp: Any, data: Any, gamma: Any, beta: Any, eps: float = 1e-3) -> tuple[Any, ...]:
    """(x - mean) / sqrt(variance + eps) · gamma + beta with the moments of each channel of each sample."""
    shape = channel_shape(data.ndim, 1, data.shape[1])
    out, mean, _, scale = _affine(xp, data, gamma.reshape(shape), beta.reshape(shape), tuple(range(2, data.ndim)), eps)
    return out, mean, scale


# ---- GroupNorm -------------------------------------------------------------------------------------------------

def _group_infer(arrays: Any, params: dict[str, Any]) -> None:
    shape, groups = arrays[0].shape, params['num_groups']
    if len(shape) < 3:
        raise MXNetError(f'Error in operator GroupNorm: expected data with at least 3 axes, got shape {shape}')
    if groups < 1 or shape[1] % groups:
        raise MXNetError(f'Error in operator GroupNorm: # of channels should be divisible by # of groups, got '
                         f'{shape[1]} channels and {groups} groups')
    _check_vectors('GroupNorm', arrays, groups)


@completes('GroupNorm')
def _group_complete(shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    vector = (params['num_groups'],)
    return [shapes[0], merge(shapes[1], vector), merge(shapes[2], vector)]


def _grouped(shape: Sequence[int], groups: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """The shape with an axis for the groups, the axes of the moments, and the shape of gamma."""
    split = (shape[0], groups, shape[1] // groups, *shape[2:])
    return split, tuple(range(2, len(split))), channel_shape(len(split), 1, groups)


def _group_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    data, gamma = inputs[0], inputs[1]
    split, axes, vector = _grouped(data.shape, params['num_groups'])
    kept = (*split[:2], *(1,) * (len(split) - 2))
    of_data, of_gamma, of_beta = _backward(
        F, F.reshape(ograds[0], shape=split), F.reshape(data, shape=split), F.reshape(gamma, shape=vector),
        F.reshape(outputs[1], shape=kept), F.reshape(outputs[3], shape=kept), axes, params['eps'])
    return F.reshape(of_data, shape=data.shape), F.reshape(of_gamma, shape=gamma.shape), F.reshape(of_beta,
                                                                                                  shape=gamma.shape)


@register('GroupNorm', inputs=('data', 'gamma', 'beta'), num_outputs=4,
          visible=lambda params: 3 if params['output_mean_var'] else 1,
          params={'num_groups': Int(1, 'number of groups of channels'), 'eps': Float(1e-5, 'is added to the variance'),
                  'output_mean_var': Bool(False, 'give mean and standard deviation too')},
          infer=_group_infer, grad=_group_grad,
          samples=((((2, 4, 3), (2,), (2,)), {'num_groups': 2}), (((2, 3, 2, 2), (1,), (1,)), {})))
def _group_norm(xp: Any, data: Any, gamma: Any, beta: Any, num_groups: int = 1, eps: float = 1e-5,
                output_mean_var: bool = False) -> tuple[Any, ...]:
    """(x - mean) / sqrt(variance + eps) · gamma + beta with the moments of each group of channels of each sample.

    gamma and beta hold one value per group.
    """
    split, axes, vector = _grouped(data.shape, num_groups)
    out, mean, deviation, scale = _affine(xp, data.reshape(split), gamma.reshape(vector), beta.reshape(vector), axes,
                                          eps)
    pair = split[:2]
    return (out.reshape(data.shape), mean.reshape(pair).astype(data.dtype, copy=False),
            deviation.reshape(pair).astype(data.dtype, copy=False), scale)


