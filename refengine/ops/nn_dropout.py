"""Dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import MXNetError
from ..op import Bool, Enum, Float, Shape, register
from ._nn import empty, require_float


def _grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: dict[str, Any]) -> tuple[Any]:
    mask = outputs[1]
    if mask.ndim != ograds[0].ndim:                        # nothing was dropped
        return (ograds[0],)
    return (F.broadcast_mul(ograds[0], mask),)


def _infer(arrays: Any, params: dict[str, Any]) -> None:
    require_float('Dropout', arrays[0])
    for axis in params['axes'] or ():
        if not 0 <= axis < arrays[0].ndim:
            raise MXNetError(f'Error in operator Dropout: axis = {axis} must be in range [0, {arrays[0].ndim})')


@register('Dropout', inputs=('data',), num_outputs=2, visible=1, infer=_infer, grad=_grad,
          params={'p': Float(0.5, 'probability of an element to become 0', low=0, high=1),
                  'mode': Enum(('training', 'always'), 'training', 'when elements are dropped'),
                  'axes': Shape((), 'along these axes one decision holds for all elements', none=True),
                  'cudnn_off': Bool(False, none=True)},
          rules=('GLUON-HYBRID-022',))
def _dropout(xp: Any, data: Any, p: float = 0.5, mode: str = 'training', axes: tuple[int, ...] = (),
             cudnn_off: bool = False, is_train: bool = False, rng: Any = None) -> tuple[Any, Any]:
    """Sets elements to 0 with probability p and multiplies the others by 1 / (1 - p), in training mode only."""
    if not (is_train or mode == 'always') or p == 0:
        return data.copy(), xp.empty((), data.dtype)
    shape = tuple(1 if axis in (axes or ()) else n for axis, n in enumerate(data.shape))
    mask = _mask(xp, shape, p, data.dtype, rng)
    if xp is np and mask.shape == data.shape and data.flags.c_contiguous:
        return np.multiply(data, mask, out=empty(xp, data.shape, data.dtype)), mask
    return data * mask, mask


def _mask(xp: Any, shape: tuple[int, ...], p: float, dtype: Any, rng: Any) -> Any:
    """0 with probability p, else 1 / (1 - p); each decision takes 16 random bits where that is exact enough."""
    size = 1
    for n in shape:
        size *= n
    keep = 0.0 if p >= 1 else 1 / (1 - p)
    steps = p * 65536
    mask = empty(xp, shape, dtype)
    if xp is np and steps == int(steps):
        words = rng.integers(0, 1 << 64, (size + 3) // 4, dtype=np.uint64).view(np.uint16)[:size]
        np.greater_equal(words.reshape(shape), int(steps), out=mask, casting='unsafe')
    else:
        kind = np.float32 if xp is np else np.float64
        xp.greater_equal(xp.asarray(rng.random(size, dtype=kind)).reshape(shape), p, out=mask, casting='unsafe')
    mask *= mask.dtype.type(keep)
    return mask
