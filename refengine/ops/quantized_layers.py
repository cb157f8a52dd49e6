"""Layers on bytes: products are summed in int32, and each result comes with the range that it stands for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import MXNetError
from ..op import Bool, Enum, Int, register, registry
from .nn_pooling import _PARAMS as _POOLING
from .quantization import _CALIBRATED, LEVELS, STEPS, _known, kept, one, pair, reach, require_limits, require_type


def _step(array: Any, low: Any, high: Any, steps: dict[str, float] = LEVELS) -> float:
    """What one step of an array of bytes stands for."""
    return float(reach(low, high)) / steps[array.dtype.name]


def _sums(xp: Any, step: float) -> tuple[Any, Any]:
    """The range of int32 when one step of it stands for ``step``."""
    limit = np.float32(step * 2.0**31)
    return one(xp, -limit), one(xp, limit)


def _wide(x: Any) -> Any:
    """Bytes as float64, in which sums of their products are exact."""
    return x.astype(np.float64)


def _int32(xp: Any, x: Any) -> Any:
    return kept(xp, xp.rint(x), 'int32')


# ---- products --------------------------------------------------------------------------------------------------------

_PAIRS = ('min_data', 'max_data', 'min_weight', 'max_weight', 'min_bias', 'max_bias')


def _product_infer(op: str, layer: str) -> Any:
    def infer(arrays: Any, p: dict[str, Any]) -> None:
        count = 2 if p['no_bias'] else 3
        require_type(op, arrays[0], 'int8', 'uint8')
        for array in arrays[1:count]:
            require_type(op, array, 'int8')
        require_limits(op, *arrays[count:])
        check = registry[layer].infer
        assert check is not None
        check([a.astype(np.float32) for a in arrays[:count]], p)

    return infer


def _product(layer: str) -> Any:
    def forward(xp: Any, *arrays: Any, **p: Any) -> tuple[Any, Any, Any]:
        bias = None
        if p['no_bias']:
            data, weight, *limits = arrays
        else:
            data, weight, bias, *limits = arrays
        step = _step(data, *limits[:2]) * _step(weight, *limits[2:4])
        out = registry[layer].forward(xp, _wide(data), _wide(weight), **{**p, 'no_bias': True})
        if bias is not None:
            fine = _step(data, *limits[:2], STEPS) * _step(weight, *limits[2:4], STEPS)
            shift = xp.trunc(_wide(bias) * (_step(bias, *limits[4:6], STEPS) / fine))
            axis = out.ndim - 1 if layer == 'FullyConnected' else 1
            out = out + shift.reshape([-1 if i == axis else 1 for i in range(out.ndim)])
        return (_int32(xp, out), *_sums(xp, step))

    return forward


for _layer, _name in (('FullyConnected', '_contrib_quantized_fully_connected'),
                      ('Convolution', '_contrib_quantized_conv')):
    _op = registry[_layer]
    register(_name, inputs=('data', 'weight', 'bias', *_PAIRS), params=_op.params, num_outputs=3, mixed=True,
             num_inputs=lambda params: 6 if params['no_bias'] else 9, infer=_product_infer(_name, _layer),
             positional=_op.positional,
             doc=f'{_layer} of bytes: the sums of products (int32) and their range. '
                 f'The bias comes in steps of its own and is converted.')(_product(_layer))


# ---- what keeps the range --------------------------------------------------------------------------------------------

def _bytes_infer(op: str) -> Any:
    def infer(arrays: Any, params: dict[str, Any]) -> None:
        require_type(op, arrays[0], 'int8', 'uint8')
        require_limits(op, *arrays[1:])

    return infer


def _pooling_infer(arrays: Any, p: dict[str, Any]) -> None:
    op = '_contrib_quantized_pooling'
    _bytes_infer(op)(arrays, p)
    if p['pool_type'] not in ('max', 'avg'):
        raise MXNetError(f'Operator {op}: QuantizedPoolingOp only supports pool_type=max/avg for now, got '
                         f'{p["pool_type"]}')
    check = registry['Pooling'].infer
    assert check is not None
    check([arrays[0].astype(np.float32)], p)


_LIMITS = ('data', 'min_data', 'max_data')


@register('_contrib_quantized_pooling', inputs=_LIMITS, params=_POOLING, num_outputs=3, mixed=True,
          infer=_pooling_infer)
def _pooling(xp: Any, data: Any, min_data: Any, max_data: Any, **p: Any) -> tuple[Any, Any, Any]:
    """Pooling (max or avg) of bytes; the range stays."""
    out = registry['Pooling'].forward(xp, _wide(data), **p)
    return kept(xp, xp.rint(out), data.dtype.name), min_data.copy(), max_data.copy()


@register('_contrib_quantized_flatten', inputs=_LIMITS, num_outputs=3, mixed=True,
          infer=lambda arrays, params: require_limits('_contrib_quantized_flatten', *arrays[1:]))
def _flatten(xp: Any, data: Any, min_data: Any, max_data: Any) -> tuple[Any, Any, Any]:
    """Bytes, or elements of any other type, with all axes but the first merged; the range stays."""
    return data.reshape(len(data), -1).copy(), min_data.copy(), max_data.copy()


def _act_infer(arrays: Any, p: dict[str, Any]) -> None:
    _bytes_infer('_contrib_quantized_act')(arrays, p)
    if p['act_type'] != 'relu':
        raise MXNetError(f'Operator _contrib_quantized_act only supports act_type=relu for now, got {p["act_type"]}')


@register('_contrib_quantized_act', inputs=_LIMITS, num_outputs=3, mixed=True, infer=_act_infer,
          params={'act_type': Enum(('relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'), doc='only relu')})
def _act(xp: Any, data: Any, min_data: Any, max_data: Any, act_type: str = 'relu') -> tuple[Any, Any, Any]:
    """relu of bytes; the range stays."""
    return xp.maximum(data, data.dtype.type(0)), min_data.copy(), max_data.copy()


def _embedding_infer(arrays: Any, p: dict[str, Any]) -> None:
    op = '_contrib_quantized_embedding'
    require_type(op, arrays[1], 'int8')
    require_limits(op, *arrays[2:])
    check = registry['Embedding'].infer
    assert check is not None
    check(arrays[:2], p)


@register('_contrib_quantized_embedding', inputs=('data', 'weight', 'min_weight', 'max_weight'), num_outputs=3,
          mixed=True, params=registry['Embedding'].params, infer=_embedding_infer)
def _embedding(xp: Any, data: Any, weight: Any, min_weight: Any, max_weight: Any, **p: Any) -> tuple[Any, Any, Any]:
    """Rows of a table of bytes by index; the range is that of the table."""
    return registry['Embedding'].forward(xp, data, weight, **p), min_weight.copy(), max_weight.copy()


# ---- what makes a range ----------------------------------------------------------------------------------------------

def _concat_infer(arrays: Any, p: dict[str, Any]) -> None:
    op, count = '_contrib_quantized_concat', len(arrays) // 3
    if len(arrays) % 3:
        raise MXNetError(f'Operator {op} expects arrays and the limits of each, three times as many in all; got '
                         f'{len(arrays)}')
    for array in arrays[:count]:
        require_type(op, array, 'int8', 'uint8')
    require_limits(op, *arrays[count:])


@register('_contrib_quantized_concat', variadic=True, num_outputs=3, mixed=True, infer=_concat_infer,
          params={'dim': Int(1, 'axis')})
def _concat(xp: Any, *arrays: Any, dim: int = 1) -> tuple[Any, Any, Any]:
    """Arrays of bytes joined along an axis, after all of them the smallest and largest value of each in turn.

    The result has the widest range; it is int8 if one of the arrays is.
    """
    count = len(arrays) // 3
    data, limits = arrays[:count], arrays[count:]
    low = min(float(x.reshape(-1)[0]) for x in limits[0::2])
    high = max(float(x.reshape(-1)[0]) for x in limits[1::2])
    name = 'int8' if any(x.dtype == np.int8 for x in data) else 'uint8'
    target = float(reach(np.float32(low), np.float32(high))) / LEVELS[name]
    parts = []
    for index, x in enumerate(data):
        factor = _step(x, limits[2 * index], limits[2 * index + 1]) / target
        parts.append(kept(xp, xp.rint(x * np.float32(factor)), name))
    return xp.concatenate(parts, axis=dim), one(xp, low), one(xp, high)


_OPERANDS = ('lhs', 'rhs', 'lhs_min', 'lhs_max', 'rhs_min', 'rhs_max')


def _operands_infer(op: str) -> Any:
    def infer(arrays: Any, params: dict[str, Any]) -> None:
        for array in arrays[:2]:
            require_type(op, array, 'int8', 'uint8')
        if arrays[0].shape != arrays[1].shape:
            raise MXNetError(f'Operator {op}: expected two arrays of one shape, got {arrays[0].shape} and '
                             f'{arrays[1].shape}')
        require_limits(op, *arrays[2:])

    return infer


@register('_contrib_quantized_elemwise_add', inputs=_OPERANDS, params=_CALIBRATED, num_outputs=3, mixed=True,
          infer=_operands_infer('_contrib_quantized_elemwise_add'))
def _elemwise_add(xp: Any, lhs: Any, rhs: Any, lhs_min: Any, lhs_max: Any, rhs_min: Any, rhs_max: Any,
                  **p: Any) -> tuple[Any, Any, Any]:
    """The sum of two arrays of bytes: int32, or int8 when the range is known."""
    if _known(p):
        total = lhs * _step(lhs, lhs_min, lhs_max) + rhs * _step(rhs, rhs_min, rhs_max)
        limit = reach(np.float32(p['min_calib_range']), np.float32(p['max_calib_range']))
        return (kept(xp, xp.rint(total * (LEVELS['int8'] / float(limit))), 'int8'), *pair(xp, limit, True))
    limit = reach(lhs_min, lhs_max) + reach(rhs_min, rhs_max)
    total = lhs * _step(lhs, lhs_min, lhs_max, STEPS) + rhs * _step(rhs, rhs_min, rhs_max, STEPS)
    return (_int32(xp, total * (LEVELS['int32'] / float(limit))), *pair(xp, limit, True))


@register('_contrib_quantized_elemwise_mul', inputs=_OPERANDS, mixed=True, params={
    **_CALIBRATED, 'enable_float_output': Bool(False, 'the result is float32, without a range')},
          num_outputs=lambda params: 1 if params['enable_float_output'] else 3,
          infer=_operands_infer('_contrib_quantized_elemwise_mul'))
def _elemwise_mul(xp: Any, lhs: Any, rhs: Any, lhs_min: Any, lhs_max: Any, rhs_min: Any, rhs_max: Any,
                  enable_float_output: bool = False, **p: Any) -> Any:
    """The product of two arrays of bytes: int32, int8 when the range is known, or float32."""
    step = _step(lhs, lhs_min, lhs_max) * _step(rhs, rhs_min, rhs_max)
    product = lhs.astype(np.int32) * rhs.astype(np.int32)
    if enable_float_output:
        return (product * np.float32(step)).astype(np.float32)
    if _known(p):
        limit = reach(np.float32(p['min_calib_range']), np.float32(p['max_calib_range']))
        return (kept(xp, xp.rint(product * (step * LEVELS['int8'] / float(limit))), 'int8'), *pair(xp, limit, True))
    return (product, *_sums(xp, step))


def _norm_infer(arrays: Any, p: dict[str, Any]) -> None:
    op = '_contrib_quantized_batch_norm'
    require_type(op, arrays[0], 'int8', 'uint8')
    require_limits(op, *arrays[5:])
    if not _known(p):
        raise MXNetError(f"Operator {op}: min_calib_range or max_calib_range is not available. Quantized BN currently "
                         f"don't support calib_mode=None")
    for vector in arrays[1:5]:
        if vector.shape != (arrays[0].shape[p['axis']],):
            raise MXNetError(f'Operator {op}: expected vectors of {arrays[0].shape[p["axis"]]} elements, got shape '
                             f'{vector.shape}')


@register('_contrib_quantized_batch_norm', num_outputs=3, mixed=True, params=registry['BatchNorm'].params,
          inputs=('data', 'gamma', 'beta', 'moving_mean', 'moving_var', 'min_data', 'max_data'), infer=_norm_infer)
def _batch_norm(xp: Any, data: Any, gamma: Any, beta: Any, moving_mean: Any, moving_var: Any, min_data: Any,
                max_data: Any, eps: float = 1e-3, fix_gamma: bool = True, axis: int = 1, **p: Any) -> tuple[
                    Any, Any, Any]:
    """BatchNorm of bytes with running statistics; the result is int8 with the known range."""
    factor = (1.0 if fix_gamma else gamma.astype(np.float64)) / xp.sqrt(moving_var.astype(np.float64) + eps)
    shift = beta - moving_mean * factor
    shape = [-1 if i == axis % data.ndim else 1 for i in range(data.ndim)]
    limit = reach(np.float32(p['min_calib_range']), np.float32(p['max_calib_range']))
    values = data * _step(data, min_data, max_data) * factor.reshape(shape) + shift.reshape(shape)
    return (kept(xp, xp.rint(values * (LEVELS['int8'] / float(limit))), 'int8'), *pair(xp, limit, True))


_RNN = registry['RNN']


@register('_contrib_quantized_rnn', mixed=True, params=_RNN.params, visible=_RNN.visible,
          inputs=('data', 'parameters', 'state', 'state_cell', 'data_scale', 'data_shift'),
          num_outputs=lambda params: 3 if params['state_outputs'] else 1)
def _rnn(xp: Any, data: Any, parameters: Any, state: Any, state_cell: Any, data_scale: Any, data_shift: Any,
         **p: Any) -> Any:
    """RNN (lstm) of sequences of uint8, as quantize_asym makes them with scale and shift; the results are numbers."""
    op = '_contrib_quantized_rnn'
    require_type(op, data, 'uint8')
    if p['mode'] != 'lstm':
        raise MXNetError(f'Operator {op}: only mode lstm is supported, got {p["mode"]}')
    require_limits(op, data_scale, data_shift)
    numbers = (data - data_shift.reshape(-1)[0]) / data_scale.reshape(-1)[0]
    arrays = (numbers.astype(parameters.dtype), parameters, state, state_cell)
    assert _RNN.infer is not None
    _RNN.infer(arrays, p)
    outputs = _RNN.forward(xp, *arrays, **p)
    return outputs[:3] if p['state_outputs'] else outputs[0]


