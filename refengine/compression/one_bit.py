"""One bit per element: plus one or minus one."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..device import module_of
from .codec import Codec


class OneBit(Codec):
    """``r = residual + gradient``; r > threshold sends +1, everything else -1 (rules COMP-1BIT-001 to 003).

    What was sent leaves the residual. Eight elements go into a byte, the first into its most significant bit.

    >>> import numpy as np
    >>> codec, residual = OneBit(0.5), np.zeros(2, 'float32')
    >>> packed = codec.pack(np.array([2.0, 0.5], 'float32'), residual)
    >>> packed.tobytes().hex(), residual.tolist(), codec.unpack(packed, 2).tolist()
    ('80000000', [1.0, 1.5], [1.0, -1.0])
    """

    name: ClassVar[str] = '1bit'
    bits: ClassVar[int] = 1

    def __init__(self, threshold: float = 0.5) -> None:
        super().__init__(threshold)

    def quantise(self, gradient: Any, residual: Any) -> Any:
        xp = module_of(gradient)
        xp.add(residual, gradient, residual)
        out = xp.where(residual > self.threshold, np.float32(1), np.float32(-1))
        xp.subtract(residual, out, residual)
        return out

    def pack(self, gradient: Any, residual: Any) -> Any:
        xp = module_of(gradient)
        bits = xp.zeros(self.packed_size(gradient.size) * 8, 'bool')
        bits[:gradient.size] = self.quantise(gradient, residual).reshape(-1) > 0
        return xp.packbits(bits)

    def unpack(self, packed: Any, size: int) -> Any:
        xp = module_of(packed)
        bits = xp.unpackbits(packed)[:size].astype('float32')
        return xp.subtract(xp.multiply(bits, 2, bits), 1, bits)
