"""IdentityAttachKLSparseReg: the identity, with a gradient that makes mean activations small."""

from __future__ import annotations

from typing import Any

from ..base import MXNetError, shape_text
from ..op import Float, register
from ._nn import require_float, require_shape
from .shapes import completes, merge


def _infer(arrays: Any, params: dict[str, Any]) -> None:
    data, average = arrays
    require_float('IdentityAttachKLSparseReg', data)
    if data.ndim != 2:
        raise MXNetError(f'Operator IdentityAttachKLSparseReg: data should be (batch, features), got shape '
                         f'{shape_text(data.shape)}')
    require_shape('IdentityAttachKLSparseReg', average.shape, data.shape[1:])


@completes('IdentityAttachKLSparseReg')
def _complete(shapes: list[Any], params: dict[str, Any]) -> list[Any]:
    return [shapes[0], merge(shapes[1], tuple(shapes[0][1:]) if shapes[0] else None)]


def _grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any, Any]:
    data, running = inputs
    target = params['sparseness_target']
    average = running * params['momentum'] + F.mean(data, axis=0) * (1 - params['momentum'])
    F._advance_running(running, F.mean(data, axis=0), momentum=params['momentum'])
    penalty = ((1 - target) / (1 - average) - target / average) * params['penalty']
    return F.broadcast_add(ograds[0], F.expand_dims(penalty, axis=0)), None


@register('IdentityAttachKLSparseReg', inputs=('data', 'moving_avg'), infer=_infer, grad=_grad, mutates=(1,),
          mixed=True, params={'sparseness_target': Float(0.1, 'the mean activation to aim at', low=0.0, high=1.0),
                              'penalty': Float(0.001, 'weight of the penalty'),
                              'momentum': Float(0.9, 'how much of the running average stays', low=0.0, high=1.0)})
def _sparse_reg(xp: Any, data: Any, moving_avg: Any, sparseness_target: float = 0.1, penalty: float = 0.001,
                momentum: float = 0.9) -> Any:
    """The input itself; to its gradient that of the divergence of mean activations from a target is added.

    Backward moves ``moving_avg``, the running average of each feature.
    """
    return data.copy()
