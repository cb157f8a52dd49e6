"""BatchNorm: normalisation with the statistics of the batch in training, with running ones otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..op import Bool, Float, Int, normal_axis, register
from ._channels import Channels, widened
from ._moments import FAR
from ._nn import channel_shape, require_float, require_shape
from .nn_norm import norm_second_gradient
from .shapes import completes, merge


def _axis(ndim: int, params: dict[str, Any]) -> int:
    return normal_axis(params['axis'], ndim, f'Operator BatchNorm: Channel axis out of range: axis={params["axis"]}, '
                                            f'ndim={ndim}')


def _infer(arrays: Any, params: dict[str, Any]) -> None:
    require_float('BatchNorm', arrays[0])
    channels = arrays[0].shape[_axis(arrays[0].ndim, params)]
    for vector in arrays[1:]:
        require_shape('BatchNorm', vector.shape, (channels,))


@completes('BatchNorm', '_contrib_BatchNormWithReLU')
def _complete(shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    vector = (shapes[0][_axis(len(shapes[0]), params)],)
    return [shapes[0], *(merge(shape, vector) for shape in shapes[1:])]


def _from_batch(params: dict[str, Any]) -> bool:
    return bool(params.get('is_train')) and not params['use_global_stats']


@register('_advance_running', inputs=('running', 'batch'), params={'momentum': Float(0.9)}, mixed=True, mutates=(0,))
def _advance(xp: Any, running: Any, batch: Any, momentum: float = 0.9) -> Any:
    """Moves running statistics towards those of the batch, in place."""
    running *= running.dtype.type(momentum)
    running += (batch * (1 - momentum)).astype(running.dtype, copy=False)
    return running


def _grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    data, gamma, _, running_mean, running_variance = inputs
    axis = params['axis'] % data.ndim
    vector = channel_shape(data.ndim, axis, data.shape[axis])
    og = ograds[0]
    if _from_batch(params):
        # Running statistics move when the gradient is computed, not before (rule GLUON-HYBRID-025).
        F._advance_running(running_mean, outputs[1], momentum=params['momentum'])
        F._advance_running(running_variance, outputs[3], momentum=params['momentum'])
        unit = F.ones_like(gamma) if params['fix_gamma'] else gamma
        of_data, of_gamma, of_beta = F._batch_norm_backward(og, data, unit, outputs[1], outputs[2], axis=axis,
                                                            eps=params['eps'])
    else:
        shaped = F.reshape(F.ones_like(gamma) if params['fix_gamma'] else gamma, shape=vector)
        scale = F.reshape(1 / F.sqrt(running_variance + params['eps']), shape=vector)
        half = data.dtype != gamma.dtype
        wide_og = F.cast(og, dtype=_name(gamma)) if half else og
        wide_data = F.cast(data, dtype=_name(gamma)) if half else data
        normal = F.broadcast_mul(F.broadcast_sub(wide_data, F.reshape(running_mean, shape=vector)), scale)
        of_data = F.broadcast_mul(wide_og, scale * shaped)
        of_gamma = F._sum_like(wide_og * normal, shaped)
        of_beta = F._sum_like(wide_og, shaped)
        if half:
            of_data = F.cast(of_data, dtype=_name(data))
    of_gamma = F.zeros_like(gamma) if params['fix_gamma'] else F.reshape(of_gamma, shape=gamma.shape)
    return of_data, of_gamma, F.reshape(of_beta, shape=gamma.shape), None, None


def _name(array: Any) -> str:
    dtype = array.dtype
    return str(getattr(dtype, 'name', None) or dtype.__name__)


def running_affine(xp: Any, gamma: Any, beta: Any, mean: Any, variance: Any, eps: float) -> tuple[Any, Any]:
    """Factor and shift per channel that a BatchNorm with running statistics is."""
    factor = 1 / xp.sqrt(variance + variance.dtype.type(eps)) * gamma
    return factor, beta - mean * factor


def running_parts(xp: Any, gamma: Any, beta: Any, mean: Any, scale: Any) -> tuple[Any, Any, Any]:
    """What to subtract (None for nothing), the factor and the shift per channel of a BatchNorm with running statistics.

    One multiplication and one addition where nothing is lost in the difference of their results: see ``_moments``.
    """
    factor = scale * gamma
    product = mean * factor
    if xp is np and product.dot(product) <= FAR * FAR * gamma.dot(gamma):
        return None, factor, beta - product
    return mean, factor, beta


_INPUTS = ('data', 'gamma', 'beta', 'moving_mean', 'moving_var')
_PARAMS = {'eps': Float(1e-3, 'is added to the variance'),
           'momentum': Float(0.9, 'how much of the running statistics stays'),
           'fix_gamma': Bool(True, 'set gamma to 1 and give it no gradient'),
           'use_global_stats': Bool(False, 'use the running statistics in training too'),
           'output_mean_var': Bool(False, 'give mean and inverse standard deviation too'),
           'axis': Int(1, 'the axis of the channels'), 'cudnn_off': Bool(False),
           'min_calib_range': Float(None, none=True), 'max_calib_range': Float(None, none=True)}
_SHARED: dict[str, Any] = {
    'inputs': _INPUTS, 'params': _PARAMS, 'mixed': True, 'num_outputs': 4,
    'visible': lambda params: 3 if params['output_mean_var'] else 1, 'mutates': (1, 3, 4), 'infer': _infer}


@register('BatchNorm', grad=_grad, rules=('GLUON-HYBRID-025', 'FP16-REDUCE-001'), **_SHARED)
def _batch_norm(xp: Any, data: Any, gamma: Any, beta: Any, moving_mean: Any, moving_var: Any, eps: float = 1e-3,
                momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False,
                output_mean_var: bool = False, axis: int = 1, is_train: bool = False, out: Any = None,
                **ignored: Any) -> tuple[Any, ...]:
    """(x - mean) / sqrt(variance + eps) · gamma + beta per channel.

    In training mode mean and variance are those of the batch, and backward moves moving_mean and moving_var towards
    them; otherwise, and with use_global_stats, the moving ones are used. fix_gamma writes 1 into gamma.
    """
    axis %= data.ndim
    if fix_gamma:
        gamma[...] = 1
    channels = Channels(xp, data, axis)
    x = widened(channels.view(data))
    if is_train and not use_global_stats:
        centre, rest, mean, variance, scale = channels.centred(x, eps)
        return _from_centre(channels, centre, rest, data.dtype, scale * gamma, beta, out), mean, scale, variance
    mean, variance = moving_mean.copy(), moving_var.copy()
    scale = 1 / xp.sqrt(variance + variance.dtype.type(eps))
    center, factor, shift = running_parts(xp, gamma, beta, mean, scale)
    if center is None:
        return _affine(channels, x, data.dtype, factor, shift, out), mean, scale, variance
    centre = channels.minus(x, center)
    return _from_centre(channels, centre, None, data.dtype, factor, shift, out), mean, scale, variance


def _affine(channels: Channels, x: Any, kind: Any, factor: Any, shift: Any, out: Any, spare: Any = None) -> Any:
    """x · factor + shift, in ``out`` where that can take it, else in ``spare`` or memory of its own."""
    target = channels.target(out, factor.dtype)
    found = channels.affine(x, factor, shift, spare if target is None else target)
    return channels.back(found).astype(kind, copy=False) if target is None else out


def _from_centre(channels: Channels, centre: Any, rest: Any, kind: Any, factor: Any, beta: Any, out: Any) -> Any:
    """(centre - rest) · factor + beta; ``centre`` is used up, ``rest`` may be None."""
    shift = beta if rest is None else beta - rest * factor
    return _affine(channels, centre, kind, factor, shift, out, centre if centre.dtype == factor.dtype else None)


def normalised_again(xp: Any, data: Any, gamma: Any, beta: Any, mean: Any, scale: Any, axis: int = 1,
                     out: Any = None) -> Any:
    """The first result of a BatchNorm from the mean and the inverse standard deviation that it gave."""
    channels = Channels(xp, data, axis % data.ndim)
    centre = channels.minus(widened(channels.view(data)), mean)
    rest = channels.rest(centre, mean, scale)
    return _from_centre(channels, centre, rest, data.dtype, scale * gamma, beta, out)


def _relu_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    return _grad(F, [F._relu_backward(ograds[0], outputs[0]), *ograds[1:]], inputs, outputs, params)


@register('_contrib_BatchNormWithReLU', grad=_relu_grad, **_SHARED)
def _batch_norm_relu(xp: Any, data: Any, gamma: Any, beta: Any, moving_mean: Any, moving_var: Any,
                     is_train: bool = False, **params: Any) -> tuple[Any, ...]:
    """BatchNorm followed by relu."""
    out, *rest = _batch_norm(xp, data, gamma, beta, moving_mean, moving_var, is_train=is_train, **params)
    return (xp.maximum(out, out.dtype.type(0), out=out), *rest)


def _backward_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    og, data, gamma = inputs[:3]
    axis = params['axis']
    vector = channel_shape(data.ndim, axis, data.shape[axis])
    shaped = [F.reshape(x, shape=vector) for x in (gamma, inputs[3], inputs[4], ograds[1], ograds[2])]
    by_og, by_data, by_gamma = norm_second_gradient(
        F, (ograds[0], shaped[3], shaped[4]), og, data, shaped[0],
        tuple(i for i in range(data.ndim) if i != axis), params['eps'])
    return by_og, by_data, F.reshape(by_gamma, shape=gamma.shape), None, None


@register('_batch_norm_backward', inputs=('ograd', 'data', 'gamma', 'mean', 'scale'), num_outputs=3, mixed=True,
          params={'axis': Int(1), 'eps': Float(1e-3)}, grad=_backward_grad)
def _batch_norm_backward(xp: Any, ograd: Any, data: Any, gamma: Any, mean: Any, scale: Any, axis: int = 1,
                         eps: float = 1e-3, out: Any = None) -> tuple[Any, ...]:
    """Gradients of a BatchNorm with the statistics of the batch by data, gamma and beta."""
    channels = Channels(xp, data, axis)
    x, og = channels.view(data), channels.view(ograd)
    kind = scale.dtype.type
    # With n = (x - mean) · scale, the sums of og and of og · n give everything.
    total = channels.sum(widened(og))
    normal = channels.normal(x, mean, scale)
    along = channels.dot(widened(og), normal)
    factor = scale * gamma
    rest = channels.rest(normal, mean, scale)
    if rest is not None:
        along -= rest * total
    target = channels.target(out, factor.dtype) if data.dtype == factor.dtype else None
    of_normal, shift = -factor * along / kind(channels.count), factor * total / kind(channels.count)
    if rest is not None:
        shift += rest * of_normal
    found = channels.combine(normal, of_normal, shift, og, factor, target)
    return channels.back(found).astype(data.dtype, copy=False) if target is None else out, along, total
