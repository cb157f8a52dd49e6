"""Triangles of matrices as vectors, and factorisations that need no triangle: LQ and eigenvectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import MXNetError, shape_text
from ..op import Bool, Int, register
from ._matrices import matrices

_PARAMS = {'offset': Int(0, 'the diagonal where the triangle begins'),
           'lower': Bool(True, 'which triangle, for offset 0')}


def _places(size: int, offset: int, lower: bool) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the triangle: above the diagonal for positive offsets, below for negative ones.

    The elements follow each other row by row below the diagonal, and column by column above it.
    """
    if offset > 0 or (offset == 0 and not lower):
        columns, rows = np.tril_indices(size, -offset)
        return rows, columns
    return np.tril_indices(size, offset)


@matrices('_linalg_extracttrian', 'linalg_extracttrian', inputs=('A',), params=_PARAMS, samples=(
    (((3, 3),), {}), (((3, 3),), {'offset': 1}), (((2, 3, 3),), {'offset': -1})),
    grad=lambda F, ograds, inputs, outputs, params: (F.linalg_maketrian(ograds[0], offset=params['offset'],
                                                                        lower=params['lower']),))
def _extracttrian(xp: Any, A: Any, offset: int = 0, lower: bool = True) -> Any:
    """The elements of a triangle: row by row of a lower one, column by column of an upper one."""
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise MXNetError(f'Operator _linalg_extracttrian: the input must be square matrices, got {shape_text(A.shape)}')
    rows, columns = _places(A.shape[-1], offset, lower)
    return A[..., rows, columns]


@matrices('_linalg_maketrian', 'linalg_maketrian', ndim=1, inputs=('A',), params=_PARAMS, samples=(
    (((6,),), {}), (((3,),), {'offset': 1}), (((2, 3),), {'lower': False})),
    grad=lambda F, ograds, inputs, outputs, params: (F.linalg_extracttrian(ograds[0], offset=params['offset'],
                                                                           lower=params['lower']),))
def _maketrian(xp: Any, A: Any, offset: int = 0, lower: bool = True) -> Any:
    """Square matrices with given triangles."""
    count = A.shape[-1]
    side = int((np.sqrt(8 * count + 1) - 1) // 2)
    if side * (side + 1) // 2 != count:
        raise MXNetError(f'Operator _linalg_maketrian: {count} elements do not fill a triangle')
    size = side + abs(offset)
    rows, columns = _places(size, offset, lower)
    result = xp.zeros(A.shape[:-1] + (size, size), A.dtype)
    result[..., rows, columns] = A
    return result


@matrices('_linalg_gelqf', 'linalg_gelqf', inputs=('A',), num_outputs=2, samples=((((2, 3),), {}), (('posdef:2',), {})),
          grad=lambda F, ograds, inputs, outputs, params: (_gelqf_grad(F, ograds, outputs),))
def _gelqf(xp: Any, A: Any) -> Any:
    """The factors Q (orthonormal rows) and L (lower triangle) with A = L Q."""
    if A.ndim < 2 or A.shape[-2] > A.shape[-1]:
        raise MXNetError(f'Operator _linalg_gelqf: matrices need at least as many columns as rows, got '
                         f'{shape_text(A.shape)}')
    turned, upper = xp.linalg.qr(A.swapaxes(-1, -2))
    return xp.ascontiguousarray(turned.swapaxes(-1, -2)), xp.ascontiguousarray(upper.swapaxes(-1, -2))


def _gelqf_grad(F: Any, ograds: Any, outputs: Any) -> Any:
    Q, L = outputs
    gq, gl = ograds
    inner = F.linalg_gemm2(L, gl, transpose_a=True) - F.linalg_gemm2(gq, Q, transpose_b=True)
    lower = F._triangle(inner, lower=True)
    turned = F.swapaxes(F._strict_lower(inner), dim1=inner.ndim - 1, dim2=inner.ndim - 2)
    return F.linalg_gemm2(F.linalg_inverse(L), gq + F.linalg_gemm2(lower + turned, Q), transpose_a=True)


@register('_strict_lower', grad=lambda F, ograds, inputs, outputs, params: (F._strict_lower(ograds[0]),))
def _strict_lower(xp: Any, data: Any) -> Any:
    """The triangle below the diagonal."""
    return xp.tril(data, -1)


@matrices('_linalg_syevd', 'linalg_syevd', inputs=('A',), num_outputs=2, samples=((('posdef:3',), {}),),
          grad=lambda F, ograds, inputs, outputs, params: (_syevd_grad(F, ograds, outputs),))
def _syevd(xp: Any, A: Any) -> Any:
    """Eigenvectors (as rows, the largest entry positive) and eigenvalues (ascending) of symmetric matrices."""
    values, vectors = xp.linalg.eigh(A)
    rows = vectors.swapaxes(-1, -2)
    largest = xp.take_along_axis(rows, xp.abs(rows).argmax(axis=-1)[..., None], axis=-1)
    return xp.ascontiguousarray(rows * xp.where(largest < 0, -1, 1).astype(A.dtype)), values


def _syevd_grad(F: Any, ograds: Any, outputs: Any) -> Any:
    U, values = outputs
    gu, gl = ograds
    column, row = F.expand_dims(values, axis=-1), F.expand_dims(values, axis=-2)
    gap = F.broadcast_sub(column, row)
    safe = F.where(gap == 0, F.ones_like(gap), gap)
    weight = F.where(gap == 0, F.zeros_like(gap), 1 / safe)
    outer = F.linalg_gemm2(gu, U, transpose_b=True) * weight
    middle = F.linalg_makediag(gl) + (outer + F.swapaxes(outer, dim1=outer.ndim - 1, dim2=outer.ndim - 2)) * 0.5
    return F.linalg_gemm2(F.linalg_gemm2(U, middle, transpose_a=True), U)
