"""What the operators of neural networks share: checks with their wording, and memory layouts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import storage
from ..base import MXNetError, dtype_text, shape_text


def tuple_text(shape: Sequence[int]) -> str:
    """A shape in the wording of inferred shapes: ``(2,3)``, ``(4,)``."""
    return f'({int(shape[0])},)' if len(shape) == 1 else '(' + ','.join(str(int(n)) for n in shape) + ')'


def require_shape(op: str, given: Sequence[int], expected: Sequence[int]) -> None:
    """MXNetError that names both shapes unless they are equal (rule GLUON-HYBRID-005)."""
    if tuple(given) != tuple(expected):
        raise MXNetError(f'Error in operator {op}: Shape inconsistent, Provided = {shape_text(given)}, '
                         f'inferred shape={tuple_text(expected)}')


def require_float(op: str, data: Any) -> None:
    """MXNetError for an array that is not of a floating point type."""
    if data.dtype.kind != 'f':
        raise MXNetError(f'Error in operator {op}: This operation only support floating point types, '
                         f'not {dtype_text(data.dtype)}')


def require_uniform(op: str, arrays: Sequence[Any], names: Sequence[str]) -> None:
    """MXNetError unless all arrays have the element type of the first."""
    expected = arrays[0].dtype
    for array, name in zip(arrays, names):
        if array.dtype != expected:
            raise MXNetError(f"Error in operator {op}: This layer requires uniform type. Expected "
                             f"'{dtype_text(expected)}' v.s. given '{dtype_text(array.dtype)}' at '{name}'")


def require_windows(op: str, params: Mapping[str, Any]) -> None:
    """MXNetError unless kernel, stride, dilation and padding have as many axes as the kernel, and sizes that exist."""
    kernel = params['kernel']
    if not 1 <= len(kernel) <= 3:
        raise MXNetError(f'Error in operator {op}: kernel must have 1, 2 or 3 dimensions, got {shape_text(kernel)}')
    for name, text in (('stride', 'Stride'), ('dilate', 'Dilate'), ('pad', 'Padding')):
        if params[name] and len(params[name]) != len(kernel):
            raise MXNetError(f'Error in operator {op}: {text} must have the same number of dimensions with '
                             f'kernel_size, but kernel_size is set to {shape_text(kernel)} while {text.lower()} is '
                             f'{shape_text(params[name])}')
    for name, low in (('kernel', 1), ('stride', 1), ('dilate', 1), ('pad', 0)):
        if any(n < low for n in params[name]):
            raise MXNetError(f'Error in operator {op}: incorrect {name} size: {shape_text(params[name])}')


def wide(*arrays: Any) -> tuple[Any, ...]:
    """Arrays in a type that BLAS knows: half precision becomes float32, others stay."""
    return tuple(a.astype(np.float32) if a is not None and a.dtype == np.float16 else a for a in arrays)


def empty(xp: Any, shape: Sequence[int], dtype: Any) -> Any:
    """A row-major array without defined content; from the pool where there is one."""
    return storage.empty(tuple(shape), dtype) if xp is np else xp.empty(tuple(shape), dtype)


def zeros(xp: Any, shape: Sequence[int], dtype: Any) -> Any:
    """A row-major array of zeros."""
    result = empty(xp, shape, dtype)
    result.fill(0)
    return result


def channel_shape(ndim: int, axis: int, size: int) -> tuple[int, ...]:
    """The shape in which a vector over one axis broadcasts: ``(1, size, 1, 1)``."""
    return tuple(size if index == axis else 1 for index in range(ndim))


def channels_last(ndim: int) -> tuple[int, ...]:
    """The axes that bring axis 1 to the end."""
    return (0, *range(2, ndim), 1)


def channels_first(ndim: int) -> tuple[int, ...]:
    """The axes that bring the last axis to place 1."""
    return (0, ndim - 1, *range(1, ndim - 1))


def unshared(xp: Any, out: Any, shape: tuple[int, ...], dtype: Any, *inputs: Any) -> Any:
    """The array ``out`` if it can take a result that is written while inputs are still read, else None."""
    if out is None or out.shape != shape or out.dtype != dtype:
        return None
    return None if any(xp.may_share_memory(out, x) for x in inputs) else out


def aligned(out: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """The array ``out`` if it has this shape and type, else None."""
    return out if out is not None and out.shape == shape and out.dtype == dtype else None
