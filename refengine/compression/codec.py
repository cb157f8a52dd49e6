"""What a compression codec does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..base import MXNetError, dtype_text


class Codec:
    """Turns gradients into few bits per element and back; what is lost is kept in a residual for the next time.

    Gradients and residuals are raw float32 arrays of any shape; packed gradients are one-dimensional uint8 arrays
    whose length is a multiple of four bytes.
    """

    name: ClassVar[str] = ''
    bits: ClassVar[int] = 32

    def __init__(self, threshold: float) -> None:
        self.threshold = float(threshold)

    def packed_size(self, size: int) -> int:
        """How many bytes ``size`` packed elements take: whole 32-bit words."""
        per_word = 32 // self.bits
        return -(-size // per_word) * 4

    def check(self, arrays: Sequence[Any]) -> None:
        """MXNetError unless all gradients are float32 (rule COMP-PARAM-009)."""
        for array in arrays:
            if array.dtype != np.float32:
                raise MXNetError(f'data type do not match specified type: gradient compression takes float32, '
                                 f'got {dtype_text(array.dtype)}')

    def quantise(self, gradient: Any, residual: Any) -> Any:
        """What ``unpack`` would give for ``pack`` of the gradient; changes the residual in place."""
        raise NotImplementedError

    def pack(self, gradient: Any, residual: Any) -> Any:
        """The packed gradient; changes the residual in place."""
        raise NotImplementedError

    def unpack(self, packed: Any, size: int) -> Any:
        """The values of ``size`` packed elements, one-dimensional."""
        raise NotImplementedError
