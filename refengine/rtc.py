"""CUDA kernels as source text. This engine compiles none: making a module says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .base import MXNetError

__all__ = ['CudaKernel', 'CudaModule']

_MESSAGE = ('Compile with USE_CUDA=1 and ENABLE_CUDA_RTC=1 to have CUDA runtime compilation: this engine compiles no '
            'CUDA kernels. Operators, mx.operator.CustomOp and cupy.RawKernel work on its arrays.')


class CudaModule:
    """Kernels of a source text; MXNetError, as in MXNet without CUDA."""

    def __init__(self, source: str, options: Sequence[str] = (), exports: Sequence[str] = ()) -> None:
        raise MXNetError(_MESSAGE)

    def get_kernel(self, name: str, signature: str) -> CudaKernel:
        """The kernel of that name."""
        raise MXNetError(_MESSAGE)


class CudaKernel:
    """A kernel of a CudaModule; MXNetError, as no module can be made."""

    def __init__(self, *args: Any) -> None:
        raise MXNetError(_MESSAGE)

    def launch(self, args: Any, ctx: Any, grid_dims: Any, block_dims: Any, shared_mem: int = 0) -> None:
        """Run the kernel."""
        raise MXNetError(_MESSAGE)
