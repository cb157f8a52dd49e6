"""Parameters of recurrent layers, joined to the one vector that the operator RNN takes."""

from __future__ import annotations

from typing import Any

from ..op import Int, register
from .joining import _check_concat, _concat_grad


@register('_rnn_param_concat', variadic=True, mixed=True, params={'dim': Int(1, 'the axis to join along')},
          infer=_check_concat, grad=_concat_grad, samples=((((3,), (4,)), {'dim': 0}),))
def _rnn_param_concat(xp: Any, *arrays: Any, dim: int = 1) -> Any:
    """All weights, then all biases, end to end."""
    return xp.concatenate(arrays, axis=dim)
