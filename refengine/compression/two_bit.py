"""Two bits per element: plus threshold, minus threshold, or nothing."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from ..base import MXNetError
from ..device import module_of
from .codec import Codec

BLOCK = 32 * 1024


class TwoBit(Codec):
    """``r = residual + gradient``; r >= threshold sends +threshold (code 11), r <= -threshold sends -threshold (10).

    Everything else sends 0 (00). What was sent leaves the residual (rules COMP-2BIT-001 to 010). Four elements go into
    a byte, the first into its most significant bits.

    >>> import numpy as np
    >>> codec, residual = TwoBit(0.5), np.zeros(4, 'float32')
    >>> packed = codec.pack(np.array([0.5, -0.5, 0.25, -0.25], 'float32'), residual)
    >>> packed.tobytes().hex(), residual.tolist(), codec.unpack(packed, 4).tolist()
    ('e0000000', [0.0, 0.0, 0.25, -0.25], [0.5, -0.5, 0.0, 0.0])
    """

    name: ClassVar[str] = '2bit'
    bits: ClassVar[int] = 2

    def __init__(self, threshold: float = 0.5) -> None:
        super().__init__(threshold)
        if not self.threshold > 0:
            raise MXNetError('threshold must be greater than 0 for two bit compression, '
                             f'got {threshold}')

    def quantise(self, gradient: Any, residual: Any) -> Any:
        xp = module_of(gradient)
        out = xp.empty_like(gradient)
        if xp is np and gradient.flags.c_contiguous and residual.flags.c_contiguous and out.flags.c_contiguous:
            g, r, o = gradient.reshape(-1), residual.reshape(-1), out.reshape(-1)
            for begin in range(0, g.size, BLOCK):
                end = begin + BLOCK
                self._quantise(xp, g[begin:end], r[begin:end], o[begin:end])
        else:
            self._quantise(xp, gradient, residual, out)
        return out

    def _quantise(self, xp: Any, gradient: Any, residual: Any, out: Any) -> None:
        xp.add(residual, gradient, residual)
        xp.subtract(residual >= self.threshold, residual <= -self.threshold, out, dtype='int8', casting='unsafe')
        xp.multiply(out, self.threshold, out)
        # where nothing is sent the residual must stay what it is, also if it is infinite or not a number
        xp.subtract(residual, out, residual)

    def pack(self, gradient: Any, residual: Any) -> Any:
        xp = module_of(gradient)
        size = gradient.size
        flat = residual.reshape(-1)
        xp.add(flat, gradient.reshape(-1), flat)
        codes = xp.zeros((self.packed_size(size) * 4, 2), 'bool')
        up = flat >= self.threshold
        down = flat <= -self.threshold
        xp.logical_or(up, down, out=codes[:size, 0])
        codes[:size, 1] = up
        xp.subtract(flat, self.threshold, out=flat, where=up)
        xp.add(flat, self.threshold, out=flat, where=down)
        if flat.base is not residual and not xp.shares_memory(flat, residual):
            residual[...] = flat.reshape(residual.shape)
        return xp.packbits(codes.reshape(-1))

    def unpack(self, packed: Any, size: int) -> Any:
        xp = module_of(packed)
        table = _table(self.threshold)
        if xp is not np:
            table = xp.asarray(table)
        return xp.take(table, packed, axis=0).reshape(-1)[:size]


@lru_cache(maxsize=8)
def _table(threshold: float) -> np.ndarray:
    """The four values of every byte."""
    codes = np.arange(256)[:, None] >> np.array([6, 4, 2, 0]) & 3
    values = np.array([0.0, 0.0, -threshold, threshold], 'float32')
    return values[codes]
