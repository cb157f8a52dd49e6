"""Convolution and Deconvolution: they, and the gradient of the weight, are each other's gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import MXNetError, shape_text
from ..op import Bool, Enum, Int, Shape, register
from . import _conv
from ._nn import require_float, require_shape, require_uniform, require_windows, wide
from .shapes import completes, merge

_LAYOUTS = ('NCW', 'NCHW', 'NCDHW', 'NWC', 'NHWC', 'NDHWC', 'None')
_DATA = {1: '3D in batch-num_filter-x', 2: '4D in batch-num_filter-y-x', 3: '5D in batch-num_filter-depth-y-x'}
_PARAMS = {'kernel': Shape(doc='size of the kernel'), 'stride': Shape((), 'distance of windows'),
           'dilate': Shape((), 'distance of elements of a window'), 'pad': Shape((), 'zeros on both sides'),
           'num_filter': Int(low=1, doc='number of output channels'), 'num_group': Int(1, 'groups of channels', low=1),
           'workspace': Int(1024), 'no_bias': Bool(False, 'whether there is no bias'),
           'cudnn_tune': Enum(('off', 'limited_workspace', 'fastest', 'None'), None), 'cudnn_off': Bool(False),
           'layout': Enum(_LAYOUTS, None, 'order of the axes')}


def _channels_last(params: dict[str, Any]) -> bool:
    layout = params.get('layout')
    return layout is not None and layout[-1] == 'C'


def _ordered(x: Any, last: bool) -> Any:
    """An array of the given layout as (batch, channels, spatial…)."""
    return _conv._first(x) if last else x


def _returned(x: Any, last: bool) -> Any:
    return _conv._last(x) if last else x


def _logical(shape: Sequence[int], last: bool) -> tuple[int, ...]:
    """A shape of the given layout in the order (batch, channels, spatial…)."""
    return (shape[0], shape[-1], *shape[1:-1]) if last else tuple(shape)


def _physical(shape: Sequence[int], last: bool) -> tuple[int, ...]:
    return (shape[0], *shape[2:], shape[1]) if last else tuple(shape)


def _check(op: str, arrays: Sequence[Any], params: dict[str, Any]) -> tuple[int, ...]:
    """Checks that both operators share; the logical shape of the data."""
    data, kernel = arrays[0], params['kernel']
    spatial = len(kernel)
    require_windows(op, params)
    if data.ndim != spatial + 2:
        raise MXNetError(f'Error in operator {op}: Input data should be {_DATA[spatial]}, got shape '
                         f'{shape_text(data.shape)} with kernel {shape_text(kernel)}')
    layout = params['layout']
    if layout is not None and len(layout) != data.ndim:
        raise MXNetError(f'Error in operator {op}: Invalid layout for {data.ndim}d shape: {layout}')
    require_uniform(op, arrays, ('data', 'weight', 'bias'))
    if op != 'Convolution' or data.dtype != np.int8:
        require_float(op, data)
    return _logical(data.shape, _channels_last(params))


# ---- Convolution -----------------------------------------------------------------------------------------------

def _conv_shapes(shape: Sequence[int], params: dict[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shapes of weight and bias for the logical shape of the data."""
    last, groups, filters = _channels_last(params), params['num_group'], params['num_filter']
    logical = (filters // groups * groups, shape[1] // groups, *params['kernel'])
    return _physical(logical, last), (filters,)


def _conv_infer(arrays: Any, params: dict[str, Any]) -> None:
    shape = _check('Convolution', arrays, params)
    weight, bias = _conv_shapes(shape, params)
    require_shape('Convolution', arrays[1].shape, weight)
    if len(arrays) > 2:
        require_shape('Convolution', arrays[2].shape, bias)
    groups = params['num_group']
    if shape[1] % groups or params['num_filter'] % groups:
        raise MXNetError(f'Error in operator Convolution: input num_filter and output num_filter must divide group '
                         f'size: {shape[1]} input channels, {params["num_filter"]} filters, {groups} groups')
    geometry = _geometry(shape, params)
    for reach, size in zip(geometry.reach, geometry.padded()):
        if reach > size:
            raise MXNetError(f'Error in operator Convolution: kernel size exceed input: kernel reaches over '
                             f'{reach}, input with padding has {size}')


@completes('Convolution')
def _conv_complete(shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    data = shapes[0]
    if len(data) != len(params['kernel']) + 2:
        raise MXNetError(f'Input data should be {_DATA[len(params["kernel"])]}, got shape {shape_text(data)}')
    weight, bias = _conv_shapes(_logical(data, _channels_last(params)), params)
    return [data, merge(shapes[1], weight), bias][:len(shapes)]


def _geometry(shape: Sequence[int], params: dict[str, Any]) -> _conv.Geometry:
    return _conv.Geometry(shape[2:], params['kernel'], params['stride'], params['dilate'], params['pad'])


def _shared(params: dict[str, Any]) -> dict[str, Any]:
    return {key: params[key] for key in ('kernel', 'stride', 'dilate', 'pad', 'num_group', 'layout')}


def _conv_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    data, weight = inputs[0], inputs[1]
    og, shared = ograds[0], _shared(params)
    grads = (lambda: F._conv_backward_data(og, weight, data_shape=tuple(data.shape), **shared),
             lambda: F._conv_backward_weight(data, og, **shared))
    if len(inputs) == 2:
        return grads
    channel = og.ndim - 1 if _channels_last(params) else 1
    return (*grads, lambda: F.sum(og, axis=channel, exclude=True))


_CONV_SAMPLES = (
    (((2, 3, 5), (4, 3, 2), (4,)), {'kernel': (2,), 'num_filter': 4}),
    (((2, 2, 4, 5), (3, 2, 2, 3), (3,)), {'kernel': (2, 3), 'num_filter': 3, 'stride': (2, 1), 'pad': (1, 1)}),
    (((1, 5, 5, 4), (4, 5, 3, 3)), {'kernel': (3, 3), 'num_filter': 4, 'pad': (1, 1), 'no_bias': True}),
    (((1, 4, 5, 5), (6, 2, 2, 2)), {'kernel': (2, 2), 'num_filter': 6, 'num_group': 2, 'dilate': (2, 1),
                                    'no_bias': True}),
    (((1, 3, 4, 4), (3, 1, 3, 3), (3,)), {'kernel': (3, 3), 'num_filter': 3, 'num_group': 3, 'pad': (1, 1)}),
    (((1, 2, 3, 3, 3), (2, 2, 2, 2, 2)), {'kernel': (2, 2, 2), 'num_filter': 2, 'no_bias': True}),
    (((2, 4, 4, 3), (2, 2, 2, 3), (2,)), {'kernel': (2, 2), 'num_filter': 2, 'layout': 'NHWC'}),
    (((2, 3, 2, 2), (4, 3, 1, 1), (4,)), {'kernel': (1, 1), 'num_filter': 4}))


@register('Convolution', 'Convolution_v1', inputs=('data', 'weight', 'bias'), params=_PARAMS, mixed=True,
          num_inputs=lambda params: 2 if params['no_bias'] else 3, infer=_conv_infer, grad=_conv_grad,
          samples=_CONV_SAMPLES, rules=('GLUON-HYBRID-005',))
def _convolution(xp: Any, data: Any, weight: Any, bias: Any = None, kernel: tuple[int, ...] = (),
                 stride: tuple[int, ...] = (), dilate: tuple[int, ...] = (), pad: tuple[int, ...] = (),
                 num_filter: int = 0, num_group: int = 1, no_bias: bool = False, layout: str | None = None,
                 out: Any = None, post: _conv.Post | None = None, **ignored: Any) -> Any:
    """Correlates data (batch, channels, spatial…) with weight (num_filter, channels / num_group, kernel…), adds bias.

    Layouts that end in C have the channels last in data, weight and result. Sums of int8 stay within its range.
    """
    last, narrow = layout is not None and layout[-1] == 'C', data.dtype
    x, w, b = wide(_ordered(data, last), _ordered(weight, last), bias)
    if narrow == np.int8:
        x, w, b = (None if a is None else a.astype(np.float64) for a in (x, w, b))
    geometry = _conv.Geometry(x.shape[2:], kernel, stride, dilate, pad)
    target = _ordered(out, last) if out is not None and out.ndim == data.ndim else None
    result = _conv.forward(xp, x, w, geometry, num_group, b, target, post)
    if result is target:
        return out
    if narrow == np.int8:
        result = xp.clip(result, -128, 127)
    return _returned(result, last).astype(narrow, copy=False)


# ---- the two backward operators --------------------------------------------------------------------------------

_BACK = {key: _PARAMS[key] for key in ('kernel', 'stride', 'dilate', 'pad', 'num_group', 'layout')}


def _as_convolution(F: Any, data: Any, weight: Any, params: dict[str, Any]) -> Any:
    shared = _shared(params)
    return F.Convolution(data, weight, num_filter=weight.shape[0], no_bias=True, **shared)


def _back_data_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    og, weight = inputs
    shared = _shared(params)
    return (lambda: _as_convolution(F, ograds[0], weight, params),
            lambda: F._conv_backward_weight(ograds[0], og, **shared))


@register('_conv_backward_data', inputs=('ograd', 'weight'),
          params={**_BACK, 'data_shape': Shape(doc='shape of the data')},
          grad=_back_data_grad)
def _conv_backward_data(xp: Any, ograd: Any, weight: Any, data_shape: tuple[int, ...] = (),
                        kernel: tuple[int, ...] = (),
                        stride: tuple[int, ...] = (), dilate: tuple[int, ...] = (), pad: tuple[int, ...] = (),
                        num_group: int = 1, layout: str | None = None, out: Any = None) -> Any:
    """The gradient of the data of a Convolution."""
    last, narrow = layout is not None and layout[-1] == 'C', ograd.dtype
    og, w = wide(_ordered(ograd, last), _ordered(weight, last))
    geometry = _conv.Geometry(_logical(data_shape, last)[2:], kernel, stride, dilate, pad)
    target = _ordered(out, last) if out is not None and out.ndim == ograd.ndim else None
    result = _conv.backward_data(xp, og, w, geometry, num_group, target)
    return out if result is target else _returned(result, last).astype(narrow, copy=False)


def _back_weight_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    data, og = inputs
    shared = _shared(params)
    return (lambda: F._conv_backward_data(og, ograds[0], data_shape=tuple(data.shape), **shared),
            lambda: _as_convolution(F, data, ograds[0], params))


@register('_conv_backward_weight', inputs=('data', 'ograd'), params=_BACK, grad=_back_weight_grad)
def _conv_backward_weight(xp: Any, data: Any, ograd: Any, kernel: tuple[int, ...] = (), stride: tuple[int, ...] = (),
                          dilate: tuple[int, ...] = (), pad: tuple[int, ...] = (), num_group: int = 1,
                          layout: str | None = None) -> Any:
    """The gradient of the weight of a Convolution."""
    last, narrow = layout is not None and layout[-1] == 'C', ograd.dtype
    x, og = wide(_ordered(data, last), _ordered(ograd, last))
    geometry = _conv.Geometry(x.shape[2:], kernel, stride, dilate, pad)
    return _returned(_conv.backward_weight(xp, x, og, geometry, num_group), last).astype(narrow, copy=False)


# ---- Deconvolution ---------------------------------------------------------------------------------------------

def _check_adjustment(adj: Sequence[int], stride: Sequence[int]) -> None:
    for axis, (step, extra) in enumerate(zip(stride, adj)):
        if not 0 <= extra < step:
            raise MXNetError(f'Error in operator Deconvolution: the parameter adj must be smaller than stride and not '
                             f'negative: axis {axis} has adj {extra} and stride {step}')


def _settled(shape: Sequence[int], params: dict[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Padding and output sizes; target_shape decides both when it is given."""
    spatial = len(params['kernel'])
    stride = params['stride'] or (1,) * spatial
    dilate = params['dilate'] or (1,) * spatial
    pad, adj = params['pad'] or (0,) * spatial, params['adj'] or (0,) * spatial
    full = tuple(s * (n - 1) + d * (k - 1) + 1 for n, k, s, d in zip(shape[2:], params['kernel'], stride, dilate))
    target = params['target_shape']
    if any(target):
        surplus = tuple(f - t for f, t in zip(full, target))
        if any(n < 0 for n in surplus):
            raise MXNetError(f'Error in operator Deconvolution: too big target shape: at most {full}, got {target}')
        _check_adjustment(tuple(n % 2 for n in surplus), stride)    # what an odd surplus leaves over is adjusted
        return tuple((n + 1) // 2 for n in surplus), tuple(target)
    _check_adjustment(adj, stride)
    return tuple(pad), tuple(f - 2 * p + a for f, p, a in zip(full, pad, adj))


def _deconv_shapes(shape: Sequence[int], params: dict[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    logical = (shape[1], params['num_filter'] // params['num_group'], *params['kernel'])
    return _physical(logical, _channels_last(params)), (params['num_filter'],)


def _deconv_infer(arrays: Any, params: dict[str, Any]) -> None:
    shape = _check('Deconvolution', arrays, params)
    weight, bias = _deconv_shapes(shape, params)
    require_shape('Deconvolution', arrays[1].shape, weight)
    if len(arrays) > 2:
        require_shape('Deconvolution', arrays[2].shape, bias)
    groups, spatial = params['num_group'], len(params['kernel'])
    if shape[1] % groups or params['num_filter'] % groups:
        raise MXNetError(f'Error in operator Deconvolution: input num_filter and output num_filter must divide '
                         f'group size: {shape[1]} input channels, {params["num_filter"]} filters, {groups} groups')
    for name in ('adj', 'target_shape'):
        if params[name] and len(params[name]) != spatial:
            raise MXNetError(f'Error in operator Deconvolution: the parameter {name} must have the same number of '
                             f'dimensions with kernel_size {shape_text(params["kernel"])}, got '
                             f'{shape_text(params[name])}')
    _, sizes = _settled(shape, params)
    if any(n < 1 for n in sizes):
        raise MXNetError(f'Error in operator Deconvolution: the parameters leave no output: sizes {sizes}')


@completes('Deconvolution')
def _deconv_complete(shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    data = shapes[0]
    if len(data) != len(params['kernel']) + 2:
        raise MXNetError(f'Input data should be {_DATA[len(params["kernel"])]}, got shape {shape_text(data)}')
    weight, bias = _deconv_shapes(_logical(data, _channels_last(params)), params)
    return [data, merge(shapes[1], weight), bias][:len(shapes)]


def _deconv_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    data, weight = inputs[0], inputs[1]
    og, shared = ograds[0], _shared(params)
    shared['pad'] = _settled(_logical(data.shape, _channels_last(params)), params)[0]
    grads = (lambda: F.Convolution(og, weight, num_filter=weight.shape[0], no_bias=True, **shared),
             lambda: F._conv_backward_weight(og, data, **shared))
    if len(inputs) == 2:
        return grads
    channel = og.ndim - 1 if _channels_last(params) else 1
    return (*grads, lambda: F.sum(og, axis=channel, exclude=True))


@register('Deconvolution', inputs=('data', 'weight', 'bias'), mixed=True,
          params={**_PARAMS, 'adj': Shape((), 'is added to the output sizes, less than the stride'),
                  'target_shape': Shape((), 'output sizes; padding follows from it'), 'workspace': Int(512),
                  'no_bias': Bool(True, 'whether there is no bias')},
          positional=('kernel', 'stride', 'dilate', 'pad', 'adj', 'target_shape', 'num_filter', 'num_group',
                      'workspace', 'no_bias', 'cudnn_tune', 'cudnn_off', 'layout'),
          num_inputs=lambda params: 2 if params['no_bias'] else 3, infer=_deconv_infer, grad=_deconv_grad,
          samples=((((2, 3, 4), (3, 2, 3)), {'kernel': (3,), 'num_filter': 2, 'stride': (2,), 'adj': (1,)}),
                   (((1, 2, 3, 3), (2, 3, 2, 2), (3,)), {'kernel': (2, 2), 'num_filter': 3, 'pad': (1, 0),
                                                         'no_bias': False}),
                   (((1, 4, 3, 3), (4, 1, 3, 3)), {'kernel': (3, 3), 'num_filter': 4, 'num_group': 4, 'stride': (2, 2),
                                                   'target_shape': (6, 6)}),
                   (((1, 4, 3, 2), (4, 3, 2, 2)), {'kernel': (2, 2), 'num_filter': 6, 'num_group': 2})))
def _deconvolution(xp: Any, data: Any, weight: Any, bias: Any = None, kernel: tuple[int, ...] = (),
                   stride: tuple[int, ...] = (), dilate: tuple[int, ...] = (), pad: tuple[int, ...] = (),
                   adj: tuple[int, ...] = (), target_shape: tuple[int, ...] = (), num_filter: int = 0,
                   num_group: int = 1, no_bias: bool = True, layout: str | None = None, **ignored: Any) -> Any:
    """The transposed convolution: each element of data is spread over a window through the weight.

    Output sizes are stride · (n - 1) + reach of the kernel - 2 pad + adj.
    """
    last, narrow = layout is not None and layout[-1] == 'C', data.dtype
    x, w, b = wide(_ordered(data, last), _ordered(weight, last), bias)
    pad, sizes = _settled(x.shape, {'kernel': kernel, 'stride': stride, 'dilate': dilate, 'pad': pad, 'adj': adj,
                                    'target_shape': target_shape})
    geometry = _conv.Geometry(sizes, kernel, stride, dilate, pad)
    out = _conv.backward_data(xp, x, w, geometry, num_group)
    if b is not None:
        out = out + b.reshape(-1, *(1,) * len(kernel))
    return _returned(out, last).astype(narrow, copy=False)


