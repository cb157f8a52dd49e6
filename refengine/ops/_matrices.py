"""What the operators of ``linalg`` share: they take single and double precision only, and matrices in the last axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import MXNetError, dtype_text
from ..op import register, shape_error

_PRECISE = ('float32', 'float64')


def matrices(name: str, *aliases: str, ndim: int = 2, **record: Any) -> Callable[
        [Callable[..., Any]], Callable[..., Any]]:
    """Register an operator of ``linalg``; its arrays have at least ``ndim`` axes."""

    def infer(arrays: Any, params: dict[str, Any]) -> None:
        if any(array.ndim < ndim for array in arrays):
            raise shape_error(name, [array.shape for array in arrays], f'at least {ndim} axes are needed')
        for array in arrays:
            if array.dtype.name not in _PRECISE:
                raise MXNetError(f'Operator {name}: This operation only supports 32-bit and 64-bit floating point, '
                                 f'not {dtype_text(array.dtype)}')

    return register(name, *aliases, infer=infer, **record)
