"""UpSampling: larger images by repetition or by a transposed convolution."""

from __future__ import annotations

from typing import Any

from ..base import MXNetError
from ..op import Enum, Int, register
from ._nn import require_uniform


def _infer(arrays: Any, params: dict[str, Any]) -> None:
    for data in arrays if params['sample_type'] == 'nearest' else arrays[:1]:
        if data.ndim != 4:
            raise MXNetError(f'Error in operator UpSampling: input data should be 4D in (batch, channel, y, x), got '
                             f'shape {data.shape}')
    if params['sample_type'] == 'bilinear' and len(arrays) != 2:
        raise MXNetError(f'Error in operator UpSampling: bilinear needs data and weight, got {len(arrays)} arrays')
    nearest = params['sample_type'] == 'nearest'
    require_uniform('UpSampling', arrays, [f'arg{i}' for i in range(len(arrays))] if nearest else ('data', 'weight'))


def _kernel(scale: int) -> tuple[int, int]:
    """Size of the kernel and padding of the transposed convolution."""
    return 2 * scale - scale % 2, scale // 2


def _grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    scale, og = params['scale'], ograds[0]
    if params['sample_type'] == 'bilinear':
        kernel, pad = _kernel(scale)
        shared = {'kernel': (kernel, kernel), 'stride': (scale, scale), 'pad': (pad, pad),
                  'num_group': inputs[0].shape[1]}
        return (F.Convolution(og, inputs[1], num_filter=inputs[0].shape[1], no_bias=True, **shared),
                F._conv_backward_weight(og, inputs[0], **shared))
    height = inputs[0].shape[2] * scale
    grads, channel = [], 0
    for data in inputs:
        factor = height // data.shape[2]
        if params['multi_input_mode'] == 'sum':
            part = og
        else:
            part = F.slice_axis(og, axis=1, begin=channel, end=channel + data.shape[1])
            channel += data.shape[1]
        grads.append(F.Pooling(part, kernel=(factor, factor), stride=(factor, factor), pool_type='sum'))
    return tuple(grads)


@register('UpSampling', inputs=('data',), variadic=True, mixed=True, infer=_infer, grad=_grad,
          params={'scale': Int(doc='factor', low=1), 'num_filter': Int(0),
                  'sample_type': Enum(('nearest', 'bilinear'), doc='repeat elements, or a transposed convolution'),
                  'multi_input_mode': Enum(('concat', 'sum'), 'concat', 'what becomes of several inputs'),
                  'workspace': Int(512)},
          samples=((((1, 2, 2, 3),), {'scale': 2, 'sample_type': 'nearest'}),))
def _up_sampling(xp: Any, *arrays: Any, scale: int = 1, num_filter: int = 0, sample_type: str = 'nearest',
                 multi_input_mode: str = 'concat', workspace: int = 512) -> Any:
    """Images enlarged by a factor; further inputs are enlarged to the size of the first and joined or added."""
    if sample_type == 'bilinear':
        data, weight = arrays
        kernel, pad = _kernel(scale)
        from ..op import registry
        return registry['Deconvolution'].forward(xp, data, weight, kernel=(kernel, kernel), stride=(scale, scale),
                                                 pad=(pad, pad), num_filter=data.shape[1], num_group=data.shape[1])
    height = arrays[0].shape[2] * scale
    enlarged = []
    for data in arrays:
        factor = height // data.shape[2]
        enlarged.append(data.repeat(factor, axis=2).repeat(factor, axis=3))
    if len(enlarged) == 1:
        return enlarged[0]
    if multi_input_mode == 'concat':
        return xp.concatenate(enlarged, axis=1)
    return sum(enlarged[1:], start=enlarged[0])
