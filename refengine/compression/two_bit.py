"""Two bits per element: plus threshold, minus threshold, or nothing."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from .. import storage
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
        out = storage.empty(gradient.shape, gradient.dtype) if xp is np else xp.empty_like(gradient)
        if xp is np and gradient.flags.c_contiguous and residual.flags.c_contiguous:
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
        packed = xp.zeros(self.packed_size(size), 'uint8')
        if xp is not np or not (gradient.flags.c_contiguous and residual.flags.c_contiguous):
            self._pack_codes(xp, self.quantise(gradient, residual).reshape(-1), packed)
            return packed
        g, r = gradient.reshape(-1), residual.reshape(-1)
        sent = np.empty(min(BLOCK, size), g.dtype)
        for begin in range(0, size, BLOCK):
            end = min(begin + BLOCK, size)
            self._quantise(np, g[begin:end], r[begin:end], sent[:end - begin])
            self._pack_codes(np, sent[:end - begin], packed[begin // 4:-(-end // 4)])
        return packed

    @staticmethod
    def _pack_codes(xp: Any, sent: Any, packed: Any) -> None:
        """The codes of quantised values: a bit for "not zero" and one for "positive"."""
        bits = xp.empty((sent.size, 2), 'bool')
        xp.not_equal(sent, 0, out=bits[:, 0])
        xp.greater(sent, 0, out=bits[:, 1])
        packed[:-(-sent.size // 4)] = xp.packbits(bits.reshape(-1))

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
