"""FullyConnected: the dense layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import MXNetError, dtype_text, shape_text
from ..op import Bool, Int, register
from ._nn import empty, require_shape, unshared, wide
from .shapes import completes


def _columns(shape: Any, flatten: bool) -> int:
    if not flatten:
        return shape[-1]
    columns = 1
    for n in shape[1:]:
        columns *= n
    return columns


def _infer(arrays: Any, params: dict[str, Any]) -> None:
    data, weight = arrays[0], arrays[1]
    if data.dtype.kind != 'f':
        raise MXNetError(f'Error in operator FullyConnected: Unsupported type {dtype_text(data.dtype)}')
    hidden = params['num_hidden']
    require_shape('FullyConnected', weight.shape, (hidden, _columns(data.shape, params['flatten'])))
    if len(arrays) > 2 and arrays[2].shape != (hidden,):
        raise MXNetError(f'Error in operator FullyConnected: Unexpected shape for bias {shape_text(arrays[2].shape)}, '
                         f'expected [{hidden}]')


@completes('FullyConnected')
def _complete(shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    hidden = params['num_hidden']
    return [shapes[0], (hidden, _columns(shapes[0], params['flatten'])), (hidden,)][:len(shapes)]


def _grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    data, weight = inputs[0], inputs[1]
    og = ograds[0]
    columns = weight.shape[1]
    flat = data.ndim == 2
    rows = data if flat else F.reshape(data, shape=(-1, columns))
    if og.ndim != 2:
        og = F.reshape(og, shape=(-1, weight.shape[0]))

    def of_data() -> Any:
        result = F.dot(og, weight)
        return result if flat else F.reshape(result, shape=data.shape)

    grads = (of_data, lambda: F.dot(og, rows, transpose_a=True))
    return grads if len(inputs) == 2 else (*grads, lambda: F.sum(og, axis=0))


@register('FullyConnected', 'fully_connected', inputs=('data', 'weight', 'bias'),
          params={'num_hidden': Int(low=1, doc='number of outputs'),
                  'no_bias': Bool(False, 'whether there is no bias'),
                  'flatten': Bool(True, 'take all axes after the first together')},
          num_inputs=lambda params: 2 if params['no_bias'] else 3, infer=_infer, grad=_grad,
          samples=((((3, 4), (5, 4), (5,)), {'num_hidden': 5}), (((2, 3, 2), (4, 6), (4,)), {'num_hidden': 4}),
                   (((2, 3, 2), (4, 2)), {'num_hidden': 4, 'no_bias': True, 'flatten': False})),
          rules=('GLUON-HYBRID-005', 'GLUON-PARAMS-016'))
def _fully_connected(xp: Any, data: Any, weight: Any, bias: Any = None, num_hidden: int = 0, no_bias: bool = False,
                     flatten: bool = True, out: Any = None) -> Any:
    """data · weightᵀ + bias; the weight has shape (num_hidden, inputs).

    With ``flatten`` the result has two axes; without, the last axis is transformed and the others stay.
    """
    shape = (data.shape[0], weight.shape[0]) if flatten else (*data.shape[:-1], weight.shape[0])
    rows = data if data.ndim == 2 else data.reshape(-1, weight.shape[1])
    if data.dtype == np.float16:
        rows, weight, bias = wide(rows, weight, bias)
    size = rows.shape[0] * weight.shape[0]
    target = unshared(xp, out, shape, rows.dtype, rows, weight)
    if xp is np and ((target is not None and target.flags.c_contiguous) or size >= 8192):
        if target is None or not target.flags.c_contiguous:
            target = empty(xp, shape, rows.dtype)
        out = np.dot(rows, weight.T, out=target.reshape(-1, weight.shape[0]))
        if bias is not None:
            out += bias
        return target if data.dtype == rows.dtype else target.astype(np.float16)
    out = xp.dot(rows, weight.T)
    if bias is not None:
        out += bias
    if data.dtype == np.float16:
        out = out.astype(np.float16)
    return out if out.shape == shape else out.reshape(shape)
