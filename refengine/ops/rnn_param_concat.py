"""Parameters of recurrent layers, joined to the one vector that the operator RNN takes."""

from __future__ import annotations

from typing import Any

from ..op import Int, register
from ._nn import empty
from .joining import _check_concat, _concat_grad


@register('_rnn_param_concat', variadic=True, mixed=True, params={'dim': Int(1, 'the axis to join along')},
          infer=_check_concat, grad=_concat_grad, samples=((((3,), (4,)), {'dim': 0}),))
def _rnn_param_concat(xp: Any, *arrays: Any, dim: int = 1) -> Any:
    """All weights, then all biases, end to end."""
    if dim or any(array.ndim != 1 for array in arrays):
        return xp.concatenate(arrays, axis=dim)
    found = empty(xp, (sum(array.size for array in arrays),), arrays[0].dtype)
    return xp.concatenate(arrays, out=found)
